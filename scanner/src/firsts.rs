//! The first value that each name was given, and what disagrees with it.

use crate::hash::fold;
use crate::keys::{place_of, seeds, tag_of};
use std::hint::black_box;
use std::sync::RwLock;

/// Names and their values, codes of one column each.
pub struct Named<'a> {
    pub names: &'a [u64],
    pub values: &'a [u64],
}

/// A table of names, each with its first value and the row of that.
///
/// An entry is the row plus one (the upper bit: it was shown), the name, the value; entries follow one another. The slots
/// grow up to so many; what finds none then, or has to look far for one, is `odd` each time that it comes. So whoever
/// compares all that is odd finds every disagreement.
///
/// A slot is 0, or the position of an entry plus one and, in its upper half, bits that tell most other names apart. Beside it
/// is the code of name and value, which nobody can foresee, 0 where there is none. It is compared in the few slots for the
/// name only: that it equals that of another value by chance has, each time, a probability of less than 2^-58.
pub struct Firsts {
    entries: Vec<u64>,
    slots: Vec<u64>,
    codes: Vec<u64>,
    seeds: [u64; 2],
    width: usize,
    value_width: usize,
    bits: u32,
    most_bits: u32,
    filled: usize,
    /// What disagrees, what it disagrees with, and what found no place: name, value, row.
    pub odd: Vec<u64>,
}

const SHOWN: u64 = 1 << 63;
const FIRST_BITS: u32 = 16;
/// Slots that are looked at for one name.
const FAR: usize = 24;
/// Records whose entries are asked for together.
const AT_ONCE: usize = 32;
/// Records that are looked up before another thread may take in some.
const AT_A_STRETCH: usize = 1 << 10;

impl Firsts {
    pub fn new(width: usize, value_width: usize, most_bits: u32) -> Option<Self> {
        let fits = (1..3).contains(&width) && (1..3).contains(&value_width) && (1..32).contains(&most_bits);
        let bits = most_bits.min(FIRST_BITS);
        fits.then(|| Self {
            entries: Vec::new(),
            slots: vec![0; 1 << bits],
            codes: vec![0; 1 << bits],
            seeds: seeds(),
            width,
            value_width,
            bits,
            most_bits,
            filled: 0,
            odd: Vec::new(),
        })
    }

    pub fn widths(&self) -> (usize, usize) {
        (self.width, self.value_width)
    }

    /// Take in `count` records: of each what every column says. Their rows are those given, or follow `first`. False where
    /// lengths do not fit. Of what columns say, record by record, only what `asked` has is taken in, or all; `fresh` gets
    /// whether each name was not known before.
    pub fn add(
        &mut self,
        columns: &[Named],
        count: usize,
        (rows, first): (Option<&[u64]>, u64),
        asked: Option<&[u8]>,
        fresh: Option<&mut [u8]>,
    ) -> bool {
        let each = count.checked_mul(columns.len());
        if !self.fits(columns, count)
            || rows.is_some_and(|rows| rows.len() != count)
            || asked.is_some_and(|asked| Some(asked.len()) != each)
            || fresh.as_ref().is_some_and(|fresh| Some(fresh.len()) != each)
        {
            return false;
        }
        self.odd.clear();
        match (self.width, self.value_width) {
            (1, 1) => self.add_all::<1, 1>(columns, count, (rows, first), asked, fresh),
            (1, _) => self.add_all::<1, 2>(columns, count, (rows, first), asked, fresh),
            (_, 1) => self.add_all::<2, 1>(columns, count, (rows, first), asked, fresh),
            _ => self.add_all::<2, 2>(columns, count, (rows, first), asked, fresh),
        }
        true
    }

    fn fits(&self, columns: &[Named], count: usize) -> bool {
        let fits = |column: &Named| {
            column.names.len() == count * self.width && column.values.len() == count * self.value_width
        };
        columns.iter().all(fits)
    }

    /// Of what columns say of `count` records, record by record, what is not known: `open` gets 1 for it. In the meantime
    /// others may take in some: what is known remains so. False where lengths do not fit.
    pub fn find_open(shared: &RwLock<Self>, columns: &[Named], count: usize, open: &mut [u8]) -> bool {
        if Some(open.len()) != count.checked_mul(columns.len()) || columns.is_empty() {
            return false;
        }
        for (part, open) in open.chunks_mut(AT_A_STRETCH * columns.len()).enumerate() {
            let Ok(firsts) = shared.read() else { return false };
            if !firsts.fits(columns, count) {
                return false;
            }
            let from = part * AT_A_STRETCH;
            match (firsts.width, firsts.value_width) {
                (1, 1) => firsts.find_part::<1, 1>(columns, from, open),
                (1, _) => firsts.find_part::<1, 2>(columns, from, open),
                (_, 1) => firsts.find_part::<2, 1>(columns, from, open),
                _ => firsts.find_part::<2, 2>(columns, from, open),
            }
        }
        true
    }

