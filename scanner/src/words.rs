//! The words of texts as numbers: those that `quality/word_codes.py` makes.

use crate::isa::{Isa, Level, Portable};

/// In the table that Python gives: a character that it has not said anything of yet, and one that is not folded by
/// itself, so that Python folds the text.
const UNKNOWN: u32 = u32::MAX;
const ODD: u32 = u32::MAX - 1;
/// Bytes of a word at most; a longer one is left to Python.
const LONGEST: usize = 1 << 16;

/// Bytes of a word that are looked at together.
pub const AT_ONCE: usize = 16;
/// Bytes of which it is found together where words begin and end.
pub const BLOCK: usize = 64;

/// What characters beyond ASCII become, and what the number of a word is made with.
pub struct Folding<'a> {
    /// Where in `texts` each character's text begins, with its length before it.
    places: &'a [u32],
    texts: &'a [u8],
    mixer: u64,
    powers: Powers,
}

/// What the bytes of a word are taken times, by their places; and those behind them.
pub struct Powers {
    pub each: [u64; AT_ONCE],
    pub behind: u64,
    /// The same in four parts of 16 bits with a sign, each of 2^16 times the one before it: the product of a byte and a
    /// part is small, so that many are added at once.
    pub parts: [[i16; AT_ONCE]; 4],
}

impl Powers {
    fn of(base: u64) -> Self {
        let (mut each, mut parts, mut power) = ([0; AT_ONCE], [[0; AT_ONCE]; 4], 1_u64);
        for place in 0..AT_ONCE {
            each[place] = power;
            let mut left = power;
            for part in &mut parts {
                part[place] = left as i16;
                left = left.wrapping_sub(i64::from(part[place]) as u64) >> 16;
            }
            power = power.wrapping_mul(base);
        }
        Self { each, behind: power, parts }
    }
}

impl<'a> Folding<'a> {
    pub fn of(places: &'a [u32], texts: &'a [u8], base: u64, mixer: u64) -> Self {
        Self { places, texts, mixer, powers: Powers::of(base) }
    }

    #[inline(always)]
    fn mixed(&self, number: u64) -> u64 {
        let mixed = number.wrapping_mul(self.mixer);
        mixed ^ (mixed >> 29)
    }

    /// Put in place of numbers of words those of the runs of so many words.
    pub fn runs(&self, codes: &mut Vec<u64>, words: usize) {
        let count = (codes.len() + 1).saturating_sub(words);
        if words == 3 {
            for first in 2..codes.len() {
                if let Some([one, two, three]) = codes.get(first - 2..=first).and_then(<[u64]>::first_chunk) {
                    codes[first - 2] = self.mixed(self.mixed(self.mixed(*one) ^ two) ^ three);
                }
            }
        } else if words > 1 {
            for first in 0..count {
                let run = &codes[first..][..words];
                let joined = run[1..].iter().fold(run[0], |all, &word| self.mixed(all) ^ word);
                codes[first] = self.mixed(joined);
            }
        }
        codes.truncate(count);
    }
}

/// Why a text has no numbers.
#[derive(Debug, PartialEq)]
pub enum Left {
    /// A character of which nothing is known.
    Unknown(u32),
    /// It is for Python.
    Odd,
}

/// Put a text into `flat` as its words are compared, with blanks for what is no part of a word.
#[inline(always)]
fn flatten<I: Isa>(folding: &Folding, text: &str, flat: &mut Vec<u8>) -> Result<(), Left> {
    flat.clear();
    let mut at = 0;
    while at < text.len() {
        at = I::flat_ascii(text.as_bytes(), at, flat);
        for character in text.get(at..).unwrap_or("").chars().take_while(|character| !character.is_ascii()) {
            at += character.len_utf8();
            let place = *folding.places.get(character as usize).ok_or(Left::Odd)?;
            if place == UNKNOWN {
                return Err(Left::Unknown(character.into()));
            }
            let folded = folding.texts.get(place as usize..).and_then(<[u8]>::split_first).ok_or(Left::Odd)?;
            flat.extend(folded.1.get(..usize::from(*folded.0)).filter(|_| place != ODD).ok_or(Left::Odd)?);
        }
    }
    Ok(())
}

/// Put the numbers of the words of a text into `codes`. `flat` is room.
pub fn words(folding: &Folding, text: &str, codes: &mut Vec<u64>, flat: &mut Vec<u8>) -> Result<(), Left> {
    match Level::best() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => crate::simd::words(folding, text, codes, flat),
        _ => words_with::<Portable>(folding, text, codes, flat),
    }
}

