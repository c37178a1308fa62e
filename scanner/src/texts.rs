//! Numbers of texts: their characters, their tokens and the script that most of their letters are of.

use crate::hash::{code, Seeds};
use crate::isa::{last_of, padded, Isa, Level, Portable};

/// What a character is, in the table that Python gives: its script (0: no letter), and these.
pub(crate) const SCRIPT: u8 = 0x1F;
pub(crate) const IN_WORD: u8 = 0x20;
const ALONE: u8 = 0x40;
/// A character that Python has not said anything of yet.
pub(crate) const UNKNOWN: u8 = 0xFF;
const SCRIPTS: usize = SCRIPT as usize + 1;

/// What is counted, and how.
pub struct Counting<'a> {
    /// What each character is, by its number; the last is for all behind.
    pub kinds: &'a [u8],
    /// Characters of a word that count as one token at most.
    pub longest: u64,
    /// The same of ASCII alone.
    pub ascii: Option<Ascii>,
    /// The script that Han characters count with, where it occurs, and theirs.
    pub kana: usize,
    pub han: usize,
}

/// Three sets of characters of ASCII: those of words, those that are tokens alone, and letters.
pub struct Sets {
    /// Of each character the sets that it is in, a bit for each.
    pub(crate) of: [u8; 128],
    /// For each set and lower half of a byte the upper halves of those in it, a bit for each.
    pub(crate) by_half: [[u8; 16]; 3],
}

/// What ASCII characters are, where all are known and their letters are of one script.
pub struct Ascii {
    sets: Sets,
    script: usize,
}

impl Ascii {
    /// Those of a table of all characters.
    #[must_use]
    pub fn of(kinds: &[u8]) -> Option<Self> {
        let kinds = kinds.first_chunk::<128>()?;
        let script = kinds.iter().map(|kind| kind & SCRIPT).max()?;
        let is_plain = |&kind: &u8| {
            let own = kind & SCRIPT;
            kind != UNKNOWN && (own == 0 || own == script) && kind & (IN_WORD | ALONE) != IN_WORD | ALONE
        };
        let of = kinds.map(|kind| {
            u8::from(kind & IN_WORD != 0) | u8::from(kind & ALONE != 0) << 1 | u8::from(kind & SCRIPT != 0) << 2
        });
        let mut by_half = [[0; 16]; 3];
        for (byte, sets) in of.iter().enumerate() {
            for (number, halves) in by_half.iter_mut().enumerate() {
                halves[byte & 0xF] |= (sets >> number & 1) << (byte >> 4);
            }
        }
        kinds.iter().all(is_plain).then_some(Self { sets: Sets { of, by_half }, script: script.into() })
    }
}

/// How many tokens begin in words, whose characters are these bits of the lowest `length` ones, and how long the last
/// word is at their end, which was `run` before: less than `longest`, with which another token begins. By the `steps` those
/// are shifted that are as long by themselves: bits of them remain.
#[inline(always)]
fn words_in(words: u32, length: u32, run: u64, longest: u64, steps: &[u32; 5]) -> (u64, u64) {
    let held = steps.iter().fold(words, |held, step| held & held >> step);
    if held != 0 || run + u64::from(words.trailing_ones()) >= longest {
        return long_words_in(words, length, run, longest);
    }
    let begin = words & !(words << 1 | u32::from(run > 0));
    let last = u64::from((words << (u32::BITS - length)).leading_ones());
    (begin.count_ones().into(), if last == u64::from(length) { run + last } else { last })
}

/// By how much what is as long as that is shifted in turn, each time by no more than it was already.
#[inline(always)]
fn steps_to(longest: u64) -> [u32; 5] {
    let (mut have, most) = (1, longest.min(u32::BITS.into()) as u32);
    [(); 5].map(|()| {
        let step = have.min(most - have);
        have += step;
        step
    })
}

