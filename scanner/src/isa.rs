//! What the scanner asks of the processor, and the way that works on all of them, 8 bytes at a time.

use crate::columns::Scanned;
use crate::hash::Seeds;
use crate::json;
use crate::lines::{self, Record};
use crate::plan::{Plan, Type};
use crate::texts::Sets;
use crate::words::{AT_ONCE, BLOCK};

/// Which way of looking at bytes is used; all give the same results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Words of 8 bytes, on any processor.
    Portable,
    /// 32 bytes at a time, on processors that have it.
    Avx2,
}

impl Level {
    /// The quickest way that this processor has.
    #[must_use]
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("lzcnt")
        {
            return Self::Avx2;
        }
        Self::Portable
    }

    /// How it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
        }
    }
}

/// Ask for the memory of what will be looked at soon, without waiting for it; of a place that is not there nothing comes.
#[inline(always)]
pub fn ask_for<T: Copy>(all: &[T], place: usize) {
    #[cfg(target_arch = "x86_64")]
    crate::simd::ask_for(all, place);
    #[cfg(not(target_arch = "x86_64"))]
    std::hint::black_box(all.get(place).copied());
}

/// Whether data is UTF-8, found the quickest way.
#[must_use]
pub fn is_utf8(data: &[u8]) -> bool {
    match Level::best() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => crate::simd::utf8(data),
        _ => utf8_with::<Portable>(data),
    }
}

#[inline(always)]
pub fn utf8_with<I: Isa>(data: &[u8]) -> bool {
    I::utf8(data)
}

/// The last bytes of data, at most 32, with zeros behind them.
#[inline(always)]
pub(crate) fn last_of(data: &[u8], number: usize) -> [u8; 32] {
    let mut found = [0; 64];
    if let (Some(last), Some(to)) = (data.last_chunk::<32>(), found.first_chunk_mut::<32>()) {
        *to = *last;
        return found.get(32 - number..).and_then(<[u8]>::first_chunk).map_or([0; 32], |found| *found);
    }
    padded(&data[data.len() - number..])
}

/// Few bytes, with zeros behind them.
#[inline(always)]
pub(crate) fn padded<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut found = [0; N];
    for (to, from) in found.iter_mut().zip(bytes) {
        *to = *from;
    }
    found
}

/// Searches that are worth doing many bytes at a time, and the parts of a scan that are functions of their own.
///
/// Whatever calls a search is inlined up to a function that is compiled for the processor, so each place that calls a
/// part would hold a copy of it, and of all that is in it: the scanner took two minutes to compile that way.
pub trait Isa: Sized {
    /// Whether a line end is a blank like others: in records that may be spread over lines.
    const SPREAD: bool;
    /// The first place from `from` on that ends a plain piece of a JSON string: a quote, a backslash, a control
    /// character, or the end of the data.
    fn string_stop(data: &[u8], from: usize) -> usize;
    /// The first `wanted` from `from` on, or the end of the data.
    fn find(data: &[u8], from: usize, wanted: u8) -> usize;
    /// The first of several bytes from `from` on, or the end of the data.
    fn find_any<const N: usize>(data: &[u8], from: usize, wanted: [u8; N]) -> usize;
    /// The first place from `from` on with the byte `first` and, `apart` bytes behind it, the byte `last`; or the end.
    fn find_both(data: &[u8], from: usize, first: u8, last: u8, apart: usize) -> usize;
    /// Which bytes are blanks, which are visible characters of ASCII or blanks, and which go on with a character beyond
    /// ASCII: a bit of each, the first is the lowest.
    fn kinds(block: &[u8; BLOCK]) -> [u64; 3];
    /// Whether the data is UTF-8.
    fn utf8(data: &[u8]) -> bool;
    /// The characters of a text: the bytes that do not go on with one.
    fn characters(text: &[u8]) -> u64;
    /// Put the ASCII from `from` on into `flat`, letters in lower case, with blanks for what is neither a letter nor a
    /// digit; how many bytes that are. 32 more than the data has from there on have room, and may be written over.
    fn flat_ascii(data: &[u8], from: usize, flat: &mut [u8]) -> usize;
    /// Which of 32 bytes are no ASCII, and which are in each of the sets: a bit of each byte, the first is the lowest.
    /// The sets have only ASCII; of what is beyond it nothing is said.
    fn in_sets(sets: &Sets, chunk: &[u8; 32]) -> (u32, [u32; 3]);
    /// Which of 32 bytes go on with a character beyond ASCII: a bit of each.
    fn going_on(chunk: &[u8; 32]) -> u32;
    /// Those of the bits that are `kept`, side by side.
    fn squeezed(bits: u32, kept: u32) -> u32;
    /// Which bytes are this one: a bit of each, the first is the lowest.
    fn places(block: &[u8; BLOCK], wanted: u8) -> u64;
    /// Of the first `length` bytes, or all, the number that eight of them are, and `base` times that of the others, zeros for
    /// bytes behind them; and whether a digit is among them.
    fn sum_of_word(base: u64, bytes: &[u8; AT_ONCE], length: usize) -> (u64, bool);

