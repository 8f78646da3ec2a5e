//! A batch of an encoder, and the noise on the encoded rows.

use std::sync::Arc;

use burn::tensor::{Int, Tensor, TensorData, backend::Backend};
use icl_core::Seed;
use icl_core::mixup::linear_rows;
use rand::RngExt;
use rand_distr::StandardNormal;

/// Batch of [`HiddenMixup`](crate::HiddenMixup), as [`HiddenCollate`](crate::HiddenCollate) makes it:
/// samples that are encoded once, and n views that are made of the encoded rows.
#[derive(Debug, Clone)]
pub struct HiddenBatch<B: Backend, T> {
    /// Batch of the m samples that are encoded.
    pub inner: T,
    /// Encoded row of each view, below m `[n]`.
    pub source: Tensor<B, 1, Int>,
    /// Noise of the views.
    pub noise: RowNoise<B>,
}

/// Noise of the n views of a [`HiddenBatch`].
#[derive(Debug, Clone)]
pub enum RowNoise<B: Backend> {
    /// No noise: all views are plain.
    None,
    /// Hidden mixup.
    Mixup {
        /// Encoded row that each view is mixed with, below m `[n]`.
        partner: Tensor<B, 1, Int>,
        /// Share λ of a view's own row, 1 for a plain view `[n, 1]`.
        lambda: Tensor<B, 2>,
    },
    /// Hidden Gaussian noise.
    Gaussian {
        /// Deviation σ, in deviations of a column.
        sigma: f64,
        /// Seed of the noise of each view; none for a plain view.
        seeds: Arc<[Option<Seed>]>,
    },
}

impl<B: Backend, T> HiddenBatch<B, T> {
    /// Makes the views `[n, d]` of the encoded rows `[m, d]`.
    pub(super) fn views_of(&self, encoded: Tensor<B, 2>) -> Tensor<B, 2> {
        let rows = encoded.clone().select(0, self.source.clone());
        match &self.noise {
            RowNoise::None => rows,
            RowNoise::Mixup { partner, lambda } => {
                // Eq. (4) of DACL
                linear_rows(rows, encoded.select(0, partner.clone()), lambda.clone())
            }
            RowNoise::Gaussian { sigma, seeds } => {
                let scale = deviations(encoded.detach()) * *sigma;
                let [_, width] = rows.dims();
                let normal = normal(seeds, width);
                rows.clone() + Tensor::from_data(normal, (&rows.device(), rows.dtype())) * scale
            }
        }
    }
}

/// Computes the biased standard deviation of each column `[1, d]` of `x` `[m, d]`.
fn deviations<B: Backend>(x: Tensor<B, 2>) -> Tensor<B, 2> {
    let centred = x.clone() - x.mean_dim(0);
    (centred.clone() * centred).mean_dim(0).sqrt()
}

/// Draws a row of `width` standard normal numbers from each seed, or zeros where there is none.
fn normal(seeds: &[Option<Seed>], width: usize) -> TensorData {
    let mut values: Vec<f32> = Vec::with_capacity(seeds.len() * width);
    for seed in seeds {
        match seed {
            Some(seed) => {
                let mut rng = seed.rng();
                values.extend((0..width).map(|_| rng.sample::<f32, _>(StandardNormal)));
            }
            None => values.resize(values.len() + width, 0.0),
        }
    }
    TensorData::new(values, [seeds.len(), width])
}