#[inline(always)]
pub fn words_with<I: Isa>(folding: &Folding, text: &str, codes: &mut Vec<u64>, flat: &mut Vec<u8>) -> Result<(), Left> {
    codes.clear();
    flatten::<I>(folding, text, flat)?;
    flat.resize(flat.len() + BLOCK, b' '); // so that all words end, and are there whole blocks at a time
    let (mut open, mut inside) = (0, 0);
    for (first, block) in (0..).step_by(BLOCK).zip(flat.chunks_exact(BLOCK)) {
        let Some(block) = block.first_chunk::<BLOCK>() else { break };
        let parts = !I::blanks(block);
        let before = parts << 1 | inside;
        inside = parts >> 63;
        let (mut begins, mut ends) = (parts & !before, before & !parts);
        while ends != 0 {
            let end = first + ends.trailing_zeros() as usize;
            // a word that began in a block before
            if begins != 0 && begins.trailing_zeros() < ends.trailing_zeros() {
                open = first + begins.trailing_zeros() as usize;
                begins &= begins - 1;
            }
            ends &= ends - 1;
            if end - open > LONGEST {
                return Err(Left::Odd);
            }
            codes.push(number::<I>(folding, flat.get(open..).unwrap_or(&[]), end - open));
        }
        if begins != 0 {
            open = first + begins.trailing_zeros() as usize;
        }
    }
    Ok(())
}

/// The number of the word that so many bytes are, which are not the last ones of all.
#[inline(always)]
fn number<I: Isa>(folding: &Folding, mut bytes: &[u8], mut length: usize) -> u64 {
    let (mut sum, mut power, mut digit) = (0_u64, 1_u64, false);
    while let Some((chunk, rest)) = bytes.split_first_chunk::<AT_ONCE>() {
        let (of_chunk, has_digit) = I::sum_of_word(&folding.powers, chunk, length);
        sum = sum.wrapping_add(of_chunk.wrapping_mul(power));
        digit |= has_digit;
        if length <= AT_ONCE {
            break;
        }
        (power, length, bytes) = (power.wrapping_mul(folding.powers.behind), length - AT_ONCE, rest);
    }
    folding.mixed(sum) & !1 | u64::from(digit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::{tries, Random};

    fn of(text: &str) -> Result<Vec<u64>, Left> {
        let mut places = vec![UNKNOWN; 0x2000];
        (places[0xE9], places[0xD7], places[0x301]) = (0, 3, ODD);
        let folding = Folding::of(&places, b"\x02\xc3\xa9\x01 ", 3, 1);
        let mut codes = vec![7];
        words(&folding, text, &mut codes, &mut vec![]).map(|()| codes)
    }

    #[test]
    fn words_are_sums_with_a_mark_for_digits() {
        assert_eq!(of(""), Ok(vec![]));
        assert_eq!(of(" B\u{d7}b, 3"), Ok(vec![98, 98, 51]));
        assert_eq!(of("ac\u{e9}"), Ok(vec![(97 + 3 * 99 + 9 * 0xC3 + 27 * 0xA9) & !1]));
    }

    #[test]
    fn runs_are_of_the_words_in_their_order() {
        let folding = Folding::of(&[], b"", 3, 5);
        for (words, numbers) in [(1, vec![7, 8, 9, 7]), (2, vec![215, 165, 210]), (3, vec![1110, 810]), (5, vec![])] {
            let mut codes = vec![7, 8, 9, 7];
            folding.runs(&mut codes, words);
            assert_eq!(codes, numbers, "{words}");
        }
    }

    #[test]
    fn long_words_go_on_with_their_powers() {
        let sum = (0..40).map(|place| 3_u64.wrapping_pow(place).wrapping_mul(97)).fold(0, u64::wrapping_add);
        assert_eq!(of(&"a".repeat(40)), Ok(vec![(sum ^ (sum >> 29)) & !1]));
    }

    #[test]
    fn fuzz_all_ways_make_the_same_numbers() {
        let places: Vec<u32> = (0..0x5000).map(|code| [0, 3, 5, ODD][code % 4]).collect();
        let folding = Folding::of(&places, b"\x02\xc3\xa9\x01 \x05 \xe6\xbc\xa2 ", 0xD6E8_FEB8_6659_FD93, 0x9E37);
        let mut random = Random(3);
        for _ in 0..tries(3_000) {
            let length = *random.of(&[0, 9, 31, 64, 200]);
            let pieces = ["a", "Zb", "xyzxyzxyz", "0", "a1", " ", "  ", "-", "\u{7f}", "\n", "é", "漢", "ā", "\u{e7}"];
            let text: String = (0..length).map(|_| *random.of(&pieces)).collect();
            let (mut codes, mut others) = (vec![], vec![]);
            let found = words(&folding, &text, &mut codes, &mut vec![]);
            assert_eq!(found, words_with::<Portable>(&folding, &text, &mut others, &mut vec![]), "{text:?}");
            assert!(found.is_err() || codes == others, "{text:?}");
        }
    }

    #[test]
    fn what_is_not_known_or_does_not_fit_is_left() {
        assert_eq!(of("a\u{e8}"), Err(Left::Unknown(0xE8)));
        assert_eq!(of("a\u{301}"), Err(Left::Odd));
        assert_eq!(of("a\u{2001}"), Err(Left::Odd));
        assert_eq!(of(&"a".repeat(LONGEST + 1)), Err(Left::Odd));
    }
}
