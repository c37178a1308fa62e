//! Where the records of a CSV file end, as pandas' reader ends them: the same as `cut_rows` in
//! `files/containers/csv_rows.py`, up to a quote that may not be closed.

use crate::isa::{Isa, Level, Portable};
use crate::words::BLOCK;

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
        let (rows, bytes) = plain_records::<I>(&data[at..], most - found.rows);
        if rows > 0 {
            at += bytes;
            found = RowCut { rows: found.rows + rows, bytes: at as u64, lines: found.lines + rows };
            continue;
        }
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

/// Records of one line each, up to `most`, whose quotes and line ends leave no doubt: how many follow one another, and
/// their bytes. 64 bytes are looked at together; behind the first one that is odd nothing is certain.
#[inline(always)]
fn plain_records<I: Isa>(data: &[u8], most: u64) -> (u64, usize) {
    let (mut rows, mut bytes) = (0, 0);
    // whether the byte before is in quotes, closes them, is a carriage return, a border of cells, the end of a record
    let (mut in_quotes, mut was_closing, mut was_return, mut was_border, mut was_end) = (0, 0, 0, 1, 1);
    for (first, block) in (0..).step_by(BLOCK).zip(data.chunks_exact(BLOCK)) {
        let Some(block) = block.first_chunk() else { break };
        let (quotes, commas) = (I::places(block, b'"'), I::places(block, b','));
        let (feeds, returns) = (I::places(block, b'\n'), I::places(block, b'\r'));
        let blanks = I::places(block, b' ') | I::places(block, b'\t');
        let quoted = from_odd_to_even(quotes) ^ in_quotes;
        // of two quotes for one the first closes, and the second opens again
        let (opening, closing, borders) = (quotes & quoted, quotes & !quoted, commas | feeds);
        let behind_closing = closing << 1 | was_closing;
        let odd = (feeds | returns) & quoted
            | opening & !(borders << 1 | was_border | behind_closing)
            | behind_closing & !(borders | returns | quotes)
            | (returns << 1 | was_return) & !feeds
            | (feeds << 1 | was_end) & (blanks | feeds | returns);
        let mut ends = feeds & odd.wrapping_sub(1) & !odd;
        while u64::from(ends.count_ones()) > most - rows {
            ends &= !(1 << ends.ilog2());
        }
        if ends != 0 {
            rows += u64::from(ends.count_ones());
            bytes = first + ends.ilog2() as usize + 1;
        }
        if odd != 0 || rows == most {
            break;
        }
        in_quotes = 0_u64.wrapping_sub(quoted >> 63);
        (was_closing, was_return) = (closing >> 63, returns >> 63);
        (was_border, was_end) = (borders >> 63, feeds >> 63);
    }
    (rows, bytes)
}

/// The bits from each odd one that is set, counted from the lowest, up to before the next.
#[inline(always)]
fn from_odd_to_even(bits: u64) -> u64 {
    let pairs = bits ^ bits << 1;
    let fours = pairs ^ pairs << 2;
    let bytes = fours ^ fours << 4;
    let words = bytes ^ bytes << 8;
    let halves = words ^ words << 16;
    halves ^ halves << 32
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The records one by one.
    fn cut_slowly(data: &[u8], most: u64, ended: bool, widths: [u64; 2]) -> RowCut {
        let (mut found, mut at) = (RowCut::default(), 0);
        while at < data.len() && found.rows < most {
            let Some(piece) = piece::<Portable>(data, at) else { break };
            let Some(width) = end_width(data, piece.end, ended) else { break };
            let is_odd = piece.inner_lines > 0 && !widths.contains(&cells(&data[at..piece.end]));
            if is_odd || (piece.end == data.len() && !ended) {
                break;
            }
            at = piece.end + width;
            found.rows += u64::from(!piece.is_blank);
            found.lines += piece.inner_lines + 1;
            found.bytes = at as u64;
        }
        found
    }

    #[test]
    fn records_are_cut_at_once_as_one_by_one() {
        let mut state = 7_u64;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let sound = [
            "a,b,{}\n",
            "entity of a name,\"{\"\"k\"\": \"\"v\"\"}\",\"\"\n",
            "\"x, y\",\"\"\"\",z\n",
            ",\"\"\"q\"\"\",\n",
        ];
        let odd = ["\"", "\n", "\r\n", "\r", "\"\"", ",", " ", "\t", "a\"b", "\"a\nb\",c,d\n", "\"a\"b", "x", "\"\r\""];
        let mut cut_many = 0;
        for _ in 0..20_000 {
            let (ending, share) = (["\n", "\r\n"][next(2)], [0, 1, 3, 30][next(4)]);
            let mut text = String::new();
            for _ in 0..next(40) {
                let is_odd = next(100) < share;
                text += &if is_odd { odd[next(odd.len())].into() } else { sound[next(4)].replace('\n', ending) };
            }
            let (data, most) = (text.as_bytes(), [1, 2, 9, 1000][next(4)]);
            for ended in [false, true] {
                let expected = cut_slowly(data, most, ended, [3, 4]);
                for level in [Level::Portable, Level::best()] {
                    assert_eq!(cut(data, most, ended, [3, 4], level), expected, "{text:?} {most} {ended}");
                }
                cut_many += u64::from(expected.rows > 10);
            }
        }
        assert!(cut_many > 1000);
        assert_eq!(plain_records::<Portable>(&b"a,\"b\",c\r\n".repeat(100), 99), (99, 891));
        assert_eq!(plain_records::<Portable>("a,b,é\n".repeat(100).as_bytes(), 1000), (91, 637));
    }
}
