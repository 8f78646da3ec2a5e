//! Graphs.

use std::fmt::Display;

use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::{Error, GrowthRatio, Increment, Seed};
use icl_data::{Graph, GraphDataset, GraphSchema, Outliers, Split, StreamKey};
use icl_eval::Matrix;
use icl_models::StoredEncoder;

use crate::domain::data::{Data, GRAPHS};
use crate::domain::graph_encoder::GraphEncoder;
use crate::domain::{Domain, followed, no_keys, tell_outliers};
use crate::process::failure::Failure;

/// Key of the columns in an encoder's file.
const SCHEMA: &str = "schema";

/// Graphs with node features of one width, and an encoder of them.
#[derive(Debug)]
pub struct Graphs<E: GraphEncoder> {
    encoder: E,
    views: E::Views,
    /// Columns of the data that the encoder is trained on; `None` before they are estimated, and in files of earlier versions.
    schema: Option<GraphSchema>,
    outliers: Outliers,
}

impl<E: GraphEncoder> Graphs<E> {
    /// Returns this encoder and its views.
    ///
    /// # Errors
    /// If the configuration is not valid.
    pub fn with(encoder: E, outliers: Outliers) -> Result<Self, anyhow::Error> {
        let views = encoder.views()?;
        Ok(Self {
            encoder,
            views,
            schema: None,
            outliers,
        })
    }

    /// Returns this configuration and the data with attributes and degree profiles standardised over the old graphs.
    fn estimated(
        &self,
        data: &GraphDataset,
        old: &[usize],
        outliers: Outliers,
    ) -> Result<(Self, GraphDataset), Failure> {
        let data = within_range(data.standardized_over(old), outliers)?;
        let domain = Self::with(self.encoder.clone(), outliers).map_err(Failure::Other)?;
        let schema = Some(data.schema());
        Ok((Self { schema, ..domain }, data))
    }
}

/// Treats the outliers of graphs.
fn within_range(data: GraphDataset, outliers: Outliers) -> Result<GraphDataset, Failure> {
    let (clipped, found) = data.clipped();
    Ok(match tell_outliers(data.name(), outliers, &found)? {
        true => clipped,
        false => data,
    })
}

impl<E: GraphEncoder> Domain for Graphs<E> {
    const SAMPLES: &'static str = GRAPHS;
    const ENCODER: &'static str = E::NAME;

    type Data = GraphDataset;
    type Views = E::Views;
    type Collate = E::Collate;
    type Encoder<B: Backend> = E::Module<B>;
    type Trained<B: AutodiffBackend> = E::Trained<B>;

    fn taken(&self, data: Data, outliers: Outliers) -> Result<Option<GraphDataset>, Failure> {
        let Data::Graphs(graphs) = data else {
            return Ok(None);
        };
        match &self.schema {
            None => Ok(Some(graphs)),
            Some(schema) => {
                let graphs = graphs.with_schema(schema).map_err(Failure::input)?;
                within_range(graphs, outliers).map(Some)
            }
        }
    }

    fn views(&self) -> &E::Views {
        &self.views
    }

    fn collate(&self) -> E::Collate {
        E::COLLATE
    }

    fn fresh<B: AutodiffBackend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<E::Trained<B>, Failure> {
        self.encoder
            .try_init::<B>(seed, device)
            .map_err(Failure::Input)
    }

    fn shape<B: AutodiffBackend>(
        &self,
        device: &B::Device,
    ) -> Result<E::Trained<B>, anyhow::Error> {
        self.encoder.try_init::<B>(Seed::new(0), device)
    }

    fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)> {
        self.encoder.tensors()
    }

    fn encoder_name(&self) -> String {
        format!("{} with n_layers = {}", E::TITLE, self.encoder.n_layers())
    }

    fn describe(&self) -> Result<Vec<(&'static str, String)>, serde_json::Error> {
        let mut metadata = vec![("config", serde_json::to_string(&self.encoder)?)];
        if let Some(schema) = &self.schema {
            metadata.push((SCHEMA, serde_json::to_string(schema)?));
        }
        Ok(metadata)
    }

    fn from_file(file: &StoredEncoder) -> Result<Self, Error> {
        let config = file.text("config", "the encoder's configuration")?;
        let unreadable = |error: &dyn Display| {
            let expected = format!("the configuration of {}", E::TITLE);
            file.unreadable("config", error, &expected)
        };
        let encoder = serde_json::from_str(config).map_err(|error| unreadable(&error))?;
        let domain =
            Self::with(encoder, Outliers::default()).map_err(|error| unreadable(&error))?;
        if file.get(SCHEMA).is_none() {
            return Ok(domain);
        }
        let schema: GraphSchema = file.parsed(SCHEMA, "the columns of node features")?;
        let (found, width) = (schema.width(), domain.encoder.d_input());
        if found != width {
            return Err(file.wrong(
                format!("columns of node features of width {found}"),
                format!("width {width}, that of the encoder"),
            ));
        }
        Ok(Self {
            schema: Some(schema),
            ..domain
        })
    }

    fn check(&self, data: &GraphDataset) -> Result<(), Error> {
        let (found, expected) = (data.d_features(), self.encoder.d_input());
        if found == expected {
            return Ok(());
        }
        Err(Error::new(
            "",
            format!("node features of width {found} ({})", data.layout()),
            format!("width {expected}"),
        ))
    }

    fn name(data: &GraphDataset) -> &str {
        data.name()
    }

    fn has_labels(data: &GraphDataset) -> bool {
        data.has_labels()
    }

    fn check_labels(data: &GraphDataset, needed_by: &str) -> Result<(), Failure> {
        data.check_labels(needed_by).map_err(Failure::input)
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
        split: &Split,
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<Increment, Failure> {
        data.increment(split.clone(), alpha, seed)
            .map_err(Failure::input)
    }

    /// Standardises attributes and degree profiles over the old graphs for an encoder whose file does not say how.
    fn standardized(
        &self,
        data: &GraphDataset,
        old: &[usize],
        outliers: Outliers,
    ) -> Result<Option<(Self, GraphDataset)>, Failure> {
        match self.schema {
            Some(_) => Ok(None),
            None => self.estimated(data, old, outliers).map(Some),
        }
    }

    fn stream_keys(data: &GraphDataset, key: &StreamKey) -> Result<Vec<usize>, Failure> {
        match key {
            StreamKey::Nothing => Ok(vec![0; data.graphs().len()]),
            StreamKey::Size => Ok(data.sizes()),
            StreamKey::Class => {
                Self::check_labels(data, "a stream by classes")?;
                Ok(Self::labels(data))
            }
            StreamKey::Column(_) => Err(no_keys::<Self>(data, key)),
        }
    }

    /// Standardises attributes and degree profiles over the old graphs.
    fn refitted(
        &self,
        data: &GraphDataset,
        _: &Split,
        old: &[usize],
    ) -> Result<Option<(Self, GraphDataset)>, Failure> {
        self.estimated(data, old, self.outliers).map(Some)
    }

    fn join(old: &GraphDataset, new: &GraphDataset) -> Result<(GraphDataset, Increment), Failure> {
        GraphDataset::join(old, new).map_err(Failure::input)
    }

    fn append(
        old: &GraphDataset,
        new: &GraphDataset,
    ) -> Result<(GraphDataset, [Vec<usize>; 2]), Failure> {
        let joined = old.append(new).map_err(Failure::input)?;
        let parts = followed(old.graphs().len(), joined.graphs().len());
        Ok((joined, parts))
    }

    fn n_clipped(data: &GraphDataset) -> usize {
        data.counts().n_clipped
    }

    fn n_equal(data: &GraphDataset, increment: &Increment) -> Result<usize, Failure> {
        Ok(data.n_equal(increment))
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
    fn raw(&self, data: &GraphDataset) -> Result<Option<Matrix>, Failure> {
        let values = data
            .graphs()
            .iter()
            .flat_map(Graph::summed_features)
            .collect();
        matrix(values, data.d_features()).map(Some)
    }
}

fn matrix(values: Vec<f64>, width: usize) -> Result<Matrix, Failure> {
    Matrix::try_new(values, width).map_err(|error| Failure::Other(error.into()))
}
