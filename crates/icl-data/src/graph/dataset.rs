//! A data set of graphs.

use std::borrow::Cow;

use icl_core::{GrowthRatio, Increment, SampleError, Samples, Seed};

use super::features::FeatureLayout;
use super::sample::Graph;
use super::standardize::ColumnScale;
use crate::error::DataError;
use crate::increments::n_equal;
use crate::place::Found;
use crate::split::Split;

/// Counts of the graphs that were read and of the edges that were repaired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphCounts {
    /// Number of graphs.
    pub n_graphs: usize,
    /// Number of nodes of all graphs.
    pub n_nodes: usize,
    /// Number of lines of the edge list, each a directed edge.
    pub n_edge_lines: usize,
    /// Number of distinct directed edges among those lines, without self loops.
    pub n_distinct: usize,
    /// Number of lines that were self loops. They are dropped, because encoders add their own.
    pub n_self_loops: usize,
    /// Number of directed edges that were added because only their opposite was listed.
    pub n_mirrored: usize,
    /// Number of graphs of each class.
    pub n_class: Vec<usize>,
    /// Number of values that [`GraphDataset::within_range`] has clipped.
    pub n_clipped: usize,
}

impl GraphCounts {
    /// Returns the number of undirected edges of all graphs, without duplicates.
    pub fn n_edges(&self) -> usize {
        (self.n_distinct + self.n_mirrored) / 2
    }
}

/// A data set of graphs whose node features have the same columns.
///
/// Its [`Samples`] are the graphs, which are cheap to clone.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphDataset {
    pub(super) name: String,
    pub(super) graphs: Vec<Graph>,
    pub(super) class_labels: Vec<i64>,
    pub(super) has_labels: bool,
    pub(super) d_features: usize,
    pub(super) layout: FeatureLayout,
    /// Means and standard deviations of the standardised columns, which follow the 0/1 columns.
    pub(super) scales: Vec<ColumnScale>,
    pub(super) counts: GraphCounts,
}

impl GraphDataset {
    /// Returns the name of the data set, from its files.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the name of the data set, which messages and the names of written files use.
    #[must_use]
    pub fn with_name(self, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..self
        }
    }

    /// Returns the graphs in the order of the files.
    pub fn graphs(&self) -> &[Graph] {
        &self.graphs
    }

    /// Returns `true` if the graphs have classes.
    pub fn has_labels(&self) -> bool {
        self.has_labels
    }

    /// Checks that the graphs have classes; `needed_by` is what they are needed for, for the error.
    ///
    /// # Errors
    /// [`DataError`] if they have none.
    pub fn check_labels(&self, needed_by: &str) -> Result<(), DataError> {
        if self.has_labels {
            return Ok(());
        }
        Err(DataError::new(
            Found::new(&self.name),
            format!("no classes for {needed_by}"),
            "them in a file `NAME_graph_labels.txt`",
        ))
    }

    /// Returns the original label of each class, ascending; [`Graph::label`] is an index into them. Graphs without
    /// labels have a single class 0.
    pub fn class_labels(&self) -> &[i64] {
        &self.class_labels
    }

    /// Returns the width of the node features.
    pub fn d_features(&self) -> usize {
        self.d_features
    }

    /// Returns the layout of the columns of the node features.
    pub fn layout(&self) -> &FeatureLayout {
        &self.layout
    }

    /// Returns the counts of the graphs that were read and of the edges that were repaired.
    pub fn counts(&self) -> &GraphCounts {
        &self.counts
    }

    /// Returns the class of each graph.
    pub fn labels(&self) -> Vec<usize> {
        self.graphs.iter().map(Graph::label).collect()
    }

    /// Returns the number of nodes of each graph.
    pub fn sizes(&self) -> Vec<usize> {
        self.graphs.iter().map(Graph::n_nodes).collect()
    }

    /// Splits the graphs into old and new ones; see [`Split::increment`].
    ///
    /// The key of [`Split::Size`] is the number of nodes; the key of [`Split::Class`] is the class. The
    /// names of classes are their labels in the files.
    ///
    /// # Errors
    /// [`DataError`]
    /// - if either part would have fewer
    ///   than two graphs;
    /// - if the split does not fit the data;
    /// - if it is one of classes and the graphs have none.
    pub fn increment(
        &self,
        split: Split,
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<Increment, DataError> {
        if matches!(split, Split::Class | Split::Classes(_)) {
            self.check_labels(&format!("split {}", Found::new(&split.to_string())))?;
        }
        let keys = match &split {
            Split::Random | Split::Size => self.sizes(),
            Split::Class => self.labels(),
            Split::Classes(old) => {
                let names: Vec<String> = self.class_labels.iter().map(i64::to_string).collect();
                Split::class_keys(&self.name, old, &self.labels(), &names)?
            }
            Split::Column(_) | Split::Time => return Err(split.unfit("graphs")),
        };
        split.increment(&keys, alpha, seed)
    }

    /// Returns a checksum that identifies the data when work is resumed: a CRC-32 of the features, the edges and the
    /// label of each graph, as 8 hexadecimal digits.
    pub fn checksum(&self) -> String {
        let mut hasher = crc32fast::Hasher::new();
        for graph in self.graphs() {
            for feature in graph.features() {
                hasher.update(&feature.to_le_bytes());
            }
            for node in 0..graph.n_nodes() {
                for neighbour in graph.neighbours(node) {
                    hasher.update(&neighbour.to_le_bytes());
                }
                hasher.update(b"|");
            }
            hasher.update(&(graph.label() as u64).to_le_bytes());
        }
        format!("{:08x}", hasher.finalize())
    }

    /// Returns the [hash of the content](crate::ContentHash) of each graph: of its edges, and of the labels and
    /// attributes of its nodes as they were read.
    pub fn contents(&self) -> Vec<u64> {
        self.graphs.iter().map(Graph::content).collect()
    }

    /// Returns the number of new graphs that equal an old one in their edges, their node features and
    /// the order of their nodes, whatever their classes are.
    pub fn n_equal(&self, increment: &Increment) -> usize {
        n_equal(increment, |index| self.graphs[index].contents_key())
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
