//! The searches with AVX2, 32 bytes at a time: one of the two places of unsafe code.

#![allow(unsafe_code)]

use crate::columns::Scanned;
use crate::csv_cut::{self, RowCut};
use crate::elements::{self, Cut, Elements};
use crate::hash::Seeds;
use crate::isa::{self, last_of, Isa, Level, Portable};
use crate::json;
use crate::lines::{self, Outcome, Record};
use crate::measures::{self, Alphabet, Looked};
use crate::plan::{Plan, Type};
use crate::rows::{self, Rows};
use crate::sheet::Sheet;
use crate::sketches::{self, Sketching};
use crate::tagged;
use crate::texts::{self, Counted, Counting, Sets};
use crate::words::{self, Folding, Left, Room, AT_ONCE, BLOCK};
use std::arch::x86_64::{
    __m256i, _mm256_alignr_epi8, _mm256_and_si256, _mm256_blendv_epi8, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8,
    _mm256_cmpgt_epi8, _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_or_si256,
    _mm256_permute2x128_si256, _mm256_set1_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi16,
    _mm256_storeu_si256, _mm256_subs_epu8, _mm256_testz_si256, _mm256_xor_si256, _mm_and_si128, _mm_cmpeq_epi8,
    _mm_cvtsi128_si64, _mm_extract_epi64, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_prefetch,
    _mm_set1_epi8, _mm_sub_epi8, _pext_u32, _MM_HINT_T0,
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

/// Have the memory of a word brought near; see `isa::ask_for`. All processors of this kind can.
#[inline(always)]
pub fn ask_for<T>(all: &[T], place: usize) {
    // SAFETY: nothing is read, and an address that is not there is passed over.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(all.as_ptr().wrapping_add(place).cast()) }
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
        // SAFETY: arithmetic on registers, on a processor that has AVX2; what is read has four times 32 bytes.
        unsafe {
            let mut state = Utf8 { error: _mm256_setzero_si256(), before: _mm256_setzero_si256(), plain: true };
            let mut rest = data;
            // so many that it is seldom guessed wrong of texts with some longer characters whether one is among them
            while let Some((chunk, behind)) = rest.split_first_chunk::<128>() {
                let place: *const __m256i = chunk.as_ptr().cast();
                let (a, b) = (_mm256_loadu_si256(place), _mm256_loadu_si256(place.add(1)));
                let (c, d) = (_mm256_loadu_si256(place.add(2)), _mm256_loadu_si256(place.add(3)));
                let all = _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d));
                if !state.plain || _mm256_movemask_epi8(all) != 0 {
                    for bytes in [a, b, c, d] {
                        state.take(bytes);
                    }
                }
                rest = behind;
            }
            while let Some((chunk, behind)) = rest.split_first_chunk::<32>() {
                state.take(load(chunk));
                rest = behind;
            }
            state.take(load(&last_of(data, rest.len()))); // a character that is cut off is an error at its zeros
            _mm256_testz_si256(state.error, state.error) == 1
        }
    }

    #[inline(always)]
    fn kinds(block: &[u8; BLOCK]) -> [u64; 3] {
        let (mut found, mut rest) = ([0; 3], &block[..]);
        while let Some((before, chunk)) = rest.split_last_chunk::<32>() {
            let bytes = load(chunk);
            // SAFETY: arithmetic on registers, on a processor that has AVX2.
            let masks = unsafe {
                let blanks = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b' ' as i8));
                [blanks, between(bytes, b' ', b'~')].map(|bytes| _mm256_movemask_epi8(bytes) as u32)
            };
            let [blank, plain] = masks;
            for (all, some) in found.iter_mut().zip([blank, plain, Self::going_on(chunk)]) {
                *all = *all << 32 | u64::from(some);
            }
            rest = before;
        }
        found
    }

    #[inline(always)]
    fn characters(text: &[u8]) -> u64 {
        let (mut others, mut rest) = (0, text);
        while let Some((chunk, behind)) = rest.split_first_chunk::<32>() {
            others += Self::going_on(chunk).count_ones();
            rest = behind;
        }
        let at_end = match text.last_chunk::<32>() {
            Some(last) => u64::from(Self::going_on(last)) << rest.len() >> 32,
            None => return short_characters(text),
        };
        text.len() as u64 - u64::from(others + at_end.count_ones())
    }

    #[inline(always)]
    fn flat_ascii(data: &[u8], from: usize, flat: &mut [u8]) -> usize {
        let (rest, mut done) = (data.get(from..).unwrap_or(&[]), 0);
        while let Some(to) = flat.get_mut(done..).and_then(<[u8]>::first_chunk_mut) {
            let left = rest.get(done..).unwrap_or(&[]);
            let (beyond, most) = match left.first_chunk() {
                Some(chunk) => (flattened(load(chunk), to), 32),
                None => (flattened(load(&last_of(data, left.len())), to), left.len()),
            };
            if beyond != 0 || most < 32 {
                return done + most.min(beyond.trailing_zeros() as usize);
            }
            done += 32;
        }
        done
    }

    #[inline(always)]
    fn in_sets(sets: &Sets, chunk: &[u8; 32]) -> (u32, [u32; 3]) {
        let bytes = load(chunk);
        // SAFETY: arithmetic on registers, on a processor that has AVX2; what is read has 16 bytes.
        unsafe {
            let table = |halves: &[u8; 16]| _mm256_broadcastsi128_si256(_mm_loadu_si128(halves.as_ptr().cast()));
            let half = _mm256_set1_epi8(0x0F);
            let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), half);
            let wanted = _mm256_shuffle_epi8(table(&HALVES), high);
            let low = _mm256_and_si256(bytes, half);
            let found = sets.by_half.each_ref().map(|halves| {
                let there = _mm256_and_si256(_mm256_shuffle_epi8(table(halves), low), wanted);
                !(_mm256_movemask_epi8(_mm256_cmpeq_epi8(there, _mm256_setzero_si256())) as u32)
            });
            (_mm256_movemask_epi8(bytes) as u32, found)
        }
    }

    #[inline(always)]
    fn going_on(chunk: &[u8; 32]) -> u32 {
        // SAFETY: arithmetic on registers, on a processor that has AVX2.
        unsafe { _mm256_movemask_epi8(_mm256_cmpgt_epi8(_mm256_set1_epi8(0xC0_u8 as i8), load(chunk))) as u32 }
    }

    #[inline(always)]
    fn squeezed(bits: u32, kept: u32) -> u32 {
        // SAFETY: this code runs only on a processor that has BMI2, too.
        unsafe { _pext_u32(bits, kept) }
    }

    #[inline(always)]
    fn places(block: &[u8; BLOCK], wanted: u8) -> u64 {
        let (mut found, mut rest) = (0, &block[..]);
        while let Some((before, chunk)) = rest.split_last_chunk::<32>() {
            // SAFETY: arithmetic on registers, on a processor that has AVX2.
            let mask = unsafe { _mm256_movemask_epi8(_mm256_cmpeq_epi8(load(chunk), _mm256_set1_epi8(wanted as i8))) };
            (found, rest) = (found << 32 | u64::from(mask as u32), before);
        }
        found
    }

    #[inline(always)]
    fn sum_of_word(base: u64, bytes: &[u8; AT_ONCE], length: usize) -> (u64, bool) {
        let kept = KEPT[AT_ONCE - length.min(AT_ONCE)..].first_chunk::<AT_ONCE>().unwrap_or(&[0; AT_ONCE]);
        // SAFETY: arithmetic on registers, on a processor that has AVX2; what is read has 16 bytes.
        unsafe {
            let word = _mm_and_si128(_mm_loadu_si128(bytes.as_ptr().cast()), _mm_loadu_si128(kept.as_ptr().cast()));
            let digits = _mm_cmpeq_epi8(
                _mm_min_epu8(_mm_sub_epi8(word, _mm_set1_epi8(b'0' as i8)), _mm_set1_epi8(9)),
                _mm_sub_epi8(word, _mm_set1_epi8(b'0' as i8)),
            );
            let (first, others) = (_mm_cvtsi128_si64(word) as u64, _mm_extract_epi64::<1>(word) as u64);
            (first.wrapping_add(base.wrapping_mul(others)), _mm_movemask_epi8(digits) != 0)
        }
    }
}

