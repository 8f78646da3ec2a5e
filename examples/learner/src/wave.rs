//! The data, waves made by a formula, and their batches.

use std::f32::consts::TAU;
use std::sync::atomic::{AtomicU64, Ordering};

use burn::data::dataloader::batcher::Batcher;
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};
use icl::core::{Rng, Seed};
use icl::train::PairBatch;
use rand::RngExt;

/// Number of values of a wave.
pub const LENGTH: usize = 32;

/// A wave of a random tone and phase, with its overtone.
#[derive(Clone, Debug)]
pub struct Wave {
    values: [f32; LENGTH],
    is_old: bool,
}

impl Wave {
    /// Draws a wave.
    pub fn draw(is_old: bool, rng: &mut Rng) -> Self {
        let tone = if is_old { 1.0 } else { 3.0 } + 2.0 * rng.random::<f32>();
        let [phase, share] = [TAU * rng.random::<f32>(), rng.random::<f32>()];
        let values = std::array::from_fn(|at| {
            let x = TAU * tone * at as f32 / LENGTH as f32 + phase;
            x.sin() + share * (2.0 * x).sin()
        });
        Self { values, is_old }
    }
}

/// Makes two views of each wave, which begin anywhere and have noise: first all anchors, then all positives, each with the
/// old waves first.
pub struct Pairs {
    /// Seed of the views.
    pub seed: Seed,
    /// Batches so far, if views differ from epoch to epoch.
    pub n_batches: Option<AtomicU64>,
}

impl<B: Backend> Batcher<B, Wave, PairBatch<Tensor<B, 2>>> for Pairs {
    fn batch(&self, mut waves: Vec<Wave>, device: &B::Device) -> PairBatch<Tensor<B, 2>> {
        let batch = self
            .n_batches
            .as_ref()
            .map_or(0, |n| n.fetch_add(1, Ordering::Relaxed));
        let mut rng = self.seed.at(batch).rng();
        waves.sort_by_key(|wave| !wave.is_old);
        let n_old = waves.iter().filter(|wave| wave.is_old).count();
        let mut views = Vec::with_capacity(2 * waves.len() * LENGTH);
        for wave in waves.iter().chain(&waves) {
            let start = rng.random_range(0..LENGTH);
            let rotated = (start..start + LENGTH).map(|at| wave.values[at % LENGTH]);
            views.extend(rotated.map(|value| value + rng.random::<f32>() - 0.5));
        }
        let views = TensorData::new(views, [2 * waves.len(), LENGTH]);
        PairBatch {
            views: Tensor::from_data(views, device),
            n_old,
        }
    }
}
