//! The words of texts as numbers: those that `quality/word_codes.py` makes.

/// In the table that Python gives: a character that it has not said anything of yet, and one that is not folded by
/// itself, so that Python folds the text.
const UNKNOWN: u32 = u32::MAX;
const ODD: u32 = u32::MAX - 1;
/// Bytes of a word at most; a longer one is left to Python.
const LONGEST: usize = 1 << 16;

/// Places of a word whose powers are kept.
const SHORT: usize = 32;

/// What characters beyond ASCII become, and what the number of a word is made with.
pub struct Folding<'a> {
    /// Where in `texts` each character's text begins, with its length before it.
    places: &'a [u32],
    texts: &'a [u8],
    base: u64,
    mixer: u64,
    /// Of the base, for the first places of a word.
    powers: [u64; SHORT],
    /// What each byte of ASCII is in a word, or a blank; with a mark for digits.
    folded: [(u8, u8); 0x80],
}

impl<'a> Folding<'a> {
    pub fn of(places: &'a [u32], texts: &'a [u8], base: u64, mixer: u64) -> Self {
        let mut powers = [1_u64; SHORT];
        for place in 1..SHORT {
            powers[place] = powers[place - 1].wrapping_mul(base);
        }
        let mut folded = [(b' ', 0); 0x80];
        for (byte, to) in (0_u8..).zip(&mut folded) {
            if byte.is_ascii_alphanumeric() {
                *to = (byte.to_ascii_lowercase(), byte.is_ascii_digit().into());
            }
        }
        Self { places, texts, base, mixer, powers, folded }
    }

    fn mixed(&self, number: u64) -> u64 {
        let mixed = number.wrapping_mul(self.mixer);
        mixed ^ (mixed >> 29)
    }

    /// Put in place of numbers of words those of the runs of so many words; how many they are.
    pub fn runs(&self, codes: &mut [u64], words: usize) -> usize {
        let count = (codes.len() + 1).saturating_sub(words);
        if words > 1 {
            for first in 0..count {
                let run = &codes[first..][..words];
                let joined = run[1..].iter().fold(run[0], |all, &word| self.mixed(all) ^ word);
                codes[first] = self.mixed(joined);
            }
        }
        count
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

/// The words of a text, as they are read.
struct Words<'a, 'b> {
    folding: &'b Folding<'a>,
    codes: &'b mut [u64],
    count: usize,
    // the one that is being read
    sum: u64,
    power: u64,
    length: usize,
    digit: u8,
}

impl Words<'_, '_> {
    #[inline(always)]
    fn take(&mut self, byte: u8, digit: u8) -> Result<(), Left> {
        if byte == b' ' {
            return if self.length > 0 { self.end() } else { Ok(()) };
        }
        let power = if let Some(&power) = self.folding.powers.get(self.length) {
            power
        } else {
            self.power = self.power.wrapping_mul(self.folding.base);
            self.power
        };
        self.sum = self.sum.wrapping_add(u64::from(byte).wrapping_mul(power));
        self.length += 1;
        self.digit |= digit;
        Ok(())
    }

    fn end(&mut self) -> Result<(), Left> {
        let to = self.codes.get_mut(self.count).filter(|_| self.length <= LONGEST).ok_or(Left::Odd)?;
        *to = self.folding.mixed(self.sum) & !1 | u64::from(self.digit);
        self.count += 1;
        (self.sum, self.power, self.length, self.digit) = (0, self.folding.powers[SHORT - 1], 0, 0);
        Ok(())
    }
}

/// Put the numbers of the words of a text into `codes`; how many they are.
pub fn words(folding: &Folding, text: &str, codes: &mut [u64]) -> Result<usize, Left> {
    let power = folding.powers[SHORT - 1];
    let mut words = Words { folding, codes, count: 0, sum: 0, power, length: 0, digit: 0 };
    for character in text.chars() {
        if let Some(&(byte, digit)) = folding.folded.get(character as usize) {
            words.take(byte, digit)?;
            continue;
        }
        let place = *folding.places.get(character as usize).ok_or(Left::Odd)?;
        if place == UNKNOWN {
            return Err(Left::Unknown(character.into()));
        }
        let folded = folding.texts.get(place as usize..).and_then(<[u8]>::split_first).ok_or(Left::Odd)?;
        let folded = folded.1.get(..usize::from(*folded.0)).filter(|_| place != ODD).ok_or(Left::Odd)?;
        folded.iter().try_for_each(|&byte| words.take(byte, byte.is_ascii_digit().into()))?;
    }
    words.take(b' ', 0)?;
    Ok(words.count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, room: usize) -> Result<Vec<u64>, Left> {
        let mut places = vec![UNKNOWN; 0x2000];
        (places[0xE9], places[0xD7], places[0x301]) = (0, 3, ODD);
        let folding = Folding::of(&places, b"\x02\xc3\xa9\x01 ", 3, 1);
        let mut codes = vec![0; room];
        words(&folding, text, &mut codes).map(|count| codes[..count].to_vec())
    }

    #[test]
    fn words_are_sums_with_a_mark_for_digits() {
        assert_eq!(of("", 0), Ok(vec![]));
        assert_eq!(of(" B\u{d7}b, 3", 3), Ok(vec![98, 98, 51]));
        assert_eq!(of("ac\u{e9}", 1), Ok(vec![(97 + 3 * 99 + 9 * 0xC3 + 27 * 0xA9) & !1]));
    }

    #[test]
    fn runs_are_of_the_words_in_their_order() {
        let folding = Folding::of(&[], b"", 3, 5);
        for (words, numbers) in [(1, vec![7, 8, 9, 7]), (2, vec![215, 165, 210]), (3, vec![1110, 810]), (5, vec![])] {
            let mut codes = [7, 8, 9, 7];
            let count = folding.runs(&mut codes, words);
            assert_eq!(codes[..count], numbers, "{words}");
        }
    }

    #[test]
    fn long_words_go_on_with_their_powers() {
        let sum = (0..40).map(|place| 3_u64.wrapping_pow(place).wrapping_mul(97)).fold(0, u64::wrapping_add);
        assert_eq!(of(&"a".repeat(40), 9), Ok(vec![(sum ^ (sum >> 29)) & !1]));
    }

    #[test]
    fn what_is_not_known_or_does_not_fit_is_left() {
        assert_eq!(of("a\u{e8}", 9), Err(Left::Unknown(0xE8)));
        assert_eq!(of("a\u{301}", 9), Err(Left::Odd));
        assert_eq!(of("a\u{2001}", 9), Err(Left::Odd));
        assert_eq!(of("a b", 1), Err(Left::Odd));
        assert_eq!(of(&"a".repeat(LONGEST + 1), 9), Err(Left::Odd));
    }
}
