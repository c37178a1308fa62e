//! The words of texts as numbers: those that `quality/word_codes.py` makes.

/// In the table that Python gives: a character that it has not said anything of yet, and one that is not folded by
/// itself, so that Python folds the text.
const UNKNOWN: u32 = u32::MAX;
const ODD: u32 = u32::MAX - 1;
/// Bytes of a word at most; a longer one is left to Python.
const LONGEST: usize = 1 << 16;

/// What characters beyond ASCII become, and what the number of a word is made with.
pub struct Folding<'a> {
    /// Where in `texts` each character's text begins, with its length before it.
    pub places: &'a [u32],
    pub texts: &'a [u8],
    pub base: u64,
    pub mixer: u64,
}

/// Why a text has no numbers.
#[derive(Debug, PartialEq)]
pub enum Left {
    /// A character of which nothing is known.
    Unknown(u32),
    /// It is for Python.
    Odd,
}

/// A word that is being read.
struct Word {
    sum: u64,
    power: u64,
    length: usize,
    digit: u64,
}

const NONE: Word = Word { sum: 0, power: 1, length: 0, digit: 0 };

/// Put the numbers of the words of a text into `codes`; how many they are.
pub fn words(folding: &Folding, text: &str, codes: &mut [u64]) -> Result<usize, Left> {
    let (mut word, mut count) = (NONE, 0);
    let mut take = |byte: u8| -> Result<(), Left> {
        if byte != b' ' {
            word.sum = word.sum.wrapping_add(u64::from(byte).wrapping_mul(word.power));
            word.power = word.power.wrapping_mul(folding.base);
            word.length += 1;
            word.digit |= u64::from(byte.is_ascii_digit());
        } else if word.length > 0 {
            let mixed = word.sum.wrapping_mul(folding.mixer);
            *codes.get_mut(count).filter(|_| word.length <= LONGEST).ok_or(Left::Odd)? =
                (mixed ^ (mixed >> 29)) & !1 | word.digit;
            count += 1;
            word = NONE;
        }
        Ok(())
    };
    for character in text.chars() {
        if character.is_ascii() {
            take(if character.is_ascii_alphanumeric() { character.to_ascii_lowercase() as u8 } else { b' ' })?;
            continue;
        }
        let place = *folding.places.get(character as usize).ok_or(Left::Odd)?;
        if place == UNKNOWN {
            return Err(Left::Unknown(character.into()));
        }
        let folded = folding.texts.get(place as usize..).and_then(<[u8]>::split_first).ok_or(Left::Odd)?;
        let folded = folded.1.get(..usize::from(*folded.0)).filter(|_| place != ODD).ok_or(Left::Odd)?;
        folded.iter().try_for_each(|&byte| take(byte))?;
    }
    take(b' ')?;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, room: usize) -> Result<Vec<u64>, Left> {
        let mut places = vec![UNKNOWN; 0x2000];
        (places[0xE9], places[0xD7], places[0x301]) = (0, 3, ODD);
        let folding = Folding { places: &places, texts: b"\x02\xc3\xa9\x01 ", base: 3, mixer: 1 };
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
    fn what_is_not_known_or_does_not_fit_is_left() {
        assert_eq!(of("a\u{e8}", 9), Err(Left::Unknown(0xE8)));
        assert_eq!(of("a\u{301}", 9), Err(Left::Odd));
        assert_eq!(of("a\u{2001}", 9), Err(Left::Odd));
        assert_eq!(of("a b", 1), Err(Left::Odd));
        assert_eq!(of(&"a".repeat(LONGEST + 1), 9), Err(Left::Odd));
    }
}
