//! Speed on images: training steps next to PyTorch's. Run by `cargo xtask bench vision`.
//!
//! Both take turns, step by step, so that what else the machine does falls on both. They use as many
//! threads: `RAYON_NUM_THREADS`, else all. PyTorch's side needs a Python with torchvision: `PYTHON`,
//! else `python3`; without it its columns stay empty. Nothing is asserted: a machine's speed is no
//! property of the program.

mod peer;

use std::error::Error;
use std::fmt;
use std::time::Instant;

use burn::backend::{Autodiff, Flex};
use burn::module::AutodiffModule;
use burn::optim::{GradientsParams, Optimizer};
use burn::tensor::{Distribution, Tensor};
use icl_core::{Encoder, Mode, Seed};
use icl_models::{ConvNet, ConvNetConfig, ResNet, ResNetConfig, Stem};
use icl_train::OnePassAdam;

use crate::peer::{Peer, n_threads};

type B = Autodiff<Flex>;

/// Steps of each side that count, after one that does not.
const N_ROUNDS: usize = 10;

const CASES: [Case; 6] = [
    case(Network::ResNet(Stem::Standard), 64, 3, 32),
    case(Network::ResNet(Stem::Small), 28, 3, 32),
    case(Network::ConvNet, 28, 1, 32),
    case(Network::ConvNet, 28, 1, 256),
    case(Network::ConvNet, 64, 3, 32),
    case(Network::ConvNet, 64, 3, 128),
];

fn main() -> Result<(), Box<dyn Error>> {
    steps(n_threads()?)
}

/// One training step: forward, the sum of features times fixed numbers, backward, Adam.
fn steps(n_threads: usize) -> Result<(), Box<dyn Error>> {
    let mut peer = Peer::start("vision.py", &[n_threads.to_string().into()]);
    let name = peer.as_ref().map_or("no PyTorch found", |peer| &peer.name);
    println!("\n{n_threads} threads; {N_ROUNDS} steps each, by turns; {name}\n");
    println!(
        "| step | icl minimum, ms | median | PyTorch minimum, ms | median | ratio of minima | of medians |"
    );
    println!("|---|---|---|---|---|---|---|");
    for case in CASES {
        let mut ours = ours(&case);
        let mut times: [Vec<f64>; 2] = Default::default();
        for round in 0..=N_ROUNDS {
            let our_time = ours.step_ms();
            let their_time = peer.as_mut().map(|peer| step_of(peer, &case)).transpose()?;
            if round > 0 {
                times[0].push(our_time);
                times[1].extend(their_time);
            }
        }
        let [ours, theirs] = times.map(|times| Spread::of(&times));
        match (ours, theirs) {
            (Some(ours), Some(theirs)) => println!(
                "| {case} | {ours} | {theirs} | {:.2} | {:.2} |",
                ours.minimum / theirs.minimum,
                ours.median / theirs.median
            ),
            (Some(ours), None) => println!("| {case} | {ours} | – | – | – | – |"),
            (None, _) => {}
        }
    }
    Ok(())
}

/// Encoder of a case.
#[derive(Debug, Clone, Copy)]
enum Network {
    ResNet(Stem),
    ConvNet,
}

/// A network and its batch.
struct Case {
    network: Network,
    side: usize,
    n_channels: usize,
    n_images: usize,
}

const fn case(network: Network, side: usize, n_channels: usize, n_images: usize) -> Case {
    Case {
        network,
        side,
        n_channels,
        n_images,
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            network,
            side,
            n_channels,
            n_images,
        } = self;
        match network {
            Network::ResNet(stem) => write!(f, "ResNet-18, {stem:?} stem")?,
            Network::ConvNet => write!(f, "ConvNet")?,
        }
        write!(f, ", {n_images}x{n_channels}x{side}x{side}")
    }
}

/// This project's side of a case.
struct Ours<M, O> {
    encoder: Option<M>,
    optimizer: O,
    images: Tensor<B, 4>,
    fixed: Tensor<B, 2>,
}

/// Creates this project's side of a case.
fn ours(case: &Case) -> Box<dyn Steps> {
    let device = Default::default();
    match case.network {
        Network::ResNet(stem) => {
            let config = ResNetConfig::new(case.n_channels).with_stem(stem);
            let encoder: ResNet<B> = config.init(Seed::new(0), &device);
            Box::new(of_encoder(case, encoder, 512))
        }
        Network::ConvNet => {
            let config = ConvNetConfig::new(case.n_channels);
            let encoder: ConvNet<B> = config.init(Seed::new(0), &device);
            Box::new(of_encoder(case, encoder, config.d_features()))
        }
    }
}

fn of_encoder<M: AutodiffModule<B> + Encoder<B, Batch = Tensor<B, 4>>>(
    case: &Case,
    encoder: M,
    d_features: usize,
) -> Ours<M, impl Optimizer<M, B> + use<M>> {
    let device = Default::default();
    let normal = Distribution::Normal(0.0, 1.0);
    let shape = [case.n_images, case.n_channels, case.side, case.side];
    Ours {
        encoder: Some(encoder),
        optimizer: OnePassAdam::init(),
        images: Tensor::random(shape, normal, &device),
        fixed: Tensor::random([case.n_images, d_features], normal, &device),
    }
}

/// Side that takes steps.
trait Steps {
    /// Returns the time of one step, in milliseconds.
    fn step_ms(&mut self) -> f64;
}

impl<M, O> Steps for Ours<M, O>
where
    M: AutodiffModule<B> + Encoder<B, Batch = Tensor<B, 4>>,
    O: Optimizer<M, B>,
{
    fn step_ms(&mut self) -> f64 {
        let mut rng = Seed::new(0).rng();
        let start = Instant::now();
        self.encoder = self.encoder.take().map(|encoder| {
            let embeddings = encoder.encode(self.images.clone(), Mode::Training(&mut rng));
            let loss = (embeddings * self.fixed.clone()).sum();
            let gradients = GradientsParams::from_grads(loss.backward(), &encoder);
            self.optimizer.step(1e-3, encoder, gradients)
        });
        start.elapsed().as_secs_f64() * 1e3
    }
}

/// The time of a step of PyTorch's side, in milliseconds.
fn step_of(peer: &mut Peer, case: &Case) -> Result<f64, Box<dyn Error>> {
    let Case {
        network,
        side,
        n_channels,
        n_images,
    } = case;
    let network = match network {
        Network::ResNet(stem) => format!("{stem:?}"),
        Network::ConvNet => "ConvNet".to_owned(),
    };
    peer.request(format_args!("{network} {side} {n_channels} {n_images}"))?;
    Ok(peer.answer()?.parse()?)
}

struct Spread {
    minimum: f64,
    median: f64,
}

impl Spread {
    /// None of no values.
    fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        Some(Self {
            minimum: *sorted.first()?,
            median: *sorted.get(sorted.len() / 2)?,
        })
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} | {:.1}", self.minimum, self.median)
    }
}
