//! What sets of codes are compared by: sketches, of which the parts are equal as often as the sets have codes in common,
//! and bands of parts, one number for several. `quality/sketches.py` makes the same.

use crate::isa::{Isa, Level, Portable};

/// Codes that are spread together.
const TOGETHER: usize = 64;
/// Parts at most.
const MOST: usize = 128;

/// What sketches are made with.
pub struct Sketching<'a> {
    /// Of each round in which codes are spread over the parts, and of the one that is for parts without a code.
    seeds: &'a [u64],
    /// Of each part, for that last round.
    factors: &'a [u64],
    terms: &'a [u64],
    /// Parts of a band, and what they are mixed with.
    in_band: usize,
    mixer: u64,
    /// Bits of a part that say in which round it was found.
    bits: u32,
    /// Products below it would give some parts more often than others.
    least: u32,
}

impl<'a> Sketching<'a> {
    /// Of the numbers of all fields one behind the other. None where they do not fit together: there are 2, 4 or 8
    /// rounds, and parts in whole bands, not too many.
    pub fn of(numbers: &'a [u64], rounds: u64, parts: u64, in_band: u64, mixer: u64) -> Option<Self> {
        let known = u32::try_from(parts).ok().filter(|&parts| (1..=MOST as u32).contains(&parts))?;
        let bits = rounds.checked_ilog2().filter(|&bits| 1 << bits == rounds && (1..4).contains(&bits))?;
        let (seeds, rest) = numbers.split_at_checked(rounds as usize)?;
        let (factors, terms) = rest.split_at_checked(parts as usize)?;
        let fits = terms.len() == factors.len() && in_band > 0 && parts % in_band == 0;
        let least = known.wrapping_neg() % known;
        fits.then_some(Self { seeds, factors, terms, in_band: in_band as usize, mixer, bits, least })
    }

    pub fn parts(&self) -> usize {
        self.factors.len()
    }

    pub fn bands(&self) -> usize {
        self.factors.len() / self.in_band
    }

    /// Put the sketch of a set into `parts`: of each the least that any code gives, in the first round that gives one.
    pub fn sketch(&self, codes: &[u64], parts: &mut [u32]) {
        match Level::best() {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => crate::simd::sketch(self, codes, parts),
            _ => sketch_with::<Portable>(self, codes, parts),
        }
    }

    #[inline(always)]
    fn sketched(&self, codes: &[u64], parts: &mut [u32]) {
        let (Some((last, rounds)), number) = (self.seeds.split_last(), parts.len() as u32) else { return };
        let (shift, mut found) = (32 - self.bits, [u32::MAX; MOST]);
        let (mut places, mut values, mut mixed) = ([0; TOGETHER], [0; TOGETHER], [0; TOGETHER]);
        for (round, seed) in (0..).zip(rounds) {
            for codes in codes.chunks(TOGETHER) {
                let mut least = u32::MAX;
                for ((code, place), value) in codes.iter().zip(&mut places).zip(&mut values) {
                    let mixed = spread(code ^ seed);
                    let product = u64::from(mixed as u32).wrapping_mul(number.into());
                    least = least.min(product as u32);
                    *place = (product >> 32) as u32;
                    *value = round << shift | ((mixed >> 32) as u32).wrapping_shr(self.bits);
                }
                if least < self.least {
                    for (place, code) in places.iter_mut().zip(codes) {
                        *place = self.place(spread(code ^ seed), number.into()) as u32;
                    }
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
        let first = u32::MAX << shift;
        if most(&found, parts.len()) >= first {
            for codes in codes.chunks(TOGETHER) {
                for (mixed, code) in mixed.iter_mut().zip(codes) {
                    *mixed = spread(code ^ last);
                }
                for ((part, factor), term) in found.iter_mut().zip(self.factors).zip(self.terms) {
                    if *part >= first {
                        let mixed = mixed.iter().take(codes.len());
                        let values = mixed.map(|mixed| (factor.wrapping_mul(*mixed).wrapping_add(*term) >> 32) as u32);
                        *part = values.map(|value| first | value >> self.bits).fold(*part, u32::min);
                    }
                }
            }
        }
        parts.copy_from_slice(&found[..parts.len()]);
    }

    /// The part to which a code goes, each as often as the others.
    #[inline(always)]
    fn place(&self, mut mixed: u64, parts: u64) -> usize {
        loop {
            let product = u64::from(mixed as u32).wrapping_mul(parts);
            if product as u32 >= self.least {
                return (product >> 32) as usize;
            }
            mixed = spread(mixed);
        }
    }

    /// The numbers of the bands of a sketch.
    pub fn of_bands<'b>(&'b self, parts: &'b [u32]) -> impl Iterator<Item = u64> + 'b {
        let mixed = |band: u64, part: &u32| {
            let mixed = (band ^ u64::from(*part)).wrapping_mul(self.mixer);
            mixed ^ (mixed >> 29)
        };
        parts.chunks(self.in_band).map(move |band| band.iter().fold(0, mixed))
    }
}

/// Compiled for one instruction set, which multiplies several codes at once where it can.
#[allow(clippy::extra_unused_type_parameters)]
#[inline(always)]
pub fn sketch_with<I: Isa>(sketching: &Sketching, codes: &[u64], parts: &mut [u32]) {
    sketching.sketched(codes, parts);
}

/// The most of so many parts.
#[inline(always)]
fn most(parts: &[u32; MOST], number: usize) -> u32 {
    parts.iter().take(number).fold(0, |most, part| most.max(*part))
}

/// A number whose bits are spread over all bits.
#[inline(always)]
fn spread(number: u64) -> u64 {
    let number = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::{tries, Random};

    const NUMBERS: [u64; 14] = [1, 2, 3, 4, 7, 9, 11, 13, 15, 21, 22, 23, 24, 25];

    fn of(codes: &[u64]) -> Vec<u32> {
        let sketching = Sketching::of(&NUMBERS, 4, 5, 5, 3).unwrap();
        let mut parts = vec![0; sketching.parts()];
        sketching.sketch(codes, &mut parts);
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
        // as for the last round is written out
        let places: Vec<usize> =
            (1..4).map(|seed| Sketching::of(&NUMBERS, 4, 5, 5, 3).unwrap().place(spread(9 ^ seed), 5)).collect();
        for (place, part) in of(&[9]).into_iter().enumerate().filter(|(place, _)| !places.contains(place)) {
            let value = NUMBERS[4 + place].wrapping_mul(spread(9 ^ 4)).wrapping_add(NUMBERS[9 + place]);
            assert_eq!(part, 3 << 30 | (value >> 34) as u32);
        }
    }

    #[test]
    fn fuzz_all_ways_make_the_same_sketches() {
        let sketching = Sketching::of(&NUMBERS, 4, 5, 5, 3).unwrap();
        let mut random = Random(7);
        for _ in 0..tries(2_000) {
            let codes: Vec<u64> = (0..random.below(200)).map(|_| random.below(1 << 40) as u64).collect();
            let mut parts = vec![0; 5];
            sketch_with::<Portable>(&sketching, &codes, &mut parts);
            assert_eq!(of(&codes), parts);
        }
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        for (numbers, rounds, parts, in_band) in
            [(14, 4, 5, 2), (14, 4, 5, 0), (13, 4, 5, 5), (14, 3, 5, 5), (4, 4, 0, 1), (3, 4, 5, 5)]
        {
            assert!(Sketching::of(&NUMBERS[..numbers], rounds, parts, in_band, 1).is_none());
        }
        assert!(Sketching::of(&NUMBERS, 4, 5, 1, 1).is_some_and(|found| found.bands() == 5));
    }
}
