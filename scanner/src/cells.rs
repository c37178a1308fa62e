//! A line of cells, between tabs or between blanks, as a record.

use crate::columns::Scanned;
use crate::hash;
use crate::isa::Isa;
use crate::lines::{is_blank, Record};
use crate::plan::{Field, Plan, Reader, Type};

/// What Python's csv reader takes of one cell.
const LONGEST_CELL: usize = 131_072;

/// How lines are cut, and what is made of their cells.
pub struct Cells {
    /// The byte between two cells; none: any number of blanks.
    separator: Option<u8>,
    /// Whether a cell that begins with a quote mark is for Python to read.
    quoted: bool,
    /// A line that begins so is none; nothing where there are no comments.
    comment: Vec<u8>,
}

impl Cells {
    /// What a plan says of them.
    pub(crate) fn parse(reader: &mut Reader, fields: &[Field]) -> Option<Self> {
        let separator = Some(reader.u8()?).filter(|&byte| byte != 0);
        let quoted = reader.u8()? == 1;
        let comment = reader.text()?;
        let is_known = |field: &Field| {
            matches!(field.kind, Type::Text | Type::Integer | Type::Number)
                && field.refusals.each().is_empty()
                && field.spelling.is_none()
                && field.tally.is_none()
        };
        fields.iter().all(is_known).then_some(Self { separator, quoted, comment })
    }
}

#[inline(always)]
pub fn record<I: Isa>(plan: &Plan, cells: &Cells, into: &mut Scanned, data: &[u8], from: usize) -> Option<Record> {
    let end = I::find_any(data, from, *b"\r\n");
    let line = &data[from..end];
    if cells.quoted && line.len() > LONGEST_CELL {
        return None; // Python says whether a cell is longer than its reader takes
    }
    let is_comment = !cells.comment.is_empty() && line.starts_with(&cells.comment);
    if is_comment || line.first().is_none_or(|&first| is_space(first) && is_blank(line)) {
        return None;
    }
    let mut found = Record { end, ..Record::default() };
    let mut at = 0;
    for number in 0..plan.fields.len() {
        let stop = if let Some(separator) = cells.separator {
            if number > 0 {
                (line.get(at) == Some(&separator)).then(|| at += 1)?;
            }
            I::find(line, at, separator)
        } else {
            at = line[at..].iter().position(|&byte| !is_space(byte)).map(|skipped| at + skipped)?;
            line[at..].iter().position(|&byte| is_space(byte)).map_or(line.len(), |length| at + length)
        };
        let cell = &line[at..stop];
        if cells.quoted && cell.first() == Some(&b'"') {
            return None;
        }
        value(plan, into, cell, number, &mut found)?;
        at = stop;
    }
    let is_whole = match cells.separator {
        Some(_) => at == line.len(),
        None => line[at..].iter().all(|&byte| is_space(byte)) && !has_wide_space(line),
    };
    for &number in &plan.changed {
        let codes = &into.columns[number].codes;
        let (all, last) = (&codes.numbers[..], codes.last());
        let is_same = into.rows > into.behind_open && all[..all.len() - last.len()].ends_with(last);
        found.candidate |= !is_same;
    }
    is_whole.then_some(found)
}

#[inline(always)]
fn value(plan: &Plan, into: &mut Scanned, cell: &[u8], number: usize, found: &mut Record) -> Option<()> {
    let field = &plan.fields[number];
    let code = match field.kind {
        Type::Integer => {
            let value = integer(cell)?;
            is_within(field, value as f64)?;
            u128::from(value as u64)
        }
        Type::Number => {
            let value = float(cell)?;
            is_within(field, value)?;
            u128::from(value.to_bits())
        }
        _ => {
            if cell.len() > LONG_TEXT || (field.non_empty && cell.is_empty()) || !field.allowed.is_empty() {
                return None;
            }
            found.candidate |= field.predicates.of_text(cell, cell.len());
            if field.key {
                hash::code(&plan.seeds, cell)
            } else {
                0
            }
        }
    };
    if field.key {
        into.columns[number].codes.push(code);
    }
    if let Some(place) = field.kept {
        into.kept[place].push(cell);
    }
    Some(())
}

const LONG_TEXT: usize = 1 << 24;

fn is_within(field: &Field, value: f64) -> Option<()> {
    let is_within = field.least.is_none_or(|least| value >= least) && field.greatest.is_none_or(|most| value <= most);
    is_within.then_some(())
}

/// Digits as Python's `int` reads them, up to so many that all readers hold.
#[inline(always)]
fn integer(cell: &[u8]) -> Option<i64> {
    let (negative, digits) = match cell.split_first()? {
        (b'-', rest) => (true, rest),
        _ => (false, cell),
    };
    if digits.is_empty() || digits.len() > 15 {
        return None;
    }
    let mut value = 0;
    for digit in digits {
        value = value * 10 + i64::from(digit.checked_sub(b'0').filter(|&d| d < 10)?);
    }
    Some(if negative { -value } else { value })
}

/// A finite number as Python's `float` reads it.
#[inline(always)]
fn float(cell: &[u8]) -> Option<f64> {
    let is_plain = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E');
    if cell.len() > 40 || !cell.iter().all(is_plain) {
        return None;
    }
    std::str::from_utf8(cell).ok()?.parse().ok().filter(|value: &f64| value.is_finite())
}

/// What Python splits lines at, of ASCII.
#[inline(always)]
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r' | 0x1C..=0x1F)
}

/// Whether there is a blank that only Unicode knows.
#[inline(always)]
fn has_wide_space(line: &[u8]) -> bool {
    !line.is_ascii()
        && std::str::from_utf8(line).map_or(true, |line| line.chars().any(|c| !c.is_ascii() && c.is_whitespace()))
}
