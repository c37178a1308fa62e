//! How much texts have in common: of their words, and of their runs of words.

use crate::keys::{keep_sieved, sieve};
use crate::words::runs;

/// Texts by the sets of their words and of the runs of these, one text behind the other.
pub struct Copies {
    sets: [Vec<u64>; 2],
    /// Where the sets of each text end, and where its words without a digit do, which come before the others.
    ends: Vec<[usize; 3]>,
    run: usize,
}

/// What two texts have in common: runs, of so many that one of them has; and whether each has a word that the other
/// lacks. No run where each has a word with a digit that the other lacks.
#[derive(Debug, PartialEq)]
pub struct Common {
    pub same: u32,
    pub either: u32,
    pub apart: bool,
}

impl Copies {
    /// Of texts of about so many words together, runs of which have `run` words each.
    pub fn new(words: usize, run: usize) -> Option<Self> {
        let mut sets = [Vec::new(), Vec::new()];
        for set in &mut sets {
            set.try_reserve_exact(words).ok()?;
        }
        Some(Self { sets, ends: vec![], run: (run > 0).then_some(run)? })
    }

    /// Take in the next text, of which these are the numbers of its words.
    pub fn add(&mut self, codes: &[u64], room: &mut Vec<u64>) {
        room.clear();
        room.extend(codes.iter().map(|code| code.rotate_right(1))); // so that those with a digit are the last ones
        let [words, of_runs] = &mut self.sets;
        append_set(words, room);
        let start = self.ends.last().map_or(0, |ends| ends[0]);
        let plain = start + words.get(start..).unwrap_or(&[]).partition_point(|&word| word < DIGIT);
        room.clear();
        room.extend(codes);
        runs(room, self.run);
        append_set(of_runs, room);
        self.ends.push([words.len(), of_runs.len(), plain]);
    }

    /// Compare two texts by their places; None where they are not there.
    pub fn compare(&self, one: usize, other: usize) -> Option<Common> {
        let ([words, runs, numbers], [others, other_runs, other_numbers]) = (self.text(one)?, self.text(other)?);
        if common(numbers, other_numbers) < numbers.len().min(other_numbers.len()) {
            return Some(Common { same: 0, either: 1, apart: true });
        }
        let same = common(runs, other_runs);
        let apart = common(words, others) < words.len().min(others.len());
        Some(Common { same: same as u32, either: (runs.len() + other_runs.len() - same) as u32, apart })
    }

    /// The words of a text, its runs, and its words with a digit.
    fn text(&self, place: usize) -> Option<[&[u64]; 3]> {
        let [words, runs, plain] = *self.ends.get(place)?;
        let [first, first_run, _] =
            place.checked_sub(1).map_or(Some([0; 3]), |before| self.ends.get(before).copied())?;
        let [all, all_runs] = &self.sets;
        Some([all.get(first..words)?, all_runs.get(first_run..runs)?, all.get(plain..words)?])
    }
}

/// Of texts that have one number in a band, `heads` and `tails` of it, each with the first and with the one before it, as
/// (later, earlier) in the halves of a number; without those of which each has `bits` that the other lacks. None where
/// `found` has no room.
pub fn neighbours(heads: &[u32], tails: &[u16], bits: &[u64], found: &mut [u64]) -> Option<usize> {
    let mut placed: Vec<u64> = heads.iter().zip(0..).map(|(&head, place)| u64::from(head) << 32 | place).collect();
    let mut places = vec![0; placed.len().next_power_of_two()];
    sieve(&mut places, &placed, 1)?; // nearly all are alone, and need not be sorted
    keep_sieved(&places, &mut placed).then(|| placed.sort_unstable())?;
    let (mut count, mut group) = (0, Vec::new());
    for same in placed.chunk_by(|one, other| one >> 32 == other >> 32).filter(|same| same.len() > 1) {
        group.clear();
        for place in same.iter().map(|placed| placed & u64::from(u32::MAX)) {
            group.push((*tails.get(place as usize)?, place));
        }
        group.sort_unstable();
        for same in group.chunk_by(|one, other| one.0 == other.0) {
            for pair in same.windows(2) {
                let later = pair[1].1;
                let first = (same[0].1 != pair[0].1).then_some(same[0].1);
                for earlier in first.into_iter().chain([pair[0].1]) {
                    let (mine, others) = (*bits.get(later as usize)?, *bits.get(earlier as usize)?);
                    if mine & !others == 0 || others & !mine == 0 {
                        *found.get_mut(count)? = later << 32 | earlier;
                        count += 1;
                    }
                }
            }
        }
    }
    Some(count)
}