    /// An object of a plan: see `lines::object`.
    #[inline(never)]
    fn object(
        plan: &Plan,
        scope: usize,
        into: &mut Scanned,
        data: &[u8],
        at: usize,
        found: &mut Record,
    ) -> Option<usize> {
        lines::object::<Self>(plan, scope, into, data, at, found)
    }

    /// The value of a declared field: see `lines::declared_value`.
    #[inline(never)]
    fn value(
        plan: &Plan,
        into: &mut Scanned,
        data: &[u8],
        at: usize,
        field: usize,
        found: &mut Record,
    ) -> Option<usize> {
        lines::declared_value::<Self>(plan, into, data, at, field, found)
    }

    /// What is asked of the values of an object together: see `lines::finish_object`.
    #[inline(never)]
    fn together(plan: &Plan, scope: usize, into: &mut Scanned, data: &[u8], from: usize, found: &mut Record) {
        lines::finish_object::<Self>(plan, scope, into, data, from, found);
    }

    /// Any value, passed over: see `json::skip`.
    #[inline(never)]
    fn skip(data: &[u8], from: usize, below: Type, seeds: &Seeds, names: &mut Vec<u64>) -> Option<usize> {
        json::skip::<Self>(data, from, below, seeds, names)
    }
}

/// Words of 8 bytes.
pub struct Portable<const SPREAD: bool = false>;

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// A word with the high bit of each byte that is zero; bytes behind the first such one may be wrong.
#[inline(always)]
fn zeros(word: u64) -> u64 {
    word.wrapping_sub(LOW) & !word & HIGH
}

