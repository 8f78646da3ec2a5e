//! Views of graphs before collation.

use icl_core::Rng;

use super::nodes::{mark_subset, mark_walk, share_below};
use crate::graph::sample::Graph;

/// A view of a graph: the graph, its kept nodes, and a mask of these.
///
/// Features and edges are copied by the collation, not by the view.
#[derive(Debug, Clone)]
pub struct GraphView {
    graph: Graph,
    kept: Vec<u32>,
    masked: Vec<bool>,
    /// Scratch: a mark for each node of the graph.
    marks: Vec<bool>,
    /// Scratch: nodes in the order of their first visit by a walk.
    order: Vec<u32>,
}

impl GraphView {
    /// Returns the graph of this view.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the kept nodes in ascending order, at least one.
    pub fn kept(&self) -> &[u32] {
        &self.kept
    }

    /// Returns, for each kept node, `true` if its features are masked (set to 0).
    pub fn masked(&self) -> &[bool] {
        &self.masked
    }

    /// Creates a view that is still to be filled.
    pub(super) fn empty(graph: &Graph) -> Self {
        Self {
            graph: graph.clone(),
            kept: Vec::new(),
            masked: Vec::new(),
            marks: Vec::new(),
            order: Vec::new(),
        }
    }

    /// Discards the previous view and keeps its buffers.
    pub(super) fn restart(&mut self, graph: &Graph) {
        self.graph = graph.clone();
        self.marks.clear();
        self.marks.resize(graph.n_nodes(), false);
    }

    /// Keeps all nodes and their features.
    pub(super) fn keep_all(&mut self) {
        let n_nodes = self.graph.n_nodes();
        self.kept.clear();
        self.kept.extend(0..n_nodes as u32);
        self.masked.clear();
        self.masked.resize(n_nodes, false);
    }

    pub(super) fn drop_nodes(&mut self, ratio: f64, rng: &mut Rng) {
        let n_dropped = share_below(ratio, self.marks.len());
        mark_subset(&mut self.marks, n_dropped, rng);
        self.keep(false);
    }

    pub(super) fn mask_attributes(&mut self, ratio: f64, rng: &mut Rng) {
        self.keep_all();
        let n_masked = share_below(ratio, self.masked.len());
        mark_subset(&mut self.masked, n_masked, rng);
    }

    pub(super) fn walk(&mut self, ratio: f64, rng: &mut Rng) {
        let n_nodes = self.marks.len();
        let n_kept = n_nodes - share_below(1.0 - ratio, n_nodes);
        if n_kept == n_nodes {
            return self.keep_all();
        }
        let adjacency = self.graph.adjacency();
        mark_walk(adjacency, n_kept, rng, &mut self.marks, &mut self.order);
        self.keep(true);
    }

    /// Keeps the nodes with this mark, none of them masked.
    fn keep(&mut self, mark: bool) {
        self.kept.clear();
        let nodes = (0..).zip(&self.marks);
        self.kept
            .extend(nodes.filter(|&(_, &own)| own == mark).map(|(node, _)| node));
        self.masked.clear();
        self.masked.resize(self.kept.len(), false);
    }
}

/// Compares graphs, kept nodes and masks, and ignores the buffers.
impl PartialEq for GraphView {
    fn eq(&self, other: &Self) -> bool {
        self.graph == other.graph && self.kept == other.kept && self.masked == other.masked
    }
}
