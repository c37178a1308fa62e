//! JSON as every reader reads it: what one of them may read in another way is not accepted.

use crate::hash::{hash, Seeds};
use crate::isa::Isa;
use crate::plan::Type;

/// Values that are nested deeper are left to Python.
const DEEPEST: usize = 32;

/// Digits that every reader reads exactly, also as a 64-bit float.
const MOST_DIGITS: usize = 15;

/// The integers up to here are what they are also as 64-bit floats; they have so many digits at most.
const SAFE: u64 = 1 << 53;
const LONGEST: usize = 16;

/// The byte at a place; NUL, which no grammar has, behind the end.
#[inline(always)]
pub fn peek(data: &[u8], at: usize) -> u8 {
    data.get(at).copied().unwrap_or(0)
}

/// Behind blanks and tabs, and behind line ends where a record may be spread over lines.
#[inline(always)]
pub fn skip_blanks<I: Isa>(data: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        let byte = peek(data, at);
        if byte > b' ' || !(matches!(byte, b' ' | b'\t') || (I::SPREAD && matches!(byte, b'\n' | b'\r'))) {
            return at;
        }
        at += 1;
    }
}

/// A string whose content begins at `from`: where it ends (at its quote), and whether it has escapes.
#[inline(always)]
pub fn string<I: Isa>(data: &[u8], from: usize) -> Option<(usize, bool)> {
    let mut at = from;
    let mut escaped = false;
    loop {
        at = I::string_stop(data, at);
        match peek(data, at) {
            b'"' => return Some((at, escaped)),
            b'\\' => {
                escaped = true;
                at = escape(data, at)?.1;
            }
            _ => return None,
        }
    }
}

/// The character of an escape that begins at `at`, and the place behind it; not of half a character.
fn escape(data: &[u8], at: usize) -> Option<(char, usize)> {
    let plain = match peek(data, at + 1) {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\x08',
        b'f' => '\x0c',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let first = hex(data, at + 2)?;
            if !(0xD800..0xDC00).contains(&first) {
                return Some((char::from_u32(first)?, at + 6));
            }
            if peek(data, at + 6) != b'\\' || peek(data, at + 7) != b'u' {
                return None;
            }
            let second = hex(data, at + 8)?;
            if !(0xDC00..0xE000).contains(&second) {
                return None;
            }
            return Some((char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00))?, at + 12));
        }
        _ => return None,
    };
    Some((plain, at + 2))
}

fn hex(data: &[u8], at: usize) -> Option<u32> {
    let digits = data.get(at..)?.first_chunk::<4>()?;
    digits.iter().try_fold(0, |sum, &byte| Some(sum * 16 + char::from(byte).to_digit(16)?))
}

/// What a string with escapes means, as UTF-8, in `to`; its grammar was checked before.
#[inline(always)]
pub fn unescape<I: Isa>(raw: &[u8], to: &mut Vec<u8>) {
    to.clear();
    let mut at = 0;
    loop {
        let end = I::find(raw, at, b'\\');
        to.extend_from_slice(&raw[at..end]);
        if end == raw.len() {
            return;
        }
        let Some((character, behind)) = escape(raw, end) else { return };
        to.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        at = behind;
    }
}

const NO_DIGIT: u64 = 0x0606_0606_0606_0606;
const HIGH_HALVES: u64 = 0xF0F0_F0F0_F0F0_F0F0;
const DIGIT: u64 = 0x3030_3030_3030_3030;

