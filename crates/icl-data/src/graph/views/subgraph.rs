//! Choosing a connected part of a graph by a random walk.

use icl_core::Rng;
use rand::RngExt;

use crate::graph::adjacency::Adjacency;

/// How many steps the walk takes, for every node of the graph, before the rest is chosen breadth
/// first. A walk covers four fifths of a star or of a dense graph within about three steps a node;
/// on a path it would need a number quadratic in its length.
const STEPS_PER_NODE: usize = 4;

/// Marks `n_kept` nodes: those that a random walk visits, see
/// [`ViewKind::Subgraph`](super::ViewKind::Subgraph).
///
/// All places of `visited` must be unmarked; `order` is a buffer.
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
                // Half of the steps in a star lead from a leaf: they need no draw.
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
    /// The visited nodes, in the order of their first visit.
    order: &'a mut Vec<u32>,
    /// The unvisited nodes of the component in which the walk is.
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

    /// Goes to a node drawn uniformly from those not yet visited, of which there must be one; all
    /// components that were entered must be exhausted.
    fn begin(&mut self, rng: &mut Rng) -> usize {
        // A share of the nodes stays unvisited, so that a few tries are enough.
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
