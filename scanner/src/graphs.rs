//! The edges of a graph by their nodes, for `arrays/graphs.py`, over arrays of node numbers.

/// The edges of a graph: those that have two ends and, where relations are given, one, none of which is below zero.
pub struct Edges<'a> {
    sources: &'a [i32],
    targets: &'a [i32],
    relations: Option<&'a [i32]>,
    nodes: usize,
}

impl<'a> Edges<'a> {
    /// None where an array is shorter than another, or an end is no node.
    pub fn new(sources: &'a [i32], targets: &'a [i32], relations: Option<&'a [i32]>, nodes: usize) -> Option<Self> {
        let most = sources.iter().chain(targets).fold(-1, |most, &end| most.max(end));
        let same = sources.len() == targets.len() && relations.is_none_or(|them| them.len() == sources.len());
        (same && i64::from(most) < i64::try_from(nodes).unwrap_or(i64::MAX)).then_some(Self {
            sources,
            targets,
            relations,
            nodes,
        })
    }

    /// The ends of each.
    fn each(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let ends = self.sources.iter().zip(self.targets).enumerate();
        ends.filter_map(|(row, (&source, &target))| {
            let relation = self.relations.map_or(0, |them| them[row]);
            let usable = source | target | relation >= 0;
            usable.then_some((source as usize, target as usize))
        })
    }

    /// Put the other ends of each node's edges side by side into `others`: those of a node begin at its place of `begins`,
    /// which has one more, the end. False where there is no room.
    pub fn by_node(&self, begins: &mut [i64], others: &mut [i32]) -> bool {
        if begins.len() != self.nodes + 1 {
            return false;
        }
        begins.fill(0);
        for (source, target) in self.each() {
            begins[source + 1] += 1;
            begins[target + 1] += 1;
        }
        if sum_up(begins) > others.len() {
            return false;
        }
        for (source, target) in self.each() {
            for (near, far) in [(source, target), (target, source)] {
                others[begins[near] as usize] = far as i32;
                begins[near] += 1;
            }
        }
        begins.rotate_right(1); // what each has become is where the next one begins
        begins[0] = 0;
        true
    }
}

/// Make of how many each has, which stands one place further on, where each begins; how many there are.
fn sum_up(counts: &mut [i64]) -> usize {
    let mut sum = 0;
    for count in counts {
        sum += *count;
        *count = sum;
    }
    sum as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCES: [i32; 7] = [5, 3, 1, 3, 4, -1, 2];
    const TARGETS: [i32; 7] = [3, 4, 2, 5, 3, 0, 2];
    const RELATIONS: [i32; 7] = [0, 0, 0, 0, 1, 0, 0];

    fn edges() -> Edges<'static> {
        Edges::new(&SOURCES, &TARGETS, Some(&RELATIONS), 7).expect("a graph")
    }

    #[test]
    fn edges_stand_by_their_nodes() {
        let (mut begins, mut others) = ([7; 8], [9; 14]);
        assert!(edges().by_node(&mut begins, &mut others));
        assert_eq!(begins, [0, 0, 1, 4, 8, 10, 12, 12]);
        assert_eq!(others, [2, 1, 2, 2, 5, 4, 5, 4, 3, 3, 3, 3, 9, 9]);
        assert!(!edges().by_node(&mut begins, &mut others[..11]));
        assert!(!edges().by_node(&mut begins[1..], &mut others));
    }

    #[test]
    fn ends_are_nodes() {
        assert!(Edges::new(&[1], &[2], None, 2).is_none());
        assert!(Edges::new(&[1], &[], None, 2).is_none());
        let none = Edges::new(&[-1], &[-1], None, 0).expect("no edge");
        assert!(none.by_node(&mut [3], &mut []));
    }
}
