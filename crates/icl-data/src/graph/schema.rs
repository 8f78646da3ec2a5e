//! Columns of the node features of an encoder's data, and their conversion.

use burn::serde::{Deserialize, Serialize};

use super::dataset::{GraphCounts, GraphDataset};
use super::features::{D_PROFILE, FeatureLayout, PROFILE};
use super::sample::Graph;
use super::standardize::ColumnScale;
use crate::error::DataError;
use crate::outliers::{Outlier, Outliers, OutliersFound};
use crate::place::Found;

/// Columns of the node features of some graphs, and the statistics by which they were standardised.
///
/// Other graphs become features by the same schema ([`GraphDataset::with_schema`]), so that an encoder keeps its
/// meaning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    crate = "burn::serde",
    try_from = "StoredSchema",
    into = "StoredSchema"
)]
pub struct GraphSchema(StoredSchema);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(crate = "burn::serde", deny_unknown_fields)]
struct StoredSchema {
    /// Name of the data set.
    name: String,
    layout: FeatureLayout,
    /// Scales of the last columns.
    scales: Vec<ColumnScale>,
}

impl TryFrom<StoredSchema> for GraphSchema {
    type Error = String;

    fn try_from(stored: StoredSchema) -> Result<Self, String> {
        let expected = match &stored.layout {
            FeatureLayout::DegreeProfile => D_PROFILE,
            FeatureLayout::Given {
                node_labels,
                n_attributes,
            } => {
                if !node_labels.is_sorted_by(|a, b| a < b) {
                    return Err(
                        "found node labels in another order, expected an ascending one".into(),
                    );
                }
                *n_attributes
            }
        };
        let found = stored.scales.len();
        if found != expected {
            return Err(format!(
                "found scales of {found} columns, expected {expected}"
            ));
        }
        match stored.scales.iter().all(|scale| scale.is_valid()) {
            true => Ok(Self(stored)),
            false => Err("found a scale that is not valid, expected finite numbers".into()),
        }
    }
}

impl From<GraphSchema> for StoredSchema {
    fn from(schema: GraphSchema) -> Self {
        schema.0
    }
}

impl GraphSchema {
    /// Returns the number of columns.
    pub fn width(&self) -> usize {
        self.0.layout.width()
    }
}

impl GraphDataset {
    /// Returns the schema of the node features.
    pub fn schema(&self) -> GraphSchema {
        GraphSchema(StoredSchema {
            name: self.name.clone(),
            layout: self.layout.clone(),
            scales: self.scales.clone(),
        })
    }

    /// Returns the graphs with the columns of a schema, such as that of the data that an encoder was trained on. Node
    /// labels move to their columns of the schema, which may have more of them; attributes and degree profiles are
    /// standardised by its statistics. A column that is constant in the schema becomes 0.
    ///
    /// # Errors
    /// [`DataError`]
    /// - if only one side has node labels or attributes, or if their numbers of attributes differ;
    /// - if the schema lacks a node label.
    pub fn with_schema(&self, schema: &GraphSchema) -> Result<Self, DataError> {
        let GraphSchema(StoredSchema {
            name,
            layout,
            scales,
        }) = schema;
        let of_labels = self.label_columns(name, layout)?;
        if (&self.layout, &self.scales) == (layout, scales) {
            return Ok(self.clone());
        }
        let d = layout.width();
        let converted = |graph: &Graph| {
            let mut features = vec![0.0_f32; graph.n_nodes() * d];
            for (node, row) in features.chunks_exact_mut(d).enumerate() {
                let (labels, scaled) = graph.node_features(node).split_at(of_labels.len());
                for (&column, &value) in of_labels.iter().zip(labels) {
                    row[column] = value;
                }
                let first_scaled = d - scales.len();
                let slots = row[first_scaled..].iter_mut().zip(scaled);
                for ((slot, &value), (own, earlier)) in slots.zip(scales.iter().zip(&self.scales)) {
                    // Statistics of other graphs may scale a value beyond the range of single precision.
                    let value = own.restandardize(f64::from(value), *earlier);
                    *slot = value.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32;
                }
            }
            graph.with_features(features, d)
        };
        Ok(Self {
            graphs: self.graphs.iter().map(converted).collect(),
            d_features: d,
            layout: layout.clone(),
            scales: scales.clone(),
            ..self.clone()
        })
    }

