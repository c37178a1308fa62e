//! A block of whole CSV records, of which rows are proved and their cells known, or noted for Python.

use crate::columns::{Codes, Note, NOTE_WIDTH};
use crate::csv_cut::{closing, end_width, piece};
use crate::hash::{self, OfCodes};
use crate::isa::{Isa, Level, Portable};
use crate::kinds::{is_missing, is_number, ColumnScan};
use crate::literal::{literal, write_json, Literal};
use crate::sheet::Sheet;
use crate::texts::is_empty;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// What is known of the cells of one column.
#[derive(Default)]
pub struct Cells {
    /// A code for each row.
    pub codes: Codes,
    /// The same of the cells as they are spelled.
    pub spelled: Codes,
    /// Rows whose spelling Python must say, and those cells.
    pub unspelled: Vec<u64>,
    pub unspelled_texts: Texts,
    /// All different cells; or all cells of a column that is not certain to be text.
    pub texts: Texts,
    /// For each row the number of its text.
    pub numbers: Vec<u64>,
    /// What pandas makes of the cells, with and without those that it takes for missing; how many look like numbers.
    pub scan: ColumnScan,
    pub bare: ColumnScan,
    pub number_like: u64,
    /// How many cells have nothing but blanks, tabs and line ends.
    pub empty: u64,
    /// Those numbers as Python takes them.
    pub told: Vec<u64>,
    /// The cells of all rows, where they are wanted.
    pub kept: Kept,
    known: HashMap<u128, u64, BuildHasherDefault<OfCodes>>,
}

/// Texts, one behind the other.
#[derive(Default)]
pub struct Texts {
    pub bytes: Vec<u8>,
    pub ends: Vec<u64>,
}

impl Texts {
    fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len() as u64);
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

/// Texts in Arrow's layout, one for each row: their bytes, where each begins and the last ends, a bit for each that is
/// there. Python makes another text of those of `late` rows.
#[derive(Default)]
pub struct Kept {
    pub bytes: Vec<u8>,
    pub offsets: Vec<i32>,
    pub valid: Vec<u8>,
    pub late: Vec<u64>,
}

impl Kept {
    fn clear(&mut self) {
        self.bytes.clear();
        self.offsets.clear();
        self.offsets.push(0);
        self.valid.clear();
        self.late.clear();
    }

    /// What was added to the bytes, or nothing, is the text of the next row.
    #[inline(always)]
    fn end(&mut self, is_there: bool) {
        let row = self.offsets.len() - 1;
        if row % 8 == 0 {
            self.valid.push(0);
        }
        if let Some(bits) = self.valid.last_mut() {
            *bits |= u8::from(is_there) << (row % 8);
        }
        self.offsets.push(self.bytes.len() as i32);
    }

    fn push(&mut self, cell: &[u8]) {
        self.bytes.extend_from_slice(cell);
        self.end(true);
    }

    /// The JSON of a cell that holds a dict; none of one that says nothing.
    fn push_json(&mut self, cell: &[u8], names: &mut Vec<(usize, usize)>) {
        let from = self.bytes.len();
        match literal(cell, names) {
            _ if cell.is_empty() => self.end(false),
            Literal::Bare => self.end(false),
            Literal::Dict { .. } if write_json(cell, &mut self.bytes) => self.end(true),
            _ => {
                self.bytes.truncate(from);
                self.late.push(self.offsets.len() as u64 - 1);
                self.push(cell);
            }
        }
    }
}

/// What was found in one block; the next scan overwrites it.
#[derive(Default)]
pub struct Rows {
    pub cells: Vec<Cells>,
    pub notes: Vec<u64>,
    /// Rows, lines; rows with a dict that only Python reads, and with one that has keys, which are not noted.
    pub summary: [u64; 4],
    /// Whether Python sees a row with each of these.
    shown: [bool; 2],
    spans: Vec<(usize, usize)>,
    text: Vec<u8>,
    names: Vec<(usize, usize)>,
    reduced: Vec<u8>,
}

