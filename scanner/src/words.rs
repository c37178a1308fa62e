//! The words of texts as numbers: those that `quality/word_codes.py` makes.

use crate::isa::{Isa, Level, Portable};
use crate::texts::character;

/// In the table that Python gives: a character that it has not said anything of yet. One that is not folded by itself,
/// so that Python folds the text, has a place where no text is.
const UNKNOWN: u32 = u32::MAX;
/// Bytes of a word at most; a longer one is left to Python.
const LONGEST: usize = 1 << 16;

/// Bits by which the number of a word is turned for each word behind it in a run.
pub const TURN: u32 = 21;
/// Bytes of a word that are looked at together: two numbers.
pub const AT_ONCE: usize = 16;
/// Bytes of which it is found together where words begin and end.
pub const BLOCK: usize = 64;

/// What characters beyond ASCII become, and what the number of a word is made with.
pub struct Folding<'a> {
    /// Where in `texts` each character's text begins, with its length before it.
    places: &'a [u32],
    texts: &'a [u8],
    mixer: u64,
    base: u64,
}

impl<'a> Folding<'a> {
    pub fn of(places: &'a [u32], texts: &'a [u8], base: u64, mixer: u64) -> Self {
        Self { places, texts, mixer, base }
    }

    /// The number of a word, of its sum and whether it has a digit.
    #[inline(always)]
    fn of_sum(&self, (sum, digit): (u64, bool)) -> u64 {
        mixed(sum, self.mixer) & !1 | u64::from(digit)
    }
}

/// A number that is spread over all bits.
#[inline(always)]
pub fn mixed(number: u64, mixer: u64) -> u64 {
    let mixed = number.wrapping_mul(mixer);
    mixed ^ (mixed >> 29)
}

/// Put in place of numbers of words those of the runs of so many words.
pub fn runs(codes: &mut Vec<u64>, words: usize) {
    match Level::best() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => crate::simd::runs(codes, words),
        _ => runs_with::<Portable>(codes, words),
    }
}

/// Compiled for one instruction set, as `sketch_with`.
#[allow(clippy::extra_unused_type_parameters)]
#[inline(always)]
pub fn runs_with<I: Isa>(codes: &mut Vec<u64>, words: usize) {
    let count = (codes.len() + 1).saturating_sub(words);
    if words == 3 {
        for first in 2..codes.len() {
            if let Some([one, two, three]) = codes.get(first - 2..=first).and_then(<[u64]>::first_chunk) {
                codes[first - 2] = one.rotate_left(2 * TURN) ^ two.rotate_left(TURN) ^ three;
            }
        }
    } else if words > 1 {
        for first in 0..count {
            codes[first] = codes[first..][..words].iter().fold(0, |all: u64, word| all.rotate_left(TURN) ^ word);
        }
    }
    codes.truncate(count);
}

/// Of those words of a text that have a digit: three bits for each, by its number. Where one text has bits that the other
/// lacks, it has words that the other lacks.
#[must_use]
pub fn bits_of_numbers(codes: &[u64]) -> u64 {
    match Level::best() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => crate::simd::bits_of_numbers(codes),
        _ => bits_with::<Portable>(codes),
    }
}

/// Compiled for one instruction set, as `sketch_with`.
#[allow(clippy::extra_unused_type_parameters)]
#[inline(always)]
pub fn bits_with<I: Isa>(codes: &[u64]) -> u64 {
    let of_word =
        |code: u64| (code & 1) << (code >> 58) | (code & 1) << (code >> 52 & 63) | (code & 1) << (code >> 46 & 63);
    codes.iter().fold(0, |bits, &code| bits | of_word(code))
}

/// Why a text has no numbers.
#[derive(Debug, PartialEq)]
pub enum Left {
    /// A character of which nothing is known.
    Unknown(u32),
    /// It is for Python.
    Odd,
}

/// Bytes of a text whose words are found together, whole blocks, and how many ends of words are written together.
const TOGETHER: usize = 16 * BLOCK;
const EDGES: usize = 16;

/// Room for one text after another: its bytes as its words are compared, and where these begin and end.
#[derive(Default)]
pub struct Room {
    flat: Vec<u8>,
    edges: Vec<u32>,
}

