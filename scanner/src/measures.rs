//! What the rules of quality ask of every text, found in one reading: how long it is, how it begins and stops, codes of
//! it, and whether a rule may have something to say of its characters.

use std::ops::RangeInclusive;

use crate::hash::{hash, Seeds};
use crate::isa::{padded, Isa, Level, Portable};
use crate::texts::character;
use crate::words::BLOCK;

/// What kinds of characters are there for: a rule reports one, or may; six in a row may be of the East, or twice six
/// letters of the West; white space; what ends a sentence.
const REPORTED: u8 = 1;
const EAST: u8 = 2;
const ACCENT: u8 = 4;
const SPACE: u8 = 8;
const END: u8 = 16;
const IN_A_ROW: u32 = 6;
/// The characters of ASCII that are visible, and blanks.
const PLAIN: RangeInclusive<char> = ' '..='~';
/// Characters of which it is seen how a text begins.
const HEAD: usize = 100;

/// What characters are, as Python says.
pub struct Alphabet<'a> {
    /// The kind of each character, by its number; the last is that of all behind.
    kinds: &'a [u8],
    /// What each kind is there for.
    uses: &'a [u8],
    /// Of each kind in turn, whether a rule may report it (not 0) before each of the kinds.
    pairs: &'a [u8],
    /// Of the visible characters of ASCII there is nothing to see, not of two side by side either; and of blanks only
    /// that they are white space.
    is_usual: bool,
}

impl<'a> Alphabet<'a> {
    /// None where the tables do not fit together.
    pub fn of(kinds: &'a [u8], uses: &'a [u8], pairs: &'a [u8]) -> Option<Self> {
        let number = uses.len();
        let is_whole = number.checked_mul(number) == Some(pairs.len()) && !kinds.is_empty();
        if !is_whole || kinds.iter().any(|&kind| usize::from(kind) >= number) {
            return None;
        }
        let mut found = Self { kinds, uses, pairs, is_usual: false };
        let plain = || PLAIN.map(|character| (found.kind_of(character as usize), character));
        found.is_usual = plain().all(|((uses, kind), character)| {
            uses & !END == if character == ' ' { SPACE } else { 0 }
                && plain().all(|((_, next), _)| pairs[kind * number + next] == 0)
        });
        Some(found)
    }

    /// What a character is there for, and its kind.
    fn kind_of(&self, code: usize) -> (u8, usize) {
        let kind = self.kinds[code.min(self.kinds.len() - 1)];
        (self.uses[usize::from(kind)], usize::from(kind))
    }

    fn is(&self, character: char, what: u8) -> bool {
        self.kind_of(character as usize).0 & what != 0
    }
}

/// How a text stops and begins: inside a sentence; anew; or with what Python has to look at for that.
const STOPS: u8 = 1;
const BEGINS: u8 = 2;
pub const DOUBTFUL: u8 = 4;

/// What is found of a text.
#[derive(Debug, Default, PartialEq)]
pub struct Measured {
    pub characters: u64,
    pub blanks: u64,
    /// A code of it with one blank for all white space between words; 0 where nothing is left.
    pub squeezed: u64,
    pub exact: u64,
    pub ends: u8,
    /// A rule may have something to say of its characters.
    pub is_seen: bool,
}

/// What is seen of the characters of a text.
#[derive(Debug, PartialEq)]
pub struct Looked {
    characters: u64,
    blanks: u64,
    /// White space of another kind than single blanks between words.
    odd_spaces: bool,
    pub is_seen: bool,
}

/// Look at the characters of a text.
pub fn look(alphabet: &Alphabet, text: &str) -> Looked {
    match Level::best() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => crate::simd::look(alphabet, text),
        _ => look_with::<Portable>(alphabet, text),
    }
}

