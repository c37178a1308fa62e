//! What the edges of a graph show, for `arrays/graphs.py`, over arrays of node numbers.

use crate::isa::ask_for;
use crate::keys::stirred;

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

    /// The row and the ends of each.
    fn each(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        let ends = self.sources.iter().zip(self.targets).enumerate();
        ends.filter_map(|(row, (&source, &target))| {
            let usable = source | target | self.relation(row) >= 0;
            usable.then_some((row, source as usize, target as usize))
        })
    }

    #[inline(always)]
    fn relation(&self, row: usize) -> i32 {
        self.relations.map_or(0, |them| them[row])
    }

    /// Put the other ends of each node's edges side by side into `others`: those of a node begin at its place of `begins`,
    /// which has one more, the end. False where there is no room.
    pub fn by_node(&self, begins: &mut [i64], others: &mut [i32]) -> bool {
        if begins.len() != self.nodes + 1 {
            return false;
        }
        begins.fill(0);
        for (_, source, target) in self.each() {
            begins[source + 1] += 1;
            begins[target + 1] += 1;
        }
        if sum_up(begins) > others.len() {
            return false;
        }
        for (_, source, target) in self.each() {
            for (near, far) in [(source, target), (target, source)] {
                others[begins[near] as usize] = far as i32;
                begins[near] += 1;
            }
        }
        begins.rotate_right(1); // what each has become is where the next one begins
        begins[0] = 0;
        true
    }

    /// For each node the smallest of its part. False where there is not a place for each.
    pub fn parts(&self, labels: &mut [i32]) -> bool {
        if labels.len() != self.nodes || i32::try_from(self.nodes).is_err() {
            return false;
        }
        for (node, label) in labels.iter_mut().enumerate() {
            *label = node as i32;
        }
        for (row, source, target) in self.each() {
            for ends in [self.sources, self.targets] {
                ask_for(labels, ends.get(row + AT_ONCE).map_or(0, |&end| end as usize));
            }
            if labels[source] != labels[target] {
                let (first, second) = (root(labels, source), root(labels, target));
                labels[first.max(second)] = first.min(second) as i32;
            }
        }
        for node in 0..labels.len() {
            labels[node] = labels[labels[node] as usize]; // none hangs below a greater one
        }
        true
    }

    /// Mark the rows of edges that name the two ends and the relation of another one, in any direction; by chance a few
    /// more. `counts` is zeros, as many as a power of two. False where there is not a place for each.
    pub fn repeated(&self, counts: &mut [u64], marks: &mut [u8]) -> bool {
        if marks.len() != self.sources.len() || !counts.len().is_power_of_two() {
            return false;
        }
        let shift = 59 - counts.len().ilog2(); // 32 edges are counted in each
        let place = |code: u64| ((code >> shift >> 5) as usize, 2 * (code >> shift & 31));
        self.some_at_a_time(|some, ahead| {
            for &(code, _) in ahead {
                ask_for(counts, place(code).0);
            }
            for &(code, _) in some {
                let (word, bit) = place(code);
                counts[word] |= (1 + (counts[word] >> bit & 1)) << bit; // 0, 1 and from then on 3
            }
        });
        let mut found: Vec<(u64, usize)> = Vec::new();
        self.some_at_a_time(|some, ahead| {
            for &(code, _) in ahead {
                ask_for(counts, place(code).0);
            }
            found.extend(some.iter().filter(|&&(code, _)| {
                let (word, bit) = place(code);
                counts[word] >> bit & 2 != 0
            }));
        });
        found.sort_unstable();
        for pair in found.windows(2) {
            if pair[0].0 == pair[1].0 {
                marks[pair[0].1] = 1;
                marks[pair[1].1] = 1;
            }
        }
        true
    }

    /// Codes of edges, the same for both directions, and their rows; and those that come next.
    #[inline(always)]
    fn some_at_a_time(&self, mut work: impl FnMut(&[(u64, usize)], &[(u64, usize)])) {
        let (mut some, mut count) = ([(0, 0); AT_ONCE], 0);
        let (mut ahead, mut ready) = (some, 0);
        for (row, source, target) in self.each() {
            let ends = (source.min(target) as u64) << 32 | source.max(target) as u64;
            ahead[ready] = (stirred(ends, self.relation(row) as u64), row);
            ready += 1;
            if ready == AT_ONCE {
                work(&some[..count], &ahead);
                (some, count, ready) = (ahead, ready, 0);
            }
        }
        work(&some[..count], &ahead[..ready]);
        work(&ahead[..ready], &[]);
    }

    /// Mark in `next` the nodes that an edge joins to one that is marked. False where there is not a mark for each.
    pub fn beside(&self, marks: &[u8], next: &mut [u8]) -> bool {
        if marks.len() != self.nodes || next.len() != self.nodes {
            return false;
        }
        for (_, source, target) in self.each() {
            if (marks[source] | marks[target]) != 0 {
                next[source] |= marks[target];
                next[target] |= marks[source];
            }
        }
        true
    }

    /// Write the rows of the edges between marked nodes, and say how many there are; none where there is no room.
    pub fn among(&self, marks: &[u8], rows: &mut [i64]) -> Option<usize> {
        if marks.len() != self.nodes {
            return None;
        }
        let mut count = 0;
        for (row, source, target) in self.each() {
            if (marks[source] & marks[target]) != 0 {
                *rows.get_mut(count)? = row as i64;
                count += 1;
            }
        }
        Some(count)
    }
}

