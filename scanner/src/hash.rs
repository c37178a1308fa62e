//! Codes of texts: 128 bits, of constants that each run draws anew, so that nobody can prepare texts that collide.
//!
//! Where texts that share a code are only looked at once more, half of it does.

use std::hash::Hasher;

/// The constants of one run: four for each half of a code.
#[derive(Clone, Copy)]
pub struct Seeds {
    halves: [[u64; 4]; 2],
    kept: u64,
}

impl Seeds {
    /// The constants drawn from one number. Of the first half of each code the bits of `kept` remain: all of them, but
    /// for tests of what happens where such halves are equal.
    #[must_use]
    pub fn of(seed: u64, kept: u64) -> Self {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            (z ^ (z >> 31)) | 1
        };
        let mut four = || [next(), next(), next(), next()];
        Self { halves: [four(), four()], kept }
    }
}

/// What tables of codes look them up by: codes are spread already.
#[derive(Default)]
pub struct OfCodes(u64);

impl Hasher for OfCodes {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |all, &byte| all.rotate_left(8) ^ u64::from(byte));
    }

    fn write_u128(&mut self, code: u128) {
        self.0 = code as u64 ^ (code >> 64) as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[inline(always)]
pub(crate) fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a).wrapping_mul(u128::from(b));
    (product as u64) ^ ((product >> 64) as u64)
}

#[inline(always)]
fn word(bytes: &[u8]) -> u64 {
    bytes.first_chunk::<8>().map_or(0, |w| u64::from_le_bytes(*w))
}

#[inline(always)]
fn half(bytes: &[u8]) -> u64 {
    bytes.first_chunk::<4>().map_or(0, |w| u64::from(u32::from_le_bytes(*w)))
}

/// The code of a text, given as UTF-8.
#[must_use]
#[inline(always)]
pub fn code(seeds: &Seeds, bytes: &[u8]) -> u128 {
    let [half, other] = of_halves(&seeds.halves, bytes);
    u128::from(other) << 64 | u128::from(half & seeds.kept)
}

/// The first half of the code of a text.
#[must_use]
#[inline(always)]
pub fn hash(seeds: &Seeds, bytes: &[u8]) -> u64 {
    let [half] = of_halves(&[seeds.halves[0]], bytes);
    half & seeds.kept
}

/// The halves for which these are the constants: made side by side, as none of them waits for another.
#[inline(always)]
fn of_halves<const N: usize>(constants: &[[u64; 4]; N], bytes: &[u8]) -> [u64; N] {
    let length = bytes.len();
    let mut states = [0; N];
    for (state, [s0, ..]) in states.iter_mut().zip(constants) {
        *state = *s0;
    }
    let (first, second) = match length {
        0 => (0, 0),
        1..=3 => (u64::from(bytes[0]) << 16 | u64::from(bytes[length / 2]) << 8 | u64::from(bytes[length - 1]), 0),
        4..=7 => (half(bytes), half(&bytes[length - 4..])),
        8..=16 => (word(bytes), word(&bytes[length - 8..])),
        _ => {
            let mut rest = bytes;
            if rest.len() > 48 {
                let (mut others, mut thirds) = (states, states);
                while let Some((chunk, behind)) = rest.split_first_chunk::<48>() {
                    if behind.is_empty() {
                        break;
                    }
                    let (w0, w1) = (word(chunk), word(&chunk[8..]));
                    let (w2, w3) = (word(&chunk[16..]), word(&chunk[24..]));
                    let (w4, w5) = (word(&chunk[32..]), word(&chunk[40..]));
                    for (n, [_, s1, s2, s3]) in constants.iter().enumerate() {
                        states[n] = fold(w0 ^ s1, w1 ^ states[n]);
                        others[n] = fold(w2 ^ s2, w3 ^ others[n]);
                        thirds[n] = fold(w4 ^ s3, w5 ^ thirds[n]);
                    }
                    rest = behind;
                }
                for ((state, other), third) in states.iter_mut().zip(others).zip(thirds) {
                    *state ^= other ^ third;
                }
            }
            while rest.len() > 16 {
                let (one, other) = (word(rest), word(&rest[8..]));
                for (state, [_, s1, ..]) in states.iter_mut().zip(constants) {
                    *state = fold(one ^ s1, other ^ *state);
                }
                rest = &rest[16..];
            }
            let end = &bytes[length - 16..];
            (word(end), word(&end[8..]))
        }
    };
    for (state, [_, s1, s2, _]) in states.iter_mut().zip(constants) {
        *state = fold(s1 ^ length as u64, fold(first ^ s2, second ^ *state));
    }
    states
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Whether each half of a code is new.
    fn of_both(seen: &mut [HashSet<u64>; 2], code: u128) -> bool {
        seen[0].insert(code as u64) & seen[1].insert((code >> 64) as u64)
    }

    #[test]
    fn texts_that_differ_in_a_byte_have_other_codes() {
        let seeds = Seeds::of(7, u64::MAX);
        let mut seen = [HashSet::new(), HashSet::new()];
        for length in 0..200 {
            for place in 0..length {
                let mut text = vec![b'a'; length];
                text[place] = b'b';
                assert!(of_both(&mut seen, code(&seeds, &text)), "length {length}, byte {place}");
            }
            assert!(of_both(&mut seen, code(&seeds, &vec![b'a'; length])));
        }
    }

    #[test]
    fn runs_have_codes_of_their_own() {
        assert_ne!(hash(&Seeds::of(1, u64::MAX), b"text"), hash(&Seeds::of(2, u64::MAX), b"text"));
    }

    #[test]
    fn the_other_half_is_whole_where_the_first_is_cut() {
        let cut = Seeds::of(1, 3);
        let codes: HashSet<_> = (0..100).map(|n: u8| code(&cut, &[b'a', n])).collect();
        assert!(codes.len() == 100 && codes.iter().all(|&code| code as u64 <= 3));
    }
}
