//! What a table is, and what is to be known of its cells, as Python declares it.
//!
//! The declaration comes as one blob, little endian, made by `ragdatakit/scanner/sheets.py`; one that is not understood
//! to its last byte makes no sheet, and Python reads the table.

use crate::hash::{code, Seeds};
use crate::plan::{Reader, ABI};
use crate::predicates::Predicate;
use crate::spelling::Spelling;

/// One column that something is to be known of.
#[allow(clippy::struct_excessive_bools)]
pub struct SheetColumn {
    /// Its number among the cells of a row.
    pub place: usize,
    /// Whether the codes of its cells are wanted.
    pub key: bool,
    /// Whether an empty cell is shown to Python.
    pub non_empty: bool,
    /// Whether pandas infers the type of its cells, so that numbers among them are counted.
    pub inferred: bool,
    /// Whether codes of its cells without case, quote marks and blanks are wanted.
    pub spelled: bool,
    /// Whether each different cell is wanted once, and its number for each row.
    pub distinct: bool,
    /// A cell with white space at an end is shown to Python.
    pub edged: Option<Predicate>,
    /// Whether all cells are wanted; those of dicts as JSON.
    pub kept: bool,
    pub json: bool,
}

/// The column whose cells are dicts as Python writes them.
pub struct LiteralColumn {
    /// Its number among the columns of the sheet.
    pub column: usize,
    /// Whether dicts with keys are counted.
    pub filled: bool,
    /// A column, and the code of the cell by which rows are known whose dict must have a text `content`.
    pub document: Option<(usize, u128)>,
}

/// A compiled declaration.
pub struct Sheet {
    pub columns: Vec<SheetColumn>,
    /// How many cells a row has.
    pub width: usize,
    pub literal: Option<LiteralColumn>,
    pub spelling: Spelling,
    pub seeds: Seeds,
}

const NOTHING: usize = 0xFFFF;

impl Sheet {
    /// The sheet that a blob describes.
    #[must_use]
    pub fn parse(blob: &[u8]) -> Option<Self> {
        let mut reader = Reader(blob);
        if reader.u32()? != ABI {
            return None;
        }
        let seeds = Seeds::of(reader.u64()?, reader.u64()?);
        let width = reader.u16()?;
        let spaces = reader.text()?;
        let spaces = std::str::from_utf8(&spaces).ok()?;
        let plain = reader.text()?;
        let spelling = Spelling::of(std::str::from_utf8(&plain).ok()?);
        let mut columns: Vec<SheetColumn> = Vec::new();
        for _ in 0..reader.u16()? {
            let (place, flags) = (reader.u16()?, reader.u16()?);
            let is_ascending = columns.last().is_none_or(|before| before.place < place);
            if place >= width || !is_ascending {
                return None;
            }
            let has = |flag: usize| flags & flag != 0;
            columns.push(SheetColumn {
                place,
                key: has(1),
                non_empty: has(2),
                inferred: has(4),
                spelled: has(8),
                distinct: has(1) && has(16),
                edged: has(32).then(|| Predicate::edged(spaces)),
                kept: has(64),
                json: has(128),
            });
        }
        let (column, filled, document) = (reader.u16()?, reader.u8()? == 1, reader.u16()?);
        let word = reader.text()?;
        let literal = (column != NOTHING).then(|| LiteralColumn {
            column,
            filled,
            document: (document != NOTHING).then(|| (document, code(&seeds, &word))),
        });
        let is_there = |number: usize| number == NOTHING || columns.get(number).is_some();
        let has_code = document == NOTHING || columns.get(document).is_some_and(|c| c.key);
        (reader.0.is_empty() && width > 0 && is_there(column) && has_code).then_some(Self {
            columns,
            width,
            literal,
            spelling,
            seeds,
        })
    }
}
