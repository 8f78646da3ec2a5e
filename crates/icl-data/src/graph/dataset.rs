//! A data set of graphs.

use std::borrow::Cow;
use std::fmt;

use icl_core::{GrowthRatio, Increment, SampleError, Samples, Seed};

use super::degree_profile::D_PROFILE;
use super::sample::Graph;
use super::standardize::ColumnScale;
use crate::error::DataError;
use crate::split::Split;

/// What the columns of the node features are, from left to right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeatureLayout {
    /// What the files say about nodes.
    Given {
        /// One 0/1 column for each of these node labels, ascending.
        node_labels: Vec<i64>,
        /// The columns after them: node attributes, standardised over all nodes.
        n_attributes: usize,
    },
    /// The local degree profile in five columns, `log(1 + x)` and then standardised over all
    /// nodes, because the files say nothing about nodes.
    DegreeProfile,
}

impl FeatureLayout {
    /// The number of columns.
    pub fn width(&self) -> usize {
        match self {
            Self::Given {
                node_labels,
                n_attributes,
            } => node_labels.len() + n_attributes,
            Self::DegreeProfile => D_PROFILE,
        }
    }
}

impl fmt::Display for FeatureLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given {
                node_labels,
                n_attributes,
            } => write!(
                f,
                "{} node labels and {n_attributes} attributes",
                node_labels.len()
            ),
            Self::DegreeProfile => f.write_str("the degree profile"),
        }
    }
}

/// Counts that say what was read and what was repaired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphCounts {
    /// Graphs.
    pub n_graphs: usize,
    /// Nodes of all graphs.
    pub n_nodes: usize,
    /// Lines of the edge list, each a directed edge.
    pub n_edge_lines: usize,
    /// Distinct directed edges among those lines, without self loops.
    pub n_distinct: usize,
    /// Lines that were self loops, which are dropped: the encoders add their own.
    pub n_self_loops: usize,
    /// Directed edges that were added because only their opposite was listed.
    pub n_mirrored: usize,
    /// The number of graphs of each class.
    pub n_class: Vec<usize>,
}

impl GraphCounts {
    /// The undirected edges of all graphs, after duplicates were removed.
    pub fn n_edges(&self) -> usize {
        (self.n_distinct + self.n_mirrored) / 2
    }
}

/// A data set of graphs of one width of features.
///
/// As [`Samples`] it hands out its graphs, which are cheap to clone.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphDataset {
    pub(super) name: String,
    pub(super) graphs: Vec<Graph>,
    pub(super) class_labels: Vec<i64>,
    pub(super) d_features: usize,
    pub(super) layout: FeatureLayout,
    /// What the columns that are no 0/1 columns were standardised by.
    pub(super) scales: Vec<ColumnScale>,
    pub(super) counts: GraphCounts,
}

impl GraphDataset {
    /// The data set's name, taken from its files.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The graphs, in the order of the files.
    pub fn graphs(&self) -> &[Graph] {
        &self.graphs
    }

    /// The original label of each class, ascending; [`Graph::label`] is an index into them.
    pub fn class_labels(&self) -> &[i64] {
        &self.class_labels
    }

    /// The width of the node features.
    pub fn d_features(&self) -> usize {
        self.d_features
    }

    /// What the columns of the node features are.
    pub fn layout(&self) -> &FeatureLayout {
        &self.layout
    }

    /// What was read and what was repaired.
    pub fn counts(&self) -> &GraphCounts {
        &self.counts
    }

    /// The class of each graph.
    pub fn labels(&self) -> Vec<usize> {
        self.graphs.iter().map(Graph::label).collect()
    }

    /// The number of nodes of each graph.
    pub fn sizes(&self) -> Vec<usize> {
        self.graphs.iter().map(Graph::n_nodes).collect()
    }

    /// Parts the graphs into old and new ones; see [`Split::increment`].
    ///
    /// # Errors
    /// [`DataError::SplitTooSmall`] if fewer than two graphs are left on one side.
    pub fn increment(
        &self,
        split: Split,
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<Increment, DataError> {
        let keys = match split {
            Split::Random | Split::Size => self.sizes(),
            Split::Class => self.labels(),
        };
        split.increment(&keys, alpha, seed)
    }
}

impl Samples for GraphDataset {
    type Sample = Graph;

    fn n_samples(&self) -> usize {
        self.graphs.len()
    }

    fn sample(&self, index: usize) -> Result<Cow<'_, Graph>, SampleError> {
        Ok(Cow::Borrowed(&self.graphs[index]))
    }
}