/// So many edges ahead the memory that they need is asked for: one by one each would wait for the one before it.
const AT_ONCE: usize = 64;

/// The node of a part at which all others of it hang; those on the way hang nearer to it afterwards.
#[inline(always)]
fn root(labels: &mut [i32], mut node: usize) -> usize {
    loop {
        let above = labels[node] as usize;
        if above == node {
            return node;
        }
        labels[node] = labels[above];
        node = labels[above] as usize;
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
    fn parts_have_their_smallest_node() {
        let mut labels = [0; 7];
        assert!(edges().parts(&mut labels));
        assert_eq!(labels, [0, 1, 1, 3, 3, 3, 6]);
        assert!(!edges().parts(&mut labels[1..]));
    }

    #[test]
    fn edges_that_come_again_are_marked() {
        let sources: Vec<i32> = (0..1000).chain([7, 400, 9, -1, -1]).collect();
        let targets: Vec<i32> = (1..1001).chain([8, 399, 10, 3, 3]).collect();
        let relations: Vec<i32> = [0; 1000].into_iter().chain([0, 0, 1, 0, 0]).collect();
        let edges = Edges::new(&sources, &targets, Some(&relations), 1001).expect("a graph");
        let mut marks = [0; 1005];
        assert!(edges.repeated(&mut [0; 256], &mut marks));
        let rows: Vec<_> = (0..1005).filter(|&row| marks[row] != 0).collect();
        assert_eq!(rows, [7, 399, 1000, 1001]);
        assert!(!edges.repeated(&mut [0; 256], &mut marks[1..]) && !edges.repeated(&mut [0; 3], &mut marks));
    }

    #[test]
    fn what_is_near_is_found() {
        let (mut marks, mut next, mut rows) = ([0, 0, 0, 0, 0, 1, 0], [0; 7], [0; 7]);
        assert!(edges().beside(&marks, &mut next));
        assert_eq!(next, [0, 0, 0, 1, 0, 0, 0]);
        marks[3] = 1;
        assert_eq!(edges().among(&marks, &mut rows), Some(2));
        assert_eq!(rows[..2], [0, 3]);
        assert_eq!(edges().among(&marks, &mut rows[..1]), None);
        assert!(!edges().beside(&marks[1..], &mut next) && edges().among(&marks[1..], &mut rows).is_none());
    }

    #[test]
    fn ends_are_nodes() {
        assert!(Edges::new(&[1], &[2], None, 2).is_none());
        assert!(Edges::new(&[1], &[], None, 2).is_none());
        let none = Edges::new(&[-1], &[-1], None, 0).expect("no edge");
        assert!(none.by_node(&mut [3], &mut []));
    }
}