const DIGIT: u64 = 1 << 63;

/// Append the different ones of numbers, in their order.
fn append_set(set: &mut Vec<u64>, numbers: &mut Vec<u64>) {
    numbers.sort_unstable();
    numbers.dedup();
    set.extend_from_slice(numbers);
}

/// How many numbers are in both of two sets in order.
fn common(one: &[u64], other: &[u64]) -> usize {
    let (mut at, mut at_other, mut found) = (0, 0, 0);
    while let (Some(mine), Some(others)) = (one.get(at), other.get(at_other)) {
        found += usize::from(mine == others); // without a branch, which nobody could foresee
        at += usize::from(mine <= others);
        at_other += usize::from(others <= mine);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::{tries, Random};
    use crate::words::TURN;
    use std::collections::BTreeSet;

    fn of(texts: &[Vec<u64>]) -> Copies {
        let mut copies = Copies::new(9, 2).unwrap();
        for text in texts {
            copies.add(text, &mut vec![]);
        }
        copies
    }

    #[test]
    fn fuzz_what_is_in_common_is_that_of_sets() {
        let mut random = Random(5);
        for _ in 0..tries(3_000) {
            let mut text = || (0..random.below(9)).map(|_| random.below(12) as u64).collect::<Vec<_>>();
            let texts = [text(), text(), text()];
            let copies = of(&texts);
            let sets = |text: &[u64]| -> [BTreeSet<u64>; 3] {
                let join = |pair: &[u64]| pair[0].rotate_left(TURN) ^ pair[1];
                let digits = text.iter().copied().filter(|word| word & 1 > 0);
                [text.iter().copied().collect(), text.windows(2).map(join).collect(), digits.collect()]
            };
            for (one, other) in [(0, 1), (2, 1), (1, 1)] {
                let ([words, runs, digits], [others, other_runs, other_digits]) =
                    (sets(&texts[one]), sets(&texts[other]));
                let nested = |a: &BTreeSet<u64>, b: &BTreeSet<u64>| a.is_subset(b) || b.is_subset(a);
                let expected = Common {
                    same: runs.intersection(&other_runs).count() as u32,
                    either: runs.union(&other_runs).count() as u32,
                    apart: !nested(&words, &others),
                };
                let none = Common { same: 0, either: 1, apart: true };
                let expected = if nested(&digits, &other_digits) { expected } else { none };
                assert_eq!(copies.compare(one, other), Some(expected), "{:?} {:?}", texts[one], texts[other]);
            }
        }
    }

    #[test]
    fn neighbours_are_the_first_and_the_one_before() {
        let of = |bits: [u64; 6], room: usize| {
            let mut found = vec![0; room];
            let count = neighbours(&[7, 3, 7, 7, 7, 3], &[1, 5, 1, 2, 1, 5], &bits, &mut found);
            count.map(|count| found[..count].iter().map(|pair| (pair >> 32, pair & 0xFF)).collect::<Vec<_>>())
        };
        assert_eq!(of([0; 6], 4), Some(vec![(5, 1), (2, 0), (4, 0), (4, 2)]));
        assert_eq!(of([0; 6], 3), None);
        assert_eq!(of([1, 1, 3, 0, 2, 2], 4), Some(vec![(2, 0), (4, 2)]));
    }

    #[test]
    fn texts_that_are_not_there_are_not_compared() {
        let copies = of(&[vec![4, 5]]);
        assert_eq!(copies.compare(0, 0), Some(Common { same: 1, either: 1, apart: false }));
        assert_eq!(copies.compare(0, 1), None);
        assert!(Copies::new(9, 0).is_none() && Copies::new(usize::MAX, 1).is_none());
    }
}
