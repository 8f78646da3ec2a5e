//! Training steps of encoders of images, and of a perceptron.

use burn::module::AutodiffModule;
use burn::optim::{GradientsParams, Optimizer};
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{Tensor, TensorData};
use icl_core::{Encoder, Mode, Seed};
use icl_models::{ConvNetConfig, MlpConfig, ResNetConfig, Stem};
use icl_train::OnePassAdam;

use crate::work::repeated::{Work, as_in_training, hashed, n_trained};

/// Side of the small network's images in pixels, and columns of the perceptron's rows.
const SIDE: usize = 28;
const N_COLUMNS: usize = SIDE * SIDE;

/// Returns a training step of ResNet-18 on colour images.
pub fn resnet<B: AutodiffBackend>(
    stem: Stem,
    side: usize,
    n_images: usize,
    device: &B::Device,
) -> Work {
    let config = ResNetConfig::new(3).with_stem(stem);
    let images = numbers(4, [n_images, 3, side, side], device);
    step::<B, _, 4>(config.init(Seed::new(0), device), images, 512, device)
}

/// Returns a training step of the small convolutional network on grey images.
pub fn convnet<B: AutodiffBackend>(n_images: usize, device: &B::Device) -> Work {
    let config = ConvNetConfig::new(1);
    let images = numbers(4, [n_images, 1, SIDE, SIDE], device);
    let encoder = config.init(Seed::new(0), device);
    step::<B, _, 4>(encoder, images, config.d_features(), device)
}

/// Returns a training step of the perceptron with its default layers.
pub fn perceptron<B: AutodiffBackend>(n_rows: usize, device: &B::Device) -> Work {
    let config = MlpConfig::new(N_COLUMNS);
    let rows = numbers(4, [n_rows, N_COLUMNS], device);
    let encoder = config.init(Seed::new(0), device);
    step::<B, _, 2>(encoder, rows, config.width, device)
}

/// Forward, the sum of features times fixed numbers, backward, Adam.
fn step<B, E, const D: usize>(
    encoder: E,
    batch: Tensor<B, D>,
    d_features: usize,
    device: &B::Device,
) -> Work
where
    B: AutodiffBackend,
    E: Encoder<B, Batch = Tensor<B, D>> + AutodiffModule<B> + 'static,
{
    let fixed: Tensor<B, 2> = numbers(5, [batch.dims()[0], d_features], device);
    let facts = format!("{} parameters", n_trained(&encoder));
    let mut encoder = Some(encoder);
    let mut optimizer = OnePassAdam::init();
    let mut rng = Seed::new(0).rng();
    let step = move || {
        encoder = encoder.take().map(|encoder| {
            let embeddings = encoder.encode(batch.clone(), Mode::Training(&mut rng));
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
