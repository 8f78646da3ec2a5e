//! Training steps of ResNet-18.

use burn::optim::{GradientsParams, Optimizer};
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{Tensor, TensorData};
use icl_core::{Encoder, Mode, Seed};
use icl_models::{ResNet, ResNetConfig, Stem};
use icl_train::OnePassAdam;

use crate::work::repeated::{Work, as_in_training, hashed, n_trained};

const N_CHANNELS: usize = 3;
const D_FEATURES: usize = 512;

/// Forward, the sum of features times fixed numbers, backward, Adam.
pub fn step<B: AutodiffBackend>(
    stem: Stem,
    side: usize,
    n_images: usize,
    device: &B::Device,
) -> Work {
    let images: Tensor<B, 4> = numbers(4, [n_images, N_CHANNELS, side, side], device);
    let fixed: Tensor<B, 2> = numbers(5, [n_images, D_FEATURES], device);
    let config = ResNetConfig::new(N_CHANNELS).with_stem(stem);
    let encoder: ResNet<B> = config.init(Seed::new(0), device);
    let facts = format!("{} parameters", n_trained(&encoder));
    let mut encoder = Some(encoder);
    let mut optimizer = OnePassAdam::init();
    let mut rng = Seed::new(0).rng();
    let step = move || {
        encoder = encoder.take().map(|encoder| {
            let embeddings = encoder.encode(images.clone(), Mode::Training(&mut rng));
            let loss = (embeddings * fixed.clone()).sum();
            let gradients = GradientsParams::from_grads(loss.backward(), &encoder);
            optimizer.step(1e-3, encoder, gradients)
        });
    };
    Work {
        facts,
        repeat: as_in_training::<B>(device, step),
    }
}

/// Numbers of mean 0 and variance 1.
fn numbers<B: AutodiffBackend, const D: usize>(
    stream: u64,
    shape: [usize; D],
    device: &B::Device,
) -> Tensor<B, D> {
    let scale = f64::sqrt(12.0);
    let values: Vec<f32> = hashed(stream)
        .take(shape.iter().product())
        .map(|x| ((x - 0.5) * scale) as f32)
        .collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}