impl Rows {
    fn begin(&mut self, sheet: &Sheet) {
        self.cells.resize_with(sheet.columns.len(), Cells::default);
        for cells in &mut self.cells {
            cells.codes.clear(2);
            cells.spelled.clear(2);
            cells.unspelled.clear();
            cells.unspelled_texts.clear();
            cells.texts.clear();
            cells.numbers.clear();
            cells.known.clear();
            cells.kept.clear();
            cells.scan = ColumnScan::default();
            cells.bare = ColumnScan::default();
            cells.number_like = 0;
            cells.empty = 0;
        }
        self.notes.clear();
        self.summary = [0; 4];
        self.shown = [false; 2];
    }

    fn note(&mut self, note: Note, start: usize, end: usize) {
        let [rows, lines, ..] = self.summary;
        self.notes.extend_from_slice(&[note as u64, rows, lines, start as u64, end as u64]);
        debug_assert_eq!(self.notes.len() % NOTE_WIDTH, 0);
    }

    /// Python fills the place of this row.
    #[cold]
    fn leave_open(&mut self, sheet: &Sheet) {
        for (cells, column) in self.cells.iter_mut().zip(&sheet.columns) {
            if column.key {
                cells.codes.push(0);
            }
            if column.spelled {
                cells.spelled.push(0);
            }
            if column.distinct {
                cells.numbers.push(u64::MAX);
            }
            if column.kept {
                cells.kept.end(false);
            }
        }
    }
}

/// Look at all records of a block, each of which `cut` has found.
pub fn scan(sheet: &Sheet, into: &mut Rows, data: &[u8], level: Level) {
    #[cfg(target_arch = "x86_64")]
    if level == Level::Avx2 && Level::best() == Level::Avx2 {
        return crate::simd::scan_rows(sheet, into, data);
    }
    let _ = level;
    scan_with::<Portable>(sheet, into, data);
}

#[inline(always)]
pub fn scan_with<I: Isa>(sheet: &Sheet, into: &mut Rows, data: &[u8]) {
    into.begin(sheet);
    let is_text = I::utf8(data) && I::find(data, 0, 0) == data.len();
    let mut at = 0;
    while at < data.len() {
        let may_be_blank = matches!(data[at], b' ' | b'\t' | b'\r' | b'\n');
        let is_record = !may_be_blank || piece::<I>(data, at).is_some_and(|piece| !piece.is_blank);
        let quick = if is_record { cut_cells::<I>(sheet, into, data, at) } else { None };
        let proved = quick.filter(|quick| is_text || is_plain(&data[at..quick.end]));
        let (end, inner_lines, is_blank) = if let Some(quick) = proved {
            take(sheet, into, data, at, quick.end);
            (quick.end, quick.inner_lines, false)
        } else {
            let Some(piece) = piece::<I>(data, at) else { break };
            if !piece.is_blank {
                into.note(Note::Refused, at, piece.end);
                into.leave_open(sheet);
            }
            (piece.end, piece.inner_lines, piece.is_blank)
        };
        into.summary[0] += u64::from(!is_blank);
        into.summary[1] += inner_lines + 1;
        at = end + end_width(data, end, true).unwrap_or(0);
    }
    for cells in &mut into.cells {
        cells.told.clear();
        cells.told.extend(cells.scan.numbers());
        cells.told.extend(cells.bare.numbers());
        cells.told.extend_from_slice(&[cells.number_like, cells.empty]);
    }
}

fn is_plain(record: &[u8]) -> bool {
    !record.contains(&0) && std::str::from_utf8(record).is_ok()
}

struct Quick {
    end: usize,
    inner_lines: u64,
}

/// The places of a record's cells, in `into.spans`; none where it has another number of them, or an odd quote.
#[inline(always)]
fn cut_cells<I: Isa>(sheet: &Sheet, into: &mut Rows, data: &[u8], from: usize) -> Option<Quick> {
    let mut inner_lines = 0;
    let mut at = from;
    into.spans.clear();
    loop {
        let stop = if data.get(at) == Some(&b'"') {
            let quote = closing::<I>(data, at + 1)?;
            inner_lines += inner_ends::<I>(&data[at..quote]);
            into.spans.push((at, quote + 1));
            quote + 1
        } else {
            let stop = I::find_any(data, at, *b",\"\n\r");
            into.spans.push((at, stop));
            stop
        };
        match data.get(stop) {
            Some(b',') => at = stop + 1,
            None | Some(b'\n' | b'\r') => {
                return (into.spans.len() == sheet.width).then_some(Quick { end: stop, inner_lines })
            }
            Some(_) => return None,
        }
        if into.spans.len() >= sheet.width {
            return None;
        }
    }
}

