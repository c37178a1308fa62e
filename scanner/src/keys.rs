//! Look-ups of key codes, in memory that Python owns.

use crate::isa::ask_for;
use std::hash::{BuildHasher, RandomState};
use std::hint::black_box;
use std::sync::OnceLock;

pub(crate) const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
const OTHER_ODD: u64 = 0xD6E8_FEB8_6659_FD93;
/// Look-ups whose memory is asked for together.
const AT_ONCE: usize = 64;

/// Numbers that the process has drawn: nobody can prepare codes that all want one place of a table.
pub(crate) fn seeds() -> [u64; 2] {
    static DRAWN: OnceLock<[u64; 2]> = OnceLock::new();
    *DRAWN.get_or_init(|| [0, 1].map(|number| RandomState::new().hash_one(number)))
}

/// The place of a code among 2^`bits`.
#[inline(always)]
pub(crate) fn place_of(code: &[u64], seed: u64, bits: u32) -> usize {
    ((code[0] ^ seed).wrapping_mul(ODD) >> (64 - bits)) as usize
}

/// A table of codes, of one number of 64 bits each or of two.
///
/// A slot is 0, or the position of a code plus one and, in its upper half, bits of the code that tell most others apart.
pub struct Table<Slots, Codes> {
    slots: Slots,
    codes: Codes,
    width: usize,
    bits: u32,
    mask: usize,
    seed: u64,
}

impl<Slots: AsRef<[u64]>, Codes: AsRef<[u64]>> Table<Slots, Codes> {
    /// A table of 2^`bits` slots, laid out by a seed; none where there are too few, or the codes are of another width.
    pub fn over(slots: Slots, bits: u32, codes: Codes, width: usize, seed: u64) -> Option<Self> {
        let size = 1_usize.checked_shl(bits).filter(|_| (1..40).contains(&bits))?;
        let count = codes.as_ref().len().checked_div(width)?;
        let fits = width <= 2 && count * width == codes.as_ref().len() && count < size && count < i32::MAX as usize;
        (fits && slots.as_ref().len() == size).then(|| Self { slots, codes, width, bits, mask: size - 1, seed })
    }

    /// Whether a code of a text is in the table.
    #[inline(always)]
    pub fn has(&self, code: u128) -> bool {
        self.width == 2 && self.slot::<2>(&[code as u64, (code >> 64) as u64]).is_ok()
    }

    /// The position of each code, -1 of one that is not in the table; false where they have another width.
    pub fn find(&self, codes: &[u64], width: usize, positions: &mut [i32]) -> bool {
        if width != self.width {
            return false;
        }
        match width {
            1 => self.find_all::<1>(codes, positions),
            _ => self.find_all::<2>(codes, positions),
        }
        true
    }

    /// Some at a time: the memory of their slots is asked for while those before them are looked at, and then that of the
    /// codes to which they point. One by one each look-up would wait for the one before it.
    fn find_all<const N: usize>(&self, codes: &[u64], positions: &mut [i32]) {
        let (slots, held) = (self.slots.as_ref(), self.codes.as_ref());
        let mut ahead = codes.chunks(AT_ONCE * N);
        let mut ask_for_slots = || {
            for code in ahead.next().unwrap_or(&[]).chunks_exact(N) {
                ask_for(slots, place_of(code, self.seed, self.bits));
            }
        };
        ask_for_slots();
        let mut before: (&mut [i32], &[u64]) = (&mut [], &[]);
        for (positions, codes) in positions.chunks_mut(AT_ONCE).zip(codes.chunks(AT_ONCE * N)) {
            ask_for_slots();
            for (position, code) in positions.iter_mut().zip(codes.chunks_exact(N)) {
                // the first of the slots for it that may be its own, of which most are side by side
                let (mut at, tag) = (place_of(code, self.seed, self.bits), tag_of::<N>(code) >> 32);
                let mut slot = slots[at];
                while slot != 0 && slot >> 32 != tag {
                    at = (at + 1) & self.mask;
                    slot = slots[at];
                }
                *position = (slot as u32).wrapping_sub(1) as i32;
                ask_for(held, *position as u32 as usize * N);
            }
            let (positions, codes) = std::mem::replace(&mut before, (positions, codes));
            self.compare::<N>(codes, positions);
        }
        self.compare::<N>(before.1, before.0);
    }

