//! The searches with AVX2, 32 bytes at a time: one of the two places of unsafe code.

#![allow(unsafe_code)]

use crate::columns::Scanned;
use crate::csv_cut::{self, RowCut};
use crate::elements::{self, Cut, Elements};
use crate::hash::Seeds;
use crate::isa::{Isa, Level, Portable};
use crate::json;
use crate::lines::{self, Outcome, Record};
use crate::plan::{Plan, Type};
use crate::rows::{self, Rows};
use crate::sheet::Sheet;
use crate::tagged;
use std::arch::x86_64::{
    __m256i, _mm256_alignr_epi8, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256,
    _mm256_min_epu8, _mm256_movemask_epi8, _mm256_or_si256, _mm256_permute2x128_si256, _mm256_set1_epi8,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi16, _mm256_subs_epu8, _mm256_testz_si256,
    _mm256_xor_si256, _mm_loadu_si128,
};

/// AVX2; only for processors of which `Level::best` says that they have it.
pub struct Avx2<const SPREAD: bool = false>;

/// Functions that are compiled for AVX2, with all that is inlined into them.
macro_rules! compiled {
    ($($seen:vis fn $name:ident = $room:ident::$written:ident::<$way:ty>(
        $($argument:ident: $kind:ty),*
    ) -> $result:ty;)*) => {$(
        $seen fn $name($($argument: $kind),*) -> $result {
            #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
            unsafe fn compiled<I: Isa>($($argument: $kind),*) -> $result {
                $room::$written::<I>($($argument),*)
            }
            debug_assert_eq!(Level::best(), Level::Avx2);
            // SAFETY: the caller has asked whether the processor has these features.
            unsafe { compiled::<$way>($($argument),*) }
        }
    )*};
}

#[inline(always)]
fn load(chunk: &[u8; 32]) -> __m256i {
    // SAFETY: 32 bytes are there, and the load asks for no alignment. `scan` runs this code only where AVX2 is.
    unsafe { _mm256_loadu_si256(chunk.as_ptr().cast()) }
}

impl<const SPREAD: bool> Isa for Avx2<SPREAD> {
    const SPREAD: bool = SPREAD;

