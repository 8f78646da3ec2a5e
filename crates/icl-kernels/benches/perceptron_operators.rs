//! Time of the operators of a normalised layer of a perceptron on the default CPU backend, each next to Burn's
//! matrix product. Run by `cargo bench -p icl-kernels --bench perceptron_operators`; for two threads set
//! `RAYON_NUM_THREADS=2`. `cargo xtask bench tables` compares whole training steps with PyTorch's.
//!
//! 256 rows, from 64 and from 256 columns to 256. A table in Markdown, least and median of 400 runs, by turns.
//! Nothing is asserted.

use std::time::Instant;

use burn::backend::Flex;
use burn::tensor::{Distribution, Tensor};
use icl_kernels::{image, internals};

const ROWS: usize = 256;
const WIDTH: usize = 256;
const N_RUNS: usize = 400;

/// An operator, and the time of each run in seconds.
struct Timed<'a> {
    name: String,
    run: Box<dyn Fn() + 'a>,
    seconds: Vec<f64>,
}

fn main() {
    let mut all = products(64);
    all.extend(products(WIDTH));
    all.extend(normalisation());
    for _ in 0..N_RUNS {
        for Timed { run, seconds, .. } in &mut all {
            let start = Instant::now();
            run();
            seconds.push(start.elapsed().as_secs_f64());
        }
    }
    println!("| operator | least, ms | median, ms |");
    println!("|---|---|---|");
    for Timed {
        name, mut seconds, ..
    } in all
    {
        seconds.sort_unstable_by(f64::total_cmp);
        let (least, median) = (seconds[0] * 1e3, seconds[seconds.len() / 2] * 1e3);
        println!("| {name} | {least:.3} | {median:.3} |");
    }
}

fn timed<'a>(name: String, run: impl Fn() + 'a) -> Timed<'a> {
    Timed {
        name,
        run: Box::new(run),
        seconds: Vec::new(),
    }
}

fn random<const D: usize>(shape: [usize; D]) -> Tensor<Flex, D> {
    Tensor::random(shape, Distribution::Default, &Default::default())
}

/// The product of a layer and its gradients, ours and Burn's.
fn products(d_input: usize) -> Vec<Timed<'static>> {
    let (x, weight) = (random([ROWS, d_input]), random([d_input, WIDTH]));
    let gradient = random([ROWS, WIDTH]);
    let operands = move || (x.clone(), weight.clone(), gradient.clone());
    let name = |what: &str| format!("{what}, {d_input} to {WIDTH}");
    let with = |operator: fn(Operands)| {
        let operands = operands.clone();
        move || operator(operands())
    };
    vec![
        timed(
            name("product"),
            with(|(x, w, _)| drop(image::dense_product(x, w))),
        ),
        timed(name("Burn's"), with(|(x, w, _)| drop(x.matmul(w)))),
        timed(
            name("gradient by the input"),
            with(|(_, w, g)| drop(internals::dense_product_input_gradient(g, w))),
        ),
        timed(
            name("Burn's"),
            with(|(_, w, g)| drop(g.matmul(w.transpose()))),
        ),
        timed(
            name("gradient by the weight"),
            with(|(x, _, g)| drop(internals::dense_product_weight_gradient(x, g))),
        ),
        timed(
            name("Burn's"),
            with(|(x, _, g)| drop(x.transpose().matmul(g))),
        ),
    ]
}

/// Rows, weight and gradient by the output.
type Operands = (Tensor<Flex, 2>, Tensor<Flex, 2>, Tensor<Flex, 2>);

/// Normalisation and ReLU of a layer, each way.
fn normalisation() -> Vec<Timed<'static>> {
    let shape = [ROWS, 1, 1, WIDTH];
    let (x, gradient) = (random(shape), random(shape));
    let forward = move || {
        let device = Default::default();
        let affine = [
            Tensor::ones([WIDTH], &device),
            Tensor::zeros([WIDTH], &device),
        ];
        internals::batch_norm_saving(x.clone(), affine, None, 1e-5, true)
    };
    let (_, saved) = forward();
    vec![
        timed("normalisation and ReLU".into(), move || drop(forward())),
        timed("gradients of these".into(), move || {
            drop(internals::batch_norm_backward(
                saved.clone(),
                gradient.clone(),
            ));
        }),
    ]
}
