//! What Python calls: plain C functions, each of which checks what it is given; the other place of unsafe code.
//!
//! Memory belongs to the side that made it. What `rd_scan` shows is valid until the next scan of the same block.

#![allow(unsafe_code)]

use crate::columns::Scanned;
use crate::elements::{self, last_comma, line_ends, Cut, Elements};
use crate::facts::Sample;
use crate::hash::{code, Seeds};
use crate::isa::Level;
use crate::keys::Table;
use crate::lines::{scan, Outcome};
use crate::plan::{Plan, Type, ABI};
use crate::tagged;
use std::ffi::c_char;
use std::panic::{catch_unwind, set_hook, AssertUnwindSafe};
use std::ptr::{null, null_mut};
use std::slice::{from_raw_parts, from_raw_parts_mut};
use std::sync::Once;

/// Numbers of 64 bits, somewhere in memory.
#[repr(C)]
pub struct View {
    pub(crate) start: *const u64,
    pub(crate) length: u64,
}

pub(crate) const DONE: i32 = 0;
const LONE_RETURN: i32 = 1;
pub(crate) const MISUSED: i32 = -1;
pub(crate) const PANICKED: i32 = -100;

/// Views before those of the fields: the summary, the notes, the counts, the noted rows that are read alike, the marks.
const OF_BLOCK: usize = 5;
/// Views of each field.
const OF_FIELD: usize = 5;

static SILENCE: Once = Once::new();

/// The result of a function, or that it panicked; nothing is printed.
pub(crate) fn guarded<T>(failed: T, run: impl FnOnce() -> T) -> T {
    SILENCE.call_once(|| set_hook(Box::new(|_| {})));
    catch_unwind(AssertUnwindSafe(run)).unwrap_or(failed)
}

/// Bytes that Python holds; none for a null pointer or more than half of the address space.
pub(crate) unsafe fn slice<'a, T>(start: *const T, length: u64) -> Option<&'a [T]> {
    let length = usize::try_from(length).ok().filter(|&n| n <= isize::MAX as usize / size_of::<T>().max(1))?;
    if length == 0 {
        return Some(&[]);
    }
    (!start.is_null()).then(|| from_raw_parts(start, length))
}

/// The same of memory that is written to.
pub(crate) unsafe fn slice_mut<'a, T>(start: *mut T, length: u64) -> Option<&'a mut [T]> {
    let length = slice(start.cast_const(), length)?.len();
    if length == 0 {
        return Some(&mut []);
    }
    Some(from_raw_parts_mut(start, length))
}

/// The number of the interface.
#[no_mangle]
pub extern "C" fn rd_abi() -> u32 {
    ABI
}

/// Version, kind of build and way of looking at bytes, as text that ends in NUL.
#[no_mangle]
pub extern "C" fn rd_build() -> *const c_char {
    let portable = concat!(env!("CARGO_PKG_VERSION"), " portable\0");
    let avx2 = concat!(env!("CARGO_PKG_VERSION"), " avx2\0");
    let debug = concat!(env!("CARGO_PKG_VERSION"), " debug\0");
    let text = match (cfg!(debug_assertions), Level::best()) {
        (true, _) => debug,
        (_, Level::Portable) => portable,
        (_, Level::Avx2) => avx2,
    };
    text.as_ptr().cast()
}

/// A plan, or null where the blob is not understood.
///
/// # Safety
/// `blob` points to `length` bytes.
#[no_mangle]
pub unsafe extern "C" fn rd_plan_new(blob: *const u8, length: u64) -> *mut Plan {
    guarded(null_mut(), || {
        slice(blob, length).and_then(Plan::parse).map_or(null_mut(), |plan| Box::into_raw(Box::new(plan)))
    })
}

/// Give a plan back.
///
/// # Safety
/// `plan` is null or came from `rd_plan_new`, and is not used again.
#[no_mangle]
pub unsafe extern "C" fn rd_plan_free(plan: *mut Plan) {
    if !plan.is_null() {
        drop(Box::from_raw(plan));
    }
}

