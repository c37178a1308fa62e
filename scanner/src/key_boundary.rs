//! What Python calls for keys; as in `boundary.rs`.

#![allow(unsafe_code)]

use crate::boundary::{guarded, slice, slice_mut, View, DONE, MISUSED, PANICKED};
use crate::firsts::{Firsts, Named};
use crate::keys::{find_ranks, mix, sieve, sieved, Numbering, Table};
use crate::owned::distinct_per_owner;
use crate::pairs::Pairs;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::RwLock;

/// Put codes into a table of 2^`bits` slots, whose memory is all zeros; `seed` lays it out, also in other processes.
///
/// # Safety
/// `slots` points to 2^`bits` numbers to be written, `codes` to `length` numbers, `width` for each code.
#[no_mangle]
pub unsafe extern "C" fn rd_table_fill(
    slots: *mut u64,
    bits: u32,
    codes: *const u64,
    length: u64,
    width: u64,
    seed: u64,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(slots), Some(codes)) = (slice_mut(slots, table_length(bits)), slice(codes, length)) else {
            return MISUSED;
        };
        let Some(mut table) = Table::over(slots, bits, codes, width as usize, seed) else { return MISUSED };
        table.fill();
        DONE
    })
}

/// Look codes up in a table: the position of each, or -1.
///
/// # Safety
/// As of `rd_table_fill`, whose codes these are; `asked` points to `width` · `count` numbers, `positions` to `count` ones to
/// be written.
#[no_mangle]
pub unsafe extern "C" fn rd_table_find(
    slots: *const u64,
    bits: u32,
    codes: *const u64,
    length: u64,
    width: u64,
    seed: u64,
    asked: *const u64,
    count: u64,
    positions: *mut i32,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(slots), Some(codes)) = (slice(slots, table_length(bits)), slice(codes, length)) else {
            return MISUSED;
        };
        let table = Table::over(slots, bits, codes, width as usize, seed);
        match (table, slice(asked, count.saturating_mul(width)), slice_mut(positions, count)) {
            (Some(table), Some(asked), Some(positions)) => {
                table.find(asked, width as usize, positions);
                DONE
            }
            _ => MISUSED,
        }
    })
}

/// Mark places among `length`, the last of which is for those that are not there; other threads may mark some, too.
///
/// # Safety
/// `marks` points to `length` bytes to be written, `places` to `count` numbers.
#[no_mangle]
pub unsafe extern "C" fn rd_mark(marks: *const AtomicU8, length: u64, places: *const i32, count: u64) -> i32 {
    guarded(PANICKED, || {
        let (Some(marks), Some(places)) = (slice(marks, length), slice(places, count)) else { return MISUSED };
        let Some((none, marks)) = marks.split_last() else { return MISUSED };
        for &place in places {
            marks.get(place as u32 as usize).unwrap_or(none).store(1, Ordering::Relaxed);
        }
        DONE
    })
}

/// Add to each of `length` tallies how often its number is there; others are passed over.
///
/// # Safety
/// `numbers` points to `count` numbers, `tallies` to `length` to be written.
#[no_mangle]
pub unsafe extern "C" fn rd_tally(numbers: *const i32, count: u64, tallies: *mut i64, length: u64) -> i32 {
    guarded(PANICKED, || {
        let (Some(numbers), Some(tallies)) = (slice(numbers, count), slice_mut(tallies, length)) else {
            return MISUSED;
        };
        for &number in numbers {
            if let Some(tally) = tallies.get_mut(number as u32 as usize) {
                *tally += 1;
            }
        }
        DONE
    })
}

fn table_length(bits: u32) -> u64 {
    1_u64.checked_shl(bits).unwrap_or(0)
}

/// Look integers up in a table by value, which begins at `least`; its last entry is for those out of its range.
///
/// # Safety
/// `ranks` points to `length` numbers, `codes` to `count` numbers, `positions` to `count` numbers to be written.
#[no_mangle]
pub unsafe extern "C" fn rd_rank_find(
    ranks: *const i32,
    length: u64,
    least: u64,
    codes: *const u64,
    count: u64,
    positions: *mut i32,
) -> i32 {
    guarded(PANICKED, || match (slice(ranks, length), slice(codes, count), slice_mut(positions, count)) {
        (Some(ranks), Some(codes), Some(positions)) => {
            find_ranks(ranks, least, codes, positions);
            DONE
        }
        _ => MISUSED,
    })
}

/// Count codes by their leading bits, up to 2, four places in a byte.
///
/// # Safety
/// `places` points to `length` bytes to be written, a power of two; `codes` to `count` numbers, `width` for each code.
#[no_mangle]
pub unsafe extern "C" fn rd_sieve(places: *mut u8, length: u64, codes: *const u64, count: u64, width: u64) -> i32 {
    guarded(PANICKED, || match (slice_mut(places, length), slice(codes, count)) {
        (Some(places), Some(codes)) if width > 0 => sieve(places, codes, width as usize).map_or(MISUSED, |()| DONE),
        _ => MISUSED,
    })
}

