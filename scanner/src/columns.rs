//! What a block holds, in vectors that keep their memory from block to block.

use crate::facts::Facts;
use crate::hash;
use crate::isa::Portable;
use crate::json::unescape;
use crate::plan::{Field, Plan};
use crate::relations::Held;
use crate::scopes::Joined;

/// Codes, one behind the other: one number of 64 bits for each, or two, of which the first is the lower half.
#[derive(Default)]
pub struct Codes {
    pub numbers: Vec<u64>,
    pub width: usize,
}

impl Codes {
    #[inline(always)]
    pub fn push(&mut self, code: u128) {
        self.numbers.push(code as u64);
        if self.width > 1 {
            self.numbers.push((code >> 64) as u64);
        }
    }

    /// The numbers of the last code.
    #[inline(always)]
    pub fn last(&self) -> &[u64] {
        &self.numbers[self.numbers.len().saturating_sub(self.width)..]
    }

    pub fn truncate(&mut self, codes: usize) {
        self.numbers.truncate(codes * self.width);
    }

    pub fn clear(&mut self, width: usize) {
        self.numbers.clear();
        self.width = width;
    }
}

/// Codes of one key field: a code for each record, or for each item of the records' lists.
#[derive(Default)]
pub struct Column {
    pub codes: Codes,
    /// The rows that have no value: the field is not there, or null.
    pub missing: Vec<u64>,
    /// For each item the row that it is in; only of lists.
    pub owners: Vec<u64>,
    pub is_list: bool,
    /// Codes of what spelling does not change, of each record, where they are wanted.
    pub spelled: Codes,
    /// The texts whose spelling Python must look at, `ODD_WIDTH` numbers for each: row, first byte, byte behind the last.
    pub odd: Vec<u64>,
}

/// The values of one field as they are written, texts as they are meant.
#[derive(Default)]
pub struct Kept {
    pub bytes: Vec<u8>,
    /// Where the value of each row ends.
    pub ends: Vec<u64>,
    /// The rows that have none.
    pub missing: Vec<u64>,
}

impl Kept {
    #[inline(always)]
    pub fn push(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
        self.ends.push(self.bytes.len() as u64);
    }

    /// What was put at the end of the bytes is a value, if that was anything.
    #[inline(always)]
    pub fn close(&mut self) {
        if self.bytes.len() as u64 > self.behind() {
            self.push(b"");
        }
    }

    /// The place behind the last value.
    #[inline(always)]
    pub fn behind(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.missing.clear();
    }

    fn truncate(&mut self, rows: usize) {
        self.ends.truncate(rows);
        self.bytes.truncate(self.ends.last().map_or(0, |&end| end as usize));
    }
}

/// Numbers in `odd` for each text.
pub const ODD_WIDTH: usize = 3;

/// Why a line is noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    Refused = 0,
    Candidate = 1,
    Blank = 2,
}

/// What was found in one block; the next scan overwrites it.
#[derive(Default)]
pub struct Scanned {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: u64,
    pub(crate) lines: u64,
    /// `NOTE_WIDTH` numbers for each line that Python must see, or that is no record: why, its row, its line, its first
    /// byte, the byte behind its last one.
    pub(crate) notes: Vec<u64>,
    /// `MARK_WIDTH` numbers for the first line behind each `MARK_BYTES`: the row of its record or of the next one, its
    /// line, its first byte.
    pub(crate) marks: Vec<u64>,
    /// `ALIKE_WIDTH` numbers for each noted row whose text every reader of JSON reads alike: the row, and the members
    /// that Python must see, a bit for each.
    pub(crate) alike: Vec<u64>,
    /// How many records that Python does not see have what is counted.
    pub(crate) tallies: Vec<u64>,
    /// How many of what is counted were shown to Python before.
    shown: Vec<u64>,
    /// The rows that are counted as mistyped.
    pub(crate) counted_rows: Vec<u64>,
    /// How many lines end in LF, the first of them and its offset; the same of CR LF.
    ends: [u64; 6],
    /// Rows, lines, and the line ends, as Python reads them.
    pub(crate) summary: [u64; 8],
    /// Whether a record of the block was shown to Python whose text is surely not a number.
    pub(crate) unlike_number: bool,
    /// The row behind the last one that was refused.
    pub(crate) behind_open: u64,
    pub(crate) text: Vec<u8>,
    pub(crate) names: Vec<u64>,
    pub(crate) names_below: Vec<u64>,
    pub(crate) spelled: Vec<u8>,
    /// Codes of the names of one record that are not declared.
    pub(crate) sorted: Vec<u64>,
    pub(crate) sorted_items: Vec<u64>,
    /// By object, and by place in it, the field that was there in the object before.
    pub(crate) order: Vec<Vec<usize>>,
    /// A bit for each field that the record has; of objects in a list that of the last one.
    pub(crate) given: u128,
    /// By field, the values of the record that are compared with others.
    pub(crate) held: Vec<Vec<Held>>,
    /// A bit for each question for which a record of the block was shown in place of all.
    pub(crate) shown_once: u64,
    joined: Vec<u8>,
    /// What is kept of fields, in the order in which that was asked for.
    pub(crate) kept: Vec<Kept>,
    /// Of the texts of the field of which they are wanted, if they are.
    pub(crate) facts: Facts,
    has_facts: bool,
    /// The records that are objects in lists of these records.
    pub(crate) items: Option<Box<Scanned>>,
    /// Of each of such records the list that it is in: the row of that, times the lists of a record, and which it is.
    pub(crate) owners: Vec<u64>,
    /// What the record adds to counts if Python does not see it.
    pub(crate) sums: Vec<(u32, u64)>,
    pub(crate) reduced: Vec<u8>,
    pub(crate) sorted_held: Vec<(u64, bool, Held)>,
}