    /// Look those up again whose code is not at the position that was found.
    #[inline(always)]
    fn compare<const N: usize>(&self, codes: &[u64], positions: &mut [i32]) {
        for (position, code) in positions.iter_mut().zip(codes.chunks_exact(N)) {
            let there = self.codes.as_ref().get(*position as u32 as usize * N..).and_then(<[u64]>::first_chunk::<N>);
            if *position >= 0 && there != code.first_chunk() {
                *position = self.slot::<N>(code).map_or(-1, |place| place as i32);
            }
        }
    }

    /// The position of a code, or the slot and the bits with which it is to be put in.
    #[inline(always)]
    fn slot<const N: usize>(&self, code: &[u64]) -> Result<usize, (usize, u64)> {
        let (slots, codes) = (self.slots.as_ref(), self.codes.as_ref());
        let upper = tag_of::<N>(code);
        let mut slot = place_of(code, self.seed, self.bits);
        loop {
            let there = slots[slot];
            if there == 0 {
                return Err((slot, upper));
            }
            let place = (there as u32 - 1) as usize;
            if there >> 32 == upper >> 32 && codes[place * N..place * N + N] == *code {
                return Ok(place);
            }
            slot = (slot + 1) & self.mask;
        }
    }
}

/// Bits of a code that tell most others apart, where they stand in a slot.
#[inline(always)]
pub(crate) fn tag_of<const N: usize>(code: &[u64]) -> u64 {
    (code[0].wrapping_mul(ODD) ^ code[N - 1]) << 32
}

impl Table<Vec<u64>, Vec<u64>> {
    /// A table of the codes of texts, in memory of its own.
    pub fn of(codes: &[u64]) -> Option<Self> {
        let count = codes.len() / 2;
        let bits = (usize::BITS - (count + count / 3).leading_zeros()).max(4);
        let mut table = Table::over(vec![0; 1 << bits], bits, codes.to_vec(), 2, seeds()[0])?;
        table.fill();
        Some(table)
    }
}

/// Numbers of the codes of texts, in the order in which these come first.
pub struct Numbering {
    table: Table<Vec<u64>, Vec<u64>>,
}

impl Numbering {
    /// None has a number yet.
    pub fn new() -> Option<Self> {
        Some(Self { table: Table::over(vec![0; 1 << 10], 10, Vec::new(), 2, seeds()[0])? })
    }

    /// The number of each code, and at the front of `fresh` the positions of those that are new: how many. None where
    /// there are more than numbers for them.
    pub fn add(&mut self, codes: &[u64], numbers: &mut [i32], fresh: &mut [u64]) -> Option<usize> {
        let mut count = 0;
        for (place, (numbers, codes)) in numbers.chunks_mut(AT_ONCE).zip(codes.chunks(2 * AT_ONCE)).enumerate() {
            self.table.find_all::<2>(codes, numbers);
            for (at, (number, code)) in numbers.iter_mut().zip(codes.chunks_exact(2)).enumerate() {
                if *number < 0 {
                    let (found, is_new) = self.number(code)?;
                    *number = i32::try_from(found).ok()?;
                    if is_new {
                        *fresh.get_mut(count)? = (place * AT_ONCE + at) as u64;
                        count += 1;
                    }
                }
            }
        }
        Some(count)
    }

    /// The number of a code, and whether it is new.
    fn number(&mut self, code: &[u64]) -> Option<(usize, bool)> {
        let table = &mut self.table;
        let (slot, upper) = match table.slot::<2>(code) {
            Ok(found) => return Some((found, false)),
            Err(free) => free,
        };
        table.codes.extend_from_slice(code);
        let count = table.codes.len() / 2;
        table.slots[slot] = upper | count as u64;
        if 4 * count > 3 * table.slots.len() {
            let bits = table.slots.len().trailing_zeros() + 1;
            *table = Table::over(vec![0; 1 << bits], bits, std::mem::take(&mut table.codes), 2, table.seed)?;
            table.fill();
        }
        Some((count - 1, true))
    }
}

impl<Slots: AsMut<[u64]> + AsRef<[u64]>, Codes: AsRef<[u64]>> Table<Slots, Codes> {
    /// Put all codes in: of one that comes again the first position remains.
    pub fn fill(&mut self) {
        match self.width {
            1 => self.fill_all::<1>(),
            _ => self.fill_all::<2>(),
        }
    }

