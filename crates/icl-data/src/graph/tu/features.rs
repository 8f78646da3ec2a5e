//! Node features from what the files say about nodes, or from the graph if they say nothing.

use super::super::adjacency::Adjacency;
use super::super::dataset::FeatureLayout;
use super::super::degree_profile::{D_PROFILE, degree_profile};
use super::super::standardize::{ColumnScale, standardize};
use super::files::TuFiles;
use super::names::TuTable;
use super::table::{Attributes, MAX_FEATURE_VALUES, Table, check_count};
use crate::error::DataError;

/// What a line of a table about nodes stands for.
const EACH_NODE: &str = "node (line of the graph indicator)";

/// The tables about nodes, in the order of the files.
pub(super) struct NodeTables {
    /// The distinct labels, ascending, and for each node where its label stands in them.
    labels: Option<(Vec<i64>, Vec<u32>)>,
    attributes: Option<Attributes>,
}

/// Features `[n_nodes, d_features]`, row after row, in the order of the graphs.
pub(super) struct NodeFeatures {
    pub(super) values: Vec<f32>,
    pub(super) d_features: usize,
    pub(super) layout: FeatureLayout,
    /// What the columns that are no 0/1 columns were standardised by.
    pub(super) scales: Vec<ColumnScale>,
}

impl NodeTables {
    /// Reads the tables that there are; each must have a line for each of `n_nodes` nodes.
    pub(super) fn read(
        files: &mut TuFiles,
        indicator: &Table,
        n_nodes: usize,
    ) -> Result<Self, DataError> {
        let mut tables = Self {
            labels: None,
            attributes: None,
        };
        // The file that would make the table of features too large is named if it does.
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

    /// The features of the nodes in the order `order`, which is that of the graphs.
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

/// The degree profiles of all nodes, graph after graph, as `log(1 + x)` and standardised, and what
/// they were standardised by.
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
