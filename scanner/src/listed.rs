//! Words of a list in texts, as `reports/summary/languages.py` finds them: runs of letters, in lower case.

use crate::finder::Left;
use crate::hash::fold;
use crate::texts::{IN_WORD, SCRIPT, UNKNOWN};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Bytes of a word of the list at most.
const LONGEST: usize = 16;
/// Numbers among the signs of Chinese and Japanese, which are tokens by themselves.
const NUMBERS: std::ops::RangeInclusive<u32> = 0x3007..=0x303A;

/// The words of a list, by their bytes and zeros behind them.
pub struct Listed(HashMap<u128, u32, BuildHasherDefault<OfWords>>);

/// What they are looked up by: nobody else chooses them.
#[derive(Default)]
struct OfWords(u64);

impl Hasher for OfWords {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |all, &byte| fold(all ^ u64::from(byte), 0x9E37_79B9_7F4A_7C15));
    }

    fn write_u128(&mut self, word: u128) {
        self.0 = fold(word as u64 ^ 0x9E37_79B9_7F4A_7C15, (word >> 64) as u64 ^ 0xBF58_476D_1CE4_E5B9);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The letters of ASCII in lower case; 0 of what is none.
const LOWER: [u8; 128] = {
    let (mut lower, mut byte) = ([0; 128], 0);
    while byte < 128 {
        if (byte as u8).is_ascii_alphabetic() {
            lower[byte] = (byte as u8).to_ascii_lowercase();
        }
        byte += 1;
    }
    lower
};

/// A word as it is read.
struct Word {
    bytes: [u8; LONGEST],
    length: usize,
}

/// What of a text was seen: the word that goes on, how many words ended, and how many of the list.
struct Seen {
    word: Word,
    words: usize,
    count: usize,
}

impl Word {
    #[inline(always)]
    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
        }
        self.length += 1;
    }
}

impl Listed {
    /// The words of a list, in lower case; None where one is too long.
    pub fn new<'a>(words: impl Iterator<Item = &'a [u8]>) -> Option<Self> {
        let key = |word: &[u8]| {
            let mut bytes = [0; LONGEST];
            bytes.get_mut(..word.len())?.copy_from_slice(word);
            Some(u128::from_le_bytes(bytes))
        };
        (0..).zip(words).map(|(number, word)| Some((key(word)?, number))).collect::<Option<_>>().map(Self)
    }

    /// Put the numbers of the words of the list in the first `most` characters of a text into `found`: how many these are,
    /// and how many words there are. `kinds` says what characters beyond ASCII are, by their numbers.
    pub fn find(&self, kinds: &[u8], text: &str, most: usize, found: &mut [u32]) -> Result<(usize, usize), Left> {
        let mut seen = Seen { word: Word { bytes: [0; LONGEST], length: 0 }, words: 0, count: 0 };
        let (mut at, mut left) = (0, most);
        while let Some(&byte) = text.as_bytes().get(at).filter(|_| left > 0) {
            left -= 1;
            let is_letter = if let Some(&lower) = LOWER.get(usize::from(byte)) {
                at += 1;
                if lower != 0 {
                    seen.word.push(lower);
                }
                lower != 0
            } else {
                let Some(character) = text.get(at..).and_then(|rest| rest.chars().next()) else { break };
                at += character.len_utf8();
                push_beyond(kinds, character, &mut seen.word)?
            };
            if !is_letter {
                self.end(&mut seen, found)?;
            }
        }
        self.end(&mut seen, found)?;
        Ok((seen.count, seen.words))
    }

    /// Put the number of a word that ends, if there is one, into `found`.
    #[inline(always)]
    fn end(&self, seen: &mut Seen, found: &mut [u32]) -> Result<(), Left> {
        let word = std::mem::replace(&mut seen.word, Word { bytes: [0; LONGEST], length: 0 });
        seen.words += usize::from(word.length > 0);
        if (1..=LONGEST).contains(&word.length) {
            if let Some(number) = self.0.get(&u128::from_le_bytes(word.bytes)) {
                *found.get_mut(seen.count).ok_or(Left::Full)? = *number;
                seen.count += 1;
            }
        }
        Ok(())
    }
}