/// The same where a word is too long for one token.
fn long_words_in(words: u32, length: u32, mut run: u64, longest: u64) -> (u64, u64) {
    let (mut begun, mut at) = (0, 0);
    while at < length {
        let own = u64::from((words >> at).trailing_ones());
        if own > 0 {
            begun += (run + own).div_ceil(longest) - u64::from(run > 0);
            run = (run + own) % longest;
            at += own as u32;
        } else {
            run = 0;
            at += (words >> at).trailing_zeros();
        }
    }
    (begun, run)
}

/// The tokens of a text, and its script; the character of which nothing is known, where there is one.
pub type Counted = Result<(i64, u8), u32>;

/// Letters that were seen, by their scripts.
struct Letters {
    each: [u64; SCRIPTS],
    /// The scripts that there are letters of, a bit for each.
    seen: u32,
    /// The script of the last one, and how many of it are in a row.
    last: u8,
    run: u64,
}

impl Letters {
    #[inline(always)]
    fn add(&mut self, script: u8) {
        if script != 0 && script != self.last {
            self.end();
            self.last = script;
        }
        self.run += u64::from(script != 0);
    }

    fn end(&mut self) {
        self.count(self.last.into(), self.run);
        self.run = 0;
    }

    #[inline(always)]
    fn count(&mut self, script: usize, letters: u64) {
        self.each[script] += letters;
        self.seen |= u32::from(letters > 0) << script;
    }

    /// The script that most are of, the first of several; 0 where there are none.
    #[inline(always)]
    fn most(&self) -> usize {
        let (mut left, mut most) = (self.seen, 0);
        while left != 0 {
            let script = left.trailing_zeros() as usize;
            if self.each[script] > self.each[most] {
                most = script;
            }
            left &= left - 1;
        }
        most
    }
}

/// The character that begins with the first byte of these, which are UTF-8, and its bytes.
#[inline(always)]
pub fn character(bytes: &[u8]) -> (u32, usize) {
    let [first, second, third, fourth] = bytes.first_chunk().copied().unwrap_or_else(|| padded(bytes));
    let (first, [second, third, fourth]) =
        (u32::from(first), [second, third, fourth].map(|byte| u32::from(byte & 0x3F)));
    if first < 0x80 {
        return (first, 1);
    }
    if first >= 0xF0 {
        return ((first & 7) << 18 | second << 12 | third << 6 | fourth, 4);
    }
    // without a branch, as nobody can guess which it is
    let (is_long, short) = (u32::from(first >= 0xE0), (first & 0x1F) << 6 | second);
    let long = (first & 0xF) << 12 | second << 6 | third;
    (short ^ (short ^ long) & is_long.wrapping_neg(), 2 + is_long as usize)
}

impl Counting<'_> {
    #[inline(always)]
    fn kind(&self, character: u32) -> Result<u8, u32> {
        let kind = self.kinds[(character as usize).min(self.kinds.len() - 1)];
        (kind != UNKNOWN).then_some(kind).ok_or(character)
    }
}

