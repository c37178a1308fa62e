//! What sets of codes are compared by: sketches, of which the parts are equal as often as the sets have codes in common,
//! and bands of parts, one number for several. `quality/sketches.py` makes the same.

use crate::isa::{Isa, Level, Portable};
use crate::words::mixed;

/// Codes that are spread together.
const TOGETHER: usize = 64;
/// Parts at most.
const MOST: usize = 128;

/// The lower half of a number.
const LOWER: u64 = u32::MAX as u64;

/// What sketches are made with.
pub struct Sketching<'a> {
    /// Of each part, for the last round, which is for parts without a code.
    factors: &'a [u64],
    terms: &'a [u64],
    in_band: usize,
    /// What codes are mixed with, and the parts of a band.
    mixer: u64,
    /// Bits of a part that say in which round it was found.
    bits: u32,
}

impl<'a> Sketching<'a> {
    /// Of the numbers of all fields one behind the other. None where they do not fit together: there are 2 or 4
    /// rounds, so that half a number has digits for all, and parts in whole bands, not too many.
    pub fn of(numbers: &'a [u64], rounds: u64, parts: u64, in_band: u64, mixer: u64) -> Option<Self> {
        let known = usize::try_from(parts).ok().filter(|parts| (1..=MOST).contains(parts))?;
        let bits = rounds.checked_ilog2().filter(|&bits| 1 << bits == rounds && (1..3).contains(&bits))?;
        let (factors, terms) = numbers.split_at_checked(known)?;
        let fits = terms.len() == factors.len() && in_band > 0 && parts % in_band == 0;
        fits.then_some(Self { factors, terms, in_band: in_band as usize, mixer, bits })
    }

    pub fn parts(&self) -> usize {
        self.factors.len()
    }

    pub fn bands(&self) -> usize {
        self.factors.len() / self.in_band
    }

    /// Put the sketch of a set into `parts`: of each the least that any code gives, in the first round that gives one.
    /// The codes are mixed for it, and not what they were.
    pub fn sketch(&self, codes: &mut [u64], parts: &mut [u32]) {
        match Level::best() {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => crate::simd::sketch(self, codes, parts),
            _ => sketch_with::<Portable>(self, codes, parts),
        }
    }

    #[inline(always)]
    fn sketched(&self, codes: &mut [u64], parts: &mut [u32]) {
        let (number, shift, last) = (parts.len() as u64, 32 - self.bits, (1 << self.bits) - 1);
        let (mut found, mut places, mut values) = ([u32::MAX; MOST], [0; TOGETHER], [0; TOGETHER]);
        for code in &mut *codes {
            *code = mixed(*code, self.mixer);
        }
        for round in 0..last {
            for codes in codes.chunks_mut(TOGETHER) {
                for ((code, place), value) in codes.iter_mut().zip(&mut places).zip(&mut values) {
                    let product = (*code & LOWER).wrapping_mul(number);
                    *place = (product >> 32) as u32; // a digit of the lower half; the others are left
                    *value = round << shift | ((*code >> 32) as u32).wrapping_shr(self.bits);
                    *code = *code & !LOWER | product & LOWER;
                }
                for (place, value) in places.iter().zip(&values).take(codes.len()) {
                    let part = &mut found[*place as usize % MOST];
                    *part = (*part).min(*value);
                }
            }
            if most(&found, parts.len()) >> shift <= round {
                break;
            }
        }
        let first = last << shift;
        if most(&found, parts.len()) >= first {
            for ((part, factor), term) in found.iter_mut().zip(self.factors).zip(self.terms) {
                if *part >= first {
                    let values =
                        codes.iter().map(|code| (factor.wrapping_mul(code >> 32).wrapping_add(*term) >> 32) as u32);
                    *part = values.map(|value| first | value >> self.bits).fold(*part, u32::min);
                }
            }
        }
        parts.copy_from_slice(&found[..parts.len()]);
    }