    fn find_part<const N: usize, const V: usize>(&self, columns: &[Named], from: usize, open: &mut [u8]) {
        for (number, column) in columns.iter().enumerate() {
            let mut names = column.names[from * N..].chunks_exact(N);
            let mut values = column.values[from * V..].chunks_exact(V);
            let mut there = [(0, 0, 0); AT_ONCE];
            for open in open.chunks_mut(AT_ONCE * columns.len()) {
                // the slots of some records are asked for together: one by one each would wait for the one before it
                for (there, (name, value)) in there.iter_mut().zip(names.by_ref().zip(&mut values)) {
                    let place = place_of(name, self.seeds[0], self.bits);
                    *there = (self.codes[place], self.code_of::<N, V>(name, value), place);
                }
                for (open, &(first, code, place)) in open[number..].iter_mut().step_by(columns.len()).zip(&there) {
                    *open = u8::from(first != code && !self.says(place, code));
                }
            }
        }
    }

    /// Whether one of the slots from a place on has the code of a name and a value.
    #[inline(always)]
    fn says(&self, place: usize, code: u64) -> bool {
        let mask = (1 << self.bits) - 1;
        let codes = (0..FAR).map(|n| self.codes[(place + n) & mask]);
        codes.take_while(|&there| there != 0).any(|there| there == code)
    }

    #[inline(always)]
    fn code_of<const N: usize, const V: usize>(&self, name: &[u64], value: &[u64]) -> u64 {
        let one = |words: &[u64], wide: bool| words[0] ^ if wide { words[1].rotate_left(32) } else { 0 };
        fold(one(name, N > 1) ^ self.seeds[0], one(value, V > 1) ^ self.seeds[1]) | 1
    }

    fn add_all<const N: usize, const V: usize>(
        &mut self,
        columns: &[Named],
        count: usize,
        (rows, first): (Option<&[u64]>, u64),
        asked: Option<&[u8]>,
        mut fresh: Option<&mut [u8]>,
    ) {
        let width = columns.len();
        for from in (0..count).step_by(AT_ONCE) {
            let to = count.min(from + AT_ONCE);
            if asked.is_some_and(|asked| asked[from * width..to * width].iter().fold(0, |all, one| all | one) == 0) {
                continue;
            }
            self.ask_for::<N, V>(columns, from, to, asked);
            for place in from..to {
                let row = rows.map_or(first.wrapping_add(place as u64), |rows| rows[place]);
                for (at, column) in (place * width..).zip(columns) {
                    if asked.is_some_and(|asked| asked[at] == 0) {
                        continue;
                    }
                    let (name, value) =
                        (column.names[place * N..].first_chunk(), column.values[place * V..].first_chunk());
                    let (Some(name), Some(value)) = (name, value) else { return };
                    let is_fresh = self.take::<N, V>(name, value, row);
                    if let Some(fresh) = &mut fresh {
                        fresh[at] = u8::from(is_fresh);
                    }
                }
            }
        }
    }

    /// Ask for the memory of the slots of some records together, then of the entries.
    fn ask_for<const N: usize, const V: usize>(&self, columns: &[Named], from: usize, to: usize, asked: Option<&[u8]>) {
        let (width, mut seen) = (1 + N + V, 0);
        let mut there = [0; AT_ONCE];
        for (number, column) in columns.iter().enumerate() {
            for (n, (slot, name)) in there.iter_mut().zip(column.names[from * N..to * N].chunks_exact(N)).enumerate() {
                let is_asked = asked.is_none_or(|asked| asked[(from + n) * columns.len() + number] != 0);
                *slot = if is_asked { self.slots[place_of(name, self.seeds[0], self.bits)] } else { 0 };
            }
            for slot in &there[..to - from] {
                let entry = (*slot as u32).wrapping_sub(1) as usize * width;
                seen ^= self.entries.get(entry).unwrap_or(&0) ^ self.entries.get(entry + width - 1).unwrap_or(&0);
            }
        }
        black_box(seen);
    }