/// The bit that stands for each upper half of a byte of ASCII.
const HALVES: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0];

/// Put ASCII into `to`, letters in lower case, with blanks for what is no part of a word; which bytes are no ASCII.
#[inline(always)]
fn flattened(bytes: __m256i, to: &mut [u8; 32]) -> u32 {
    // SAFETY: arithmetic on registers, on a processor that has AVX2; what is written has 32 bytes.
    unsafe {
        let blank = _mm256_set1_epi8(0x20);
        let letters = between(_mm256_or_si256(bytes, blank), b'a', b'z');
        let kept = _mm256_or_si256(letters, between(bytes, b'0', b'9'));
        let cased = _mm256_or_si256(bytes, _mm256_and_si256(letters, blank));
        _mm256_storeu_si256(to.as_mut_ptr().cast(), _mm256_blendv_epi8(blank, cased, kept));
        _mm256_movemask_epi8(bytes) as u32
    }
}

/// As many bytes of it as are to be kept, before as many that are not.
const KEPT: [u8; 2 * AT_ONCE] = {
    let mut kept = [0; 2 * AT_ONCE];
    let mut place = 0;
    while place < AT_ONCE {
        kept[place] = 0xFF;
        place += 1;
    }
    kept
};

/// The characters of a text of few bytes, 8 at a time.
#[inline(always)]
fn short_characters(text: &[u8]) -> u64 {
    let (mut found, mut rest) = (0, text);
    while let Some((chunk, behind)) = rest.split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*chunk);
        found += 8 - u64::from((word >> 7 & !(word >> 6) & 0x0101_0101_0101_0101).count_ones());
        rest = behind;
    }
    found + <Portable>::characters(rest)
}