    /// Returns for each column of a node label the column of the same label in `layout`, that of the data `name`.
    fn label_columns(&self, name: &str, layout: &FeatureLayout) -> Result<Vec<usize>, DataError> {
        let data = format!(
            "data sets {} and {}",
            Found::new(name),
            Found::new(&self.name)
        );
        match (layout, &self.layout) {
            (FeatureLayout::DegreeProfile, FeatureLayout::DegreeProfile) => Ok(Vec::new()),
            (
                FeatureLayout::Given {
                    node_labels: known,
                    n_attributes: n_known,
                },
                FeatureLayout::Given {
                    node_labels,
                    n_attributes,
                },
            ) if n_known == n_attributes && known.is_empty() == node_labels.is_empty() => {
                let unknown = |label| {
                    let (d_old, d_new) = (layout.width(), self.d_features);
                    let found = format!(
                        "node label {label} only in the second (node features of widths {d_old} and {d_new})"
                    );
                    DataError::new(&data, found, "node labels of the first")
                };
                let column = |label| known.binary_search(label).map_err(|_| unknown(label));
                node_labels.iter().map(column).collect()
            }
            _ => Err(DataError::new(
                data,
                format!(
                    "node features of widths {} and {} ({layout}; {})",
                    layout.width(),
                    self.layout.width(),
                    self.layout
                ),
                "the same columns in both",
            )),
        }
    }

    /// Treats attributes and values of degree profiles outside the range of the data that the features were
    /// standardised over, and returns notes of them, for people to read: sentences without a full stop that begin with
    /// the name of the data set. A value that is clipped becomes the nearest of the range.
    ///
    /// # Errors
    /// [`DataError`] if there is one and it is to be an error.
    pub fn within_range(self, outliers: Outliers) -> Result<(Self, Vec<String>), DataError> {
        let mut found = OutliersFound::default();
        if self.scales.is_empty() {
            return Ok((self, Vec::new()));
        }
        let first_scaled = self.d_features - self.scales.len();
        let clipped = |(at, graph): (usize, &Graph)| {
            let n_before = found.n;
            let mut features = graph.features().to_vec();
            for (node, row) in features.chunks_exact_mut(self.d_features).enumerate() {
                for (column, (value, scale)) in
                    row[first_scaled..].iter_mut().zip(&self.scales).enumerate()
                {
                    let deviations = f64::from(*value);
                    let Some(nearest) = scale.nearest(deviations) else {
                        continue;
                    };
                    let units = |value: f64| self.in_units(value);
                    found.add(|| Outlier {
                        place: format!(
                            "graph {}, node {}, {}",
                            at + 1,
                            node + 1,
                            self.column_name(column)
                        ),
                        value: units(scale.original(deviations)),
                        deviations,
                        nearest: units(nearest),
                    });
                    *value = scale.standardized(nearest) as f32;
                }
            }
            match found.n == n_before {
                true => graph.clone(),
                false => graph.with_features(features, self.d_features),
            }
        };
        let graphs = self.graphs.iter().enumerate().map(clipped).collect();
        let notes = outliers.notes(&self.name, &found)?;
        if outliers != Outliers::Clip {
            return Ok((self, notes));
        }
        let counts = GraphCounts {
            n_clipped: self.counts.n_clipped + found.n,
            ..self.counts.clone()
        };
        let clipped = Self {
            graphs,
            counts,
            ..self
        };
        Ok((clipped, notes))
    }

    /// Returns the name of a standardised column.
    fn column_name(&self, column: usize) -> String {
        match self.layout {
            FeatureLayout::DegreeProfile => PROFILE[column].to_owned(),
            FeatureLayout::Given { .. } => format!("attribute {}", column + 1),
        }
    }

    /// Returns a value of a standardised column in the units that a reader knows: values of degree profiles are
    /// logarithms, and attributes are shown with the digits of single precision.
    fn in_units(&self, value: f64) -> f64 {
        let value = match self.layout {
            FeatureLayout::DegreeProfile => value.exp_m1(),
            FeatureLayout::Given { .. } => value,
        };
        let shown = format!("{value:.5e}").parse();
        shown.unwrap_or(value)
    }
}
