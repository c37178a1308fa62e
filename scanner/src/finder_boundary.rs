//! What Python calls to find names, and words of a list, in texts; as in `boundary.rs`.

#![allow(unsafe_code)]

use crate::boundary::{guarded, slice, slice_mut, DONE, MISUSED, PANICKED};
use crate::finder::{Finder, Left};
use crate::listed::Listed;
use crate::text_boundary::{piece, Texts};
use std::ptr::null_mut;

/// A finder of names that stand one behind the other in `data`: `offsets` are `number` + 1 places in it. None where they are
/// not within it.
///
/// # Safety
/// `data` points to `length` bytes, `offsets` to `number` + 1 numbers.
#[no_mangle]
pub unsafe extern "C" fn rd_finder_new(data: *const u8, length: u64, offsets: *const i32, number: u64) -> *mut Finder {
    guarded(null_mut(), || {
        let (Some(data), Some(offsets)) = (slice(data, length), slice(offsets, number.saturating_add(1))) else {
            return null_mut();
        };
        let names: Option<Vec<&[u8]>> = offsets.windows(2).map(|ends| piece(data, ends)).collect();
        names.map_or(null_mut(), |names| Box::into_raw(Box::new(Finder::new(names.into_iter()))))
    })
}

/// Give a finder back.
///
/// # Safety
/// `finder` is null, or one of `rd_finder_new` that was not given back.
#[no_mangle]
pub unsafe extern "C" fn rd_finder_free(finder: *mut Finder) {
    guarded((), || drop((!finder.is_null()).then(|| Box::from_raw(finder))));
}

/// Find names in texts that stand one behind the other: the numbers of those of all texts one after the other in `found`,
/// and how many each text has in `counts`, -1 where Python is to find them. `kinds` says what characters are. `reached` and
/// `unknown` are as of `rd_text_numbers`.
///
/// # Safety
/// `finder` is one of `rd_finder_new` that nobody else uses, `kinds` points to `known` bytes, `data` to `length`, `offsets` to
/// `number` + 1 numbers, `found` to `room` to be written, `counts` to `number`, `reached` and `unknown` to one.
#[no_mangle]
pub unsafe extern "C" fn rd_finder_find(
    finder: *mut Finder,
    kinds: *const u8,
    known: u64,
    data: *const u8,
    length: u64,
    offsets: *const i32,
    number: u64,
    found: *mut u32,
    room: u64,
    counts: *mut i64,
    reached: *mut u64,
    unknown: *mut u64,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(finder), Some(kinds), Some(data), Some(offsets)) =
            (finder.as_mut(), slice(kinds, known), slice(data, length), slice(offsets, number.saturating_add(1)))
        else {
            return MISUSED;
        };
        let (Some(found), Some(counts)) = (slice_mut(found, room), slice_mut(counts, number)) else { return MISUSED };
        let (Some(reached), Some(unknown)) = (reached.as_mut(), unknown.as_mut()) else { return MISUSED };
        each_text(data, offsets, (found, counts), (reached, unknown), |_, text, free| finder.find(kinds, text, free))
    })
}

/// Find the words of a list in the first `most` characters of texts, as above: `listed` are those, one behind the other,
/// between `words` + 1 `places`. `totals` says how many words each text has.
///
/// # Safety
/// `listed` points to `listed_length` bytes, `places` to `words` + 1 numbers, `kinds` to `known` bytes, `data` to `length`,
/// `offsets` to `number` + 1 numbers, `found` to `room` to be written, `counts` and `totals` to `number`, `reached` and
/// `unknown` to one.
#[no_mangle]
pub unsafe extern "C" fn rd_listed_words(
    listed: *const u8,
    listed_length: u64,
    places: *const i32,
    words: u64,
    kinds: *const u8,
    known: u64,
    most: u64,
    data: *const u8,
    length: u64,
    offsets: *const i32,
    number: u64,
    found: *mut u32,
    room: u64,
    counts: *mut i64,
    totals: *mut i64,
    reached: *mut u64,
    unknown: *mut u64,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(listed), Some(places)) = (slice(listed, listed_length), slice(places, words.saturating_add(1)))
        else {
            return MISUSED;
        };
        let given: Option<Vec<&[u8]>> = places.windows(2).map(|ends| piece(listed, ends)).collect();
        let Some(listed) = given.and_then(|words| Listed::new(words.into_iter())) else { return MISUSED };
        let (Some(kinds), Some(data), Some(offsets)) =
            (slice(kinds, known), slice(data, length), slice(offsets, number.saturating_add(1)))
        else {
            return MISUSED;
        };
        let (Some(found), Some(counts), Some(totals)) =
            (slice_mut(found, room), slice_mut(counts, number), slice_mut(totals, number))
        else {
            return MISUSED;
        };
        let (Some(reached), Some(unknown)) = (reached.as_mut(), unknown.as_mut()) else { return MISUSED };
        each_text(data, offsets, (found, counts), (reached, unknown), |place, text, free| {
            let (count, words) = listed.find(kinds, text, most as usize, free)?;
            totals[place] = words as i64;
            Ok(count)
        })
    })
}

/// Go on with texts from where was `reached`: `find` says how many it put into what of `found` is free for the one at a
/// place, and `counts` has it, -1 where Python is to look.
fn each_text(
    data: &[u8],
    offsets: &[i32],
    (found, counts): (&mut [u32], &mut [i64]),
    (reached, unknown): (&mut u64, &mut u64),
    mut find: impl FnMut(usize, &str, &mut [u32]) -> Result<usize, Left>,
) -> i32 {
    let Some(done) = usize::try_from(*reached).ok().and_then(|reached| counts.get(..reached)) else {
        return MISUSED;
    };
    let mut used = done.iter().map(|&count| usize::try_from(count).unwrap_or(0)).sum::<usize>();
    let texts = Texts::of(data);
    for (place, ends) in offsets.windows(2).enumerate().skip(*reached as usize) {
        let (Some(text), Some(free)) = (texts.piece(ends), found.get_mut(used..)) else { return MISUSED };
        counts[place] = match text.map_or(Err(Left::Odd), |text| find(place, text, free)) {
            Ok(count) => {
                used += count;
                count as i64
            }
            Err(Left::Odd) => -1,
            Err(Left::Full) => return MISUSED,
            Err(Left::Unknown(character)) => {
                *unknown = u64::from(character);
                return DONE;
            }
        };
        *reached += 1;
    }
    DONE
}
