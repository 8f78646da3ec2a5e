//! Graphs.

use std::fmt::Display;

use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::{Error, Seed};
use icl_data::{Graph, GraphDataset, GraphSchema, Outliers, Split};
use icl_eval::Matrix;
use icl_models::StoredEncoder;

use crate::domain::Collated;
use crate::domain::data::{Data, of_outliers};
use crate::domain::graph_encoder::GraphEncoder;
use crate::domain::{Codec, Domain};
use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// Key of the columns in an encoder's file.
const SCHEMA: &str = "schema";

/// Graphs with node features of one width, and an encoder of them.
#[derive(Debug)]
pub struct Graphs<E: GraphEncoder> {
    encoder: E,
    views: E::Views,
    /// Columns of the data that the encoder is trained on; `None` before they are estimated, and in files of earlier
    /// versions.
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

/// Treats the outliers of graphs, and reports them.
fn within_range(data: GraphDataset, outliers: Outliers) -> Result<GraphDataset, Failure> {
    let (data, notes) = data.within_range(outliers).map_err(of_outliers)?;
    notes
        .iter()
        .for_each(|note| tell(format_args!("note: {note}")));
    Ok(data)
}

impl<E: GraphEncoder> Codec for Graphs<E> {
    const ENCODER: &'static str = E::NAME;

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
}

impl<E: GraphEncoder> Domain for Graphs<E> {
    type Data = GraphDataset;
    type Views = E::Views;
    type Collate = E::Collate;
    type Encoder<B: Backend> = E::Module<B>;
    type Trained<B: AutodiffBackend> = E::Trained<B>;

    fn prepared(&self, data: Data, outliers: Outliers) -> Result<Option<GraphDataset>, Failure> {
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

    fn collate(&self) -> Collated<E::Collate> {
        Collated(E::COLLATE)
    }

    fn random<B: AutodiffBackend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<E::Trained<B>, anyhow::Error> {
        self.encoder.try_init::<B>(seed, device)
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

    /// Standardises attributes and degree profiles over the old graphs.
    fn refitted(
        &self,
        data: &GraphDataset,
        _: &Split,
        old: &[usize],
    ) -> Result<Option<(Self, GraphDataset)>, Failure> {
        self.estimated(data, old, self.outliers).map(Some)
    }

    /// Returns the sum of the node features of each graph.
    fn features(&self, data: &GraphDataset, samples: &[usize]) -> Result<Option<Matrix>, Failure> {
        let graphs = samples.iter().map(|&at| &data.graphs()[at]);
        let values = graphs.flat_map(Graph::summed_features).collect();
        let raw = Matrix::try_new(values, data.d_features());
        raw.map(Some).map_err(|error| Failure::Other(error.into()))
    }
}