/// Positions of the codes that the sieve counted twice; `number` says how many.
///
/// # Safety
/// As of `rd_sieve`; `found` points to as many numbers to be written as there are codes, `number` to one.
#[no_mangle]
pub unsafe extern "C" fn rd_sieved(
    places: *const u8,
    length: u64,
    codes: *const u64,
    count: u64,
    width: u64,
    found: *mut i64,
    number: *mut u64,
) -> i32 {
    guarded(PANICKED, || {
        let Some(each) = count.checked_div(width) else { return MISUSED };
        match (slice(places, length), slice(codes, count), slice_mut(found, each), number.as_mut()) {
            (Some(places), Some(codes), Some(found), Some(number)) => {
                let Some(twice) = sieved(places, codes, width as usize, found) else { return MISUSED };
                *number = twice as u64;
                DONE
            }
            _ => MISUSED,
        }
    })
}

/// One code for each pair of codes.
///
/// # Safety
/// `heads` points to `width` · `count` numbers, `tails` to `tail_width` · `count`, `mixed` to 2 · `count` to be written.
#[no_mangle]
pub unsafe extern "C" fn rd_mix(
    heads: *const u64,
    width: u64,
    tails: *const u64,
    tail_width: u64,
    count: u64,
    mixed: *mut u64,
) -> i32 {
    guarded(PANICKED, || {
        let (heads, tails) =
            (slice(heads, count.saturating_mul(width)), slice(tails, count.saturating_mul(tail_width)));
        let (Some(heads), Some(tails), Some(mixed)) = (heads, tails, slice_mut(mixed, count.saturating_mul(2))) else {
            return MISUSED;
        };
        if mix((heads, width as usize), (tails, tail_width as usize), mixed) {
            DONE
        } else {
            MISUSED
        }
    })
}

/// Numbers of codes of texts; null where there is no memory.
#[no_mangle]
pub extern "C" fn rd_numbering_new() -> *mut Numbering {
    guarded(null_mut(), || Numbering::new().map_or(null_mut(), |made| Box::into_raw(Box::new(made))))
}

/// Give it back.
///
/// # Safety
/// `numbering` is null or came from `rd_numbering_new`, and is not used again.
#[no_mangle]
pub unsafe extern "C" fn rd_numbering_free(numbering: *mut Numbering) {
    if !numbering.is_null() {
        drop(Box::from_raw(numbering));
    }
}

/// Number codes: `fresh` gets the positions of those that are new, `fresh_count` how many these are.
///
/// # Safety
/// `numbering` came from here and is used by one thread at a time. `codes` points to twice `count` numbers, `numbers` and
/// `fresh` to `count` each, to be written, `fresh_count` to a number.
#[no_mangle]
pub unsafe extern "C" fn rd_numbering_add(
    numbering: *mut Numbering,
    codes: *const u64,
    count: u64,
    numbers: *mut i32,
    fresh: *mut u64,
    fresh_count: *mut u64,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(numbering), Some(codes), Some(numbers), Some(fresh), Some(fresh_count)) = (
            numbering.as_mut(),
            slice(codes, count.saturating_mul(2)),
            slice_mut(numbers, count),
            slice_mut(fresh, count),
            fresh_count.as_mut(),
        ) else {
            return MISUSED;
        };
        numbering.add(codes, numbers, fresh).map_or(MISUSED, |found| {
            *fresh_count = found as u64;
            DONE
        })
    })
}

/// The first value of each name, in at most 2^`bits` places; null where there are no such.
#[no_mangle]
pub extern "C" fn rd_firsts_new(width: u64, value_width: u64, bits: u32) -> *mut RwLock<Firsts> {
    guarded(null_mut(), || {
        Firsts::new(width as usize, value_width as usize, bits)
            .map_or(null_mut(), |firsts| Box::into_raw(Box::new(RwLock::new(firsts))))
    })
}

/// Give it back.
///
/// # Safety
/// `firsts` is null or came from `rd_firsts_new`, and is not used again.
#[no_mangle]
pub unsafe extern "C" fn rd_firsts_free(firsts: *mut RwLock<Firsts>) {
    if !firsts.is_null() {
        drop(Box::from_raw(firsts));
    }
}

