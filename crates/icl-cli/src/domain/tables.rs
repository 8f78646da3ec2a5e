//! Tables of numbers and categories, with mixup noise as views and a multilayer perceptron as encoder.

use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::{Error, Seed, Stack, Views};
use icl_data::{
    NoiseKind, Outliers, RawTable, Split, TableSchema, TableViews, TableViewsConfig,
    TabularDataset, table_of_pixels,
};
use icl_eval::Matrix;
use icl_models::{Mlp, MlpConfig, StoredEncoder};

use crate::domain::Collated;
use crate::domain::data::{Data, TABLES, of_outliers};
use crate::domain::{Codec, Domain};
use crate::options::bounds::check_weights;
use crate::options::encoder::EncoderOptions;
use crate::options::noise::{Noise, NoiseOptions};
use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// Noise of the views of tables; the first is the default.
pub const NOISES_OF_TABLES: [Noise; 10] = [
    Noise::Auto,
    Noise::Linear,
    Noise::Geometric,
    Noise::GeometricExact,
    Noise::Binary,
    Noise::Plus,
    Noise::Gaussian,
    Noise::GaussianPrinted,
    Noise::Marginal,
    Noise::None,
];

/// Tables with certain columns.
#[derive(Debug)]
pub struct Tables {
    encoder: MlpConfig,
    schema: TableSchema,
    views: TableViews,
    outliers: Outliers,
}

impl Tables {
    /// Returns the encoder and the views of a table with the options that are given, and its rows, by the
    /// statistics of all rows.
    ///
    /// # Errors
    /// If an option is not valid, or the table has no usable column.
    pub fn of(
        raw: &RawTable,
        outliers: Outliers,
        encoder: &EncoderOptions,
        noise: &NoiseOptions,
    ) -> Result<(Self, TabularDataset), Failure> {
        let all: Vec<usize> = (0..raw.n_rows()).collect();
        let schema = TableSchema::fit(raw, &all, &[]).map_err(Failure::input)?;
        let defaults = MlpConfig::new(schema.d_features());
        let config = MlpConfig {
            n_layers: encoder.layers.unwrap_or(defaults.n_layers),
            width: encoder.width.unwrap_or(defaults.width),
            projection: encoder.projection,
            ..defaults
        };
        config.check().map_err(Failure::input)?;
        check_weights(config.tensors())?;
        let chosen = noise.kind(&NOISES_OF_TABLES, TABLES)?;
        let kind = match chosen {
            Noise::Linear => NoiseKind::Linear,
            Noise::Geometric | Noise::GeometricExact => NoiseKind::Geometric,
            Noise::Binary => NoiseKind::Binary,
            Noise::Plus => NoiseKind::Plus,
            Noise::Gaussian => NoiseKind::Gaussian,
            Noise::GaussianPrinted => NoiseKind::GaussianPrinted,
            Noise::Marginal => NoiseKind::Marginal,
            Noise::None => NoiseKind::None,
            _ => NoiseKind::Auto,
        };
        let views = TableViewsConfig::new()
            .with_noise(kind)
            .with_exact(chosen == Noise::GeometricExact)
            .with_alpha_mix(noise.alpha_mix())
            .with_keep(noise.keep())
            .with_sigma(noise.sigma())
            .with_printed_mean(noise.sigma());
        if let Some(note) = views.note() {
            tell(format_args!("note: {}: {note}", raw.name()));
        }
        let views = views.try_init(&schema).map_err(Failure::input)?;
        tell(format_args!("note: {}: {}", schema.name(), schema.note()));
        let data = schema.apply(raw).map_err(Failure::input)?;
        // Without notes of the values: whoever starts an encoder estimates the statistics again, of its old rows alone.
        let (data, _) = data.within_range(outliers).map_err(of_outliers)?;
        let domain = Self {
            encoder: config,
            schema,
            views,
            outliers,
        };
        Ok((domain, data))
    }

    /// Returns this configuration with a schema, by which rows may have another width.
    fn with_schema(&self, schema: TableSchema) -> Result<Self, Failure> {
        let views = self.views.config().try_init(&schema);
        let mut encoder = self.encoder.clone();
        encoder.d_input = schema.d_features();
        Ok(Self {
            encoder,
            views: views.map_err(Failure::input)?,
            schema,
            outliers: self.outliers,
        })
    }
}