/// Say what the values of a key field are looked up in: records with other ones become candidates. Before any scan.
///
/// # Safety
/// `plan` came from `rd_plan_new` and is not in use, `codes` points to `count` numbers, two for each code.
#[no_mangle]
pub unsafe extern "C" fn rd_plan_known(plan: *mut Plan, field: u64, codes: *const u64, count: u64) -> i32 {
    guarded(PANICKED, || {
        let (Some(plan), Some(codes)) = (plan.as_mut(), slice(codes, count)) else { return MISUSED };
        let field = usize::try_from(field)
            .ok()
            .and_then(|field| plan.fields.get_mut(field))
            .filter(|f| f.key && f.code_width() == 2);
        let (Some(field), Some(table)) = (field, Table::of(codes)) else { return MISUSED };
        field.known = Some(table);
        DONE
    })
}

/// Keep the values of a field of the record itself. Before any scan.
///
/// # Safety
/// `plan` came from `rd_plan_new` and is not in use.
#[no_mangle]
pub unsafe extern "C" fn rd_plan_keep(plan: *mut Plan, field: u64) -> i32 {
    guarded(PANICKED, || match (plan.as_mut(), usize::try_from(field)) {
        (Some(plan), Ok(field)) => {
            if plan.keep(field) {
                DONE
            } else {
                MISUSED
            }
        }
        _ => MISUSED,
    })
}

/// Show what the last scan has kept of a field (the first, the second and so on that was to be kept): where its values
/// end, the rows without one, and the values, one behind the other (a view of bytes).
///
/// # Safety
/// `block` came from here, `views` points to three views.
#[no_mangle]
pub unsafe extern "C" fn rd_kept(block: *const Scanned, place: u64, views: *mut View) -> i32 {
    guarded(PANICKED, || {
        let (Some(block), Some(views)) = (block.as_ref(), slice_mut(views, 3)) else { return MISUSED };
        let Some(kept) = usize::try_from(place).ok().and_then(|place| block.kept.get(place)) else { return MISUSED };
        for (view, numbers) in views.iter_mut().zip([&kept.ends, &kept.missing]) {
            *view = View { start: numbers.as_ptr(), length: numbers.len() as u64 };
        }
        views[2] = View { start: kept.bytes.as_ptr().cast(), length: kept.bytes.len() as u64 };
        DONE
    })
}

/// Make facts of the texts in a field of the record itself. Before any scan.
///
/// # Safety
/// `plan` came from `rd_plan_new` and is not in use.
#[no_mangle]
pub unsafe extern "C" fn rd_plan_facts(plan: *mut Plan, field: u64) -> i32 {
    guarded(PANICKED, || {
        let (Some(plan), Ok(field)) = (plan.as_mut(), usize::try_from(field)) else { return MISUSED };
        if plan.make_facts(field) {
            DONE
        } else {
            MISUSED
        }
    })
}

/// Say which texts the next scans keep of the field of which there are facts, or of that of objects in lists: see
/// `Sample`.
///
/// # Safety
/// `block` came from `rd_block_new` and is not in use.
#[no_mangle]
pub unsafe extern "C" fn rd_sample(block: *mut Scanned, of_items: i32, before: u64, step: u64) -> i32 {
    guarded(PANICKED, || {
        let Some(mut block) = block.as_mut() else { return MISUSED };
        if of_items != 0 {
            block = block.items.get_or_insert_with(Box::default);
        }
        block.facts.chosen = Sample { before, step };
        DONE
    })
}

/// Show the facts of the last scan: those of `Facts`, in that order; the texts are a view of bytes.
///
/// # Safety
/// `block` came from `rd_block_new`, `views` points to eight views.
#[no_mangle]
pub unsafe extern "C" fn rd_facts(block: *const Scanned, views: *mut View) -> i32 {
    guarded(PANICKED, || {
        let (Some(block), Some(views)) = (block.as_ref(), slice_mut(views, 8)) else { return MISUSED };
        let found = &block.facts;
        let [texts @ .., bytes] = views else { return MISUSED };
        let all = [&found.lengths, &found.codes, &found.ends, &found.empty, &found.starts];
        for (view, numbers) in texts.iter_mut().zip(all.into_iter().chain([&found.sampled, &found.sample_ends])) {
            *view = View { start: numbers.as_ptr(), length: numbers.len() as u64 };
        }
        *bytes = View { start: found.sample.as_ptr().cast(), length: found.sample.len() as u64 };
        DONE
    })
}

