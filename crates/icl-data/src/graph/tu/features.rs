//! Node features from node labels and attributes, or from the degree profile if there are none.

use super::files::TuFiles;
use super::names::TuTable;
use super::table::{Attributes, MAX_FEATURE_VALUES, TextTable, check_count};
use crate::error::DataError;
use crate::graph::adjacency::Adjacency;
use crate::graph::features::{D_PROFILE, FeatureLayout, degree_profile};
use crate::graph::standardize::{ColumnScale, standardize};

/// Object that each line of a table of nodes describes.
const EACH_NODE: &str = "node (line of the graph indicator)";

/// Tables of node labels and attributes, in the order of the files.
pub(super) struct NodeTables {
    /// Distinct labels, ascending, and for each node the index of its label.
    labels: Option<(Vec<i64>, Vec<u32>)>,
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
        indicator: &TextTable,
        n_nodes: usize,
    ) -> Result<Self, DataError> {
        let mut tables = Self {
            labels: None,
            attributes: None,
        };
        // The error for too many features names the file that causes them.
        let mut widest = indicator.file().clone();
        if let Some(table) = files.optional(TuTable::NodeLabels)? {
            let of_node = table.integers()?;
            table.check_lines(of_node.len(), n_nodes, EACH_NODE)?;
            let mut labels = of_node.clone();
            labels.sort_unstable();
            labels.dedup();
            let of_node = of_node
                .iter()
                .map(|label| labels.partition_point(|other| other < label) as u32)
                .collect();
            tables.labels = Some((labels, of_node));
            widest = table.file().clone();
        }
        if let Some(table) = files.optional(TuTable::NodeAttributes)? {
            let attributes = table.attributes()?;
            let n_lines = attributes.values.len() / attributes.n_columns;
            table.check_lines(n_lines, n_nodes, EACH_NODE)?;
            tables.attributes = Some(attributes);
        }
        let n_values = tables.d_features().saturating_mul(n_nodes);
        check_count(&widest, "feature values", n_values, MAX_FEATURE_VALUES)?;
        Ok(tables)
    }

    fn d_features(&self) -> usize {
        let n_labels = self.labels.as_ref().map_or(0, |(labels, _)| labels.len());
        let n_attributes = self.attributes.as_ref().map_or(0, |table| table.n_columns);
        match n_labels + n_attributes {
            0 => D_PROFILE,
            d_features => d_features,
        }
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
        let (node_labels, label_of_node) = self.labels.unwrap_or_default();
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
                *value = attribute as f32;
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