/// Count one text, which is UTF-8: of what is not, nothing is said.
#[inline(always)]
pub fn count_with<I: Isa>(counting: &Counting, text: &[u8]) -> Counted {
    let mut letters = Letters { each: [0; SCRIPTS], seen: 0, last: 0, run: 0 };
    let (mut tokens, mut run, mut of_ascii) = (0, 0_u64, 0);
    let (longest, steps) = (counting.longest, steps_to(counting.longest));
    let mut at = 0;
    if let Some(ascii) = &counting.ascii {
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let (chunk, most) = match rest.first_chunk() {
                Some(chunk) => (*chunk, u32::BITS),
                None => (last_of(text, rest.len()), rest.len() as u32),
            };
            let (beyond, sets) = I::in_sets(&ascii.sets, &chunk);
            let all = u32::MAX >> (u32::BITS - most);
            let [mut words, mut alone, of_script] = sets.map(|set| set & all & !beyond);
            let mut length = most;
            if beyond != 0 {
                let going_on = I::going_on(&chunk);
                let mut begins = beyond & all & !going_on;
                while begins != 0 {
                    let place = begins.trailing_zeros();
                    let kind = counting.kind(character(&rest[place as usize..]).0)?;
                    letters.add(kind & SCRIPT);
                    words |= u32::from(kind & IN_WORD != 0) << place;
                    alone |= u32::from(kind & (IN_WORD | ALONE) == ALONE) << place;
                    begins &= begins - 1;
                }
                length = (all & !going_on).count_ones();
                words = I::squeezed(words, all & !going_on);
            }
            if length > 0 {
                let begun;
                (begun, run) = words_in(words, length, run, longest, &steps);
                tokens += begun as i64 + i64::from(alone.count_ones());
                of_ascii += u64::from(of_script.count_ones());
            }
            at += most as usize;
        }
    }
    while at < text.len() {
        let (code, length) = character(&text[at..]);
        let kind = counting.kind(code)?;
        letters.add(kind & SCRIPT);
        if kind & IN_WORD != 0 {
            tokens += i64::from(run == 0);
            run = if run + 1 == longest { 0 } else { run + 1 };
        } else {
            tokens += i64::from(kind & ALONE != 0);
            run = 0;
        }
        at += length;
    }
    letters.end();
    letters.count(counting.ascii.as_ref().map_or(0, |ascii| ascii.script), of_ascii);
    if letters.each[counting.kana] > 0 {
        letters.each[counting.kana] += letters.each[counting.han];
    }
    Ok((tokens, letters.most() as u8))
}

/// The quickest way to count that this processor has.
#[must_use]
pub fn quickest() -> fn(&Counting, &[u8]) -> Counted {
    match Level::best() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => crate::simd::count,
        _ => count_with::<Portable>,
    }
}

/// Count the characters of texts that are one behind the other in `data`, between `offsets`, and make their codes, of two
/// numbers each; how many have nothing but blanks, and how many may be integers. None where a text is not within the data.
pub fn facts(seeds: &Seeds, data: &[u8], offsets: &[i32], lengths: &mut [i64], codes: &mut [u64]) -> Option<[u64; 2]> {
    match Level::best() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => crate::simd::facts(seeds, data, offsets, lengths, codes),
        _ => facts_with::<Portable>(seeds, data, offsets, lengths, codes),
    }
}

#[inline(always)]
pub fn facts_with<I: Isa>(
    seeds: &Seeds,
    data: &[u8],
    offsets: &[i32],
    lengths: &mut [i64],
    codes: &mut [u64],
) -> Option<[u64; 2]> {
    let (mut empty, mut integers) = (0, 0);
    for ((pair, own), halves) in offsets.windows(2).zip(lengths).zip(codes.chunks_exact_mut(2)) {
        let text = data.get(usize::try_from(pair[0]).ok()?..usize::try_from(pair[1]).ok()?)?;
        *own = I::characters(text) as i64;
        let code = code(seeds, text);
        halves.copy_from_slice(&[code as u64, (code >> 64) as u64]);
        empty += u64::from(is_empty(text));
        integers += u64::from(may_be_integer(text));
    }
    Some([empty, integers])
}

/// Whether a text has nothing but blanks, tabs and line ends.
#[must_use]
pub fn is_empty(text: &[u8]) -> bool {
    text.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}

