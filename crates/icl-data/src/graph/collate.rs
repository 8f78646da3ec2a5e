//! Collation of graph views into one block-diagonal graph.

use burn::tensor::backend::Backend;
use icl_core::Collate;
use icl_core::graph::{GraphBatch, HostGraphs};

use super::views::GraphView;

/// Position of a node that is not kept.
const DROPPED: i32 = -1;

/// Collation of graph views into a [`GraphBatch`].
///
/// The kept nodes are numbered over the whole batch, in their order. Edges between kept nodes are
/// kept, and the features of masked nodes are 0.
///
/// # Panics
/// [`collate`](Collate::collate) panics if there are no views, if their graphs differ in the width of
/// the features, or if they have more than `i32::MAX` nodes or directed edges together.
#[derive(Debug, Clone, Copy, Default)]
pub struct GraphCollate;

impl GraphCollate {
    /// Makes the batch in host memory.
    fn host(&self, views: &[GraphView]) -> HostGraphs {
        let Some(first) = views.first() else {
            panic!("a graph batch must hold at least one view, found none");
        };
        let d_features = first.graph().d_features();
        let n_nodes: usize = views.iter().map(|view| view.kept().len()).sum();
        let most_directed: usize = views.iter().map(|view| 2 * view.graph().n_edges()).sum();
        assert!(
            n_nodes.max(most_directed) <= i32::MAX as usize,
            "a graph batch must hold at most {} nodes and directed edges, found {n_nodes} and {most_directed}",
            i32::MAX
        );
        let most_nodes = views.iter().map(|view| view.graph().n_nodes()).max();
        let mut batch = HostBatch {
            host: HostGraphs {
                offsets: Vec::with_capacity(views.len() + 1),
                pointers: Vec::with_capacity(n_nodes + 1),
                neighbours: vec![0; most_directed],
                features: Vec::with_capacity(n_nodes * d_features),
                d_features,
            },
            n_neighbours: 0,
            positions: vec![DROPPED; most_nodes.unwrap_or(0)],
        };
        batch.host.offsets.push(0);
        batch.host.pointers.push(0);
        for view in views {
            let found = view.graph().d_features();
            assert!(
                found == d_features,
                "graphs of a batch must have equal widths of features, found {found} and {d_features}"
            );
            if view.kept().len() == view.graph().n_nodes() {
                batch.push_whole(view);
            } else {
                batch.push_part(view);
            }
            batch.push_features(view);
            batch.host.offsets.push(batch.host.n_nodes() as u32);
        }
        batch.host.neighbours.truncate(batch.n_neighbours);
        batch.host
    }
}

impl<B: Backend> Collate<B, GraphView, GraphBatch<B>> for GraphCollate {
    fn collate(&self, views: &[GraphView], device: &B::Device) -> GraphBatch<B> {
        GraphBatch::new(self.host(views), device)
    }
}

/// A batch in host memory, to which views are added one by one.
struct HostBatch {
    host: HostGraphs,
    /// Number of entries of `host.neighbours` in use; the vector has the length of all edges.
    n_neighbours: usize,
    /// Position of each node of a graph in the batch.
    positions: Vec<i32>,
}

impl HostBatch {
    /// Adds the edges of a graph whose nodes are all kept.
    fn push_whole(&mut self, view: &GraphView) {
        let first_node = self.host.n_nodes() as i32;
        let first_neighbour = self.n_neighbours as i32;
        let adjacency = view.graph().adjacency();
        let ends = adjacency.pointers()[1..].iter();
        self.host
            .pointers
            .extend(ends.map(|&end| first_neighbour + end as i32));
        let added = adjacency.all_neighbours();
        let slots = &mut self.host.neighbours[self.n_neighbours..][..added.len()];
        for (slot, &node) in slots.iter_mut().zip(added) {
            *slot = first_node + node as i32;
        }
        self.n_neighbours += added.len();
    }

    /// Adds the edges between the kept nodes of a graph.
    fn push_part(&mut self, view: &GraphView) {
        let first_node = self.host.n_nodes() as i32;
        let graph = view.graph();
        let positions = &mut self.positions[..graph.n_nodes()];
        positions.fill(DROPPED);
        for (position, &node) in (first_node..).zip(view.kept()) {
            positions[node as usize] = position;
        }
        for &node in view.kept() {
            let added = graph.neighbours(node as usize);
            let slots = &mut self.host.neighbours[self.n_neighbours..][..added.len()];
            // Every neighbour is written, and a dropped one is overwritten by the next: a branch
            // would be mispredicted for every fifth neighbour.
            let mut n_kept = 0;
            for &other in added {
                let position = positions[other as usize];
                slots[n_kept] = position;
                n_kept += usize::from(position != DROPPED);
            }
            self.n_neighbours += n_kept;
            self.host.pointers.push(self.n_neighbours as i32);
        }
    }