/// An integer that begins at `from`, and the place behind it: not beyond 2^53, no leading zero, not `-0`.
#[inline(always)]
pub fn integer(data: &[u8], from: usize) -> Option<(i64, usize)> {
    let negative = peek(data, from) == b'-';
    let begin = from + usize::from(negative);
    let mut at = begin;
    let mut value: u64 = 0;
    while let Some(chunk) = data.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        // a byte is a digit if its high half is 3, and still is with 6 more
        let other = ((word & HIGH_HALVES) ^ DIGIT) | ((word.wrapping_add(NO_DIGIT) & HIGH_HALVES) ^ DIGIT);
        let digits = (other.trailing_zeros() / 8) as usize;
        if digits < 8 {
            if digits > 0 {
                value = value.wrapping_mul(POWERS[digits]).wrapping_add(eight(word << (64 - 8 * digits)));
                at += digits;
            }
            break;
        }
        value = value.wrapping_mul(POWERS[8]).wrapping_add(eight(word));
        at += 8;
        if at - begin > LONGEST {
            return None;
        }
    }
    while data.len() - at.min(data.len()) < 8 && peek(data, at).is_ascii_digit() {
        value = value.wrapping_mul(10).wrapping_add(u64::from(peek(data, at) - b'0'));
        at += 1;
        if at - begin > LONGEST {
            return None;
        }
    }
    let width = at - begin;
    if width == 0 || width > LONGEST || (peek(data, begin) == b'0' && (width > 1 || negative)) {
        return None;
    }
    if value > SAFE || matches!(peek(data, at), b'.' | b'e' | b'E') {
        return None;
    }
    let value = value as i64;
    Some((if negative { -value } else { value }, at))
}

const POWERS: [u64; 9] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Eight digits in a little-endian word (zero bytes count as zeros before the number), as a number.
#[inline(always)]
fn eight(word: u64) -> u64 {
    let word = (word & 0x0F0F_0F0F_0F0F_0F0F).wrapping_mul(2561) >> 8;
    let word = (word & 0x00FF_00FF_00FF_00FF).wrapping_mul(6_553_601) >> 16;
    (word & 0x0000_FFFF_0000_FFFF).wrapping_mul(42_949_672_960_001) >> 32
}

/// A number that begins at `from`: the place behind it. Its integer part has at most 15 digits, and an exponent does
/// not make more of them.
#[inline(always)]
pub fn number(data: &[u8], from: usize) -> Option<usize> {
    let negative = peek(data, from) == b'-';
    let begin = from + usize::from(negative);
    let mut at = digits(data, begin);
    let width = at - begin;
    if width == 0 || width > MOST_DIGITS || (peek(data, begin) == b'0' && width > 1) {
        return None;
    }
    let mut is_integer = true;
    if peek(data, at) == b'.' {
        is_integer = false;
        let behind = digits(data, at + 1);
        if behind == at + 1 {
            return None;
        }
        at = behind;
    }
    if matches!(peek(data, at), b'e' | b'E') {
        is_integer = false;
        let sign = peek(data, at + 1);
        let first = at + 1 + usize::from(matches!(sign, b'+' | b'-'));
        let behind = digits(data, first);
        let power = data.get(first..behind).filter(|d| (1..=2).contains(&d.len()))?;
        let power = power.iter().fold(0, |sum, &d| sum * 10 + usize::from(d - b'0'));
        if sign != b'-' && width + power > MOST_DIGITS {
            return None;
        }
        at = behind;
    }
    (!(negative && is_integer && peek(data, begin) == b'0')).then_some(at)
}

/// The double that is nearest to what `number` has found.
#[inline(always)]
pub fn double(number: &[u8]) -> Option<f64> {
    short_double(number).or_else(|| std::str::from_utf8(number).ok()?.parse().ok())
}

/// The same of up to 15 digits without an exponent: a quotient of two exact numbers.
#[inline(always)]
fn short_double(text: &[u8]) -> Option<f64> {
    let negative = peek(text, 0) == b'-';
    let (mut whole, mut behind, mut has_point) = (0_u64, 0, false);
    if text.len() > MOST_DIGITS {
        return None;
    }
    for &byte in &text[usize::from(negative)..] {
        match byte {
            b'0'..=b'9' => {
                whole = whole.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
                behind += usize::from(has_point);
            }
            b'.' => has_point = true,
            _ => return None,
        }
    }
    let value = whole as f64 / TENS[behind];
    Some(if negative { -value } else { value })
}

