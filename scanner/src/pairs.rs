//! Pairs of integers, which are asked for one by one.

/// The second integers of each first one, side by side and in order, and where those of each begin: both tables are
/// small beside one of codes of pairs, so that they mostly stay in the cache.
pub struct Pairs {
    least: u64,
    least_second: u64,
    begins: Vec<u32>,
    seconds: Vec<u32>,
}

/// Second integers that are looked at together.
const FEW: usize = 8;

impl Pairs {
    /// None where the first integers are spread over more than `most` numbers, or the second ones over 2^32.
    pub fn of(firsts: &[u64], seconds: &[u64], most: u64) -> Option<Self> {
        let (least, span) = range_of(firsts)?;
        let (least_second, span_of_seconds) = range_of(seconds)?;
        let fits = span < most && span < 1 << 31 && span_of_seconds < 1 << 32 && seconds.len() < 1 << 32;
        if !fits || firsts.len() != seconds.len() {
            return None;
        }
        let mut begins = vec![0_u32; span as usize + 2];
        for first in firsts {
            begins[first.wrapping_sub(least) as usize + 1] += 1;
        }
        for place in 1..begins.len() {
            begins[place] += begins[place - 1];
        }
        let (mut next, mut placed) = (begins.clone(), vec![0; seconds.len()]);
        for (first, second) in firsts.iter().zip(seconds) {
            let place = &mut next[first.wrapping_sub(least) as usize];
            placed[*place as usize] = second.wrapping_sub(least_second) as u32;
            *place += 1;
        }
        for pair in begins.windows(2) {
            placed[pair[0] as usize..pair[1] as usize].sort_unstable();
        }
        placed.extend([0; FEW]);
        Some(Self { least, least_second, begins, seconds: placed })
    }

    /// Whether each of these pairs is there.
    pub fn find(&self, firsts: &[u64], seconds: &[u64], there: &mut [u8]) {
        for ((is_there, &first), &second) in there.iter_mut().zip(firsts).zip(seconds) {
            *is_there = u8::from(self.has(first, second));
        }
    }

    #[inline(always)]
    fn has(&self, first: u64, second: u64) -> bool {
        let place = first.wrapping_sub(self.least);
        let second = second.wrapping_sub(self.least_second);
        if place >= self.begins.len() as u64 - 1 || second >= 1 << 32 {
            return false;
        }
        let (begin, end) = (self.begins[place as usize] as usize, self.begins[place as usize + 1] as usize);
        let second = second as u32;
        match self.seconds[begin..].first_chunk::<FEW>() {
            // without a branch on how many there are, which nobody foresees
            Some(few) if end - begin <= FEW => {
                let equal = few.iter().zip(0..).fold(0_u32, |found, (&one, n)| found | u32::from(one == second) << n);
                equal & ((1 << (end - begin)) - 1) != 0
            }
            _ => self.seconds[begin..end].binary_search(&second).is_ok(),
        }
    }
}

/// The least of some numbers of 64 bits with a sign, and how far it is from it to the greatest.
fn range_of(numbers: &[u64]) -> Option<(u64, u64)> {
    let signed = || numbers.iter().map(|&number| number as i64);
    let (least, greatest) = (signed().min()?, signed().max()?);
    Some((least as u64, (greatest as u64).wrapping_sub(least as u64)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn check(firsts: &[u64], seconds: &[u64], asked: &[(u64, u64)]) {
        let pairs = Pairs::of(firsts, seconds, 1 << 20).unwrap();
        let known: HashSet<_> = firsts.iter().zip(seconds).map(|(&a, &b)| (a, b)).collect();
        let (one, other): (Vec<_>, Vec<_>) = asked.iter().copied().unzip();
        let mut there = vec![2; asked.len()];
        pairs.find(&one, &other, &mut there);
        let expected: Vec<_> = asked.iter().map(|pair| u8::from(known.contains(pair))).collect();
        assert_eq!(there, expected);
    }

    #[test]
    fn pairs_are_there_or_not() {
        let minus = |number: i64| number as u64;
        let firsts: Vec<_> = (0..400).map(|n| minus((n * 7919) % 61 - 30)).chain([5; 90]).collect();
        let seconds: Vec<_> = (0..490).map(|n| minus((n * 104_729) % 83 - 40)).collect();
        let asked: Vec<_> = (-33..35)
            .flat_map(|a| (-43..45).map(move |b| (minus(a), minus(b))))
            .chain([(u64::MAX >> 1, 0), (1 << 63, 1 << 63), (5, minus(-40).wrapping_add(1 << 32))])
            .collect();
        check(&firsts, &seconds, &asked);
        check(&[1 << 62], &[u64::MAX >> 1], &[(1 << 62, u64::MAX >> 1), (0, 0), (1 << 62, 0)]);
    }

    #[test]
    fn integers_that_are_spread_too_far_are_left_to_others() {
        assert!(Pairs::of(&[], &[], 9).is_none());
        assert!(Pairs::of(&[0, 9], &[0, 0], 9).is_none());
        assert!(Pairs::of(&[0, 8], &[0, 1 << 32], 9).is_none());
        assert!(Pairs::of(&[0, 8], &[0], 9).is_none());
        assert!(Pairs::of(&[u64::MAX >> 1, 1 << 63], &[0, 0], u64::MAX).is_none());
    }
}