/// Put a character beyond ASCII behind a word, if it is a letter; whether it is one.
fn push_beyond(kinds: &[u8], character: char, word: &mut Word) -> Result<bool, Left> {
    let is_letter = is_letter(kinds, character.into())?;
    if is_letter {
        let mut lower = character.to_lowercase();
        let (Some(lower), None) = (lower.next(), lower.next()) else { return Err(Left::Odd) };
        lower.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| word.push(byte));
    }
    Ok(is_letter)
}

/// Whether a character beyond ASCII is a letter. Those that are parts of words without being letters are for Python.
fn is_letter(kinds: &[u8], code: u32) -> Result<bool, Left> {
    match kinds.get((code as usize).min(kinds.len().saturating_sub(1))) {
        Some(&UNKNOWN) | None => Err(Left::Unknown(code)),
        Some(kind) if kind & SCRIPT != 0 => Ok(true),
        Some(kind) if kind & IN_WORD != 0 || NUMBERS.contains(&code) => Err(Left::Odd),
        Some(_) => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(words: &[&str], text: &str) -> Result<(Vec<u32>, usize), Left> {
        let mut kinds = vec![0x40; 0x3100];
        for letter in [0xE9, 0xC9, 0x130, 0x416, 0x436] {
            kinds[letter] = IN_WORD | 1;
        }
        kinds[0xB2] = IN_WORD;
        kinds[0x101] = UNKNOWN;
        let mut room = [0; 8];
        let listed = Listed::new(words.iter().map(|word| word.as_bytes())).unwrap();
        let (count, all) = listed.find(&kinds, text, 24, &mut room)?;
        Ok((room[..count].to_vec(), all))
    }

    #[test]
    fn words_are_runs_of_letters_in_lower_case() {
        let words = ["the", "été", "Ж", "ж"];
        assert_eq!(found(&words, "The été-ÉTÉ, the3the"), Ok((vec![0, 1, 1, 0, 0], 5)));
        assert_eq!(found(&words, "thé thethe Ж—ж"), Ok((vec![3, 3], 4)));
        assert_eq!(found(&words, ""), Ok((vec![], 0)));
        assert_eq!(found(&words, "the "), Ok((vec![0], 1)));
    }

    #[test]
    fn no_more_than_the_beginning_is_looked_at() {
        assert_eq!(found(&["the"], &"é".repeat(21).replacen("é", "the ", 1)), Ok((vec![0], 2)));
        assert_eq!(found(&["the"], &format!("{} theory the", "é".repeat(20))), Ok((vec![0], 2)));
        assert_eq!(found(&["the"], &"e".repeat(99)), Ok((vec![], 1)));
    }

    #[test]
    fn long_words_are_none_of_the_list() {
        assert!(Listed::new([&[b'a'; 17][..]].into_iter()).is_none());
        assert_eq!(found(&["aaaaaaaaaaaaaaaa"], "aaaaaaaaaaaaaaaa aaaaa"), Ok((vec![0], 2)));
        assert_eq!(found(&["aaaaaaaaaaaaaaaa"], "aaaaaaaaaaaaaaaaa"), Ok((vec![], 1)));
    }

    #[test]
    fn what_python_must_look_at_is_said() {
        assert_eq!(found(&["a"], "a \u{101}"), Err(Left::Unknown(0x101)));
        assert_eq!(found(&["a"], "a\u{b2}"), Err(Left::Odd));
        assert_eq!(found(&["a"], "a\u{3007}"), Err(Left::Odd));
        assert_eq!(found(&["a"], "\u{130}a"), Err(Left::Odd));
        assert_eq!(found(&["a"], &"a ".repeat(9)), Err(Left::Full));
    }
}