impl Column {
    /// The code of one more value, which is in this row.
    #[inline(always)]
    pub(crate) fn push(&mut self, code: u128, row: u64) {
        self.codes.push(code);
        if self.is_list {
            self.owners.push(row);
        }
    }
}

/// Numbers in `notes` for each line.
pub const NOTE_WIDTH: usize = 5;
/// Numbers in `alike` for each row.
pub const ALIKE_WIDTH: usize = 2;
/// Bytes between marks, by which lines are found again, and numbers in `marks` for each.
pub const MARK_BYTES: usize = 1 << 18;
pub const MARK_WIDTH: usize = 3;

impl Scanned {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn begin(&mut self, plan: &Plan) {
        if self.columns.len() != plan.fields.len() {
            self.columns = plan.fields.iter().map(|_| Column::default()).collect();
            self.held = plan.fields.iter().map(|_| Vec::new()).collect();
            self.order = plan.scopes.iter().map(|scope| (0..scope.fields.len()).collect()).collect();
        }
        for (column, field) in self.columns.iter_mut().zip(&plan.fields) {
            column.codes.clear(field.code_width());
            column.missing.clear();
            column.owners.clear();
            column.spelled.clear(2);
            column.odd.clear();
            column.is_list = field.is_list();
        }
        self.kept.resize_with(plan.kept, Kept::default);
        self.kept.iter_mut().for_each(Kept::clear);
        self.facts.clear();
        self.has_facts = plan.facts.is_some();
        if let Some(plan) = &plan.items {
            self.items.get_or_insert_with(Box::default).begin(plan);
        }
        self.owners.clear();
        self.rows = 0;
        self.lines = 0;
        self.notes.clear();
        self.marks.clear();
        self.alike.clear();
        self.tallies.clear();
        self.tallies.resize(plan.tallies, 0);
        self.shown.clear();
        self.counted_rows.clear();
        self.shown.resize(plan.tallies, 0);
        self.ends = [0; 6];
        self.unlike_number = false;
        self.shown_once = 0;
        self.behind_open = 0;
    }

    /// Nothing yet of the next record.
    #[inline(always)]
    pub(crate) fn begin_record(&mut self, plan: &Plan) {
        self.sorted.clear();
        self.sums.clear();
        self.given = 0;
        for &number in &plan.held {
            self.held[number].clear();
        }
    }

    /// A value that is no text in JSON: its code is wanted where it is a key, its place where it is compared.
    #[inline(always)]
    pub(crate) fn take(&mut self, field: &Field, number: usize, place: (usize, usize), code: u128) {
        if field.key {
            self.columns[number].push(code, self.rows);
        }
        if field.held {
            self.held[number].push(Held { start: place.0, end: place.1, escaped: false, code: code as u64 });
        }
    }

    /// The same of one that is never a key.
    #[inline(always)]
    pub(crate) fn hold(&mut self, field: &Field, number: usize, (start, end): (usize, usize)) {
        if field.held {
            self.held[number].push(Held { start, end, escaped: false, code: 0 });
        }
    }

    /// Take in a key of several texts of an object that begins at `from`; whether it is none of those that it is looked
    /// up in.
    #[inline(always)]
    pub(crate) fn join(&mut self, plan: &Plan, joined: &Joined, data: &[u8], from: usize) -> bool {
        self.joined.clear();
        let field = &plan.fields[joined.target];
        let mut count = 0;
        for &part in &joined.parts {
            if self.given & (1 << part) == 0 || (joined.first && count > 0) {
                continue;
            }
            let texts = &self.held[part];
            let own = &texts[texts.partition_point(|text| text.start < from)..];
            self.joined.extend_from_slice(if count > 0 { &joined.between } else { b"" });
            count += 1;
            for (place, text) in own.iter().enumerate() {
                self.joined.extend_from_slice(if place > 0 { &joined.within } else { b"" });
                let raw = &data[text.start..text.end];
                if text.escaped {
                    unescape::<Portable>(raw, &mut self.text);
                    self.joined.extend_from_slice(&self.text);
                } else {
                    self.joined.extend_from_slice(raw);
                }
            }
        }
        if count < 2 - usize::from(joined.first) {
            if !field.listed {
                self.push_nothing(plan, joined.target);
            }
            return false;
        }
        let code = hash::code(&plan.seeds, &self.joined);
        self.columns[joined.target].push(code, self.rows);
        field.known.as_ref().is_some_and(|known| !known.has(code))
    }

