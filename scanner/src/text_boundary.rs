//! What Python calls for texts; as in `boundary.rs`.

#![allow(unsafe_code)]

use crate::boundary::{guarded, slice, slice_mut, DONE, MISUSED, PANICKED};
use crate::finder::{self, Finder};
use crate::texts::{count, Counting};
use crate::words::{words, Folding, Left};
use std::ptr::null_mut;

/// Count the tokens of texts that stand one behind the other in `data`, and find their scripts: `offsets` are `count` + 1
/// places in it. `kinds` says what each character is. `reached` is where to begin, and says how far it came: where that is
/// not `count`, `unknown` is a character of which `kinds` says nothing.
///
/// # Safety
/// `kinds` points to `known` bytes, `data` to `length`, `offsets` to `count` + 1 numbers, `tokens` and `scripts` to `count`
/// numbers to be written, `reached` and `unknown` to one.
#[no_mangle]
pub unsafe extern "C" fn rd_text_numbers(
    kinds: *const u8,
    known: u64,
    longest: u64,
    kana: u64,
    han: u64,
    data: *const u8,
    length: u64,
    offsets: *const i32,
    number: u64,
    tokens: *mut i64,
    scripts: *mut u8,
    reached: *mut u64,
    unknown: *mut u64,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(kinds), Some(data), Some(offsets)) =
            (slice(kinds, known), slice(data, length), slice(offsets, number.saturating_add(1)))
        else {
            return MISUSED;
        };
        let (Some(tokens), Some(scripts)) = (slice_mut(tokens, number), slice_mut(scripts, number)) else {
            return MISUSED;
        };
        let (Some(reached), Some(unknown)) = (reached.as_mut(), unknown.as_mut()) else { return MISUSED };
        if kinds.is_empty() || longest == 0 || kana >= 32 || han >= 32 || *reached > number {
            return MISUSED;
        }
        let counting = Counting { kinds, longest, kana: kana as usize, han: han as usize };
        while *reached < number {
            let place = *reached as usize;
            let (Ok(start), Ok(end)) = (usize::try_from(offsets[place]), usize::try_from(offsets[place + 1])) else {
                return MISUSED;
            };
            let Some(text) = data.get(start..end).and_then(|text| std::str::from_utf8(text).ok()) else {
                return MISUSED;
            };
            match count(&counting, text) {
                Ok(found) => (tokens[place], scripts[place]) = found,
                Err(character) => {
                    *unknown = u64::from(character);
                    return DONE;
                }
            }
            *reached += 1;
        }
        DONE
    })
}

/// Make numbers of the words of texts that stand one behind the other in `data`, as above: those of all texts one after
/// the other in `codes`, and how many each has in `counts`, -1 where Python is to make them. `places` and `folded` say what
/// characters become. `reached` and `unknown` are as above.
///
/// # Safety
/// `places` points to `known` numbers, `folded` to `folded_length` bytes, `data` to `length`, `offsets` to `number` + 1
/// numbers, `codes` to `room` to be written, `counts` to `number`, `reached` and `unknown` to one.
#[no_mangle]
pub unsafe extern "C" fn rd_text_words(
    places: *const u32,
    known: u64,
    folded: *const u8,
    folded_length: u64,
    base: u64,
    mixer: u64,
    data: *const u8,
    length: u64,
    offsets: *const i32,
    number: u64,
    codes: *mut u64,
    room: u64,
    counts: *mut i64,
    reached: *mut u64,
    unknown: *mut u64,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(places), Some(texts), Some(data), Some(offsets)) = (
            slice(places, known),
            slice(folded, folded_length),
            slice(data, length),
            slice(offsets, number.saturating_add(1)),
        ) else {
            return MISUSED;
        };
        let (Some(codes), Some(counts)) = (slice_mut(codes, room), slice_mut(counts, number)) else { return MISUSED };
        let (Some(reached), Some(unknown)) = (reached.as_mut(), unknown.as_mut()) else { return MISUSED };
        let Some(done) = usize::try_from(*reached).ok().and_then(|reached| counts.get(..reached)) else {
            return MISUSED;
        };
        let mut used = done.iter().map(|&count| usize::try_from(count).unwrap_or(0)).sum::<usize>();
        let folding = Folding { places, texts, base, mixer };
        while *reached < number {
            let place = *reached as usize;
            let (Ok(start), Ok(end)) = (usize::try_from(offsets[place]), usize::try_from(offsets[place + 1])) else {
                return MISUSED;
            };
            let (Some(text), Some(free)) = (data.get(start..end), codes.get_mut(used..)) else { return MISUSED };
            let found = std::str::from_utf8(text).map_or(Err(Left::Odd), |text| words(&folding, text, free));
            counts[place] = match found {
                Ok(count) => {
                    used += count;
                    count as i64
                }
                Err(Left::Odd) => -1,
                Err(Left::Unknown(character)) => {
                    *unknown = u64::from(character);
                    return DONE;
                }
            };
            *reached += 1;
        }
        DONE
    })
}

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
/// `finder` is one of `rd_finder_new` that was not given back.
#[no_mangle]
pub unsafe extern "C" fn rd_finder_free(finder: *mut Finder) {
    guarded((), || drop(Box::from_raw(finder)));
}

/// Find names in texts, as above: the numbers of those of all texts one after the other in `found`, and how many each text
/// has in `counts`, -1 where Python is to find them. `kinds` says what characters are. `reached` and `unknown` are as above.
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
        let Some(done) = usize::try_from(*reached).ok().and_then(|reached| counts.get(..reached)) else {
            return MISUSED;
        };
        let mut used = done.iter().map(|&count| usize::try_from(count).unwrap_or(0)).sum::<usize>();
        for (place, ends) in offsets.windows(2).enumerate().skip(*reached as usize) {
            let (Some(text), Some(free)) = (piece(data, ends), found.get_mut(used..)) else { return MISUSED };
            let names = std::str::from_utf8(text).map_or(Err(finder::Left::Odd), |text| finder.find(kinds, text, free));
            counts[place] = match names {
                Ok(count) => {
                    used += count;
                    count as i64
                }
                Err(finder::Left::Odd) => -1,
                Err(finder::Left::Full) => return MISUSED,
                Err(finder::Left::Unknown(character)) => {
                    *unknown = u64::from(character);
                    return DONE;
                }
            };
            *reached += 1;
        }
        DONE
    })
}

fn piece<'a>(data: &'a [u8], ends: &[i32]) -> Option<&'a [u8]> {
    let (start, end) = (usize::try_from(*ends.first()?).ok()?, usize::try_from(*ends.get(1)?).ok()?);
    data.get(start..end)
}
