//! What Python calls for tables; as in `boundary.rs`.

#![allow(unsafe_code)]

use crate::boundary::{guarded, level_of, slice, slice_mut, View, DONE, MISUSED, PANICKED};
use crate::csv_cut::cut;
use crate::rows::{scan, Rows, Texts};
use crate::sheet::Sheet;
use std::ptr::null_mut;

/// Views before those of the columns: the summary and the notes.
const BEFORE: usize = 2;
const OF_COLUMN: usize = 13;

/// A sheet, or null where the blob is not understood.
///
/// # Safety
/// `blob` points to `length` bytes.
#[no_mangle]
pub unsafe extern "C" fn rd_sheet_new(blob: *const u8, length: u64) -> *mut Sheet {
    guarded(null_mut(), || {
        slice(blob, length).and_then(Sheet::parse).map_or(null_mut(), |sheet| Box::into_raw(Box::new(sheet)))
    })
}

/// Give a sheet back.
///
/// # Safety
/// `sheet` is null or came from `rd_sheet_new`, and is not used again.
#[no_mangle]
pub unsafe extern "C" fn rd_sheet_free(sheet: *mut Sheet) {
    if !sheet.is_null() {
        drop(Box::from_raw(sheet));
    }
}

/// What a thread has its results in.
#[no_mangle]
pub extern "C" fn rd_rows_new() -> *mut Rows {
    guarded(null_mut(), || Box::into_raw(Box::default()))
}

/// Give results back.
///
/// # Safety
/// `rows` is null or came from `rd_rows_new`, and is not used again.
#[no_mangle]
pub unsafe extern "C" fn rd_rows_free(rows: *mut Rows) {
    if !rows.is_null() {
        drop(Box::from_raw(rows));
    }
}

/// Cut whole records off: writes how many rows, bytes and lines there are.
///
/// # Safety
/// `data` points to `length` bytes, `found` to three numbers to be written.
#[no_mangle]
pub unsafe extern "C" fn rd_rows_cut(
    data: *const u8,
    length: u64,
    most: u64,
    ended: i32,
    width: u64,
    other_width: u64,
    portable: i32,
    found: *mut u64,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(data), Some([rows, bytes, lines])) = (slice(data, length), slice_mut(found, 3)) else {
            return MISUSED;
        };
        let cut = cut(data, most, ended != 0, [width, other_width], level_of(portable));
        (*rows, *bytes, *lines) = (cut.rows, cut.bytes, cut.lines);
        DONE
    })
}

/// Scan whole records, and show what was found: the summary, the notes, and thirteen views of each column.
///
/// # Safety
/// `sheet` and `rows` came from here, `data` points to `length` bytes, `views` to `count` views.
#[no_mangle]
pub unsafe extern "C" fn rd_rows_scan(
    sheet: *const Sheet,
    rows: *mut Rows,
    data: *const u8,
    length: u64,
    portable: i32,
    views: *mut View,
    count: u64,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(sheet), Some(rows), Some(data)) = (sheet.as_ref(), rows.as_mut(), slice(data, length)) else {
            return MISUSED;
        };
        let wanted = BEFORE + OF_COLUMN * sheet.columns.len();
        let Some(views) = slice_mut(views, count).filter(|views| views.len() == wanted) else { return MISUSED };
        scan(sheet, rows, data, level_of(portable));
        let texts = |texts: &Texts| [bytes(&texts.bytes), numbers(&texts.ends)];
        let of_columns = rows.cells.iter().flat_map(|cells| {
            let [unspelled, its_ends] = texts(&cells.unspelled_texts);
            let [all, ends] = texts(&cells.texts);
            [
                numbers(&cells.codes.numbers),
                numbers(&cells.spelled.numbers),
                numbers(&cells.unspelled),
                unspelled,
                its_ends,
                all,
                ends,
                numbers(&cells.numbers),
                numbers(&cells.told),
                bytes(&cells.kept.bytes),
                View { start: cells.kept.offsets.as_ptr().cast(), length: 4 * cells.kept.offsets.len() as u64 },
                bytes(&cells.kept.valid),
                numbers(&cells.kept.late),
            ]
        });
        let found = [numbers(&rows.summary), numbers(&rows.notes)].into_iter().chain(of_columns);
        for (view, found) in views.iter_mut().zip(found) {
            *view = found;
        }
        DONE
    })
}

fn numbers(numbers: &[u64]) -> View {
    View { start: numbers.as_ptr(), length: numbers.len() as u64 }
}

/// Bytes, counted as such.
fn bytes(bytes: &[u8]) -> View {
    View { start: bytes.as_ptr().cast(), length: bytes.len() as u64 }
}
