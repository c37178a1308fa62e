//! How many different numbers each of several owners has.

/// Count them in `counts`, one for each owner; pairs of which one number is less than 0 do not count. None where an owner is
/// beyond `counts`, or a number takes more than 32 bits.
#[must_use]
pub fn distinct_per_owner(owners: &[i64], numbers: &[i64], counts: &mut [u64]) -> Option<()> {
    counts.fill(0);
    for (&owner, &number) in owners.iter().zip(numbers) {
        if owner >= 0 && number >= 0 {
            *counts.get_mut(usize::try_from(owner).ok()?)? += 1;
            u32::try_from(number).ok()?;
        }
    }
    let mut until = 0;
    let mut places = Vec::with_capacity(counts.len());
    for &count in &*counts {
        places.push(until);
        until += count as usize;
    }
    let mut by_owner = vec![0_u32; until];
    for (&owner, &number) in owners.iter().zip(numbers) {
        if owner >= 0 && number >= 0 {
            let place = &mut places[owner as usize];
            by_owner[*place] = number as u32;
            *place += 1;
        }
    }
    let mut rest = &mut by_owner[..];
    for count in counts {
        let (own, behind) = rest.split_at_mut(*count as usize);
        own.sort_unstable();
        *count = u64::from(!own.is_empty()) + own.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64;
        rest = behind;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_counted_once_for_each_owner() {
        let mut counts = [9; 4];
        let found = distinct_per_owner(&[2, 0, 2, -1, 2, 0, 3], &[5, 1, 5, 7, 6, -1, -1], &mut counts);
        assert_eq!((found, counts), (Some(()), [1, 0, 2, 0]));
        assert_eq!(distinct_per_owner(&[4], &[0], &mut counts), None);
        assert_eq!(distinct_per_owner(&[0], &[1 << 32], &mut counts), None);
    }
}