/// Take in names with their values: of `columns` pairs of columns, record by record. `odd` shows what disagrees, or
/// found no place: its name, its value and its row, one behind the other. `asked`: of what columns say, record by record,
/// what is to be taken in (nowhere: all); `fresh`: whether each name was not known before (or nowhere).
///
/// # Safety
/// `firsts` came from here; one thread at a time takes names in. `names` and `values` point to `columns` addresses each,
/// of `count` codes of their widths, `rows` to `count` numbers or nowhere: then the rows are those from `first` on.
/// `asked` and `fresh`, where they point, point to a byte for each of `count` records in each column. `odd` points to a view.
#[no_mangle]
pub unsafe extern "C" fn rd_firsts_add(
    firsts: *const RwLock<Firsts>,
    names: *const *const u64,
    values: *const *const u64,
    columns: u64,
    count: u64,
    rows: *const u64,
    first: u64,
    asked: *const u8,
    fresh: *mut u8,
    odd: *mut View,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(firsts), Some(odd)) = (firsts.as_ref(), odd.as_mut()) else { return MISUSED };
        let Ok(mut firsts) = firsts.write() else { return PANICKED };
        let Some(given) = named(firsts.widths(), names, values, columns, count) else { return MISUSED };
        let rows = if rows.is_null() { None } else { slice(rows, count) };
        let each = count.saturating_mul(columns);
        let asked = if asked.is_null() { None } else { slice(asked, each) };
        let fresh = if fresh.is_null() { None } else { slice_mut(fresh, each) };
        if !firsts.add(&given, count as usize, (rows, first), asked, fresh) {
            return MISUSED;
        }
        *odd = View { start: firsts.odd.as_ptr(), length: firsts.odd.len() as u64 };
        DONE
    })
}

/// Of what columns say, record by record, what is not known: `open` gets 1 for it, else 0. Any thread may ask.
///
/// # Safety
/// As of `rd_firsts_add`; `open` points to a byte for each of `count` records in each column, to be written.
#[no_mangle]
pub unsafe extern "C" fn rd_firsts_find(
    firsts: *const RwLock<Firsts>,
    names: *const *const u64,
    values: *const *const u64,
    columns: u64,
    count: u64,
    open: *mut u8,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(firsts), Some(open)) = (firsts.as_ref(), slice_mut(open, count.saturating_mul(columns))) else {
            return MISUSED;
        };
        let Ok(widths) = firsts.read().map(|firsts| firsts.widths()) else { return PANICKED };
        let Some(given) = named(widths, names, values, columns, count) else { return MISUSED };
        if Firsts::find_open(firsts, &given, count as usize, open) {
            DONE
        } else {
            MISUSED
        }
    })
}

/// Columns of `count` codes of these widths; none where an address leads nowhere.
///
/// # Safety
/// As of `rd_firsts_add`.
unsafe fn named<'a>(
    (width, value_width): (usize, usize),
    names: *const *const u64,
    values: *const *const u64,
    columns: u64,
    count: u64,
) -> Option<Vec<Named<'a>>> {
    let (names, values) = (slice(names, columns)?, slice(values, columns)?);
    let named = |(&names, &values): (&*const u64, &*const u64)| {
        Some(Named {
            names: slice(names, count.saturating_mul(width as u64))?,
            values: slice(values, count.saturating_mul(value_width as u64))?,
        })
    };
    names.iter().zip(values).map(named).collect()
}

/// Pairs of integers that will be asked for; null where most first ones are spread over more than `most` numbers.
///
/// # Safety
/// `firsts` and `seconds` point to `count` numbers.
#[no_mangle]
pub unsafe extern "C" fn rd_pairs_new(firsts: *const u64, seconds: *const u64, count: u64, most: u64) -> *mut Pairs {
    guarded(null_mut(), || match (slice(firsts, count), slice(seconds, count)) {
        (Some(firsts), Some(seconds)) => {
            Pairs::of(firsts, seconds, most).map_or(null_mut(), |pairs| Box::into_raw(Box::new(pairs)))
        }
        _ => null_mut(),
    })
}

/// Give pairs back.
///
/// # Safety
/// `pairs` is null or came from `rd_pairs_new`, and is not used again.
#[no_mangle]
pub unsafe extern "C" fn rd_pairs_free(pairs: *mut Pairs) {
    if !pairs.is_null() {
        drop(Box::from_raw(pairs));
    }
}

/// Whether each of these pairs is there: 1 or 0.
///
/// # Safety
/// `pairs` came from `rd_pairs_new`; `firsts` and `seconds` point to `count` numbers, `there` to `count` bytes to be written.
#[no_mangle]
pub unsafe extern "C" fn rd_pairs_find(
    pairs: *const Pairs,
    firsts: *const u64,
    seconds: *const u64,
    count: u64,
    there: *mut u8,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(pairs), Some(there)) = (pairs.as_ref(), slice_mut(there, count)) else { return MISUSED };
        let (Some(firsts), Some(seconds)) = (slice(firsts, count), slice(seconds, count)) else { return MISUSED };
        pairs.find(firsts, seconds, there);
        DONE
    })
}

/// How many different ones of the `numbers` each of `owner_count` owners has, in `counts`: see `distinct_per_owner`.
///
/// # Safety
/// `owners` and `numbers` point to `number` numbers, `counts` to `owner_count` to be written.
#[no_mangle]
pub unsafe extern "C" fn rd_distinct_per_owner(
    owners: *const i64,
    numbers: *const i64,
    number: u64,
    counts: *mut u64,
    owner_count: u64,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(owners), Some(numbers), Some(counts)) =
            (slice(owners, number), slice(numbers, number), slice_mut(counts, owner_count))
        else {
            return MISUSED;
        };
        distinct_per_owner(owners, numbers, counts).map_or(MISUSED, |()| DONE)
    })
}