/// Returns the rows of a table by the statistics of a schema, and reports what was replaced or left out.
///
/// # Errors
/// If columns are missing or of another kind, or values lie outside the range where that is to be an error.
fn rows(
    schema: &TableSchema,
    raw: &RawTable,
    outliers: Outliers,
) -> Result<TabularDataset, Failure> {
    let rows = schema.apply(raw).map_err(Failure::input)?;
    let (rows, of_outliers) = rows.within_range(outliers).map_err(of_outliers)?;
    for note in of_outliers.into_iter().chain(rows.notes()) {
        tell(format_args!("note: {note}"));
    }
    Ok(rows)
}

impl Codec for Tables {
    const ENCODER: &'static str = "mlp";

    fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)> {
        self.encoder.tensors()
    }

    fn encoder_name(&self) -> String {
        format!("an MLP with n_layers = {}", self.encoder.n_layers)
    }

    fn describe(&self) -> Result<Vec<(&'static str, String)>, serde_json::Error> {
        Ok(vec![
            ("config", serde_json::to_string(&self.encoder)?),
            ("schema", serde_json::to_string(&self.schema)?),
            ("views", serde_json::to_string(self.views.config())?),
        ])
    }

    fn from_file(file: &StoredEncoder) -> Result<Self, Error> {
        let encoder: MlpConfig = file.parsed("config", "the configuration of an MLP")?;
        let schema: TableSchema = file.parsed("schema", "the columns of a table")?;
        let expected = "the configuration of views";
        let views: TableViewsConfig = file.parsed("views", expected)?;
        let views = views
            .try_init(&schema)
            .map_err(|error| file.unreadable("views", error, expected))?;
        if encoder.d_input != schema.d_features() {
            return Err(file.wrong(
                format!("an MLP with d_input = {}", encoder.d_input),
                format!(
                    "{}, the number of features of its columns",
                    schema.d_features()
                ),
            ));
        }
        Ok(Self {
            encoder,
            schema,
            views,
            outliers: Outliers::default(),
        })
    }
}

impl Domain for Tables {
    type Data = TabularDataset;
    type Views = TableViews;
    type Collate = Stack;
    type Encoder<B: Backend> = Mlp<B>;
    type Trained<B: AutodiffBackend> = Mlp<B>;

    fn prepared(&self, data: Data, outliers: Outliers) -> Result<Option<TabularDataset>, Failure> {
        let raw = match data {
            Data::Tables(raw) => raw,
            Data::Images(images) => table_of_pixels(&images).map_err(Failure::input)?,
            Data::Graphs(_) | Data::Interactions(_) | Data::TextPairs(_) => return Ok(None),
        };
        rows(&self.schema, &raw, outliers).map(Some)
    }

    fn views(&self) -> &TableViews {
        &self.views
    }

    fn collate(&self) -> Collated<Stack> {
        Collated(Stack)
    }

    fn random<B: AutodiffBackend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<Mlp<B>, anyhow::Error> {
        Ok(self.encoder.try_init(seed, device)?)
    }

    fn refitted(
        &self,
        data: &TabularDataset,
        split: &Split,
        old: &[usize],
    ) -> Result<Option<(Self, TabularDataset)>, Failure> {
        let excluded = match split {
            Split::Column(name) => vec![name.as_str()],
            _ => Vec::new(),
        };
        let schema = TableSchema::fit(data.raw(), old, &excluded).map_err(Failure::input)?;
        let data = rows(&schema, data.raw(), self.outliers)?;
        Ok(Some((self.with_schema(schema)?, data)))
    }

    /// Returns the standardised features.
    fn features(
        &self,
        data: &TabularDataset,
        samples: &[usize],
    ) -> Result<Option<Matrix>, Failure> {
        let plain = |&index: &usize| self.views.plain(&data.row(index));
        let values = samples.iter().flat_map(plain);
        let values = values.map(f64::from).collect();
        let raw = Matrix::try_new(values, self.schema.d_features());
        raw.map(Some).map_err(|error| Failure::Other(error.into()))
    }
}
