//! Where the records of a CSV file end, as pandas' reader ends them: the same as `cut_rows` in
//! `files/containers/csv_rows.py`, up to a quote that may not be closed.

use crate::isa::{Isa, Level, Portable};

/// What was cut off the beginning of some data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowCut {
    pub rows: u64,
    pub bytes: u64,
    pub lines: u64,
}

/// Cut up to `most` whole records; stops before one whose end is not certain. `ended`: nothing follows the data.
/// A record over several lines must have one of `widths` cells, for a quote in it may be one that was not closed.
pub fn cut(data: &[u8], most: u64, ended: bool, widths: [u64; 2], level: Level) -> RowCut {
    #[cfg(target_arch = "x86_64")]
    if level == Level::Avx2 && Level::best() == Level::Avx2 {
        return crate::simd::cut_rows(data, most, ended, widths);
    }
    let _ = level;
    cut_with::<Portable>(data, most, ended, widths)
}

#[inline(always)]
pub fn cut_with<I: Isa>(data: &[u8], most: u64, ended: bool, widths: [u64; 2]) -> RowCut {
    let mut found = RowCut::default();
    let mut at = 0;
    while at < data.len() && found.rows < most {
        let Some(piece) = piece::<I>(data, at) else { break };
        let Some(width) = end_width(data, piece.end, ended) else { break };
        if piece.end == data.len() && !ended {
            break;
        }
        if piece.inner_lines > 0 && !widths.contains(&(cells(&data[at..piece.end]))) {
            break;
        }
        found.rows += u64::from(!piece.is_blank);
        found.lines += piece.inner_lines + 1;
        at = piece.end + width;
        found.bytes = at as u64;
    }
    found
}

/// A record, or a line that is none.
pub struct Piece {
    pub end: usize,
    pub is_blank: bool,
    /// Line ends within its quotes.
    pub inner_lines: u64,
}

/// What begins here; none where a quote is not closed.
#[inline(always)]
pub fn piece<I: Isa>(data: &[u8], from: usize) -> Option<Piece> {
    if matches!(data.get(from), Some(b' ' | b'\t' | b'\r' | b'\n')) {
        let end = from + data[from..].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        if matches!(data.get(end), None | Some(b'\r' | b'\n')) {
            return Some(Piece { end, is_blank: true, inner_lines: 0 });
        }
    }
    let mut at = from;
    let mut is_quoted = false;
    loop {
        let stop = I::find_any(data, at, *b"\"\n\r");
        if data.get(stop) != Some(&b'"') {
            let inner_lines = if is_quoted { line_ends(&data[from..stop]) } else { 0 };
            return Some(Piece { end: stop, is_blank: false, inner_lines });
        }
        if stop == from || data[stop - 1] == b',' {
            is_quoted = true;
            at = closing::<I>(data, stop + 1)? + 1;
        } else {
            at = stop + 1;
        }
    }
}

/// The quote that closes a cell, whose content begins here.
#[inline(always)]
pub fn closing<I: Isa>(data: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let quote = I::find(data, at, b'"');
        if quote == data.len() {
            return None;
        }
        if data.get(quote + 1) != Some(&b'"') {
            return Some(quote);
        }
        at = quote + 2;
    }
}

/// The width of the line end here; none where another byte may belong to it.
#[inline(always)]
pub fn end_width(data: &[u8], at: usize, ended: bool) -> Option<usize> {
    match (data.get(at), data.get(at + 1)) {
        (Some(b'\r'), Some(b'\n')) => Some(2),
        (Some(b'\r'), None) if !ended => None,
        (Some(_), _) => Some(1),
        (None, _) => Some(0),
    }
}

/// Line feeds, and carriage returns without one.
fn line_ends(record: &[u8]) -> u64 {
    let mut lines = 0;
    for (at, &byte) in record.iter().enumerate() {
        lines += u64::from(byte == b'\n' || (byte == b'\r' && record.get(at + 1) != Some(&b'\n')));
    }
    lines
}

/// How many cells a record has.
fn cells(record: &[u8]) -> u64 {
    let (mut at, mut count) = (0, 1);
    while at < record.len() {
        if record[at] == b'"' {
            at = closing::<Portable>(record, at + 1).map_or(record.len(), |quote| quote + 1);
        }
        at = <Portable>::find(record, at, b',') + 1;
        count += u64::from(at <= record.len());
    }
    count
}
