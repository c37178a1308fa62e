//! Pairs of integers, which are asked for one by one.

/// The second integers of each first one, side by side and in order, and where those of each begin: both tables are
/// small beside one of codes of pairs, so that they mostly stay in the cache.
///
/// Pairs of which an integer is far from most others are kept apart: a wrong one must not make the tables large.
pub struct Pairs {
    of_firsts: Span,
    of_seconds: Span,
    begins: Vec<u32>,
    seconds: Vec<u32>,
    apart: Vec<(u64, u64)>,
}

/// Second integers that are looked at together.
const FEW: usize = 8;
/// Integers of which is seen where most are.
const SAMPLE: usize = 1 << 10;
const OF_SECONDS: u64 = 1 << 32;

/// Integers from the least one on, with a sign.
#[derive(Clone, Copy)]
struct Span {
    least: u64,
    length: u64,
}

impl Pairs {
    /// None where most of the first integers are spread over more than `most` numbers, or of the second ones over 2^32.
    pub fn of(firsts: &[u64], seconds: &[u64], most: u64) -> Option<Self> {
        let count = firsts.len();
        if count != seconds.len() || count as u64 >= OF_SECONDS {
            return None;
        }
        let (of_firsts, of_seconds) = (Span::of(firsts, most.min(1 << 31))?, Span::of(seconds, OF_SECONDS)?);
        let mut begins = vec![0_u32; of_firsts.length as usize + 1];
        let mut apart = Vec::new();
        for (&first, &second) in firsts.iter().zip(seconds) {
            match (of_firsts.place(first), of_seconds.place(second)) {
                (Some(place), Some(_)) => begins[place + 1] += 1,
                _ => apart.push((first, second)),
            }
        }
        if apart.len() > count / 4 {
            return None;
        }
        apart.sort_unstable();
        for place in 1..begins.len() {
            begins[place] += begins[place - 1];
        }
        let mut placed = vec![0; count - apart.len()];
        for (&first, &second) in firsts.iter().zip(seconds) {
            if let (Some(place), Some(second)) = (of_firsts.place(first), of_seconds.place(second)) {
                placed[begins[place] as usize] = second as u32;
                begins[place] += 1; // in the end, where the next ones begin
            }
        }
        begins.rotate_right(1);
        begins[0] = 0;
        for pair in begins.windows(2) {
            placed[pair[0] as usize..pair[1] as usize].sort_unstable();
        }
        placed.extend([0; FEW]);
        Some(Self { of_firsts, of_seconds, begins, seconds: placed, apart })
    }

    /// Whether each of these pairs is there.
    pub fn find(&self, firsts: &[u64], seconds: &[u64], there: &mut [u8]) {
        for ((is_there, &first), &second) in there.iter_mut().zip(firsts).zip(seconds) {
            *is_there = u8::from(self.has(first, second));
        }
    }

    #[inline(always)]
    fn has(&self, first: u64, second: u64) -> bool {
        let (Some(place), Some(from_least)) = (self.of_firsts.place(first), self.of_seconds.place(second)) else {
            return !self.apart.is_empty() && self.apart.binary_search(&(first, second)).is_ok();
        };
        let (begin, end) = (self.begins[place] as usize, self.begins[place + 1] as usize);
        let second = from_least as u32;
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

impl Span {
    /// That of all numbers, or of most of them; None where it would be longer than `most`.
    fn of(numbers: &[u64], most: u64) -> Option<Self> {
        let signed = || numbers.iter().map(|&number| number as i64);
        let between = |least: i64, greatest: i64| {
            let length = (greatest as u64).wrapping_sub(least as u64).checked_add(1)?;
            (length <= most).then_some(Self { least: least as u64, length })
        };
        between(signed().min()?, signed().max()?).or_else(|| {
            let mut some: Vec<_> = signed().step_by(numbers.len() / SAMPLE + 1).collect();
            some.sort_unstable();
            let (low, high) = (some[some.len() / 16], some[some.len() - 1 - some.len() / 16]);
            let wide = high.saturating_sub(low);
            between(low.saturating_sub(wide), high.saturating_add(wide))
        })
    }

    /// How far a number is from the least.
    #[inline(always)]
    fn place(self, number: u64) -> Option<usize> {
        let place = number.wrapping_sub(self.least);
        (place < self.length).then_some(place as usize)
    }
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

        let (mut firsts, mut seconds) = (firsts, seconds);
        for far in [minus(i64::MIN), minus(i64::MAX), 1 << 40, 1 << 20] {
            firsts.extend([far, 7, far]);
            seconds.extend([3, far, far]);
        }
        let far: Vec<_> = firsts.iter().copied().zip(seconds.iter().copied()).skip(480).collect();
        let turned = far.iter().map(|&(a, b)| (b, a));
        let asked: Vec<_> = asked.into_iter().chain(far.iter().copied()).chain(turned).collect();
        check(&firsts, &seconds, &asked);
    }

    #[test]
    fn integers_that_are_spread_too_far_are_left_to_others() {
        assert!(Pairs::of(&[], &[], 9).is_none());
        assert!(Pairs::of(&[0, 9], &[0, 0], 9).is_none());
        assert!(Pairs::of(&[0, 8], &[0, 0], 9).is_some());
        assert!(Pairs::of(&[0, 8], &[0, 1 << 32], 9).is_none());
        assert!(Pairs::of(&[0, 8], &[0], 9).is_none());
        assert!(Pairs::of(&[u64::MAX >> 1, 1 << 63], &[0, 0], u64::MAX).is_none());
        let spread: Vec<_> = (0..1000).map(|n| n << 30).collect();
        assert!(Pairs::of(&spread, &spread, 1 << 20).is_none());
    }
}