    #[inline(always)]
    fn string_stop(data: &[u8], from: usize) -> usize {
        let mut at = from;
        while let Some(chunk) = data.get(at..).and_then(|rest| rest.first_chunk::<32>()) {
            let bytes = load(chunk);
            // SAFETY: arithmetic on registers, on a processor that has AVX2.
            let found = unsafe {
                let quote = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(0x22));
                let escape = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(0x5C));
                let control = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(0x1F)), bytes);
                _mm256_movemask_epi8(_mm256_or_si256(_mm256_or_si256(quote, escape), control))
            };
            if found != 0 {
                return at + found.trailing_zeros() as usize;
            }
            at += 32;
        }
        <Portable>::string_stop(data, at)
    }

    #[inline(always)]
    fn find(data: &[u8], from: usize, wanted: u8) -> usize {
        let mut at = from;
        while let Some(chunk) = data.get(at..).and_then(|rest| rest.first_chunk::<32>()) {
            let bytes = load(chunk);
            // SAFETY: arithmetic on registers, on a processor that has AVX2.
            let found = unsafe { _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(wanted as i8))) };
            if found != 0 {
                return at + found.trailing_zeros() as usize;
            }
            at += 32;
        }
        <Portable>::find(data, at, wanted)
    }

    #[inline(always)]
    fn find_any<const N: usize>(data: &[u8], from: usize, wanted: [u8; N]) -> usize {
        let mut at = from;
        while let Some(chunk) = data.get(at..).and_then(|rest| rest.first_chunk::<32>()) {
            let bytes = load(chunk);
            // SAFETY: arithmetic on registers, on a processor that has AVX2.
            let found = unsafe {
                let each = wanted.map(|byte| _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte as i8)));
                _mm256_movemask_epi8(each.into_iter().fold(_mm256_setzero_si256(), |a, b| _mm256_or_si256(a, b)))
            };
            if found != 0 {
                return at + found.trailing_zeros() as usize;
            }
            at += 32;
        }
        <Portable>::find_any(data, at, wanted)
    }

    #[inline(always)]
    fn find_both(data: &[u8], from: usize, first: u8, last: u8, apart: usize) -> usize {
        let mut at = from;
        while let (Some(chunk), Some(behind)) = (
            data.get(at..).and_then(|rest| rest.first_chunk::<32>()),
            data.get(at + apart..).and_then(|rest| rest.first_chunk::<32>()),
        ) {
            let (bytes, ends) = (load(chunk), load(behind));
            // SAFETY: arithmetic on registers, on a processor that has AVX2.
            let found = unsafe {
                _mm256_movemask_epi8(_mm256_and_si256(
                    _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(first as i8)),
                    _mm256_cmpeq_epi8(ends, _mm256_set1_epi8(last as i8)),
                ))
            };
            if found != 0 {
                return at + found.trailing_zeros() as usize;
            }
            at += 32;
        }
        <Portable>::find_both(data, at, first, last, apart)
    }

    compiled! {
        fn object = lines::object::<Self>(
            plan: &Plan, scope: usize, into: &mut Scanned, data: &[u8], at: usize, found: &mut Record
        ) -> Option<usize>;
        fn value = lines::declared_value::<Self>(
            plan: &Plan, into: &mut Scanned, data: &[u8], at: usize, field: usize, found: &mut Record
        ) -> Option<usize>;
        fn together = lines::finish_object::<Self>(
            plan: &Plan, scope: usize, into: &mut Scanned, data: &[u8], from: usize, found: &mut Record
        ) -> ();
        fn skip = json::skip::<Self>(
            data: &[u8], from: usize, below: Type, seeds: &Seeds, names: &mut Vec<u64>
        ) -> Option<usize>;
    }

    #[inline(always)]
    fn utf8(data: &[u8]) -> bool {
        // SAFETY: arithmetic on registers, on a processor that has AVX2.
        unsafe {
            let mut state = Utf8 { error: _mm256_setzero_si256(), before: _mm256_setzero_si256(), plain: true };
            let mut rest = data;
            while let Some((chunk, behind)) = rest.split_first_chunk::<32>() {
                state.take(load(chunk));
                rest = behind;
            }
            let mut last = [0; 32]; // zeros behind the end: a character that is cut off is an error there
            for (to, from) in last.iter_mut().zip(rest) {
                *to = *from;
            }
            state.plain = false;
            state.take(load(&last));
            _mm256_testz_si256(state.error, state.error) == 1
        }
    }
}

// The ways into a scan. Call them only where `Level::best` says that the processor has AVX2.
compiled! {
    pub fn scan = lines::scan_with::<Avx2>(plan: &Plan, into: &mut Scanned, data: &[u8]) -> Outcome;
    pub fn scan_elements = elements::scan_with::<Avx2<true>>(
        plan: &Plan, into: &mut Scanned, data: &[u8], elements: Elements
    ) -> usize;
    pub fn scan_tagged = tagged::scan_with::<Avx2>(plan: &Plan, into: &mut Scanned, data: &[u8]) -> usize;
    pub fn last_comma = elements::last_comma_with::<Avx2<true>>(data: &[u8]) -> Cut;
    pub fn scan_rows = rows::scan_with::<Avx2>(sheet: &Sheet, into: &mut Rows, data: &[u8]) -> ();
    pub fn cut_rows = csv_cut::cut_with::<Avx2>(data: &[u8], most: u64, ended: bool, widths: [u64; 2]) -> RowCut;
}

/// The check of Keiser and Lemire ("Validating UTF-8 in less than one instruction per byte"): three tables of halves
/// of bytes name what is wrong with each pair, one comparison counts the bytes of longer characters.
struct Utf8 {
    error: __m256i,
    before: __m256i,
    plain: bool,
}

const TOO_SHORT: u8 = 1;
const TOO_LONG: u8 = 1 << 1;
const OVERLONG_3: u8 = 1 << 2;
const TOO_LARGE: u8 = 1 << 3;
const SURROGATE: u8 = 1 << 4;
const OVERLONG_2: u8 = 1 << 5;
const TOO_LARGE_1000: u8 = 1 << 6;
const OVERLONG_4: u8 = 1 << 6;
const TWO_CONTINUED: u8 = 1 << 7;
const CARRY: u8 = TOO_SHORT | TOO_LONG | TWO_CONTINUED;
const LARGE: u8 = CARRY | TOO_LARGE | TOO_LARGE_1000;
const SECOND: u8 = TOO_LONG | OVERLONG_2 | TWO_CONTINUED;

