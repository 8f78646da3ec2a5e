//! Random choice of some of a graph's nodes: uniformly, or by a random walk.

use icl_core::Rng;
use rand::RngExt;

use crate::graph::adjacency::Adjacency;

/// Number of steps of the walk, per node of the graph, before the rest is chosen breadth first. A
/// walk covers four fifths of a star or of a dense graph within about three steps per node; on a
/// path it would need a number of steps quadratic in the path's length.
const STEPS_PER_NODE: usize = 4;

/// Returns round(ratio · n), but at most n − 1.
pub(super) fn share_below(ratio: f64, n: usize) -> usize {
    ((ratio * n as f64).round() as usize).min(n - 1)
}

/// Marks `n_drawn` entries of `marks`, drawn uniformly without replacement.
///
/// No entry may be marked before. Floyd's algorithm (Bentley and Floyd, 1987): one draw per marked
/// entry.
pub(super) fn mark_subset(marks: &mut [bool], n_drawn: usize, rng: &mut Rng) {
    for last in marks.len() - n_drawn..marks.len() {
        let drawn = rng.random_range(0..=last as u32) as usize;
        let place = if marks[drawn] { last } else { drawn };
        marks[place] = true;
    }
}

/// Marks `n_kept` nodes that a random walk visits, see
/// [`ViewKind::Subgraph`](crate::ViewKind::Subgraph).
///
/// No entry of `visited` may be marked before; `order` is a buffer.
pub(super) fn mark_walk(
    adjacency: &Adjacency,
    n_kept: usize,
    rng: &mut Rng,
    visited: &mut [bool],
    order: &mut Vec<u32>,
) {
    order.clear();
    let mut walk = Walk {
        adjacency,
        visited,
        order,
        n_left: 0,
    };
    let mut n_steps = STEPS_PER_NODE * adjacency.n_nodes();
    while walk.order.len() < n_kept && n_steps > 0 {
        let mut at = walk.begin(rng);
        while walk.n_left > 0 && walk.order.len() < n_kept && n_steps > 0 {
            at = match *adjacency.neighbours(at) {
                // Half of the steps in a star start at a leaf and need no draw.
                [only] => only,
                ref several => several[rng.random_range(0..several.len() as u32) as usize],
            } as usize;
            walk.visit(at);
            n_steps -= 1;
        }
    }
    let mut next = 0;
    while walk.order.len() < n_kept {
        if next == walk.order.len() {
            walk.begin(rng);
        }
        for &other in adjacency.neighbours(walk.order[next] as usize) {
            if walk.order.len() < n_kept {
                walk.visit(other as usize);
            }
        }
        next += 1;
    }
}

struct Walk<'a> {
    adjacency: &'a Adjacency,
    visited: &'a mut [bool],
    /// Visited nodes in the order of their first visit.
    order: &'a mut Vec<u32>,
    /// Number of unvisited nodes in the current component.
    n_left: usize,
}

impl Walk<'_> {
    fn visit(&mut self, node: usize) {
        if !self.visited[node] {
            self.visited[node] = true;
            self.order.push(node as u32);
            self.n_left -= 1;
        }
    }

    /// Moves to a node drawn uniformly from the unvisited ones. There must be one, and all components
    /// that were entered must be exhausted.
    fn begin(&mut self, rng: &mut Rng) -> usize {
        // A share of the nodes stays unvisited, so that a few attempts are enough.
        loop {
            let node = rng.random_range(0..self.visited.len() as u32) as usize;
            if !self.visited[node] {
                self.n_left = self.adjacency.component_size(node);
                self.visit(node);
                return node;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use icl_core::Seed;

    #[test]
    fn shares_are_rounded_and_leave_one() {
        let shares: Vec<usize> = (1..=8).map(|n| share_below(0.2, n)).collect();
        assert_eq!(shares, [0, 0, 1, 1, 1, 1, 1, 2]);
        assert_eq!(share_below(0.99, 2), 1);
        assert_eq!(share_below(0.0, 5), 0);
    }

    #[test]
    fn every_subset_is_equally_likely() {
        let mut counts = [0_usize; 32];
        let mut rng = Seed::new(2).child("subset").rng();
        for _ in 0..10_000 {
            let mut marks = [false; 5];
            mark_subset(&mut marks, 2, &mut rng);
            let code = marks.iter().fold(0, |code, &mark| code * 2 + mark as usize);
            counts[code] += 1;
        }
        for (code, count) in counts.into_iter().enumerate() {
            // 10 subsets; each count is binomial with mean 1000 and standard deviation 30.
            let expected = if code.count_ones() == 2 { 1000 } else { 0 };
            assert!(count.abs_diff(expected) < 150, "{code:05b}: {count}");
        }
    }
}
