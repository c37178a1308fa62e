//! Names in texts, as `converters/gfm_rag/mentions.py` finds them: the longest first, from left to right.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// In the table that Python gives: a character that is part of a word of which it makes no name, one that Python lowers
/// in another way, and one of which it has not said anything yet. All others end a word.
const OTHER: u8 = 1;
const ODD: u8 = 2;
const UNKNOWN: u8 = 0xFF;
/// Bits of the sieve that most words do not pass.
const SIEVE_BITS: u32 = 21;
const START: u64 = 0xCBF2_9CE4_8422_2325;
const STEP: u64 = 0x0000_0100_0000_01B3;

/// Numbers that are hashes already.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(START, |sum, &byte| after(sum, byte));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

fn after(sum: u64, byte: u8) -> u64 {
    (sum ^ u64::from(byte)).wrapping_mul(STEP)
}

fn pair(first: u64, second: u64) -> u64 {
    let mixed = (first ^ second.rotate_left(32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ (mixed >> 32)
}

/// Why a text was not searched.
#[derive(Debug, PartialEq)]
pub enum Left {
    /// A character of which nothing is known.
    Unknown(u32),
    /// It is for Python.
    Odd,
    /// There is no room for what is found.
    Full,
}

/// A word of a text: where it stands, and its hash. One that has other letters, too, is empty.
struct Word {
    start: usize,
    end: usize,
    sum: u64,
}

/// The names that are looked for, and what is used anew for each text.
pub struct Finder {
    /// The number of each name, by its words with a blank between them.
    names: HashMap<Vec<u8>, u32>,
    /// How many words names have that begin with these two, the most first. Where two pairs have one hash there are more,
    /// which does no harm.
    lengths: HashMap<u64, Vec<usize>, BuildHasherDefault<AsItIs>>,
    sieve: Vec<u64>,
    lowered: Vec<u8>,
    words: Vec<Word>,
    phrase: Vec<u8>,
}

impl Finder {
    /// A finder of names, each of which is lower-case words with a blank between them; no two are alike.
    pub fn new<'a>(names: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut finder = Self {
            names: HashMap::new(),
            lengths: HashMap::default(),
            sieve: vec![0; 1 << (SIEVE_BITS - 6)],
            lowered: Vec::new(),
            words: Vec::new(),
            phrase: Vec::new(),
        };
        for (number, name) in (0..).zip(names) {
            let sums: Vec<u64> = name.split(|&byte| byte == b' ').map(hash).collect();
            let begins = match *sums.as_slice() {
                [] => continue,
                [alone] => alone,
                [first, second, ..] => {
                    let lengths = finder.lengths.entry(pair(first, second)).or_default();
                    if let Err(place) = lengths.binary_search_by(|length| sums.len().cmp(length)) {
                        lengths.insert(place, sums.len());
                    }
                    pair(first, second)
                }
            };
            let (place, bit) = in_sieve(begins);
            finder.sieve[place] |= bit;
            finder.names.insert(name.to_vec(), number);
        }
        finder
    }

    /// Put the numbers of the names in a text into `found`; how many they are. `kinds` says what characters beyond ASCII
    /// are, by their numbers; the last is for all behind.
    pub fn find(&mut self, kinds: &[u8], text: &str, found: &mut [u32]) -> Result<usize, Left> {
        self.cut(kinds, text)?;
        let (mut count, mut behind) = (0, 0);
        for place in 0..self.words.len() {
            let first = self.words[place].sum;
            let two = self.words.get(place + 1).map(|second| pair(first, second.sum));
            let maybe = self.passes(first) || two.is_some_and(|two| self.passes(two));
            if !maybe || place < behind {
                continue;
            }
            let lengths = two.and_then(|two| self.lengths.get(&two)).map_or(&[][..], Vec::as_slice);
            for &length in lengths.iter().chain(&[1]) {
                let Some(words) = self.words.get(place..place + length) else { continue };
                self.phrase.clear();
                for word in words {
                    if !self.phrase.is_empty() {
                        self.phrase.push(b' ');
                    }
                    self.phrase.extend_from_slice(&self.lowered[word.start..word.end]);
                }
                if let Some(&name) = self.names.get(&self.phrase) {
                    *found.get_mut(count).ok_or(Left::Full)? = name;
                    count += 1;
                    behind = place + length;
                    break;
                }
            }
        }
        Ok(count)
    }

    fn passes(&self, sum: u64) -> bool {
        let (place, bit) = in_sieve(sum);
        self.sieve[place] & bit != 0
    }

    /// Cut a text into its words.
    fn cut(&mut self, kinds: &[u8], text: &str) -> Result<(), Left> {
        let bytes = text.as_bytes();
        self.words.clear();
        self.lowered.clear();
        self.lowered.extend_from_slice(bytes);
        self.lowered.make_ascii_lowercase();
        let (mut at, end) = (0, bytes.len());
        while at < end {
            let (start, mut sum, mut letters, mut others) = (at, START, false, false);
            while let Some(&byte) = self.lowered.get(at) {
                if byte.is_ascii_alphanumeric() {
                    sum = after(sum, byte);
                    letters = true;
                    at += 1;
                    continue;
                }
                if byte < 0x80 {
                    break;
                }
                let Some(character) = text.get(at..).and_then(|rest| rest.chars().next()) else { break };
                let code = u32::from(character);
                match kinds.get((code as usize).min(kinds.len().saturating_sub(1))) {
                    Some(&OTHER) => others = true,
                    Some(&ODD) => return Err(Left::Odd),
                    Some(&UNKNOWN) | None => return Err(Left::Unknown(code)),
                    Some(_) => break,
                }
                at += character.len_utf8();
            }
            if letters && others {
                self.words.push(Word { start, end: start, sum: 0 });
            } else if letters {
                self.words.push(Word { start, end: at, sum });
            }
            if let Some(character) = text.get(at..).and_then(|rest| rest.chars().next()) {
                at += character.len_utf8();
            }
        }
        Ok(())
    }
}