const FIRST_HIGH: [u8; 16] = [
    TOO_LONG,
    TOO_LONG,
    TOO_LONG,
    TOO_LONG,
    TOO_LONG,
    TOO_LONG,
    TOO_LONG,
    TOO_LONG,
    TWO_CONTINUED,
    TWO_CONTINUED,
    TWO_CONTINUED,
    TWO_CONTINUED,
    TOO_SHORT | OVERLONG_2,
    TOO_SHORT,
    TOO_SHORT | OVERLONG_3 | SURROGATE,
    TOO_SHORT | TOO_LARGE | TOO_LARGE_1000 | OVERLONG_4,
];
const FIRST_LOW: [u8; 16] = [
    CARRY | OVERLONG_3 | OVERLONG_2 | OVERLONG_4,
    CARRY | OVERLONG_2,
    CARRY,
    CARRY,
    CARRY | TOO_LARGE,
    LARGE,
    LARGE,
    LARGE,
    LARGE,
    LARGE,
    LARGE,
    LARGE,
    LARGE,
    LARGE | SURROGATE,
    LARGE,
    LARGE,
];
const SECOND_HIGH: [u8; 16] = [
    TOO_SHORT,
    TOO_SHORT,
    TOO_SHORT,
    TOO_SHORT,
    TOO_SHORT,
    TOO_SHORT,
    TOO_SHORT,
    TOO_SHORT,
    SECOND | OVERLONG_3 | TOO_LARGE_1000 | OVERLONG_4,
    SECOND | OVERLONG_3 | TOO_LARGE,
    SECOND | SURROGATE | TOO_LARGE,
    SECOND | SURROGATE | TOO_LARGE,
    TOO_SHORT,
    TOO_SHORT,
    TOO_SHORT,
    TOO_SHORT,
];

impl Utf8 {
    #[inline(always)]
    unsafe fn take(&mut self, bytes: __m256i) {
        if self.plain && _mm256_movemask_epi8(bytes) == 0 {
            return;
        }
        let joined = _mm256_permute2x128_si256::<0x21>(self.before, bytes);
        let one_before = _mm256_alignr_epi8::<15>(bytes, joined);
        let two_before = _mm256_alignr_epi8::<14>(bytes, joined);
        let three_before = _mm256_alignr_epi8::<13>(bytes, joined);
        let wrong = _mm256_and_si256(
            _mm256_and_si256(
                look_up(&FIRST_HIGH, high_half(one_before)),
                look_up(&FIRST_LOW, _mm256_and_si256(one_before, _mm256_set1_epi8(0x0F))),
            ),
            look_up(&SECOND_HIGH, high_half(bytes)),
        );
        let third = _mm256_subs_epu8(two_before, _mm256_set1_epi8(0x60));
        let fourth = _mm256_subs_epu8(three_before, _mm256_set1_epi8(0x70));
        let continued = _mm256_and_si256(_mm256_or_si256(third, fourth), _mm256_set1_epi8(0x80_u8 as i8));
        self.error = _mm256_or_si256(self.error, _mm256_xor_si256(continued, wrong));
        self.before = bytes;
        // A chunk of ASCII may be passed over only where no character is open at the end of the one before.
        self.plain = (_mm256_movemask_epi8(bytes) as u32) >> 29 == 0;
    }
}

#[inline(always)]
unsafe fn high_half(bytes: __m256i) -> __m256i {
    _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), _mm256_set1_epi8(0x0F))
}

#[inline(always)]
unsafe fn look_up(table: &[u8; 16], places: __m256i) -> __m256i {
    _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast())), places)
}

#[cfg(test)]
pub fn string_stop(data: &[u8], from: usize) -> usize {
    <Avx2>::string_stop(data, from)
}

#[cfg(test)]
pub fn find(data: &[u8], from: usize, wanted: u8) -> usize {
    <Avx2>::find(data, from, wanted)
}

#[cfg(test)]
pub fn utf8(data: &[u8]) -> bool {
    <Avx2>::utf8(data)
}