#[inline(always)]
fn inner_ends<I: Isa>(cell: &[u8]) -> u64 {
    let (mut at, mut count) = (0, 0);
    loop {
        at = I::find_any(cell, at, *b"\n\r");
        match (cell.get(at), cell.get(at + 1)) {
            (None, _) => return count,
            (Some(b'\r'), Some(b'\n')) => {}
            _ => count += 1,
        }
        at += 1;
    }
}

/// Take in the cells of a proved record.
#[inline(always)]
fn take(sheet: &Sheet, into: &mut Rows, data: &[u8], start: usize, end: usize) {
    let mut is_candidate = false;
    let (mut python_only, mut filled) = (false, false);
    let (mut has_no_content, mut is_document) = (false, false);
    let row = into.summary[0];
    let Rows { cells: all, spans, text, names, reduced, .. } = into;
    for (number, (cells, column)) in all.iter_mut().zip(&sheet.columns).enumerate() {
        let (from, to) = spans[column.place];
        let cell = content(&data[from..to], text);
        is_candidate |= column.non_empty && cell.is_empty();
        is_candidate |= column.edged.as_ref().is_some_and(|edged| edged.of_text(cell, cell.len()));
        let is_open = !cells.scan.is_closed();
        cells.scan.add(cell);
        if !cells.bare.is_closed() && !is_missing(cell) {
            cells.bare.add(cell);
        }
        if column.inferred {
            cells.number_like += u64::from(is_number(cell));
        }
        if column.key {
            let code = hash::code(&sheet.seeds, cell);
            is_document |= sheet.literal.as_ref().and_then(|of| of.document) == Some((number, code));
            cells.codes.push(code);
            cells.empty += u64::from(is_empty(cell));
            if column.distinct {
                let fresh = cells.known.len() as u64;
                let number = *cells.known.entry(code).or_insert(fresh);
                if number == fresh {
                    cells.texts.push(cell);
                }
                cells.numbers.push(number);
            }
        }
        if column.spelled {
            let is_reduced = sheet.spelling.reduce(cell, reduced);
            cells.spelled.push(if is_reduced { hash::code(&sheet.seeds, reduced) } else { 0 });
            if !is_reduced {
                cells.unspelled.push(row);
                cells.unspelled_texts.push(cell);
            }
        }
        if column.kept {
            if column.json {
                cells.kept.push_json(cell, names);
            } else {
                cells.kept.push(cell);
            }
        }
        if column.inferred && is_open && !column.distinct {
            cells.texts.push(cell);
            if cells.scan.is_closed() {
                cells.texts.clear();
            }
        }
        if let Some(of) = sheet.literal.as_ref().filter(|of| of.column == number) {
            match literal(cell, names) {
                Literal::Doubtful => is_candidate = true,
                Literal::Bare => has_no_content = true,
                Literal::Dict { python_only: only, content } => {
                    python_only = only;
                    filled = of.filled;
                    has_no_content = !content;
                }
            }
        }
    }
    is_candidate |= is_document && has_no_content;
    // of what is reported once a file Python sees the first row, and the number of the others
    is_candidate |= (python_only && !into.shown[0]) || (filled && !into.shown[1]);
    if is_candidate {
        into.note(Note::Candidate, start, end);
        into.shown[0] |= python_only;
        into.shown[1] |= filled;
    } else {
        into.summary[2] += u64::from(python_only);
        into.summary[3] += u64::from(filled);
    }
}

/// The text of a cell.
#[inline(always)]
fn content<'a>(cell: &'a [u8], text: &'a mut Vec<u8>) -> &'a [u8] {
    let [b'"', inner @ .., b'"'] = cell else { return cell };
    if !inner.contains(&b'"') {
        return inner;
    }
    text.clear();
    let mut rest = inner;
    while let Some(quote) = rest.iter().position(|&byte| byte == b'"') {
        text.extend_from_slice(&rest[..=quote]);
        rest = rest.get(quote + 2..).unwrap_or(&[]);
    }
    text.extend_from_slice(rest);
    text
}