    fn push_features(&mut self, view: &GraphView) {
        let graph = view.graph();
        let d_features = graph.d_features();
        let features = &mut self.host.features;
        let first = features.len();
        // Consecutive nodes of the graph are copied together.
        for run in view.kept().chunk_by(|&node, &next| node + 1 == next) {
            let begin = run[0] as usize * d_features;
            features.extend_from_slice(&graph.features()[begin..][..run.len() * d_features]);
        }
        let rows = features[first..].chunks_exact_mut(d_features);
        for (row, _) in rows.zip(view.masked()).filter(|&(_, &masked)| masked) {
            row.fill(0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Graph, GraphViewsConfig, ViewKind};
    use icl_core::testing::{TestBackend, to_vec};
    use icl_core::{Seed, Views};
    use rand::RngExt;

    fn random_graphs(n_graphs: u64) -> Vec<Graph> {
        (0..n_graphs)
            .map(|index| {
                let mut rng = Seed::new(3).child("graphs").at(index).rng();
                let n_nodes = rng.random_range(1..25_u32);
                let edges: Vec<[u32; 2]> = (0..rng.random_range(0..60))
                    .map(|_| [rng.random_range(0..n_nodes), rng.random_range(0..n_nodes)])
                    .collect();
                let features = (0..3 * n_nodes).map(|_| rng.random_range(1.0..2.0));
                Graph::try_new(&edges, features.collect(), 3, 0).unwrap()
            })
            .collect()
    }

    /// The batch's adjacency matrix and features, one node and one pair of nodes after the other.
    fn plainly(views: &[GraphView]) -> (Vec<u32>, Vec<Vec<bool>>, Vec<f32>) {
        let mut nodes = Vec::new();
        let mut offsets = vec![0];
        for (index, view) in views.iter().enumerate() {
            for (&node, &masked) in view.kept().iter().zip(view.masked()) {
                nodes.push((index, node, masked));
            }
            offsets.push(nodes.len() as u32);
        }
        let mut adjacency = vec![vec![false; nodes.len()]; nodes.len()];
        let mut features = Vec::new();
        for (row, &(index, node, masked)) in nodes.iter().enumerate() {
            let graph = views[index].graph();
            for (column, &(other_index, other, _)) in nodes.iter().enumerate() {
                adjacency[row][column] =
                    index == other_index && graph.neighbours(node as usize).contains(&other);
            }
            for &value in graph.node_features(node as usize) {
                features.push(if masked { 0.0 } else { value });
            }
        }
        (offsets, adjacency, features)
    }

    #[test]
    fn agrees_with_a_plain_double_loop() {
        let graphs = random_graphs(40);
        let mut all_kinds: Vec<Vec<ViewKind>> = ViewKind::ALL.map(|kind| vec![kind]).into();
        all_kinds.push(ViewKind::ALL.to_vec());
        for kinds in all_kinds {
            let views = GraphViewsConfig::new().with_kinds(kinds).init();
            for (stream, graphs) in (0..).zip(graphs.chunks(7)) {
                let mut rng = Seed::new(1).child("views").at(stream).rng();
                let made: Vec<_> = graphs.iter().map(|g| views.view(g, &mut rng)).collect();
                let host = GraphCollate.host(&made);
                let (offsets, adjacency, features) = plainly(&made);
                assert_eq!(host.offsets, offsets);
                assert_eq!(host.features, features);
                assert_eq!(host.d_features, 3);
                assert_eq!(host.n_nodes(), adjacency.len());
                for (row, expected) in adjacency.iter().enumerate() {
                    let (begin, end) = (host.pointers[row], host.pointers[row + 1]);
                    let found = &host.neighbours[begin as usize..end as usize];
                    let expected: Vec<i32> = (0..)
                        .zip(expected)
                        .filter(|&(_, &joined)| joined)
                        .map(|(column, _)| column)
                        .collect();
                    assert_eq!(found, expected);
                }
                assert_eq!(host.pointers.last(), Some(&(host.neighbours.len() as i32)));
            }
        }
    }

    #[test]
    fn a_batch_of_plain_views_holds_the_graphs_themselves() {
        let graphs = random_graphs(5);
        let views = GraphViewsConfig::new().init();
        let made: Vec<_> = graphs.iter().map(|graph| views.plain(graph)).collect();
        let host = GraphCollate.host(&made);
        let features: Vec<f32> = graphs.iter().flat_map(Graph::features).copied().collect();
        assert_eq!(host.features, features);
        let n_edges: usize = graphs.iter().map(Graph::n_edges).sum();
        assert_eq!(host.neighbours.len(), 2 * n_edges);
    }

    #[test]
    fn a_batch_arrives_on_the_device() {
        let graphs = random_graphs(4);
        let views = GraphViewsConfig::new().init();
        let mut rng = Seed::new(1).rng();
        let made: Vec<_> = graphs.iter().map(|g| views.view(g, &mut rng)).collect();
        let batch: GraphBatch<TestBackend> = GraphCollate.collate(&made, &Default::default());
        let (offsets, _, features) = plainly(&made);
        assert_eq!(batch.n_graphs(), 4);
        assert_eq!(&*batch.offsets, offsets);
        let features: Vec<f64> = features.into_iter().map(f64::from).collect();
        assert_eq!(to_vec(&batch.features), features);
    }

    #[test]
    #[should_panic = "a graph batch must hold at least one view, found none"]
    fn an_empty_batch_panics() {
        GraphCollate.host(&[]);
    }

    #[test]
    #[should_panic = "found 2 and 1"]
    fn unequal_widths_panic() {
        let views = GraphViewsConfig::new().init();
        let narrow = Graph::try_new(&[], vec![0.0; 2], 1, 0).unwrap();
        let wide = Graph::try_new(&[], vec![0.0; 2], 2, 0).unwrap();
        GraphCollate.host(&[views.plain(&narrow), views.plain(&wide)]);
    }
}