/// Put a text into `flat` as its words are compared, with blanks for what is no part of a word; how many bytes that are,
/// behind which there are two blocks of others at least.
#[inline(always)]
fn flatten<I: Isa>(folding: &Folding, text: &str, flat: &mut Vec<u8>) -> Result<usize, Left> {
    let (mut at, mut end) = (0, 0);
    loop {
        let needed = end + (text.len() - at) + 2 * BLOCK;
        if flat.len() < needed {
            flat.resize(needed, b' ');
        }
        let taken = I::flat_ascii(text.as_bytes(), at, flat.get_mut(end..).unwrap_or(&mut []));
        (at, end) = (at + taken, end + taken);
        if at >= text.len() {
            return Ok(end);
        }
        while let Some(rest) =
            text.as_bytes().get(at..).filter(|rest| rest.first().is_some_and(|byte| !byte.is_ascii()))
        {
            let (code, length) = character(rest);
            at += length;
            let place = *folding.places.get(code as usize).ok_or(Left::Odd)?;
            if place == UNKNOWN {
                return Err(Left::Unknown(code));
            }
            let (length, folded) =
                folding.texts.get(place as usize..).and_then(<[u8]>::split_first).ok_or(Left::Odd)?;
            let length = usize::from(*length);
            if flat.len() < end + length.max(AT_ONCE) {
                flat.resize(2 * (end + length.max(AT_ONCE)), b' ');
            }
            let to = flat.get_mut(end..).unwrap_or(&mut []);
            match (to.first_chunk_mut::<AT_ONCE>(), folded.first_chunk::<AT_ONCE>()) {
                (Some(to), Some(folded)) if length <= AT_ONCE => *to = *folded, // what is too much is written over
                _ => to.iter_mut().zip(folded.get(..length).ok_or(Left::Odd)?).for_each(|(to, from)| *to = *from),
            }
            end += length;
        }
    }
}

/// Put the numbers of the words of a text into `codes`.
pub fn words(folding: &Folding, text: &str, codes: &mut Vec<u64>, room: &mut Room) -> Result<(), Left> {
    match Level::best() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => crate::simd::words(folding, text, codes, room),
        _ => words_with::<Portable>(folding, text, codes, room),
    }
}

#[inline(always)]
pub fn words_with<I: Isa>(folding: &Folding, text: &str, codes: &mut Vec<u64>, room: &mut Room) -> Result<(), Left> {
    codes.clear();
    let Room { flat, edges } = room;
    edges.resize(TOGETHER + EDGES, 0);
    let end = flatten::<I>(folding, text, flat)?;
    if let Some(behind) = flat.get_mut(end..).and_then(<[u8]>::first_chunk_mut::<BLOCK>) {
        *behind = [b' '; BLOCK]; // so that all words end
    }
    let (mut inside, mut open) = (0, None);
    for (base, some) in
        (0..).step_by(TOGETHER).zip(flat.get(..(end / BLOCK + 1) * BLOCK).unwrap_or(&[]).chunks(TOGETHER))
    {
        let mut count = 0;
        for (first, block) in (0..).step_by(BLOCK).zip(some.chunks_exact(BLOCK)) {
            let parts = !block.first_chunk().map_or(0, |block| I::places(block, b' '));
            let mut found = parts ^ (parts << 1 | inside);
            inside = parts >> 63;
            let behind = count + found.count_ones() as usize;
            while let Some(places) =
                edges.get_mut(count..).and_then(<[u32]>::first_chunk_mut::<EDGES>).filter(|_| count < behind)
            {
                for place in places {
                    *place = first + found.trailing_zeros(); // those of too many are written over
                    found &= found.wrapping_sub(1);
                }
                count += EDGES;
            }
            count = behind;
        }
        let mut found = edges.get(..count).unwrap_or(&[]);
        if let (Some(start), Some((&end, rest))) = (open, found.split_first()) {
            codes.push(
                number::<I>(folding, flat.get(start..).unwrap_or(&[]), base + end as usize - start).ok_or(Left::Odd)?,
            );
            (open, found) = (None, rest);
        }
        let pairs = found.chunks_exact(2);
        if let [start] = pairs.remainder() {
            open = Some(base + *start as usize);
        }
        let before = codes.len();
        codes.resize(before + pairs.len(), 0);
        for (code, ends) in codes.iter_mut().skip(before).zip(pairs) {
            let (start, length) = (base + ends[0] as usize, (ends[1] - ends[0]) as usize);
            let word = flat.get(start..).unwrap_or(&[]);
            *code = match word.first_chunk() {
                Some(word) if length <= AT_ONCE => folding.of_sum(I::sum_of_word(folding.base, word, length)),
                _ => number::<I>(folding, word, length).ok_or(Left::Odd)?,
            };
        }
    }
    Ok(())
}