/// The lowest bits of eight bytes, side by side.
#[inline(always)]
fn lowest_bits(word: u64) -> u64 {
    (word & LOW).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

impl<const SPREAD: bool> Isa for Portable<SPREAD> {
    const SPREAD: bool = SPREAD;

    #[inline(always)]
    fn string_stop(data: &[u8], from: usize) -> usize {
        let mut at = from;
        while let Some(chunk) = data.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let word = u64::from_le_bytes(*chunk);
            let quote = zeros(word ^ (LOW * 0x22));
            let escape = zeros(word ^ (LOW * 0x5C));
            let control = word.wrapping_sub(LOW * 0x20) & !word & HIGH;
            let found = quote | escape | control;
            if found != 0 {
                return at + (found.trailing_zeros() / 8) as usize;
            }
            at += 8;
        }
        while let Some(&byte) = data.get(at) {
            if byte == b'"' || byte == b'\\' || byte < 0x20 {
                return at;
            }
            at += 1;
        }
        data.len()
    }

    #[inline(always)]
    fn find(data: &[u8], from: usize, wanted: u8) -> usize {
        let mut at = from;
        while let Some(chunk) = data.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let found = zeros(u64::from_le_bytes(*chunk) ^ (LOW * u64::from(wanted)));
            if found != 0 {
                return at + (found.trailing_zeros() / 8) as usize;
            }
            at += 8;
        }
        while let Some(&byte) = data.get(at) {
            if byte == wanted {
                return at;
            }
            at += 1;
        }
        data.len()
    }

    #[inline(always)]
    fn find_any<const N: usize>(data: &[u8], from: usize, wanted: [u8; N]) -> usize {
        let mut at = from;
        while let Some(chunk) = data.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let word = u64::from_le_bytes(*chunk);
            let found = wanted.iter().fold(0, |found, &byte| found | zeros(word ^ (LOW * u64::from(byte))));
            if found != 0 {
                return at + (found.trailing_zeros() / 8) as usize;
            }
            at += 8;
        }
        while let Some(byte) = data.get(at) {
            if wanted.contains(byte) {
                return at;
            }
            at += 1;
        }
        data.len()
    }

    #[inline(always)]
    fn find_both(data: &[u8], from: usize, first: u8, last: u8, apart: usize) -> usize {
        let Some(ends) = data.len().checked_sub(apart) else { return data.len() };
        let mut at = from;
        loop {
            at = Self::find(&data[..ends], at, first);
            if at >= ends {
                return data.len();
            }
            if data[at + apart] == last {
                return at;
            }
            at += 1;
        }
    }

    #[inline(always)]
    fn utf8(data: &[u8]) -> bool {
        std::str::from_utf8(data).is_ok()
    }

    #[inline(always)]
    fn characters(text: &[u8]) -> u64 {
        // of as many whole registers as one byte counts
        let begins = |count: u8, &byte: &u8| count.wrapping_add(u8::from(byte & 0xC0 != 0x80));
        text.chunks(7 * 32).map(|some| u64::from(some.iter().fold(0, begins))).sum()
    }

    #[inline(always)]
    fn kinds(block: &[u8; BLOCK]) -> [u64; 3] {
        let (mut found, mut rest) = ([0; 3], &block[..]);
        while let Some((before, group)) = rest.split_last_chunk::<8>() {
            let word = u64::from_le_bytes(*group);
            let ascii = word & !HIGH;
            // high bits: of bytes of ASCII from a blank on, but for the last; and of others whose next bit is not set
            let plain = !word & ascii.wrapping_add(0x60 * LOW) & !ascii.wrapping_add(LOW);
            let going_on = word & !(word << 1);
            let group = [plain, going_on].map(|bits| lowest_bits(bits >> 7));
            found = [found[0], found[1] << 8 | group[0], found[2] << 8 | group[1]];
            rest = before;
        }
        [Self::places(block, b' '), found[1], found[2]]
    }

    #[inline(always)]
    fn flat_ascii(data: &[u8], from: usize, flat: &mut [u8]) -> usize {
        let rest = data.get(from..).unwrap_or(&[]);
        let end = rest.iter().position(|byte| !byte.is_ascii()).unwrap_or(rest.len());
        for (to, byte) in flat.iter_mut().zip(&rest[..end]) {
            *to = if byte.is_ascii_alphanumeric() { byte.to_ascii_lowercase() } else { b' ' };
        }
        end
    }

    #[inline(always)]
    fn in_sets(sets: &Sets, chunk: &[u8; 32]) -> (u32, [u32; 3]) {
        let (mut beyond, mut found, mut rest) = (0, [0; 3], &chunk[..]);
        while let Some((before, group)) = rest.split_last_chunk::<8>() {
            let bits = |word: u64| lowest_bits(word) as u32;
            let kinds = u64::from_le_bytes(group.map(|byte| sets.of[usize::from(byte & 0x7F)]));
            beyond = beyond << 8 | bits(u64::from_le_bytes(*group) >> 7);
            for (number, bytes) in found.iter_mut().enumerate() {
                *bytes = *bytes << 8 | bits(kinds >> number);
            }
            rest = before;
        }
        (beyond, found)
    }

    #[inline(always)]
    fn going_on(chunk: &[u8; 32]) -> u32 {
        chunk.iter().rev().fold(0, |all, &byte| all << 1 | u32::from(byte & 0xC0 == 0x80))
    }

    #[inline(always)]
    fn squeezed(bits: u32, kept: u32) -> u32 {
        let (mut found, mut left) = (0, kept);
        for place in 0..kept.count_ones() {
            found |= (bits >> left.trailing_zeros() & 1) << place;
            left &= left - 1;
        }
        found
    }

    #[inline(always)]
    fn places(block: &[u8; BLOCK], wanted: u8) -> u64 {
        let (mut found, mut rest) = (0, &block[..]);
        while let Some((before, group)) = rest.split_last_chunk::<8>() {
            let word = u64::from_le_bytes(*group) ^ (LOW * u64::from(wanted));
            let others = ((word & !HIGH) + !HIGH) | word; // their high bit, of every byte that is not zero
            (found, rest) = (found << 8 | lowest_bits(!others >> 7), before);
        }
        found
    }

    #[inline(always)]
    fn sum_of_word(base: u64, bytes: &[u8; AT_ONCE], length: usize) -> (u64, bool) {
        let kept = u128::MAX.checked_shr(8 * AT_ONCE.saturating_sub(length) as u32).unwrap_or(0);
        let numbers = u128::from_le_bytes(*bytes) & kept;
        let digit = bytes.iter().take(length).any(u8::is_ascii_digit);
        ((numbers as u64).wrapping_add(base.wrapping_mul((numbers >> 64) as u64)), digit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every byte at every place of a short text, so that all borders of chunks are met.
    #[test]
    fn all_ways_find_the_same_places() {
        for length in [0, 1, 7, 8, 9, 33, 64] {
            for place in 0..length {
                for byte in 0..=255 {
                    let mut data = vec![b'x'; length];
                    data[place] = byte;
                    for from in [0, place, place + 1] {
                        let plain = (from..length).find(|&i| data[i] == b'"' || data[i] == b'\\' || data[i] < 0x20);
                        assert_eq!(<Portable>::string_stop(&data, from), plain.unwrap_or(length));
                        let equal = (from..length).find(|&i| data[i] == b'\n').unwrap_or(length);
                        assert_eq!(<Portable>::find(&data, from, b'\n'), equal);
                        #[cfg(target_arch = "x86_64")]
                        if Level::best() == Level::Avx2 {
                            assert_eq!(crate::simd::string_stop(&data, from), plain.unwrap_or(length));
                            assert_eq!(crate::simd::find(&data, from, b'\n'), equal);
                        }
                    }
                }
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn utf8_is_judged_as_the_standard_library_does() {
        if Level::best() != Level::Avx2 {
            return;
        }
        let judge = |sequence: &[u8], offset: usize| {
            let mut data = vec![b'a'; offset];
            data.extend_from_slice(sequence);
            assert_eq!(crate::simd::utf8(&data), std::str::from_utf8(&data).is_ok(), "{sequence:02x?} at {offset}");
            data.push(b'z');
            assert_eq!(crate::simd::utf8(&data), std::str::from_utf8(&data).is_ok(), "{sequence:02x?} at {offset}");
        };
        for first in 0..=255_u8 {
            for second in 0..=255_u8 {
                judge(&[first, second], 31);
                judge(&[first, second], 127);
                judge(&[first, second], usize::from(second % 70));
                if first >= 0xE0 && second >= 0x70 {
                    for third in [0x41, 0x7F, 0x80, 0xBF, 0xC0, 0xFF] {
                        judge(&[first, second, third], 30);
                        judge(&[first, second, third], 254);
                        for fourth in [0x41, 0x80, 0xBF, 0xC0] {
                            judge(&[first, second, third, fourth], 29);
                        }
                    }
                }
            }
        }
    }
}