    /// Whether the name was not known before.
    #[inline(always)]
    fn take<const N: usize, const V: usize>(&mut self, name: &[u64; N], value: &[u64; V], row: u64) -> bool {
        let width = 1 + N + V;
        let tag = tag_of::<N>(name);
        loop {
            let mask = (1 << self.bits) - 1;
            let mut place = place_of(name, self.seeds[0], self.bits);
            for _ in 0..FAR {
                let slot = self.slots[place];
                if slot == 0 {
                    if self.filled > mask - mask / 4 {
                        break;
                    }
                    self.entries.push(row.wrapping_add(1) & !SHOWN);
                    self.entries.extend_from_slice(name);
                    self.entries.extend_from_slice(value);
                    self.filled += 1;
                    self.slots[place] = tag | self.filled as u64;
                    self.codes[place] = self.code_of::<N, V>(name, value);
                    if self.filled > mask / 2 {
                        self.grow::<N, V>();
                    }
                    return true;
                }
                let at = (slot as u32 - 1) as usize * width;
                let entry = &mut self.entries[at..at + width];
                if slot >> 32 == tag >> 32 && entry[1..].first_chunk() == Some(name) {
                    if entry.last_chunk() == Some(value) {
                        return false;
                    }
                    if entry[0] & SHOWN == 0 {
                        self.odd.extend_from_slice(&entry[1..]);
                        self.odd.push(entry[0] - 1);
                        entry[0] |= SHOWN;
                    }
                    self.is_odd(name, value, row);
                    return false;
                }
                place = (place + 1) & mask;
            }
            // a name for which there is no place now must never find one: others of it would then agree with that
            if !self.grow::<N, V>() {
                self.is_odd(name, value, row);
                return true;
            }
        }
    }

    #[cold]
    fn is_odd(&mut self, name: &[u64], value: &[u64], row: u64) {
        self.odd.extend_from_slice(name);
        self.odd.extend_from_slice(value);
        self.odd.push(row);
    }