/// Take the objects in some lists of the record for records of their own, as another blob says; their plan, of which
/// values and facts may be wanted, or null. It belongs to the first one. Before any scan.
///
/// # Safety
/// `plan` came from `rd_plan_new` and is not in use, `blob` points to `length` bytes.
#[no_mangle]
pub unsafe extern "C" fn rd_plan_items(plan: *mut Plan, blob: *const u8, length: u64) -> *mut Plan {
    guarded(null_mut(), || {
        let (Some(plan), Some(items)) = (plan.as_mut(), slice(blob, length).and_then(Plan::parse)) else {
            return null_mut();
        };
        plan.take_items(items).map_or(null_mut(), std::ptr::from_mut)
    })
}

/// The objects in this list are such records. Before any scan.
///
/// # Safety
/// `plan` came from `rd_plan_new` and is not in use.
#[no_mangle]
pub unsafe extern "C" fn rd_plan_list(plan: *mut Plan, field: u64) -> i32 {
    guarded(PANICKED, || {
        let (Some(plan), Ok(field)) = (plan.as_mut(), usize::try_from(field)) else { return MISUSED };
        if plan.take_list(field) {
            DONE
        } else {
            MISUSED
        }
    })
}

/// What the last scan found in such records, or null where the plan had none; `owners` shows their lists.
///
/// # Safety
/// `block` came from `rd_block_new`, `owners` points to a view.
#[no_mangle]
pub unsafe extern "C" fn rd_items(block: *const Scanned, owners: *mut View) -> *const Scanned {
    guarded(null(), || {
        let items = block.as_ref().and_then(|block| block.items.as_deref());
        let (Some(items), Some(owners)) = (items, owners.as_mut()) else { return null() };
        *owners = View { start: items.owners.as_ptr(), length: items.owners.len() as u64 };
        std::ptr::from_ref(items)
    })
}

/// A block, to be used by one thread at a time.
#[no_mangle]
pub extern "C" fn rd_block_new() -> *mut Scanned {
    guarded(null_mut(), || Box::into_raw(Box::new(Scanned::new())))
}

/// Give a block back.
///
/// # Safety
/// `block` is null or came from `rd_block_new`, and is not used again.
#[no_mangle]
pub unsafe extern "C" fn rd_block_free(block: *mut Scanned) {
    if !block.is_null() {
        drop(Box::from_raw(block));
    }
}

/// Scan whole lines, and show what was found: the summary, the notes, the counts, the noted rows that are read alike,
/// the marks, and for each field its codes, the rows that have no value, the rows of the items, and the codes and the
/// odd ones of its spellings. `portable`: not with the instructions of this processor.
///
/// # Safety
/// `plan` and `block` came from here, `data` points to `length` bytes, `views` to `count` views.
#[no_mangle]
pub unsafe extern "C" fn rd_scan(
    plan: *const Plan,
    block: *mut Scanned,
    data: *const u8,
    length: u64,
    portable: i32,
    views: *mut View,
    count: u64,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(plan), Some(block), Some(data)) = (plan.as_ref(), block.as_mut(), slice(data, length)) else {
            return MISUSED;
        };
        if views.is_null() || count != (OF_BLOCK + OF_FIELD * plan.fields.len()) as u64 {
            return MISUSED;
        }
        if scan(plan, block, data, level_of(portable)) == Outcome::LoneReturn {
            return LONE_RETURN;
        }
        show(plan, block, views);
        DONE
    })
}

pub(crate) fn level_of(portable: i32) -> Level {
    if portable != 0 {
        Level::Portable
    } else {
        Level::best()
    }
}

/// Write the views of all that was found.
///
/// # Safety
/// `views` points to as many as there are.
unsafe fn show(plan: &Plan, block: &Scanned, views: *mut View) {
    let views = from_raw_parts_mut(views, OF_BLOCK + OF_FIELD * plan.fields.len());
    let of_fields =
        block.columns.iter().flat_map(|c| [&c.codes.numbers, &c.missing, &c.owners, &c.spelled.numbers, &c.odd]);
    let found = [&block.summary[..], &block.notes, &block.tallies, &block.alike, &block.marks]
        .into_iter()
        .chain(of_fields.map(Vec::as_slice));
    for (view, numbers) in views.iter_mut().zip(found) {
        *view = View { start: numbers.as_ptr(), length: numbers.len() as u64 };
    }
}