/// Powers of ten, as doubles that are exact.
const TENS: [f64; MOST_DIGITS + 1] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

#[inline(always)]
fn digits(data: &[u8], from: usize) -> usize {
    let mut at = from;
    while peek(data, at).is_ascii_digit() {
        at += 1;
    }
    at
}

/// One of `true`, `false` and `null`: the place behind it.
#[inline(always)]
pub fn word(data: &[u8], from: usize, wanted: &[u8]) -> Option<usize> {
    let end = from + wanted.len();
    (data.get(from..end) == Some(wanted)).then_some(end)
}

/// `true` or `false`: the place behind it.
#[inline(always)]
pub fn boolean(data: &[u8], from: usize) -> Option<usize> {
    word(data, from, b"true").or_else(|| word(data, from, b"false"))
}

/// Any value, passed over: the place behind it. Where objects in it have a key twice, it is refused; `below` is what
/// the values of an object, or the items of a list, must be.
#[inline(always)]
pub fn skip<I: Isa>(data: &[u8], from: usize, below: Type, seeds: &Seeds, names: &mut Vec<u64>) -> Option<usize> {
    names.clear();
    let mut open = [(false, 0_usize); DEEPEST];
    let mut depth = 0;
    let mut at = from;
    loop {
        // a value begins here
        let wanted = if depth == 1 { below } else { Type::Any };
        let byte = peek(data, at);
        let fits = match wanted {
            Type::Any => true,
            Type::Text => byte == b'"',
            Type::Integer | Type::Number => byte == b'-' || byte.is_ascii_digit(),
            Type::Boolean => matches!(byte, b't' | b'f'),
            Type::Object => byte == b'{',
            Type::Array => byte == b'[',
        };
        if !fits {
            return None;
        }
        match byte {
            b'{' | b'[' => {
                let is_object = byte == b'{';
                *open.get_mut(depth)? = (is_object, names.len());
                depth += 1;
                at = skip_blanks::<I>(data, at + 1);
                if peek(data, at) == if is_object { b'}' } else { b']' } {
                    at += 1;
                    depth -= 1;
                } else {
                    if is_object {
                        at = name::<I>(data, at, seeds, names)?;
                    }
                    continue;
                }
            }
            b'"' => at = string::<I>(data, at + 1)?.0 + 1,
            b't' | b'f' => at = boolean(data, at)?,
            b'n' => at = word(data, at, b"null")?,
            _ if wanted == Type::Integer => at = integer(data, at)?.1,
            _ => at = number(data, at)?,
        }
        // a value has ended
        loop {
            let Some(inner) = depth.checked_sub(1) else { return Some(at) };
            let (is_object, first) = open[inner];
            at = skip_blanks::<I>(data, at);
            match (peek(data, at), is_object) {
                (b',', true) => {
                    at = name::<I>(data, skip_blanks::<I>(data, at + 1), seeds, names)?;
                    break;
                }
                (b',', false) => {
                    at = skip_blanks::<I>(data, at + 1);
                    break;
                }
                (b'}', true) => {
                    if has_twice(&mut names[first..]) {
                        return None;
                    }
                    names.truncate(first);
                }
                (b']', false) => {}
                _ => return None,
            }
            at += 1;
            depth -= 1;
        }
    }
}

/// A member's name and colon: the place of its value. The code of the name is kept; one with escapes is refused.
#[inline(always)]
fn name<I: Isa>(data: &[u8], at: usize, seeds: &Seeds, names: &mut Vec<u64>) -> Option<usize> {
    if peek(data, at) != b'"' {
        return None;
    }
    let (end, escaped) = string::<I>(data, at + 1)?;
    if escaped {
        return None;
    }
    names.push(hash(seeds, &data[at + 1..end]));
    let colon = skip_blanks::<I>(data, end + 1);
    (peek(data, colon) == b':').then(|| skip_blanks::<I>(data, colon + 1))
}