#[inline(always)]
pub fn look_with<I: Isa>(alphabet: &Alphabet, text: &str) -> Looked {
    let bytes = text.as_bytes();
    let mut reading = Reading::of(alphabet, bytes);
    let (mut blanks, mut others, mut doubled, mut before) = (0, 0, 0, 0);
    for first in (0..bytes.len()).step_by(BLOCK) {
        let rest = bytes.get(first..).unwrap_or(&[]);
        let behind = BLOCK - rest.len().min(BLOCK);
        let kinds = match rest.first_chunk().or(bytes.last_chunk()) {
            Some(block) => I::kinds(block).map(|bits| bits >> behind),
            None => I::kinds(&padded(rest)),
        };
        let [blank, plain, going_on] = kinds;
        blanks += u64::from(blank.count_ones());
        others += u64::from(going_on.count_ones());
        doubled |= blank & (blank << 1 | before);
        before = blank >> (BLOCK - 1);
        let mut begins = !going_on & u64::MAX >> behind;
        if alphabet.is_usual {
            begins &= !plain;
        }
        while begins != 0 {
            reading.take(first + begins.trailing_zeros() as usize);
            begins &= begins - 1;
        }
    }
    reading.pass(bytes.len());
    let odd_spaces = reading.odd_spaces || doubled != 0;
    let is_seen = reading.seen != 0 || reading.uses & REPORTED != 0;
    Looked { characters: bytes.len() as u64 - others, blanks, odd_spaces, is_seen }
}

/// What was seen of a text so far.
struct Reading<'a, 'b> {
    alphabet: &'b Alphabet<'a>,
    bytes: &'b [u8],
    /// Up to where its characters were taken.
    at: usize,
    uses: u8,
    seen: u8,
    odd_spaces: bool,
    /// The kind of the character before.
    before: Option<usize>,
    east: u32,
    accents: u32,
    long_accents: u32,
}

impl<'a, 'b> Reading<'a, 'b> {
    fn of(alphabet: &'b Alphabet<'a>, bytes: &'b [u8]) -> Self {
        let odd_spaces = bytes.starts_with(b" ");
        let (uses, seen, before) = (0, 0, None);
        Self { alphabet, bytes, at: 0, uses, seen, odd_spaces, before, east: 0, accents: 0, long_accents: 0 }
    }

    /// Pass over what is usual, up to a place: the first of it may be reported behind what is before it, and what comes
    /// then behind the last.
    #[inline(always)]
    fn pass(&mut self, to: usize) {
        let passed = self.bytes.get(self.at..to).unwrap_or(&[]);
        let Some((&first, &last)) = passed.first().zip(passed.last()) else { return };
        self.see(self.alphabet.kind_of(first.into()).1);
        self.before = Some(self.alphabet.kind_of(last.into()).1);
        (self.east, self.accents) = (0, 0);
    }

    /// See a character of this kind behind the one before.
    #[inline(always)]
    fn see(&mut self, kind: usize) {
        if let Some(before) = self.before {
            self.seen |= self.alphabet.pairs[before * self.alphabet.uses.len() + kind];
        }
        self.before = Some(kind);
    }

    /// Take the character at a place, behind what is usual.
    #[inline(always)]
    fn take(&mut self, place: usize) {
        self.pass(place);
        let (code, length) = character(self.bytes.get(place..).unwrap_or(&[]));
        self.at = place + length;
        let (use_of, kind) = self.alphabet.kind_of(code as usize);
        self.see(kind);
        self.uses |= use_of;
        self.odd_spaces |= use_of & SPACE != 0 && code != ' '.into();
        if length == 1 {
            (self.east, self.accents) = (0, 0);
            return;
        }
        self.east = if use_of & EAST != 0 { self.east + 1 } else { 0 };
        self.accents = if use_of & ACCENT != 0 { self.accents + 1 } else { 0 };
        self.long_accents += u32::from(self.accents == IN_A_ROW);
        self.seen |= u8::from(self.east == IN_A_ROW || self.long_accents == 2);
    }
}

