//! Look-ups of key codes, in memory that Python owns.

/// Half of a slot of a table is a code, the other half its position plus one; 0 is an empty slot.
const HALVES: usize = 2;
const ODD: u64 = 0x9E37_79B9_7F4A_7C15;

/// A table of 2^`bits` slots in `slots`; none where the memory has another size.
pub struct Table<Slots> {
    slots: Slots,
    shift: u32,
    mask: usize,
}

impl<Slots: AsRef<[u64]>> Table<Slots> {
    pub fn over(slots: Slots, bits: u32) -> Option<Self> {
        let size =
            1_usize.checked_shl(bits).filter(|size| (1..40).contains(&bits) && size.checked_mul(HALVES).is_some())?;
        (slots.as_ref().len() == size * HALVES).then(|| Self { slots, shift: 64 - bits, mask: size - 1 })
    }

    #[inline(always)]
    fn first_slot(&self, code: u64) -> usize {
        (code.wrapping_mul(ODD) >> self.shift) as usize
    }

    /// Whether a code is in the table.
    #[inline(always)]
    pub fn has(&self, code: u64) -> bool {
        let mut found = [0];
        self.find(&[code], &mut found);
        found != [-1]
    }

    /// The position of each code, -1 of one that is not in the table.
    pub fn find(&self, codes: &[u64], positions: &mut [i32]) {
        let slots = self.slots.as_ref();
        for (position, &code) in positions.iter_mut().zip(codes) {
            let mut slot = self.first_slot(code);
            *position = loop {
                let (there, number) = (slots[slot * HALVES], slots[slot * HALVES + 1]);
                if number == 0 {
                    break -1;
                }
                if there == code {
                    break (number - 1) as i32;
                }
                slot = (slot + 1) & self.mask;
            };
        }
    }
}

impl Table<Vec<u64>> {
    /// A table of these codes, in memory of its own.
    pub fn of(codes: &[u64]) -> Option<Self> {
        let bits = (usize::BITS - (codes.len() + codes.len() / 3).leading_zeros()).max(4);
        let mut slots = vec![0; HALVES << bits];
        Table::over(&mut slots[..], bits)?.fill(codes);
        Table::over(slots, bits)
    }
}

impl Table<&mut [u64]> {
    /// Put codes in, which must be fewer than the slots: of one that comes again the first position remains.
    pub fn fill(&mut self, codes: &[u64]) -> bool {
        if codes.len() > self.mask {
            return false;
        }
        for (position, &code) in codes.iter().enumerate() {
            let mut slot = self.first_slot(code);
            loop {
                let place = slot * HALVES;
                if self.slots[place + 1] == 0 {
                    self.slots[place] = code;
                    self.slots[place + 1] = position as u64 + 1;
                    break;
                }
                if self.slots[place] == code {
                    break;
                }
                slot = (slot + 1) & self.mask;
            }
        }
        true
    }
}

/// The position of each integer in a table by value, whose last entry is for all that are out of its range.
pub fn find_ranks(ranks: &[i32], least: u64, codes: &[u64], positions: &mut [i32]) {
    let Some(last) = ranks.len().checked_sub(1) else { return };
    for (position, &code) in positions.iter_mut().zip(codes) {
        *position = ranks[usize::try_from(code.wrapping_sub(least)).map_or(last, |offset| offset.min(last))];
    }
}

/// Count codes by their leading bits, up to 2: a place with 1 holds a code that came once.
pub fn sieve(places: &mut [u8], codes: &[u64]) {
    if !places.len().is_power_of_two() || places.len() < 2 {
        return;
    }
    let shift = 64 - places.len().trailing_zeros();
    for code in codes {
        let place = &mut places[(code >> shift) as usize];
        *place = (*place + 1).min(2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_is_found() {
        let codes: Vec<u64> = (0..1000).map(|n| n * n * 7).chain([49, 7]).collect();
        let mut memory = vec![0; 4096];
        let mut table = Table::over(&mut memory[..], 11).unwrap();
        assert!(table.fill(&codes));
        let mut found = vec![0; codes.len()];
        table.find(&codes, &mut found);
        for (code, position) in codes.iter().zip(found) {
            assert_eq!(codes.iter().position(|other| other == code), usize::try_from(position).ok());
        }
        let mut missing = [0; 2];
        table.find(&[1, u64::MAX], &mut missing);
        assert_eq!(missing, [-1, -1]);
    }

    #[test]
    fn memory_of_another_size_is_refused() {
        assert!(Table::over(&[0; 30][..], 4).is_none());
        assert!(Table::over(&[0; 32][..], 0).is_none());
        assert!(!Table::over(&mut [0; 4][..], 1).unwrap().fill(&[1, 2]));
    }
}