    /// The numbers of the bands of a sketch.
    pub fn of_bands<'b>(&'b self, parts: &'b [u32]) -> impl Iterator<Item = u64> + 'b {
        let of_band = |all: u64, part: &u32| mixed(all ^ u64::from(*part), self.mixer);
        parts.chunks(self.in_band).map(move |band| band.iter().fold(0, of_band))
    }
}

/// Compiled for one instruction set, which multiplies several codes at once where it can.
#[allow(clippy::extra_unused_type_parameters)]
#[inline(always)]
pub fn sketch_with<I: Isa>(sketching: &Sketching, codes: &mut [u64], parts: &mut [u32]) {
    sketching.sketched(codes, parts);
}

/// The most of so many parts.
#[inline(always)]
fn most(parts: &[u32; MOST], number: usize) -> u32 {
    parts.iter().take(number).fold(0, |most, part| most.max(*part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::{tries, Random};

    const NUMBERS: [u64; 10] = [7, 9, 11, 13, 15, 21, 22, 23, 24, 25];

    const MIXER: u64 = 0x9E37_79B9_7F4A_7C15;

    fn of(codes: &[u64]) -> Vec<u32> {
        let sketching = Sketching::of(&NUMBERS, 4, 5, 5, MIXER).unwrap();
        let mut parts = vec![0; sketching.parts()];
        sketching.sketch(&mut codes.to_vec(), &mut parts);
        parts
    }

    #[test]
    fn parts_are_the_least_of_the_first_round_that_gives_one() {
        let codes: Vec<u64> = (0..99).collect();
        let (few, many) = (of(&codes[..2]), of(&codes));

        assert!(many.iter().all(|&part| part < 1 << 30) && few.iter().any(|&part| part >= 3 << 30));
        assert_eq!(of(&[codes.clone(), codes].concat()), many);
        assert!(many.iter().zip(&few).all(|(more, less)| more <= less));
        assert_eq!(of(&[]), [u32::MAX; 5]);
        // as for one code is written out
        let mixed = 9_u64.wrapping_mul(MIXER) ^ 9_u64.wrapping_mul(MIXER) >> 29;
        let (mut left, upper) = (mixed & LOWER, mixed >> 32);
        let mut expected = [0; 5].map(|_| u32::MAX);
        for round in 0..3 {
            let (place, rest) = (((left * 5) >> 32) as usize, (left * 5) & LOWER);
            (expected[place], left) = (expected[place].min(round << 30 | (upper >> 2) as u32), rest);
        }
        for (place, part) in expected.iter_mut().enumerate().filter(|(_, part)| **part == u32::MAX) {
            let value = NUMBERS[place].wrapping_mul(upper).wrapping_add(NUMBERS[5 + place]);
            *part = 3 << 30 | (value >> 34) as u32;
        }
        assert_eq!(of(&[9]), expected);
    }

    #[test]
    fn fuzz_all_ways_make_the_same_sketches() {
        let sketching = Sketching::of(&NUMBERS, 4, 5, 5, MIXER).unwrap();
        let mut random = Random(7);
        for _ in 0..tries(2_000) {
            let codes: Vec<u64> = (0..random.below(200)).map(|_| random.below(1 << 40) as u64).collect();
            let mut parts = vec![0; 5];
            sketch_with::<Portable>(&sketching, &mut codes.clone(), &mut parts);
            assert_eq!(of(&codes), parts);
        }
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        for (numbers, rounds, parts, in_band) in
            [(10, 4, 5, 2), (10, 4, 5, 0), (9, 4, 5, 5), (10, 3, 5, 5), (0, 4, 0, 1), (4, 4, 5, 5)]
        {
            assert!(Sketching::of(&NUMBERS[..numbers], rounds, parts, in_band, 1).is_none());
        }
        assert!(Sketching::of(&NUMBERS, 4, 5, 1, 1).is_some_and(|found| found.bands() == 5));
    }
}
