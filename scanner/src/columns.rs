//! What a block holds, in vectors that keep their memory from block to block.

use crate::plan::{Plan, Type};

/// Codes of one key field: a code for each record, or for each item of the records' lists.
#[derive(Default)]
pub struct Column {
    pub codes: Vec<u64>,
    /// The rows that have no value: the field is not there, or null.
    pub missing: Vec<u64>,
    /// For each item the row that it is in; only of lists.
    pub owners: Vec<u64>,
    pub is_list: bool,
    /// Codes of what spelling does not change, of each record, where they are wanted.
    pub spelled: Vec<u64>,
    /// The texts whose spelling Python must look at, `ODD_WIDTH` numbers for each: row, first byte, byte behind the last.
    pub odd: Vec<u64>,
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
    /// How many records that Python does not see have what is counted.
    pub(crate) tallies: Vec<u64>,
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
    /// By place in a record, the field that was there in the record before.
    pub(crate) order: Vec<usize>,
}

/// Numbers in `notes` for each line.
pub const NOTE_WIDTH: usize = 5;

impl Scanned {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn begin(&mut self, plan: &Plan) {
        if self.columns.len() != plan.fields.len() {
            self.columns = plan.fields.iter().map(|_| Column::default()).collect();
            self.order = (0..plan.fields.len()).collect();
        }
        for (column, field) in self.columns.iter_mut().zip(&plan.fields) {
            column.codes.clear();
            column.missing.clear();
            column.owners.clear();
            column.spelled.clear();
            column.odd.clear();
            column.is_list = field.kind == Type::Array;
        }
        self.rows = 0;
        self.lines = 0;
        self.notes.clear();
        self.tallies.clear();
        self.tallies.resize(plan.tallies, 0);
        self.ends = [0; 6];
        self.unlike_number = false;
        self.behind_open = 0;
    }

    pub(crate) fn note(&mut self, note: Note, start: usize, end: usize) {
        self.notes.extend_from_slice(&[note as u64, self.rows, self.lines, start as u64, end as u64]);
    }

    /// This row was refused: what it has given is taken back, and its place is left for Python to fill.
    #[cold]
    pub(crate) fn leave_open(&mut self, plan: &Plan) {
        self.behind_open = self.rows + 1;
        for (column, field) in self.columns.iter_mut().zip(&plan.fields) {
            if column.missing.last() == Some(&self.rows) {
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

    /// Count what a record has that Python does not see; a bit for each count.
    #[inline(always)]
    pub(crate) fn tally(&mut self, mut counted: u64) {
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