/// Which bytes are from one to another, both of ASCII.
#[inline(always)]
unsafe fn between(bytes: __m256i, first: u8, last: u8) -> __m256i {
    let above = _mm256_cmpgt_epi8(bytes, _mm256_set1_epi8(first as i8 - 1));
    _mm256_and_si256(above, _mm256_cmpgt_epi8(_mm256_set1_epi8(last as i8 + 1), bytes))
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
    pub fn words = words::words_with::<Avx2>(
        folding: &Folding, text: &str, codes: &mut Vec<u64>, room: &mut Room
    ) -> Result<(), Left>;
    pub fn runs = words::runs_with::<Avx2>(codes: &mut Vec<u64>, words: usize) -> ();
    pub fn bits_of_numbers = words::bits_with::<Avx2>(codes: &[u64]) -> u64;
    pub fn sketch = sketches::sketch_with::<Avx2>(sketching: &Sketching, codes: &mut [u64], parts: &mut [u32]) -> ();
    pub fn look = measures::look_with::<Avx2>(alphabet: &Alphabet, text: &str) -> Looked;
    pub fn facts = texts::facts_with::<Avx2>(
        seeds: &Seeds, data: &[u8], offsets: &[i32], lengths: &mut [i64], codes: &mut [u64]
    ) -> Option<[u64; 2]>;
    pub fn count = texts::count_with::<Avx2>(counting: &Counting, text: &[u8]) -> Counted;
    pub fn utf8 = isa::utf8_with::<Avx2>(data: &[u8]) -> bool;
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
