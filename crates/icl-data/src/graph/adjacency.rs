//! Neighbours of every node of a graph, from a list of edges with duplicates and self loops.

/// An undirected simple graph as compressed rows of neighbours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Adjacency {
    /// Start of each node's neighbours, and the end of the last; `n_nodes + 1` entries.
    pointers: Box<[u32]>,
    /// Neighbours of each node, ascending; every edge is in it in both directions.
    neighbours: Box<[u32]>,
    /// For each node, the number of nodes in its connected component.
    component_sizes: Box<[u32]>,
}

/// Repairs of a list of edges by [`Adjacency::from_edges`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct EdgeRepairs {
    /// Number of distinct directed edges in the list, without self loops.
    pub(crate) n_distinct: usize,
    /// Number of self loops in the list, including duplicates; all are dropped.
    pub(crate) n_self_loops: usize,
    /// Number of directed edges that were added because only their opposite was listed.
    pub(crate) n_mirrored: usize,
}

impl Adjacency {
    /// Removes duplicates and self loops, and adds the missing opposite of each edge.
    ///
    /// Every node in `edges` must be below `n_nodes`, and there must be fewer than 2^31 nodes and
    /// edges.
    pub(crate) fn from_edges(n_nodes: usize, edges: &[[u32; 2]]) -> (Self, EdgeRepairs) {
        let mut repairs = EdgeRepairs::default();
        let mut starts = vec![0_u32; n_nodes + 1];
        for &[from, to] in edges {
            if from == to {
                repairs.n_self_loops += 1;
            } else {
                starts[from as usize + 1] += 1;
                starts[to as usize + 1] += 1;
            }
        }
        for node in 0..n_nodes {
            starts[node + 1] += starts[node];
        }
        // The lowest bit marks the opposite of a listed edge: after sorting, a listed entry comes
        // before its unlisted duplicate.
        let mut entries = vec![0_u32; starts[n_nodes] as usize];
        let mut next = starts.clone();
        let mut place = |row: u32, entry: u32| {
            let at = &mut next[row as usize];
            entries[*at as usize] = entry;
            *at += 1;
        };
        for &[from, to] in edges {
            if from != to {
                place(from, to << 1);
                place(to, (from << 1) | 1);
            }
        }
        let mut pointers = Vec::with_capacity(n_nodes + 1);
        let mut neighbours = Vec::with_capacity(entries.len() / 2);
        pointers.push(0);
        for row in starts.windows(2) {
            let row = &mut entries[row[0] as usize..row[1] as usize];
            row.sort_unstable();
            let mut last = None;
            for &entry in row.iter() {
                if last != Some(entry >> 1) {
                    last = Some(entry >> 1);
                    neighbours.push(entry >> 1);
                    if entry & 1 == 0 {
                        repairs.n_distinct += 1;
                    } else {
                        repairs.n_mirrored += 1;
                    }
                }
            }
            pointers.push(neighbours.len() as u32);
        }
        let mut adjacency = Self {
            pointers: pointers.into(),
            neighbours: neighbours.into(),
            component_sizes: Box::default(),
        };
        adjacency.component_sizes = adjacency.measure_components();
        (adjacency, repairs)
    }

    pub(crate) fn n_nodes(&self) -> usize {
        self.pointers.len() - 1
    }

    /// Returns the number of directed edges, twice the number of undirected ones.
    pub(crate) fn n_directed(&self) -> usize {
        self.neighbours.len()
    }

    /// Returns the start of each node's neighbours in [`all_neighbours`](Self::all_neighbours).
    pub(crate) fn pointers(&self) -> &[u32] {
        &self.pointers
    }

    pub(crate) fn all_neighbours(&self) -> &[u32] {
        &self.neighbours
    }

    pub(crate) fn neighbours(&self, node: usize) -> &[u32] {
        &self.neighbours[self.pointers[node] as usize..self.pointers[node + 1] as usize]
    }

    /// Returns the number of nodes in the connected component of a node.
    pub(crate) fn component_size(&self, node: usize) -> usize {
        self.component_sizes[node] as usize
    }

    fn measure_components(&self) -> Box<[u32]> {
        const UNSEEN: u32 = 0;
        const SEEN: u32 = 1;
        let mut sizes = vec![UNSEEN; self.n_nodes()];
        let mut component = Vec::new();
        for first in 0..sizes.len() {
            if sizes[first] != UNSEEN {
                continue;
            }
            component.clear();
            component.push(first);
            sizes[first] = SEEN;
            let mut next = 0;
            while let Some(&node) = component.get(next) {
                for &other in self.neighbours(node) {
                    if sizes[other as usize] == UNSEEN {
                        sizes[other as usize] = SEEN;
                        component.push(other as usize);
                    }
                }
                next += 1;
            }
            for &node in &component {
                sizes[node] = component.len() as u32;
            }
        }
        sizes.into()
    }

    pub(crate) fn degree(&self, node: usize) -> usize {
        (self.pointers[node + 1] - self.pointers[node]) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use icl_core::Seed;
    use rand::RngExt;
    use std::collections::BTreeSet;

    #[test]
    fn repairs_are_counted() {
        let edges = [[0, 1], [1, 0], [0, 1], [2, 1], [2, 2], [2, 2]];
        let (adjacency, repairs) = Adjacency::from_edges(4, &edges);
        assert_eq!(adjacency.neighbours(0), [1]);
        assert_eq!(adjacency.neighbours(1), [0, 2]);
        assert_eq!(adjacency.neighbours(2), [1]);
        assert_eq!(adjacency.neighbours(3), [0_u32; 0]);
        assert_eq!(
            [0, 1, 2, 3].map(|node| adjacency.component_size(node)),
            [3, 3, 3, 1]
        );
        assert_eq!(
            repairs,
            EdgeRepairs {
                n_distinct: 3,
                n_self_loops: 2,
                n_mirrored: 1
            }
        );
    }

    #[test]
    fn agrees_with_sets_of_pairs() {
        for case in 0..200 {
            let mut rng = Seed::new(5).child("adjacency").at(case).rng();
            let n_nodes = rng.random_range(1..12_u32);
            let edges: Vec<[u32; 2]> = (0..rng.random_range(0..40))
                .map(|_| [rng.random_range(0..n_nodes), rng.random_range(0..n_nodes)])
                .collect();
            let listed: BTreeSet<[u32; 2]> =
                edges.iter().copied().filter(|[a, b]| a != b).collect();
            let both: BTreeSet<[u32; 2]> =
                listed.iter().flat_map(|&[a, b]| [[a, b], [b, a]]).collect();
            let (adjacency, repairs) = Adjacency::from_edges(n_nodes as usize, &edges);
            let found: Vec<[u32; 2]> = (0..n_nodes)
                .flat_map(|a| {
                    adjacency
                        .neighbours(a as usize)
                        .iter()
                        .map(move |&b| [a, b])
                })
                .collect();
            assert_eq!(found, both.iter().copied().collect::<Vec<_>>());
            assert_eq!(repairs.n_distinct, listed.len());
            assert_eq!(repairs.n_mirrored, both.len() - listed.len());
            assert_eq!(
                repairs.n_self_loops,
                edges.iter().filter(|[a, b]| a == b).count()
            );
        }
    }

    #[test]
    fn a_graph_without_edges_has_empty_rows() {
        let (adjacency, repairs) = Adjacency::from_edges(3, &[]);
        assert_eq!((adjacency.n_nodes(), adjacency.n_directed()), (3, 0));
        assert_eq!(adjacency.degree(2), 0);
        assert_eq!(repairs, EdgeRepairs::default());
    }
}