/// Scan elements of an array, or (`members`) members of an object, which are separated by commas, and show what was
/// found as `rd_scan` does. `done`: how many bytes are done with; what follows Python must look at.
///
/// # Safety
/// As of `rd_scan`; `done` points to a number to be written.
#[no_mangle]
pub unsafe extern "C" fn rd_scan_elements(
    plan: *const Plan,
    block: *mut Scanned,
    data: *const u8,
    length: u64,
    members: i32,
    portable: i32,
    views: *mut View,
    count: u64,
    done: *mut u64,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(plan), Some(block), Some(data)) = (plan.as_ref(), block.as_mut(), slice(data, length)) else {
            return MISUSED;
        };
        let elements = if members != 0 { Elements::Members } else { Elements::Values };
        if views.is_null()
            || done.is_null()
            || count != (OF_BLOCK + OF_FIELD * plan.fields.len()) as u64
            || (elements == Elements::Members && (plan.fields.len() < 2 || plan.fields[0].kind != Type::Text))
        {
            return MISUSED;
        }
        *done = elements::scan(plan, block, data, elements, level_of(portable)) as u64;
        show(plan, block, views);
        DONE
    })
}

/// Scan elements between tags, and show what was found as `rd_scan` does. `done`: how many bytes are done with.
///
/// # Safety
/// As of `rd_scan`; `done` points to a number to be written.
#[no_mangle]
pub unsafe extern "C" fn rd_scan_tagged(
    plan: *const Plan,
    block: *mut Scanned,
    data: *const u8,
    length: u64,
    portable: i32,
    views: *mut View,
    count: u64,
    done: *mut u64,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(plan), Some(block), Some(data)) = (plan.as_ref(), block.as_mut(), slice(data, length)) else {
            return MISUSED;
        };
        let expected = (OF_BLOCK + OF_FIELD * plan.fields.len()) as u64;
        if views.is_null() || done.is_null() || count != expected || plan.tags.is_empty() {
            return MISUSED;
        }
        *done = tagged::scan(plan, block, data, level_of(portable)) as u64;
        show(plan, block, views);
        DONE
    })
}

/// The place of the last comma between elements in `data`, which begins between elements; its length where there is none
/// yet, one more where there will be none.
///
/// # Safety
/// `data` points to `length` bytes, `place` to a number to be written.
#[no_mangle]
pub unsafe extern "C" fn rd_last_comma(
    data: *const u8,
    length: u64,
    portable: i32,
    place: *mut u64,
    lines: *mut u64,
) -> i32 {
    guarded(PANICKED, || match (slice(data, length), place.as_mut(), lines.as_mut()) {
        (Some(data), Some(place), Some(lines)) => {
            (*place, *lines) = match last_comma(data, level_of(portable)) {
                Cut::At(at) => (at as u64, line_ends(&data[..at])),
                Cut::NotYet => (length, 0),
                Cut::Broken => (length + 1, 0),
            };
            DONE
        }
        _ => MISUSED,
    })
}

/// The codes of texts that stand one behind the other in `data`: `offsets` are `count` + 1 places in it.
///
/// # Safety
/// `data` points to `length` bytes, `offsets` to `count` + 1 numbers, `codes` to 2 · `count` numbers to be written.
#[no_mangle]
pub unsafe extern "C" fn rd_hash(
    seed: u64,
    kept: u64,
    data: *const u8,
    length: u64,
    offsets: *const i32,
    count: u64,
    codes: *mut u64,
) -> i32 {
    guarded(PANICKED, || {
        if count == 0 {
            return DONE;
        }
        let (Some(data), Some(offsets)) = (slice(data, length), slice(offsets, count.saturating_add(1))) else {
            return MISUSED;
        };
        let Some(codes) = slice_mut(codes, count.saturating_mul(2)) else { return MISUSED };
        let seeds = Seeds::of(seed, kept);
        for (halves, pair) in codes.chunks_exact_mut(2).zip(offsets.windows(2)) {
            let place = |offset: i32| usize::try_from(offset).ok();
            let (Some(start), Some(end)) = (place(pair[0]), place(pair[1])) else { return MISUSED };
            let Some(text) = data.get(start..end) else { return MISUSED };
            let code = code(&seeds, text);
            halves.copy_from_slice(&[code as u64, (code >> 64) as u64]);
        }
        DONE
    })
}