/// Whether one of these codes stands twice; they may be sorted for it.
#[inline(always)]
pub fn has_twice(names: &mut [u64]) -> bool {
    if names.len() > 8 {
        names.sort_unstable();
        return names.windows(2).any(|pair| pair[0] == pair[1]);
    }
    names.iter().enumerate().any(|(i, code)| names[..i].contains(code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Portable;

    #[test]
    fn integers_are_read_at_every_place_of_the_data() {
        let numbers = [
            "0",
            "7",
            "-7",
            "12",
            "-123",
            "1234567",
            "12345678",
            "123456789",
            "123456789012345",
            "-100000000000000",
            "9007199254740992",
            "-9007199254740992",
        ];
        for text in numbers {
            for end in ["", ",", "}", ", \"a\": 123456789}", " 1", "]", ":00000000"] {
                let whole = format!("{text}{end}");
                assert_eq!(integer(whole.as_bytes(), 0), text.parse().ok().map(|n| (n, text.len())), "{whole}");
            }
        }
        for text in [
            "",
            "-",
            "01",
            "-0",
            "00",
            "1.0",
            "1e3",
            "9007199254740993",
            "12345678901234567",
            "12345678901234567890",
            "+1",
            "a",
        ] {
            for end in ["", ",", "}     ", "          "] {
                assert_eq!(integer(format!("{text}{end}").as_bytes(), 0), None, "{text}{end}");
            }
        }
    }

    #[test]
    fn short_numbers_are_the_nearest_doubles() {
        let mut state = 7_u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let digits = (state >> 11) % POWERS[8].pow(1 + (state % 2) as u32) / 10;
            for text in [format!("{digits}"), format!("-0.{digits}"), format!("{}.{}", digits % 1000, digits / 1000)] {
                let expected = (text.len() <= MOST_DIGITS).then(|| text.parse::<f64>().unwrap().to_bits());
                assert_eq!(short_double(text.as_bytes()).map(f64::to_bits), expected, "{text}");
            }
        }
        assert_eq!(short_double(b"1e3"), None);
        assert_eq!(short_double(b"-0.0").map(f64::to_bits), Some((-0.0_f64).to_bits()));
    }

    #[test]
    fn values_are_passed_over_only_if_all_readers_agree() {
        let seeds = Seeds::of(1, u64::MAX);
        let pass = |text: &str| skip::<Portable>(text.as_bytes(), 0, Type::Any, &seeds, &mut Vec::new());
        for text in [
            "{}",
            "[]",
            "1",
            "-1.5e-9",
            "1e3",
            "\"a\\n\\ud83d\\ude00\"",
            "[[],{},[1 , 2]]",
            "{\"a\": {\"a\": 1}, \"b\":[]}",
            "true",
            "null",
            "{ }",
            "[ ]",
            "0.10000000000000000000001",
            "-0.0",
        ] {
            assert_eq!(pass(text), Some(text.len()), "{text}");
        }
        for text in [
            "",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "{\"a\":1,\"a\":2}",
            "[{\"a\":1,\"a\":2}]",
            "\"\\ud800\"",
            "\"\\x\"",
            "01",
            "-0",
            "1.",
            ".5",
            "1e400",
            "1e15",
            "9007199254740993",
            "{1:2}",
            "nul",
            "[1 2]",
            "{\"a\" 1}",
            "NaN",
            "\"a",
            "{\"a\":1]",
            "[1}",
            "\"\u{1}\"",
        ] {
            assert_eq!(pass(text), None, "{text}");
        }
        let deep = "[".repeat(33) + &"]".repeat(33);
        assert_eq!(pass(&deep), None);
        assert!(pass(&deep[1..65]).is_some());
    }
}