/// Look at a text; `title` is the first word of the one before, and then of this one.
pub fn measure<'a>(
    alphabet: &Alphabet,
    seeds: &Seeds,
    text: &'a str,
    title: &mut Option<&'a str>,
    room: &mut Vec<u8>,
) -> Measured {
    let Looked { characters, blanks, odd_spaces, is_seen } = look(alphabet, text);
    let exact = hash(seeds, text.as_bytes());
    let trimmed = text.trim_matches(|c| alphabet.is(c, SPACE));
    let squeezed = if trimmed.is_empty() {
        0
    } else if odd_spaces {
        room.clear();
        for word in trimmed.split(|c| alphabet.is(c, SPACE)).filter(|word| !word.is_empty()) {
            if !room.is_empty() {
                room.push(b' ');
            }
            room.extend_from_slice(word.as_bytes());
        }
        hash(seeds, room).max(1)
    } else if trimmed.len() == text.len() {
        exact.max(1)
    } else {
        hash(seeds, trimmed.as_bytes()).max(1)
    };
    let kept = text.trim_end_matches(|c| alphabet.is(c, SPACE));
    let goes_on = !text.ends_with("  ") && !kept.chars().next_back().is_some_and(|c| alphabet.is(c, END));
    let stops = if goes_on || text.ends_with("...") { STOPS } else { 0 };
    let word = first_word(text);
    let ends = stops | begins(text, title.replace(word).map(|before| before == word));
    Measured { characters, blanks, squeezed, exact, ends, is_seen }
}

/// The first characters of a text.
fn head(text: &str) -> &str {
    match text.get(..HEAD) {
        Some(head) if head.is_ascii() => head,
        _ => text.char_indices().nth(HEAD).map_or(text, |(end, _)| &text[..end]),
    }
}

/// The first word of the head of a text.
fn first_word(text: &str) -> &str {
    match text.as_bytes().iter().take(HEAD).position(|&byte| byte == b' ') {
        Some(end) => &text[..end],
        None => head(text).split(' ').next().unwrap_or(""),
    }
}

