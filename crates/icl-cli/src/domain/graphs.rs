//! Graphs, with a GCN as encoder.

use icl_core::{GrowthRatio, Increment, Seed};
use icl_data::{Graph, GraphCollate, GraphDataset, GraphViews, GraphViewsConfig, Split};
use icl_eval::Matrix;
use icl_models::{Gcn, GcnConfig};

use crate::backend::{ProgramBackend, TrainingBackend};
use crate::domain::data::{Data, GRAPHS};
use crate::domain::{Domain, Text, Wrong};
use crate::process::failure::Failure;

/// Graphs with node features of one width.
#[derive(Debug)]
pub struct Graphs {
    config: GcnConfig,
    views: GraphViews,
}

impl Graphs {
    /// Returns the encoder and the views of the paper for these data.
    pub fn of(data: &GraphDataset) -> Self {
        Self::with(GcnConfig::new(data.d_features()))
    }

    /// Returns this encoder and the views of the paper.
    pub fn with(config: GcnConfig) -> Self {
        Self {
            config,
            views: GraphViewsConfig::new().init(),
        }
    }
}

impl Domain for Graphs {
    const COLLATE: GraphCollate = GraphCollate;
    const SAMPLES: &'static str = GRAPHS;
    const ENCODER: &'static str = "gcn";

    type Data = GraphDataset;
    type Views = GraphViews;
    type Collate = GraphCollate;
    type Encoder<B: ProgramBackend> = Gcn<B>;
    type Trained<B: TrainingBackend> = Gcn<B>;

    fn of_kind(data: Data) -> Option<GraphDataset> {
        match data {
            Data::Graphs(graphs) => Some(graphs),
            _ => None,
        }
    }

    fn views(&self) -> &GraphViews {
        &self.views
    }

    fn fresh<B: TrainingBackend>(&self, seed: Seed, device: &B::Device) -> Result<Gcn<B>, Failure> {
        Ok(self.config.init(seed, device))
    }

    fn shape<B: TrainingBackend>(&self, device: &B::Device) -> Result<Gcn<B>, anyhow::Error> {
        Ok(self.config.try_init(Seed::new(0), device)?)
    }

    fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)> {
        let (d_input, d_hidden) = (self.config.d_input, self.config.d_hidden);
        let of_layer = move |layer: usize| {
            let width = if layer == 0 { d_input } else { d_hidden };
            [
                (
                    format!("convolutions.{layer}.weight"),
                    vec![width, d_hidden],
                ),
                (format!("statistics.{layer}.mean"), vec![d_hidden]),
                (format!("statistics.{layer}.variance"), vec![d_hidden]),
            ]
        };
        (0..self.config.n_layers).flat_map(of_layer)
    }

    fn encoder_name(&self) -> String {
        format!("a GCN with n_layers = {}", self.config.n_layers)
    }

    fn describe(&self) -> Result<Vec<(&'static str, String)>, serde_json::Error> {
        Ok(vec![("config", serde_json::to_string(&self.config)?)])
    }

    fn from_description(text: &Text<'_>) -> Result<Self, Wrong> {
        let config = text("config", "the encoder's configuration")?;
        let config = serde_json::from_str(&config).map_err(|error| {
            (
                format!("metadata \"config\" that cannot be read ({error})"),
                "the configuration of a GCN".to_owned(),
            )
        })?;
        Ok(Self::with(config))
    }

    fn check(&self, data: &GraphDataset) -> Result<(), Wrong> {
        let (found, expected) = (data.d_features(), self.config.d_input);
        if found == expected {
            return Ok(());
        }
        Err((
            format!("node features of width {found} ({})", data.layout()),
            format!("width {expected}"),
        ))
    }

    fn name(data: &GraphDataset) -> &str {
        data.name()
    }

    fn labels(data: &GraphDataset) -> Vec<usize> {
        data.labels()
    }

    fn original_labels(data: &GraphDataset) -> Vec<i64> {
        let of = |graph: &Graph| data.class_labels()[graph.label()];
        data.graphs().iter().map(of).collect()
    }

    fn increment(
        data: &GraphDataset,
        split: Split,
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<Increment, Failure> {
        data.increment(split, alpha, seed).map_err(Failure::input)
    }

    fn join(old: &GraphDataset, new: &GraphDataset) -> Result<(GraphDataset, Increment), Failure> {
        GraphDataset::join(old, new).map_err(Failure::input)
    }

    /// Returns the CRC-32 of all graphs: features, edges and labels.
    fn checksum(data: &GraphDataset) -> String {
        let mut hasher = crc32fast::Hasher::new();
        for graph in data.graphs() {
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

    /// Returns the numbers of nodes and edges.
    fn sizes(data: &GraphDataset) -> Result<Option<Matrix>, Failure> {
        let row = |graph: &Graph| [graph.n_nodes() as f64, graph.n_edges() as f64];
        matrix(data.graphs().iter().flat_map(row).collect(), 2).map(Some)
    }

    /// Returns the sum of the node features of each graph.
    fn raw(&self, data: &GraphDataset) -> Result<Matrix, Failure> {
        let values = data.graphs().iter().flat_map(summed_features).collect();
        matrix(values, data.d_features())
    }
}

fn summed_features(graph: &Graph) -> Vec<f64> {
    let mut sum = vec![0.0; graph.d_features()];
    for node in 0..graph.n_nodes() {
        for (sum, feature) in sum.iter_mut().zip(graph.node_features(node)) {
            *sum += f64::from(*feature);
        }
    }
    sum
}

fn matrix(values: Vec<f64>, width: usize) -> Result<Matrix, Failure> {
    Matrix::try_new(values, width).map_err(|error| Failure::Other(error.into()))
}