    fn fill_all<const N: usize>(&mut self) {
        for place in 0..self.codes.as_ref().len() / N {
            let code: [u64; N] = std::array::from_fn(|n| self.codes.as_ref()[place * N + n]);
            if let Err((slot, upper)) = self.slot::<N>(&code) {
                self.slots.as_mut()[slot] = upper | (place as u64 + 1);
            }
        }
    }
}

/// The position of each integer in a table by value, whose last entry is for all that are out of its range.
pub fn find_ranks(ranks: &[i32], least: u64, codes: &[u64], positions: &mut [i32]) {
    let Some(last) = ranks.len().checked_sub(1) else { return };
    for (position, &code) in positions.iter_mut().zip(codes) {
        *position = ranks[usize::try_from(code.wrapping_sub(least)).map_or(last, |offset| offset.min(last))];
    }
}

/// Count codes by their leading bits: a place has 0, 1 where one came, and 3 from the second on. Four places are in a byte.
/// Of codes of several numbers the first counts. None where the places are no power of two.
pub fn sieve(places: &mut [u8], codes: &[u64], width: usize) -> Option<()> {
    let shift = sieve_shift(places)?;
    for some in codes.chunks(AT_ONCE.saturating_mul(width)) {
        let some = || some.iter().step_by(width).map(|code| code >> shift);
        // the memory of some places is asked for together: one by one each would wait for the one before it
        black_box(some().fold(0, |seen, place| seen ^ places[(place >> 2) as usize]));
        for place in some() {
            let (four, at) = (&mut places[(place >> 2) as usize], 2 * (place & 3));
            *four |= (1 + (*four >> at & 1)) << at;
        }
    }
    Some(())
}

/// Keep those codes that a sieve counted twice; false where the places are no power of two.
pub fn keep_sieved(places: &[u8], codes: &mut Vec<u64>) -> bool {
    let Some(shift) = sieve_shift(places) else { return false };
    codes.retain(|code| twice_at(places, code >> shift) != 0);
    true
}

/// The positions of the codes that a sieve counted twice, from the front of `found`: how many. None where the
/// places are no power of two.
pub fn sieved(places: &[u8], codes: &[u64], width: usize, found: &mut [i64]) -> Option<usize> {
    let shift = sieve_shift(places)?;
    let (mut count, mut twice) = (0, [0; AT_ONCE]);
    for (number, some) in codes.chunks(AT_ONCE.saturating_mul(width)).enumerate() {
        for (twice, code) in twice.iter_mut().zip(some.iter().step_by(width)) {
            *twice = twice_at(places, code >> shift);
        }
        for (at, &twice) in twice[..some.len() / width].iter().enumerate() {
            // written each time, kept where it is one: there is nothing to guess for the processor
            let Some(next) = found.get_mut(count) else { break };
            *next = (number * AT_ONCE + at) as i64;
            count += usize::from(twice);
        }
    }
    Some(count)
}

/// Whether two codes came at a place: 1, or 0.
fn twice_at(places: &[u8], place: u64) -> u8 {
    places[(place >> 2) as usize] >> (2 * (place & 3) + 1) & 1
}

/// By how much a code is shifted to give its place, in bytes of four each.
fn sieve_shift(places: &[u8]) -> Option<u32> {
    places.len().is_power_of_two().then(|| 62 - places.len().trailing_zeros())
}

/// One code for each pair of codes, as `ragdatakit/arrays/codes.py` makes it; false where the lengths do not fit.
pub fn mix(heads: (&[u64], usize), tails: (&[u64], usize), mixed: &mut [u64]) -> bool {
    let ((heads, width), (tails, tail_width)) = (heads, tails);
    let count = mixed.len() / 2;
    let fits = (1..3).contains(&width) && (1..3).contains(&tail_width);
    if !fits || heads.len() != count * width || tails.len() != count * tail_width {
        return false;
    }
    let pairs = heads.chunks_exact(width).zip(tails.chunks_exact(tail_width));
    for (code, (head, tail)) in mixed.chunks_exact_mut(2).zip(pairs) {
        let is_plain = width + tail_width == 2;
        code[0] = stirred(head[0], tail[0]);
        code[1] = if is_plain { head[0] } else { stirred(head[width - 1], tail[tail_width - 1]) };
    }
    true
}

