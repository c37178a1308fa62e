//! What Python calls for the rules of quality; as in `boundary.rs`.

#![allow(unsafe_code)]

use crate::boundary::{guarded, slice, slice_mut, DONE, MISUSED, PANICKED};
use crate::hash::Seeds;
use crate::measures::{measure, Alphabet, Measured, DOUBTFUL};
use crate::text_boundary::piece;

/// What the rules of quality ask of texts that stand one behind the other in `data`: `offsets` are `number` + 1 places in it. `kinds` says what kind each
/// character is of, `uses` what each kind is there for, `pairs` of each two kinds whether a rule may report them side by
/// side. In `numbers` come for each text its characters, its blanks, and its codes, made with `seed`, without and with its
/// white space; in `marks` how it stops and begins, and whether Python has to look at its characters: 2 where it is not
/// UTF-8, and all is for Python.
///
/// # Safety
/// `kinds` points to `known` bytes, `uses` to `many`, `pairs` to `pair_count`, `data` to `length`, `offsets` to `number` + 1
/// numbers, `numbers` to four times `number` to be written, `marks` to twice `number` bytes.
#[no_mangle]
pub unsafe extern "C" fn rd_text_measures(
    kinds: *const u8,
    known: u64,
    uses: *const u8,
    many: u64,
    pairs: *const u8,
    pair_count: u64,
    seed: u64,
    data: *const u8,
    length: u64,
    offsets: *const i32,
    number: u64,
    numbers: *mut u64,
    marks: *mut u8,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(kinds), Some(uses), Some(pairs)) = (slice(kinds, known), slice(uses, many), slice(pairs, pair_count))
        else {
            return MISUSED;
        };
        let (Some(data), Some(offsets)) = (slice(data, length), slice(offsets, number.saturating_add(1))) else {
            return MISUSED;
        };
        let (Some(numbers), Some(marks)) =
            (slice_mut(numbers, number.saturating_mul(4)), slice_mut(marks, number.saturating_mul(2)))
        else {
            return MISUSED;
        };
        let Some(alphabet) = Alphabet::of(kinds, uses, pairs) else { return MISUSED };
        let seeds = Seeds::of(seed, u64::MAX);
        let (mut title, mut room) = (None, Vec::new());
        let written = numbers.chunks_exact_mut(4).zip(marks.chunks_exact_mut(2));
        for ((numbers, marks), ends) in written.zip(offsets.windows(2)) {
            let Some(text) = piece(data, ends) else { return MISUSED };
            let (found, looked) = if let Ok(text) = std::str::from_utf8(text) {
                let found = measure(&alphabet, &seeds, text, &mut title, &mut room);
                let is_seen = found.is_seen.into();
                (found, is_seen)
            } else {
                title = None;
                (Measured { ends: DOUBTFUL, ..Measured::default() }, 2)
            };
            numbers.copy_from_slice(&[found.characters, found.blanks, found.squeezed, found.exact]);
            marks.copy_from_slice(&[found.ends, looked]);
        }
        DONE
    })
}