/// The number of the word that so many bytes are, which are not the last ones of all; None of one that is too long.
fn number<I: Isa>(folding: &Folding, bytes: &[u8], length: usize) -> Option<u64> {
    let (mut sum, mut power, mut digit) = (0_u64, 1_u64, false);
    let behind = folding.base.wrapping_mul(folding.base);
    for (first, chunk) in (0..length).step_by(AT_ONCE).zip(bytes.chunks_exact(AT_ONCE)) {
        let (of_chunk, has_digit) = I::sum_of_word(folding.base, chunk.first_chunk()?, length - first);
        sum = sum.wrapping_add(of_chunk.wrapping_mul(power));
        digit |= has_digit;
        power = power.wrapping_mul(behind);
    }
    (length <= LONGEST).then(|| folding.of_sum((sum, digit)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::{tries, Random};

    const ODD: u32 = u32::MAX - 1;

    fn of(text: &str) -> Result<Vec<u64>, Left> {
        let mut places = vec![UNKNOWN; 0x2000];
        (places[0xE9], places[0xD7], places[0x301], places[0xEA]) = (0, 3, ODD, 5);
        let folding = Folding::of(&places, b"\x02\xc3\xa9\x01 \x14abcdefghijklmnopqrst", 3, 1);
        let mut codes = vec![7];
        words(&folding, text, &mut codes, &mut Room::default()).map(|()| codes)
    }

    #[test]
    fn words_are_sums_with_a_mark_for_digits() {
        assert_eq!(of(""), Ok(vec![]));
        assert_eq!(of(" B\u{d7}b, 3"), Ok(vec![98, 98, 51]));
        let sum = 0xA9C3_6361_u64;
        assert_eq!(of("ac\u{e9}"), Ok(vec![(sum ^ (sum >> 29)) & !1]));
        assert_eq!(of("x\u{ea}\u{ea} y"), of("xabcdefghijklmnopqrstabcdefghijklmnopqrst y"));
    }

    #[test]
    fn bits_are_those_of_words_with_digits() {
        assert_eq!(bits_of_numbers(&[]), 0);
        assert_eq!(bits_of_numbers(&[3, 2, (5 << 58) | 1, (7 << 58) | 6]), 1 | 1 << 5);
        assert_eq!(bits_of_numbers(&[(5 << 58) | (6 << 52) | (7 << 46) | 1]), 7 << 5);
    }

    #[test]
    fn runs_are_of_the_words_in_their_order() {
        let (one, two, three) = (1 << 42, 1 << 21, 1);
        let of_three = vec![7 * one + 8 * two + 9 * three, 8 * one + 9 * two + 7 * three];
        let of_two = vec![7 * two + 8, 8 * two + 9, 9 * two + 7];
        for (words, numbers) in [(1, vec![7, 8, 9, 7]), (2, of_two), (3, of_three), (5, vec![])] {
            let mut codes = vec![7, 8, 9, 7];
            runs(&mut codes, words);
            assert_eq!(codes, numbers, "{words}");
        }
    }

    #[test]
    fn long_words_go_on_with_their_powers() {
        let eight = 0x6161_6161_6161_6161_u64;
        let sum = (0..5).map(|place| 3_u64.wrapping_pow(place).wrapping_mul(eight)).fold(0, u64::wrapping_add);
        assert_eq!(of(&"a".repeat(40)), Ok(vec![(sum ^ (sum >> 29)) & !1]));
    }

    #[test]
    fn fuzz_all_ways_make_the_same_numbers() {
        let places: Vec<u32> = (0..0x5000).map(|code| [0, 3, 5, ODD][code % 4]).collect();
        let (texts, base) = (b"\x02\xc3\xa9\x01 \x05 \xe6\xbc\xa2 ", 0xD6E8_FEB8_6659_FD93);
        let with_more = [&texts[..], &[b'z'; 2 * AT_ONCE]].concat(); // so that texts are put there at once
        let [folding, other] = [&texts[..], &with_more].map(|texts| Folding::of(&places, texts, base, 0x9E37));
        let mut random = Random(3);
        for _ in 0..tries(3_000) {
            let length = *random.of(&[0, 9, 31, 64, 200]);
            let pieces = ["a", "Zb", "xyzxyzxyz", "0", "a1", " ", "  ", "-", "\u{7f}", "\n", "é", "漢", "ā", "\u{e7}"];
            let text: String = (0..length).map(|_| *random.of(&pieces)).collect();
            let (mut codes, mut others, mut room) = (vec![], vec![], Room::default());
            let found = words(&folding, &text, &mut codes, &mut room);
            assert_eq!(found, words_with::<Portable>(&folding, &text, &mut others, &mut room), "{text:?}");
            assert!(found.is_err() || codes == others, "{text:?}");
            assert_eq!(found, words(&other, &text, &mut others, &mut room), "{text:?}");
            assert!(found.is_err() || codes == others, "{text:?}");
            assert_eq!(bits_of_numbers(&codes), bits_with::<Portable>(&codes));
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