fn hash(word: &[u8]) -> u64 {
    word.iter().fold(START, |sum, &byte| after(sum, byte))
}

fn in_sieve(sum: u64) -> (usize, u64) {
    let place = (sum ^ (sum >> 29)) & ((1 << SIEVE_BITS) - 1);
    ((place >> 6) as usize, 1 << (place & 63))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &[&str], text: &str) -> Result<Vec<u32>, Left> {
        let mut kinds = vec![0; 0x110];
        kinds[0xE9] = OTHER;
        kinds[0x100] = ODD;
        kinds[0x101] = UNKNOWN;
        let mut room = [0; 8];
        let count = Finder::new(names.iter().map(|name| name.as_bytes())).find(&kinds, text, &mut room)?;
        Ok(room[..count].to_vec())
    }

    #[test]
    fn the_longest_name_is_found_first() {
        let names = ["osprey", "port hale", "port hale north", "port hale north end", "te"];
        assert_eq!(found(&names, "An Osprey in PORT-Hale, north"), Ok(vec![0, 2]));
        assert_eq!(found(&names, "port hale north of Port Hale"), Ok(vec![2, 1]));
        assert_eq!(found(&names, "ospreys, porthale"), Ok(vec![]));
        assert_eq!(found(&names, ""), Ok(vec![]));
    }

    #[test]
    fn words_with_other_letters_are_no_names() {
        assert_eq!(found(&["port hale", "te"], "té te port é hale port éa hale"), Ok(vec![1, 0]));
        assert_eq!(found(&["te"], "té éte é"), Ok(vec![]));
    }

    #[test]
    fn what_python_must_look_at_is_said() {
        assert_eq!(found(&["te"], "te \u{100}"), Err(Left::Odd));
        assert_eq!(found(&["te"], "te \u{101}"), Err(Left::Unknown(0x101)));
        assert_eq!(found(&["te"], &"te ".repeat(9)), Err(Left::Full));
    }
}