    /// Twice as many slots, if there may be more.
    #[cold]
    fn grow<const N: usize, const V: usize>(&mut self) -> bool {
        if self.bits == self.most_bits {
            return false;
        }
        let bits = self.bits + 1;
        let mask = (1 << bits) - 1;
        let (mut slots, mut codes) = (vec![0; 1 << bits], vec![0; 1 << bits]);
        for (position, entry) in (1..).zip(self.entries.chunks_exact(1 + N + V)) {
            let (name, value) = entry[1..].split_at(N);
            let from = place_of(name, self.seeds[0], bits);
            let free = (0..FAR).map(|n| (from + n) & mask).find(|&place| slots[place] == 0);
            let Some(place) = free else {
                self.most_bits = self.bits; // it would not be found there
                return false;
            };
            slots[place] = tag_of::<N>(name) | position;
            codes[place] = self.code_of::<N, V>(name, value);
        }
        (self.slots, self.codes, self.bits) = (slots, codes, bits);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Names and values of so many words, from few numbers.
    fn given(width: usize, seed: u64, names: u64, values: u64) -> (Vec<u64>, Vec<u64>) {
        let mut state = seed;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        // products with ODD whose upper bits are the same: all want one place
        let near = |n: u64| match seed % 2 {
            0 => n,
            _ => (n % 90).wrapping_mul(0xF1DE_83E1_9937_733D) ^ seeds()[0],
        };
        let name = |n: u64| if width == 1 { vec![near(n)] } else { vec![near(n) % 7, near(n)] };
        (0..500).map(|_| (next(names), next(values))).fold((vec![], vec![]), |(mut all, mut of), (n, v)| {
            all.extend(name(n));
            of.push(v);
            (all, of)
        })
    }

    /// Pairs of rows that disagree with the first of their name.
    fn clashes(width: usize, all: &[u64]) -> Vec<(u64, u64)> {
        let mut rows: Vec<_> = all.chunks_exact(width + 2).map(|c| (c[width + 1], &c[..width], c[width])).collect();
        rows.sort_unstable();
        let mut firsts = HashMap::new();
        let mut seen = std::collections::HashSet::new();
        rows.retain(|&(_, name, value)| seen.insert((name, value)));
        rows.iter()
            .filter_map(|&(row, name, _)| match firsts.entry(name) {
                std::collections::hash_map::Entry::Occupied(entry) => Some((row, *entry.get())),
                std::collections::hash_map::Entry::Vacant(entry) => {
                    entry.insert(row);
                    None
                }
            })
            .collect()
    }

    #[test]
    fn what_is_odd_shows_every_disagreement() {
        for (width, bits) in [(1, 1), (1, 4), (2, 1), (2, 4), (1, 14), (2, 14)] {
            for (names, values) in [(3, 3), (60, 2), (400, 1), (100_000, 2)] {
                let mut firsts = Firsts::new(width, 1, bits).unwrap();
                let (mut of_all, mut of_fresh) =
                    (Firsts::new(1, width, bits).unwrap(), Firsts::new(1, width, bits).unwrap());
                let (mut all, mut odd, mut fresh) = (vec![], vec![], [2; 1000]);
                let (mut odd_of_all, mut odd_of_fresh, mut odd_of_open) = (vec![], vec![], vec![]);
                let of_open = RwLock::new(Firsts::new(width, 1, bits).unwrap());
                let mut waiting: Option<(_, u64)> = None; // some that are looked up before those before them are taken in
                for part in 0..30 {
                    let columns = [given(width, part, names, values), given(width, part + 100, names, values)];
                    for n in 0..500 {
                        for (names, of) in &columns {
                            all.extend_from_slice(&names[n * width..n * width + width]);
                            all.extend([of[n], part * 500 + n as u64]);
                        }
                    }
                    // what is made of names alone needs only those that were not known before
                    let made =
                        columns.each_ref().map(|(names, _)| names.chunks_exact(width).map(|n| n[0] / 3).collect());
                    let made: [Vec<u64>; 2] = made;
                    let begin = (None, part * 500);
                    let mut open = [2; 1000];
                    {
                        let columns = columns.each_ref().map(|(names, values)| Named { names, values });
                        assert!(Firsts::find_open(&of_open, &columns, 500, &mut open));
                    }
                    if let Some(((columns, open), first)) = waiting.replace(((columns.clone(), open), part * 500)) {
                        let columns: &[(Vec<u64>, Vec<u64>); 2] = &columns;
                        let columns = columns.each_ref().map(|(names, values)| Named { names, values });
                        let mut firsts = of_open.write().unwrap();
                        assert!(firsts.add(&columns, 500, (None, first), Some(&open), None));
                        odd_of_open.extend_from_slice(&firsts.odd);
                    }
                    let of_names = [0, 1].map(|n| Named { names: &made[n], values: &columns[n].0 });
                    let columns = columns.each_ref().map(|(names, values)| Named { names, values });
                    assert!(firsts.add(&columns, 500, begin, None, Some(&mut fresh)));
                    odd.extend_from_slice(&firsts.odd);
                    assert!(of_all.add(&of_names, 500, begin, None, None));
                    odd_of_all.extend_from_slice(&of_all.odd);
                    assert!(of_fresh.add(&of_names, 500, begin, Some(&fresh), None));
                    odd_of_fresh.extend_from_slice(&of_fresh.odd);
                }
                if width == 1 {
                    assert_eq!(clashes(1, &odd_of_fresh), clashes(1, &odd_of_all), "{bits} {names} {values}");
                }
                assert_eq!(clashes(width, &odd), clashes(width, &all), "{width} {bits} {names} {values}");
                all.truncate(all.len() - 1000 * (width + 2)); // the last ones wait still
                assert_eq!(clashes(width, &odd_of_open), clashes(width, &all), "{width} {bits} {names} {values}");
            }
        }
    }

    #[test]
    fn what_agrees_is_not_odd() {
        let names: Vec<_> = (0..60_000_u64).map(|n| n % 40_000).collect();
        let mut firsts = Firsts::new(1, 1, 20).unwrap();
        assert!(firsts.add(&[Named { names: &names, values: &names }], names.len(), (None, 0), None, None));
        assert!(firsts.odd.is_empty() && firsts.bits == 17);
    }

    #[test]
    fn columns_of_other_lengths_are_refused() {
        let mut firsts = Firsts::new(1, 2, 4).unwrap();
        assert!(!firsts.add(&[Named { names: &[1], values: &[1] }], 1, (None, 0), None, None));
        assert!(!firsts.add(&[Named { names: &[1], values: &[1, 2] }], 1, (Some(&[]), 0), None, None));
        assert!(!firsts.add(&[Named { names: &[1], values: &[1, 2] }], 1, (None, 0), Some(&[]), None));
        assert!(!firsts.add(&[Named { names: &[1], values: &[1, 2] }], 1, (None, 0), None, Some(&mut [0, 0])));
        assert!(firsts.add(&[Named { names: &[1], values: &[1, 2] }], 1, (Some(&[9]), 0), None, None));
        let (firsts, mut open) = (RwLock::new(firsts), [2; 2]);
        let given = [Named { names: &[1], values: &[1, 2] }, Named { names: &[1], values: &[1, 3] }];
        assert!(!Firsts::find_open(&firsts, &given, 1, &mut open[..1]));
        assert!(!Firsts::find_open(&firsts, &given, 2, &mut [2; 4]) && !Firsts::find_open(&firsts, &[], 0, &mut []));
        assert!(Firsts::find_open(&firsts, &given, 1, &mut open) && open == [0, 1]);
        assert!(Firsts::new(3, 1, 4).is_none() && Firsts::new(1, 1, 0).is_none());
    }
}