#[inline(always)]
pub(crate) fn stirred(first: u64, second: u64) -> u64 {
    let mut h = first.wrapping_mul(ODD);
    h ^= h >> 32;
    h = h.wrapping_add(second).wrapping_mul(OTHER_ODD);
    h ^= h >> 29;
    h.wrapping_mul(ODD)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes of each width; of the wide ones all first halves are the same few.
    fn codes(width: usize) -> Vec<u64> {
        let all = (0..1000_u64).map(|n| n * n * 7).chain([49, 7, 28]);
        all.flat_map(|n| if width == 1 { vec![n] } else { vec![n % 3, n] }).collect()
    }

    #[test]
    fn what_is_put_in_is_found() {
        for width in [1, 2] {
            let codes = codes(width);
            let mut memory = vec![0; 2048];
            let mut table = Table::over(&mut memory[..], 11, &codes[..], width, seeds()[0]).unwrap();
            table.fill();
            let mut found = vec![0; codes.len() / width];
            assert!(table.find(&codes, width, &mut found));
            let all: Vec<_> = codes.chunks_exact(width).collect();
            for (code, position) in all.iter().zip(found) {
                assert_eq!(all.iter().position(|other| other == code), usize::try_from(position).ok());
            }
            let mut missing = [0; 2];
            assert!(table.find(&[1, 1, 2, u64::MAX][..2 * width], width, &mut missing));
            assert_eq!(missing, [-1, -1]);
            assert!(!table.find(&codes, 3 - width, &mut missing));
        }
    }

    #[test]
    fn codes_are_numbered_in_the_order_in_which_they_come() {
        let codes = codes(2);
        let (mut numbering, mut known) = (Numbering::new().unwrap(), Vec::new());
        for some in codes.chunks(2 * 301) {
            let expected: Vec<_> = some
                .chunks_exact(2)
                .map(|code| {
                    known.iter().position(|other| *other == code).unwrap_or_else(|| {
                        known.push(code);
                        known.len() - 1
                    })
                })
                .collect();
            let (mut numbers, mut fresh) = (vec![9; some.len() / 2], vec![0; some.len() / 2]);
            let before = expected[0];
            let count = numbering.add(some, &mut numbers, &mut fresh).unwrap();
            assert!(numbers.iter().zip(&expected).all(|(&number, &other)| number as usize == other));
            assert_eq!((fresh[0], before + count), (0, known.len()));
        }
        assert_eq!(numbering.add(&[0, 1 << 60, 0, 0], &mut [0; 2], &mut [0; 2]), Some(1));
    }

    #[test]
    fn a_text_whose_half_code_is_there_is_not() {
        let table = Table::of(&[5, 6, 5, 7]).unwrap();
        assert!(table.has(7 << 64 | 5) && !table.has(8 << 64 | 5) && !table.has(6 << 64 | 6));
    }

    #[test]
    fn a_sieve_keeps_what_shares_its_leading_bits() {
        for (width, bits) in [(1, 2), (2, 5), (1, 9), (2, 12)] {
            let codes: Vec<_> = codes(width).iter().map(|code| code.wrapping_mul(ODD)).collect();
            let mut places = vec![0; 1 << (bits - 2)];
            let middle = codes.len() / 4 * 2;
            sieve(&mut places, &codes[..middle], width).unwrap();
            sieve(&mut places, &codes[middle..], width).unwrap();
            let leading: Vec<_> = codes.iter().step_by(width).map(|code| code >> (64 - bits)).collect();
            let is_twice = |place: &i64| leading.iter().filter(|&other| *other == leading[*place as usize]).count() > 1;
            let mut found = vec![0; leading.len()];
            let count = sieved(&places, &codes, width, &mut found).unwrap();
            assert_eq!(found[..count], (0..leading.len() as i64).filter(is_twice).collect::<Vec<_>>());
        }
        for length in [0, 3, 12] {
            assert_eq!(sieve(&mut vec![0; length], &[1], 1), None);
            assert_eq!(sieved(&vec![0; length], &[1], 1, &mut [0]), None);
        }
    }

    #[test]
    fn memory_of_another_size_is_refused() {
        assert!(Table::over(&[0; 15][..], 4, &[1_u64][..], 1, 0).is_none());
        assert!(Table::over(&[0; 16][..], 0, &[1_u64][..], 1, 0).is_none());
        assert!(Table::over(&[0; 2][..], 1, &[1_u64, 2][..], 1, 0).is_none());
        assert!(Table::over(&[0; 16][..], 4, &[1_u64, 2, 3][..], 2, 0).is_none());
        assert!(Table::over(&[0; 16][..], 4, &[1_u64, 2, 3][..], 0, 0).is_none());
    }
}