/// Whether a text has nothing but digits and minus signs.
fn may_be_integer(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_those_of_the_text() {
        let seeds = Seeds::of(1, u64::MAX);
        let long = "aé漢😀".repeat(500);
        for size in (0..200).chain([long.len()]) {
            let end = (size..size + 4).find(|&end| long.is_char_boundary(end)).unwrap();
            for start in (0..=end.min(12)).filter(|&start| long.is_char_boundary(start)) {
                let (text, offsets) = (&long[start..end], [start as i32, end as i32]);
                let (mut lengths, mut codes) = ([0], [0; 2]);
                assert_eq!(
                    facts(&seeds, long.as_bytes(), &offsets, &mut lengths, &mut codes),
                    Some([u64::from(start == end), 0])
                );
                assert_eq!(lengths, [text.chars().count() as i64]);
                assert_eq!(codes, [code(&seeds, text.as_bytes()) as u64, (code(&seeds, text.as_bytes()) >> 64) as u64]);
                assert_eq!(Portable::<false>::characters(text.as_bytes()), lengths[0] as u64);
            }
        }
        assert_eq!(facts(&seeds, b"ab", &[1, 3], &mut [0], &mut [0; 2]), None);
        let digits = facts(&seeds, b"12-3-a 4", &[0, 0, 2, 4, 6, 8], &mut [0; 5], &mut [0; 10]);
        assert_eq!(digits, Some([1, 2]));
        assert!(is_empty(b"") && is_empty(b" \t\r\n"));
        assert!(!is_empty(b"\x0b") && !is_empty(b"  a"));
    }

    const HAN: u8 = 14;
    const KANA: u8 = 15;

    fn kinds() -> Vec<u8> {
        let mut kinds = vec![UNKNOWN; 258];
        kinds[..0x80].fill(ALONE);
        kinds[usize::from(b' ')] = 0;
        kinds[usize::from(b'a')..=usize::from(b'z')].fill(IN_WORD | 1);
        kinds[0xE9] = IN_WORD | 1;
        kinds[0x100] = ALONE | HAN;
        kinds[0x101] = ALONE | KANA;
        kinds
    }

    fn of(text: &str) -> Result<(i64, u8), u32> {
        let kinds = kinds();
        let counting = |ascii| Counting { kinds: &kinds, longest: 4, ascii, kana: KANA.into(), han: HAN.into() };
        let found = count_with::<Portable>(&counting(Ascii::of(&kinds)), text.as_bytes());
        assert_eq!(found, count_with::<Portable>(&counting(None), text.as_bytes()));
        #[cfg(target_arch = "x86_64")]
        if Level::best() == Level::Avx2 {
            assert_eq!(found, crate::simd::count(&counting(Ascii::of(&kinds)), text.as_bytes()));
        }
        found
    }

    #[test]
    fn words_are_cut_and_signs_are_tokens() {
        assert_eq!(of(""), Ok((0, 0)));
        assert_eq!(of("ab, cd!"), Ok((4, 1)));
        assert_eq!(of("abcdefghi abcdé abcéd eé"), Ok((3 + 2 + 2 + 1, 1)));
        assert_eq!(of("abcd abcde"), Ok((3, 1)));
        assert_eq!(of("é"), Ok((1, 1)));
        assert_eq!(of("?!"), Ok((2, 0)));
    }

    #[test]
    fn all_ways_of_counting_agree() {
        let (mut state, pieces) = (1_u64, ["a", "bcd", "abcde", "efghijklmnopqrstuvwxyz", " ", ".,", "é", "\u{100}"]);
        for length in 0..400 {
            let mut text = String::new();
            for _ in 0..length % 40 {
                state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
                text += pieces[(state >> 61) as usize];
            }
            of(&text).unwrap();
        }
    }

    #[test]
    fn most_letters_say_the_script() {
        assert_eq!(of("a\u{100}"), Ok((2, 1)));
        assert_eq!(of("a\u{100}\u{100}"), Ok((3, 14)));
        assert_eq!(of("a\u{100}\u{101}"), Ok((3, 15)));
        assert_eq!(of("a\u{2000}\u{2001}"), Ok((3, 15))); // all behind are as the last one
    }

    #[test]
    fn a_character_that_is_not_known_is_named() {
        assert_eq!(of("abc\u{e8}"), Err(0xE8));
    }
}
