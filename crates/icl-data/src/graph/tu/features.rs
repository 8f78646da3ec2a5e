//! Node features from node labels and attributes, or from the degree profile if there are none.

use super::distinct::DistinctLabels;
use super::files::TuFiles;
use super::names::TuTable;
use super::table::{Attributes, MAX_COUNT, MAX_FEATURE_VALUES, check_count, check_lines};
use crate::error::DataError;
use crate::graph::adjacency::Adjacency;
use crate::graph::features::{D_PROFILE, FeatureLayout, degree_profile};
use crate::graph::sample::{content_of_edges, content_of_node};
use crate::graph::standardize::{ColumnScale, standardize};
use crate::place::FileRef;

/// Object that each line of a table of nodes describes.
const EACH_NODE: &str = "node (line of the graph indicator)";

/// Number of values that the columns of distinct node labels may have in every data set: 2^24, or 64 MiB.
///
/// A short file can require more: each distinct label adds a column for every node.
const MAX_LABEL_VALUES: usize = 1 << 24;
/// Number of such values for each node of a larger data set.
const MAX_LABELS: usize = 128;

/// Tables of node labels and attributes, in the order of the files.
pub(super) struct NodeTables {
    labels: Option<DistinctLabels>,
    attributes: Option<Attributes>,
}

/// Features `[n_nodes, d_features]`, row by row, in the order of the graphs.
pub(super) struct NodeFeatures {
    pub(super) values: Vec<f32>,
    pub(super) d_features: usize,
    pub(super) layout: FeatureLayout,
    /// Means and standard deviations of the standardised columns, which follow the 0/1 columns.
    pub(super) scales: Vec<ColumnScale>,
}

impl NodeTables {
    /// Reads the tables that exist; each must have one line for each of `n_nodes` nodes.
    pub(super) fn read(
        files: &mut TuFiles,
        indicator: &FileRef,
        n_nodes: usize,
    ) -> Result<Self, DataError> {
        let mut tables = Self {
            labels: None,
            attributes: None,
        };
        // The error for too many features names the file that causes them.
        let mut widest = indicator.clone();
        if let Some(table) = files.optional(TuTable::NodeLabels)? {
            widest = table.file().clone();
            let labels = DistinctLabels::read(table, MAX_COUNT, "nodes")?;
            check_lines(&widest, labels.of_line.len(), n_nodes, EACH_NODE)?;
            let n_values = labels.labels.len().saturating_mul(n_nodes);
            let limit = MAX_LABEL_VALUES.max(n_nodes.saturating_mul(MAX_LABELS));
            check_count(&widest, "feature values", n_values, limit)?;
            tables.labels = Some(labels);
        }
        if let Some(table) = files.optional(TuTable::NodeAttributes)? {
            let file = table.file().clone();
            let attributes = table.attributes(n_nodes)?;
            check_lines(&file, attributes.n_lines, n_nodes, EACH_NODE)?;
            tables.attributes = Some(attributes);
        }
        let n_values = tables.d_features().saturating_mul(n_nodes);
        check_count(&widest, "feature values", n_values, MAX_FEATURE_VALUES)?;
        Ok(tables)
    }

    fn d_features(&self) -> usize {
        let n_labels = self.labels.as_ref().map_or(0, |all| all.labels.len());
        let n_attributes = self.attributes.as_ref().map_or(0, |table| table.n_columns);
        match n_labels + n_attributes {
            0 => D_PROFILE,
            d_features => d_features,
        }
    }

    /// Returns the hash of the content of each graph, whose nodes are those of `order` from its offset on.
    pub(super) fn contents(
        &self,
        offsets: &[usize],
        order: &[u32],
        adjacencies: &[Adjacency],
    ) -> Vec<u64> {
        let add = |sum, &node: &u32| {
            let node = node as usize;
            let label = self.labels.as_ref();
            let label = label.map(|all| all.labels[all.of_line[node] as usize]);
            let attributes = self.attributes.as_ref().map_or(&[][..], |table| {
                &table.values[node * table.n_columns..][..table.n_columns]
            });
            content_of_node(sum, label, attributes.iter().copied())
        };
        let nodes = offsets.windows(2).map(|ends| &order[ends[0]..ends[1]]);
        let graphs = adjacencies.iter().zip(nodes);
        let content = |(adjacency, nodes): (&Adjacency, &[u32])| {
            nodes.iter().fold(content_of_edges(adjacency), add).finish()
        };
        graphs.map(content).collect()
    }

    /// Returns the features of the nodes in the order `order`, which is that of the graphs.
    pub(super) fn features(self, order: &[u32], adjacencies: &[Adjacency]) -> NodeFeatures {
        let d_features = self.d_features();
        if self.labels.is_none() && self.attributes.is_none() {
            let (values, scales) = scaled_profiles(adjacencies);
            return NodeFeatures {
                values,
                d_features,
                layout: FeatureLayout::DegreeProfile,
                scales,
            };
        }
        let DistinctLabels {
            labels: node_labels,
            of_line: label_of_node,
        } = self.labels.unwrap_or_default();
        let (mut attributes, n_attributes) = self
            .attributes
            .map_or((Vec::new(), 0), |table| (table.values, table.n_columns));
        let scales = standardize(&mut attributes, n_attributes);
        let mut values = vec![0.0; order.len() * d_features];
        for (row, &node) in values.chunks_exact_mut(d_features).zip(order) {
            let node = node as usize;
            if let Some(&label) = label_of_node.get(node) {
                row[label as usize] = 1.0;
            }
            let own = &attributes[node * n_attributes..(node + 1) * n_attributes];
            for (value, &attribute) in row[node_labels.len()..].iter_mut().zip(own) {
                // Extreme values do not count in the statistics, which may scale them beyond single precision.
                *value = attribute.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32;
            }
        }
        NodeFeatures {
            values,
            d_features,
            layout: FeatureLayout::Given {
                node_labels,
                n_attributes,
            },
            scales,
        }
    }
}

/// Returns the degree profiles of all nodes, graph by graph, transformed by `log(1 + x)` and
/// standardised, with the means and standard deviations.
fn scaled_profiles(adjacencies: &[Adjacency]) -> (Vec<f32>, Vec<ColumnScale>) {
    let mut values: Vec<f64> = adjacencies
        .iter()
        .flat_map(degree_profile)
        .flatten()
        .map(f64::ln_1p)
        .collect();
    let scales = standardize(&mut values, D_PROFILE);
    let values = values.into_iter().map(|value| value as f32).collect();
    (values, scales)
}