    /// A line begins at `at`, so far behind the last mark that it gets one.
    pub(crate) fn mark(&mut self, at: usize) {
        let mark: [u64; MARK_WIDTH] = [self.rows, self.lines, at as u64];
        self.marks.extend_from_slice(&mark);
    }

    pub(crate) fn note(&mut self, note: Note, start: usize, end: usize) {
        self.notes.extend_from_slice(&[note as u64, self.rows, self.lines, start as u64, end as u64]);
    }

    /// Every reader reads the record of this row alike, and Python must see these members of it.
    pub(crate) fn is_alike(&mut self, members: u64) {
        let alike: [u64; ALIKE_WIDTH] = [self.rows, members];
        self.alike.extend_from_slice(&alike);
    }

    /// This row, whose record begins at `start`, is at its end.
    #[inline(always)]
    pub(crate) fn close_row(&mut self, start: usize) {
        if self.has_facts {
            self.facts.close(self.rows, start);
        }
        for kept in &mut self.kept {
            if kept.ends.len() as u64 <= self.rows {
                kept.missing.push(self.rows);
                kept.push(b"");
            }
        }
        self.rows += 1;
    }

    /// This row was refused: what it has given is taken back, and its place is left for Python to fill.
    #[cold]
    pub(crate) fn leave_open(&mut self, plan: &Plan) {
        self.behind_open = self.rows + 1;
        for kept in &mut self.kept {
            kept.truncate(self.rows as usize);
        }
        self.facts.take_back(self.rows);
        for (column, field) in self.columns.iter_mut().zip(&plan.fields) {
            while column.missing.last() == Some(&self.rows) {
                column.missing.pop();
            }
            if column.is_list {
                let kept = column.owners.partition_point(|&owner| owner < self.rows);
                column.owners.truncate(kept);
                column.codes.truncate(kept);
            } else if field.key {
                column.codes.truncate(self.rows as usize);
                column.codes.push(0);
            }
            if field.spelling.is_some() {
                column.spelled.truncate(self.rows as usize);
                column.spelled.push(0);
                while column.odd.len() >= ODD_WIDTH && column.odd[column.odd.len() - ODD_WIDTH] == self.rows {
                    column.odd.truncate(column.odd.len() - ODD_WIDTH);
                }
            }
        }
    }

    /// The place that was left open for this row is none after all.
    #[cold]
    pub(crate) fn forget_row(&mut self, plan: &Plan) {
        for (column, field) in self.columns.iter_mut().zip(&plan.fields) {
            if field.key && !column.is_list {
                column.codes.truncate(self.rows as usize);
            }
            column.spelled.truncate(self.rows as usize);
        }
    }

    /// Whether one more is to be shown of what is counted under this number; else it is counted.
    #[cold]
    pub(crate) fn shows(&mut self, tally: u32, most: u64) -> bool {
        let is_shown = self.shown[tally as usize] < most;
        if is_shown {
            self.shown[tally as usize] += 1;
        } else {
            self.tallies[tally as usize] += 1;
            self.counted_rows.push(self.rows);
        }
        is_shown
    }

    /// Count what a record has that Python does not see; a bit for each count.
    #[inline(always)]
    pub(crate) fn tally(&mut self, mut counted: u64) {
        for &(tally, many) in &self.sums {
            self.tallies[tally as usize] += many;
        }
        while counted != 0 {
            self.tallies[counted.trailing_zeros() as usize] += 1;
            counted &= counted - 1;
        }
    }

    /// This row has no value in a key field.
    pub(crate) fn push_nothing(&mut self, plan: &Plan, number: usize) {
        let column = &mut self.columns[number];
        column.missing.push(self.rows);
        if !column.is_list {
            column.codes.push(0);
        }
        if plan.fields[number].spelling.is_some() {
            column.spelled.push(0);
        }
    }

    #[inline(always)]
    pub(crate) fn count_end(&mut self, width: usize, offset: usize) {
        let at = match width {
            1 => 0,
            2 => 3,
            _ => return,
        };
        if self.ends[at] == 0 {
            self.ends[at + 1] = self.lines;
            self.ends[at + 2] = offset as u64;
        }
        self.ends[at] += 1;
    }

    pub(crate) fn finish(&mut self) {
        self.summary[..2].copy_from_slice(&[self.rows, self.lines]);
        self.summary[2..].copy_from_slice(&self.ends);
    }
}
