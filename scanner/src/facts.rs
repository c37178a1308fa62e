//! What a report wants to know of each text of one field, without the text itself.

use crate::hash::{code, Seeds};
use crate::isa::Isa;
use crate::texts::is_empty;

/// Which of the texts are kept all the same: those whose place among all rows is a multiple of `step`, which is none where
/// that is 0; `before` are the rows of other blocks.
#[derive(Clone, Copy, Default)]
pub struct Sample {
    pub before: u64,
    pub step: u64,
}

impl Sample {
    fn has(&self, row: u64) -> bool {
        self.step != 0 && (self.before + row) % self.step == 0
    }
}

/// Of each row that has such a text: how long it is, and its code.
#[derive(Default)]
pub struct Facts {
    /// The characters, `u64::MAX` of a row that has no text.
    pub lengths: Vec<u64>,
    /// Two numbers for each code.
    pub codes: Vec<u64>,
    /// The bytes of all texts up to the end of each row's.
    pub ends: Vec<u64>,
    /// The rows whose text has nothing but blanks, tabs and line ends.
    pub empty: Vec<u64>,
    /// Where each record begins.
    pub starts: Vec<u64>,
    /// The rows of the sample, where their texts end, and the texts.
    pub sampled: Vec<u64>,
    pub sample_ends: Vec<u64>,
    pub sample: Vec<u8>,
    pub chosen: Sample,
}

impl Facts {
    pub(crate) fn clear(&mut self) {
        for numbers in [&mut self.lengths, &mut self.codes, &mut self.ends, &mut self.empty, &mut self.starts] {
            numbers.clear();
        }
        self.sampled.clear();
        self.sample_ends.clear();
        self.sample.clear();
    }

    /// The text of a row.
    #[inline(always)]
    pub(crate) fn push<I: Isa>(&mut self, seeds: &Seeds, row: u64, text: &[u8]) {
        let code = code(seeds, text);
        self.lengths.push(I::characters(text));
        self.codes.extend_from_slice(&[code as u64, (code >> 64) as u64]);
        self.ends.push(self.ends.last().unwrap_or(&0) + text.len() as u64);
        if is_empty(text) {
            self.empty.push(row);
        }
        if self.chosen.has(row) {
            self.sampled.push(row);
            self.sample.extend_from_slice(text);
            self.sample_ends.push(self.sample.len() as u64);
        }
    }

    /// The record of a row begins at `start`, and is at its end.
    #[inline(always)]
    pub(crate) fn close(&mut self, row: u64, start: usize) {
        self.starts.push(start as u64);
        if self.lengths.len() as u64 <= row {
            self.lengths.push(u64::MAX);
            self.codes.extend_from_slice(&[0, 0]);
            self.ends.push(*self.ends.last().unwrap_or(&0));
        }
    }

    /// What a row has given is taken back.
    #[cold]
    pub(crate) fn take_back(&mut self, row: u64) {
        let rows = row as usize;
        self.lengths.truncate(rows);
        self.codes.truncate(2 * rows);
        self.ends.truncate(rows);
        self.empty.truncate(self.empty.partition_point(|&empty| empty < row));
        let sampled = self.sampled.partition_point(|&sampled| sampled < row);
        self.sampled.truncate(sampled);
        self.sample_ends.truncate(sampled);
        self.sample.truncate(self.sample_ends.last().map_or(0, |&end| end as usize));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Portable;

    #[test]
    fn what_a_row_has_given_is_taken_back() {
        let seeds = Seeds::of(1, u64::MAX);
        let mut facts = Facts { chosen: Sample { before: 1, step: 2 }, ..Facts::default() };
        facts.push::<Portable>(&seeds, 0, "aé".as_bytes());
        facts.close(0, 0);
        facts.push::<Portable>(&seeds, 1, b" ");
        facts.take_back(1);
        facts.close(1, 10);
        facts.push::<Portable>(&seeds, 2, b" ");
        facts.close(2, 20);
        facts.push::<Portable>(&seeds, 3, b"abc");
        facts.close(3, 30);
        assert_eq!(facts.lengths, [2, u64::MAX, 1, 3]);
        assert_eq!((&facts.ends[..], &facts.starts[..]), (&[3, 3, 4, 7][..], &[0, 10, 20, 30][..]));
        assert_eq!((&facts.empty[..], &facts.sampled[..]), (&[2][..], &[3][..]));
        assert_eq!((&facts.sample[..], &facts.sample_ends[..]), (&b"abc"[..], &[3][..]));
        assert_eq!(facts.codes.len(), 8);
        facts.clear();
        assert!(facts.lengths.is_empty() && facts.sample.is_empty());
    }
}
