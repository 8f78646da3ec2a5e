//! A table divided into training and test rows, and features of its rows.

use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};
use icl_cli::parts::Failure;
use icl_core::{Batches, Encoder, Seed, Views, host_values};
use icl_data::{NoiseKind, TableSchema, TableViewsConfig, TabularDataset};
use icl_eval::Matrix;
use icl_models::Mlp;

use crate::commands::dacl::classifiers::Classifiers;
use crate::commands::dacl::row_split::RowSplit;
use crate::commands::dacl::tables::source::TableSource;

/// Maximum number of rows per encoder pass.
const CHUNK: usize = 512;
/// Learning rate of the printed classifier.
const PRINTED_RATE: f64 = 0.1;

/// Rows of a table as features of a schema that was fitted to the training rows.
#[derive(Debug)]
pub struct DividedTable {
    /// Rows in the units of the file, for views.
    pub data: TabularDataset,
    /// Rows by their use.
    pub split: RowSplit,
    /// Standardised rows `[n_rows, d_features]`.
    plain: Vec<f32>,
}

impl DividedTable {
    /// Divides a table by a seed.
    ///
    /// # Errors
    /// If the limit is too small or no column can be used.
    pub fn new(source: &TableSource, limit: Option<usize>, seed: Seed) -> Result<Self, Failure> {
        let (table, split) = source.divided(limit, seed)?;
        let schema = TableSchema::fit(&table, &split.training, &[]).map_err(Failure::input)?;
        let data = schema.apply(&table).map_err(Failure::input)?;
        let views = TableViewsConfig::new()
            .with_noise(NoiseKind::None)
            .try_init(&schema)
            .map_err(Failure::input)?;
        let plain = (0..data.n_rows()).flat_map(|row| views.plain(&data.row(row)));
        Ok(Self {
            plain: plain.collect(),
            data,
            split,
        })
    }

    /// Returns the classifiers of these rows.
    pub fn classifiers(&self) -> Classifiers<'_> {
        Classifiers {
            labels: self.data.labels(),
            split: &self.split,
            printed_rate: PRINTED_RATE,
        }
    }

    /// Returns the standardised rows.
    ///
    /// # Errors
    /// If a value is not finite.
    pub fn raw(&self) -> Result<Matrix, Failure> {
        let matrix = Matrix::try_from_f32(&self.plain, self.data.d_features());
        matrix.map_err(|error| Failure::Other(error.into()))
    }

    /// Returns these standardised rows as a tensor `[rows, d_features]`.
    pub fn tensor<B: Backend>(&self, rows: &[usize], device: &B::Device) -> Tensor<B, 2> {
        let d = self.data.d_features();
        let row = |&row: &usize| &self.plain[row * d..(row + 1) * d];
        let values: Vec<f32> = rows.iter().flat_map(row).copied().collect();
        Tensor::from_data(TensorData::new(values, [rows.len(), d]), device)
    }

    /// Returns an encoder with statistics that are re-estimated over the plain training rows.
    ///
    /// # Errors
    /// Never, since rows are in memory.
    pub fn recalibrated<B: Backend>(
        &self,
        encoder: Mlp<B>,
        device: &B::Device,
    ) -> Result<Mlp<B>, Failure> {
        let rows = &self.split.training;
        let n_chunks = rows.len().div_ceil(CHUNK).max(1);
        // Chunks of nearly equal size: the statistics of the upper layers depend on them.
        let chunk = |at: usize| &rows[at * rows.len() / n_chunks..(at + 1) * rows.len() / n_chunks];
        let batches = Batches::new(n_chunks, |at| Ok(self.tensor::<B>(chunk(at), device)));
        encoder
            .recalibrated(&batches)
            .map_err(|error| Failure::Other(anyhow::anyhow!(error)))
    }

    /// Returns the encoder's features of all rows, with statistics re-estimated over the training rows.
    ///
    /// # Errors
    /// If a feature is not finite.
    pub fn features<B: Backend>(
        &self,
        encoder: Mlp<B>,
        device: &B::Device,
    ) -> Result<Matrix, Failure> {
        let encoder = self.recalibrated(encoder, device)?;
        let all: Vec<usize> = (0..self.data.n_rows()).collect();
        let mut values = Vec::new();
        let mut width = 1;
        for chunk in all.chunks(CHUNK) {
            let features = encoder.embed(self.tensor::<B>(chunk, device));
            width = features.dims()[1];
            values.extend(host_values(features));
        }
        Matrix::try_new(values, width).map_err(|error| Failure::Other(error.into()))
    }
}