/// Whether the head of a text begins anew, with a capital letter; `is_repeated`: whether its first word is that of the
/// text before, where that is known.
fn begins(text: &str, is_repeated: Option<bool>) -> u8 {
    let Some(first) = text.chars().next() else { return 0 };
    if !first.is_ascii() {
        return DOUBTFUL;
    }
    let is_lower = u8::is_ascii_lowercase;
    match (first.is_ascii_uppercase(), is_repeated) {
        (false, _) | (true, Some(true)) => 0,
        (true, None) => DOUBTFUL,
        (true, Some(false)) if text.as_bytes().iter().take(HEAD).any(is_lower) => BEGINS,
        (true, Some(false)) if head(text).as_bytes().iter().any(is_lower) => BEGINS,
        (true, Some(false)) => u8::from(!head(text).is_ascii()) * DOUBTFUL, // capitals throughout
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::{tries, Random};

    /// Kinds: 0 all others, 1 of the East, 2 accents, 3 white space, 4 ends, 5 reported, 6 and 7 reported side by side.
    fn of(texts: &[&str]) -> Vec<Measured> {
        read(texts, true)
    }

    fn tables() -> (Vec<u8>, [u8; 8], [u8; 64]) {
        let mut kinds = vec![0; 258];
        kinds[0x100] = 1;
        kinds[0xE0..0xF0].fill(2);
        (kinds[usize::from(b' ')], kinds[usize::from(b'\t')], kinds[0xA0]) = (3, 3, 3);
        (kinds[usize::from(b'.')], kinds[0x7F], kinds[0xC3], kinds[0xA9]) = (4, 5, 6, 7);
        let mut pairs = [0; 64];
        (pairs[6 * 8 + 7], pairs[2 * 8], pairs[5 * 8]) = (1, 1, 1);
        (kinds, [0, EAST, ACCENT, SPACE, END, REPORTED, 0, 0], pairs)
    }

    fn read(texts: &[&str], together: bool) -> Vec<Measured> {
        let (kinds, uses, pairs) = tables();
        let mut alphabet = Alphabet::of(&kinds, &uses, &pairs).unwrap();
        assert!(alphabet.is_usual);
        alphabet.is_usual = together;
        let (mut title, mut room) = (None, vec![]);
        texts.iter().map(|text| measure(&alphabet, &Seeds::of(7, u64::MAX), text, &mut title, &mut room)).collect()
    }

    #[test]
    fn fuzz_characters_are_seen_together_as_one_by_one() {
        let mut random = Random(5);
        let mut before = String::new();
        for _ in 0..tries(2_000) {
            let text: String = (0..random.below(150))
                .flat_map(|_| {
                    let many = if random.below(4) == 0 { 1 + random.below(9) } else { 1 };
                    vec![
                        *random.of(&[
                            ' ', 'a', 'B', '.', '~', '\t', '\u{7f}', '\u{1f}', 'é', '\u{c3}', '\u{a9}', '漢', '😀'
                        ]);
                        many
                    ]
                })
                .collect();
            assert_eq!(read(&[&before, &text], true), read(&[&before, &text], false), "{before:?}, {text:?}");
            let (kinds, uses, pairs) = tables();
            let alphabet = Alphabet::of(&kinds, &uses, &pairs).unwrap();
            let found = look(&alphabet, &text);
            assert_eq!(found, look_with::<Portable>(&alphabet, &text), "{text:?}");
            let (characters, blanks) = (text.chars().count() as u64, text.matches(' ').count() as u64);
            assert_eq!((found.characters, found.blanks), (characters, blanks), "{text:?}");
            let odd_spaces = text.starts_with(' ') || text.contains("  ") || text.contains('\t');
            assert_eq!(found.odd_spaces, odd_spaces, "{text:?}");
            before = text;
        }
    }

    fn seen(text: &str) -> bool {
        of(&[text])[0].is_seen
    }

    #[test]
    fn lengths_and_codes() {
        let found = of(&["a b", " a \t\u{a0}b ", "ab", "", "\t \u{a0}", "é漢 \u{1F600}"]);

        assert_eq!(found.iter().map(|one| one.characters).collect::<Vec<_>>(), [3, 7, 2, 0, 3, 4]);
        assert_eq!(found.iter().map(|one| one.blanks).collect::<Vec<_>>(), [1, 3, 0, 0, 1, 1]);
        assert_eq!((found[0].squeezed, found[3].squeezed, found[4].squeezed), (found[1].squeezed, 0, 0));
        assert_ne!((found[0].squeezed, found[0].exact), (found[2].squeezed, found[1].exact));
    }

    #[test]
    fn characters_that_a_rule_may_report() {
        assert!(seen("a\u{7f}") && seen("\u{c3}\u{a9}") && seen("ab\u{c3}\u{a9}"));
        assert!(!seen("") && !seen("ab") && !seen("\u{c3}a\u{a9}") && !seen("\u{a9}\u{c3}"));
        assert!(
            seen(&"\u{100}".repeat(6))
                && !seen(&"\u{100}".repeat(5))
                && !seen("\u{100}\u{100}\u{100}a\u{100}\u{100}\u{100}")
        );
        assert!(seen("éééééé éééééé") && !seen(&"é".repeat(20)) && !seen("éééééé ééééé é"));
    }

    #[test]
    fn how_texts_stop_and_begin() {
        let ends = |texts: &[&str]| of(texts).iter().map(|one| one.ends).collect::<Vec<_>>();

        assert_eq!(ends(&["a", "a.", "a. \t", "a...", "a  ", ""]), [STOPS, 0, 0, STOPS, 0, STOPS]);
        assert_eq!(ends(&["Ab.", "Ab.", "Cb.", "Cb. d.", "D e.", "D f.", "G H.", "É."])[1..], [0, 2, 0, 2, 0, 0, 4]);
        assert_eq!(ends(&["Ab.", "a.", "B É.", "B.", "B."]), [DOUBTFUL, 0, DOUBTFUL, 0, 0]);
        let long = format!("{}a.", "A".repeat(HEAD));
        assert_eq!(ends(&["b.", &long, &long[1..]]), [0, 0, BEGINS]);
    }

    #[test]
    fn tables_that_do_not_fit_are_refused() {
        for (kinds, uses, pairs) in [(&[0_u8][..], 0, 0), (&[], 1, 1), (&[1], 1, 1), (&[0], 2, 3)] {
            let (uses, pairs) = (vec![0; uses], vec![0; pairs]);
            assert!(Alphabet::of(kinds, &uses, &pairs).is_none());
        }
    }
}
