//! Time of a training step of the multilayer perceptron, and of its parts, on the default CPU backend. Run by
//! `cargo bench -p icl-models --bench mlp_step`; `scripts/peer/mlp_step.py` times PyTorch on the same step. For
//! two threads set `RAYON_NUM_THREADS=2`; PyTorch takes the number as its argument.
//!
//! 4 layers of width 256 on 256 rows of 64 columns. A table in Markdown, least and median of 200 runs. Nothing
//! is asserted.

use std::time::Instant;

use burn::backend::{Autodiff, Flex};
use burn::optim::{AdamConfig, GradientsParams, Optimizer};
use burn::tensor::{Distribution, Tensor};
use icl_core::{Encoder, Mode, Seed};
use icl_models::{ImageBackend, Mlp, MlpConfig};

type B = Autodiff<Flex>;

const ROWS: usize = 256;
const COLUMNS: usize = 64;
const WIDTH: usize = 256;
const N_RUNS: usize = 200;

fn main() {
    println!("| part | least, ms | median, ms |");
    println!("|---|---|---|");
    step();
    products();
    normalisation();
}

/// A training step: the mean square of the output, its gradients, and Burn's Adam.
fn step() {
    let device = Default::default();
    let config = MlpConfig::new(COLUMNS).with_n_layers(4).with_width(WIDTH);
    let mut encoder: Mlp<B> = config.init(Seed::new(1), &device);
    let rows = Tensor::<B, 2>::random([ROWS, COLUMNS], Distribution::Default, &device);
    let mut optimizer = AdamConfig::new().init();
    let mut rng = Seed::new(0).rng();
    let mut parts: [Vec<f64>; 4] = Default::default();
    for _ in 0..N_RUNS {
        let start = Instant::now();
        let output = encoder.encode(rows.clone(), Mode::Training(&mut rng));
        let loss = output.powi_scalar(2).mean();
        let forward = start.elapsed().as_secs_f64();
        let gradients = loss.backward();
        let backward = start.elapsed().as_secs_f64();
        let gradients = GradientsParams::from_grads(gradients, &encoder);
        encoder = optimizer.step(1e-3, encoder, gradients);
        let whole = start.elapsed().as_secs_f64();
        let seconds = [forward, backward - forward, whole - backward, whole];
        for (part, seconds) in parts.iter_mut().zip(seconds) {
            part.push(seconds);
        }
    }
    for (name, part) in ["forward", "backward", "Adam", "step"].iter().zip(parts) {
        report(name, part);
    }
}

/// The products of one layer, of which a step has three for each layer but the first.
fn products() {
    let device = Default::default();
    let random = |shape| Tensor::<Flex, 2>::random(shape, Distribution::Default, &device);
    let (x, weight) = (random([ROWS, WIDTH]), random([WIDTH, WIDTH]));
    let gradient = random([ROWS, WIDTH]);
    time("product, forward", || {
        drop(x.clone().matmul(weight.clone()));
    });
    time("product, by the input", || {
        drop(gradient.clone().matmul(weight.clone().transpose()));
    });
    time("product, by the weight", || {
        drop(x.clone().transpose().matmul(gradient.clone()));
    });
}

/// Normalisation and ReLU of one layer, each way.
fn normalisation() {
    let device = Default::default();
    let random = || Tensor::<Flex, 4>::random([ROWS, 1, 1, WIDTH], Distribution::Default, &device);
    let (x, gradient) = (random(), random());
    let affine = || {
        [
            Tensor::ones([WIDTH], &device),
            Tensor::zeros([WIDTH], &device),
        ]
    };
    time("normalisation, forward", || {
        drop(Flex::batch_norm_saving(
            x.clone(),
            affine(),
            None,
            1e-5,
            true,
        ));
    });
    let (_, saved) = Flex::batch_norm_saving(x.clone(), affine(), None, 1e-5, true);
    time("normalisation, backward", || {
        drop(Flex::batch_norm_backward(saved.clone(), gradient.clone()));
    });
}

fn time(name: &str, mut run: impl FnMut()) {
    let once = |_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    report(name, (0..N_RUNS).map(once).collect());
}

fn report(name: &str, mut seconds: Vec<f64>) {
    seconds.sort_unstable_by(f64::total_cmp);
    let (least, median) = (seconds[0] * 1e3, seconds[seconds.len() / 2] * 1e3);
    println!("| {name} | {least:.3} | {median:.3} |");
}
