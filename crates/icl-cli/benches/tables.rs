//! Speed on tables: a training step of a perceptron next to PyTorch's, and the share of views in an epoch. Run by
//! `cargo xtask bench tables`.
//!
//! Both sides take turns of steps, so that other work on the machine falls on both. A turn begins with steps
//! that do not count, while threads of the other side still spin. Both use as many threads:
//! `RAYON_NUM_THREADS`, else all. PyTorch's side needs a Python with it: `PYTHON`, else `python3`; without it
//! its rows are missing. Tables that are not there are skipped, and said to be. Nothing is asserted: a
//! machine's speed is no property of the program.

mod peer;

use std::error::Error;
use std::time::Instant;

use burn::backend::{Autodiff, Flex};
use burn::optim::{GradientsParams, Optimizer};
use burn::tensor::{Distribution, Tensor};
use icl_core::{Encoder, GrowthRatio, InfoNce, InfoNceConfig, Mode, Seed, Stack};
use icl_data::catalogue;
use icl_data::{NoiseKind, RawTable, Split, TableOptions, TableViewsConfig, TabularDataset};
use icl_models::{Mlp, MlpConfig};
use icl_train::{Callbacks, Method, OnePassAdam, StopRule, Trainer, TrainingSettings};

use crate::peer::{Peer, n_threads};

type B = Autodiff<Flex>;

/// Number of columns of the rows of a step.
const N_COLUMNS: usize = 64;
const WIDTH: usize = 256;
const N_LAYERS: usize = 4;
/// Turns of each side that count, after one that does not.
const N_TURNS: usize = 8;
/// Steps of a turn that do not count, and those that do.
const N_WARM: usize = 10;
const N_STEPS: usize = 50;

const PARTS: [&str; 4] = ["forward", "loss", "backward", "update"];

fn main() -> Result<(), Box<dyn Error>> {
    steps(n_threads()?)?;
    for name in ["LetterRecognition", "Satellite"] {
        let path = catalogue::folder()
            .join("tabular")
            .join(format!("{name}.csv.gz"));
        if !path.exists() {
            println!("\n{name}: skipped, {} is not there", path.display());
            continue;
        }
        let options = TableOptions {
            target: Some("class".to_owned()),
            ..TableOptions::default()
        };
        let table = icl_data::read_table(&path, &options)?;
        println!("\n{name}: {} rows\n", table.n_rows());
        println!(
            "| noise | batch | epoch, ms | steps | waiting | views next to them | collation |"
        );
        println!("|---|---|---|---|---|---|---|");
        for noise in [NoiseKind::Auto, NoiseKind::Linear, NoiseKind::Plus] {
            for batch in [32, 256] {
                epochs(&table, noise, batch)?;
            }
        }
    }
    Ok(())
}

/// Steps on ready rows: forward, InfoNCE of the first half with the second, backward, Adam.
fn steps(n_threads: usize) -> Result<(), Box<dyn Error>> {
    let mut peer = Peer::start("tables.py", &[n_threads.to_string().into()]);
    let name = peer.as_ref().map_or("no PyTorch found", |peer| &peer.name);
    println!(
        "Perceptron, {N_COLUMNS} columns, {N_LAYERS} layers of width {WIDTH}; {n_threads} threads; \
         {N_TURNS} turns of {N_STEPS} steps each; {name}\n"
    );
    println!("| rows | side | least step, ms | median | forward | loss | backward | update |");
    println!("|---|---|---|---|---|---|---|---|");
    for n_rows in [256, 512] {
        let mut ours = Ours::new(n_rows);
        let mut sides: [Vec<Step>; 2] = Default::default();
        for turn in 0..=N_TURNS {
            let ours = ours.turn();
            let theirs = peer
                .as_mut()
                .map(|peer| turn_of(peer, n_rows))
                .transpose()?;
            let turns = [ours, theirs.unwrap_or_default()];
            if turn > 0 {
                for (side, steps) in sides.iter_mut().zip(turns) {
                    side.extend(steps);
                }
            }
        }
        let spreads = sides.map(|steps| Spread::of(&steps));
        for (name, spread) in ["icl", "PyTorch"].iter().zip(&spreads) {
            let Some(spread) = spread else { continue };
            let parts = spread.parts.map(|part| format!("{part:.3}")).join(" | ");
            println!(
                "| {n_rows} | {name} | {:.3} | {:.3} | {parts} |",
                spread.least, spread.median
            );
        }
        if let [Some(ours), Some(theirs)] = &spreads {
            let parts: [String; PARTS.len()] = std::array::from_fn(|part| {
                let ratio = ours.parts[part] / theirs.parts[part];
                format!("{ratio:.2}")
            });
            println!(
                "| {n_rows} | ratio | {:.2} | {:.2} | {} |",
                ours.least / theirs.least,
                ours.median / theirs.median,
                parts.join(" | ")
            );
        }
    }
    Ok(())
}

/// Milliseconds of the [`PARTS`] of a step.
type Step = [f64; PARTS.len()];

/// This project's side.
struct Ours<O> {
    encoder: Option<Mlp<B>>,
    optimizer: O,
    rows: Tensor<B, 2>,
    loss: InfoNce,
}

impl Ours<()> {
    fn new(n_rows: usize) -> Ours<impl Optimizer<Mlp<B>, B>> {
        let device = Default::default();
        let config = MlpConfig::new(N_COLUMNS)
            .with_n_layers(N_LAYERS)
            .with_width(WIDTH);
        let normal = Distribution::Normal(0.0, 1.0);
        Ours {
            encoder: Some(config.init(Seed::new(0), &device)),
            optimizer: OnePassAdam::init(),
            rows: Tensor::random([n_rows, N_COLUMNS], normal, &device),
            loss: InfoNceConfig::new().init(),
        }
    }
}

impl<O: Optimizer<Mlp<B>, B>> Ours<O> {
    fn turn(&mut self) -> Vec<Step> {
        for _ in 0..N_WARM {
            self.step();
        }
        (0..N_STEPS).map(|_| self.step()).collect()
    }

    fn step(&mut self) -> Step {
        let mut parts = [0.0; PARTS.len()];
        let mut clock = Instant::now();
        let mut lap = |part: usize| {
            parts[part] = clock.elapsed().as_secs_f64() * 1e3;
            clock = Instant::now();
        };
        let mut rng = Seed::new(0).rng();
        self.encoder = self.encoder.take().map(|encoder| {
            let embeddings = encoder.encode(self.rows.clone(), Mode::Training(&mut rng));
            lap(0);
            let [n_rows, _] = embeddings.dims();
            let half = n_rows / 2;
            let anchors = embeddings.clone().narrow(0, 0, half);
            let loss = self.loss.forward(anchors, embeddings.narrow(0, half, half));
            lap(1);
            let gradients = GradientsParams::from_grads(loss.backward(), &encoder);
            lap(2);
            let encoder = self.optimizer.step(1e-3, encoder, gradients);
            lap(3);
            encoder
        });
        parts
    }
}

/// A turn of PyTorch's side.
fn turn_of(peer: &mut Peer, n_rows: usize) -> Result<Vec<Step>, Box<dyn Error>> {
    peer.request(n_rows)?;
    let step = |_| -> Result<Step, Box<dyn Error>> {
        let mut parts = [0.0; PARTS.len()];
        for (part, seconds) in parts.iter_mut().zip(peer.answer()?.split(' ')) {
            *part = seconds.parse::<f64>()? * 1e3;
        }
        Ok(parts)
    };
    (0..N_STEPS).map(step).collect()
}

/// Times in milliseconds.
struct Spread {
    least: f64,
    median: f64,
    /// Median of each part.
    parts: Step,
}

impl Spread {
    /// None of no steps.
    fn of(steps: &[Step]) -> Option<Self> {
        let whole = sorted(steps.iter().map(|step| step.iter().sum()));
        Some(Self {
            least: *whole.first()?,
            median: *whole.get(whole.len() / 2)?,
            parts: std::array::from_fn(|part| {
                sorted(steps.iter().map(|step| step[part]))[steps.len() / 2]
            }),
        })
    }
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// Whole epochs of the trainer, views and collation included.
fn epochs(table: &RawTable, noise: NoiseKind, batch_size: usize) -> Result<(), Box<dyn Error>> {
    const N_EPOCHS: usize = 5;
    let half = GrowthRatio::try_new(0.5)?;
    let (data, increment) = TabularDataset::split(table, Split::Random, half, Seed::new(0))?;
    let views = TableViewsConfig::new()
        .with_noise(noise)
        .try_init(data.schema())?;
    let settings = TrainingSettings {
        epochs: N_EPOCHS,
        stop: StopRule::Never,
        evaluate_every: Some(N_EPOCHS),
        batch_size,
        ..Default::default()
    };
    let trainer = Trainer::<B, _, _, _>::new(&data, views, Stack, &increment).settings(settings);
    let config = MlpConfig::new(data.d_features())
        .with_n_layers(N_LAYERS)
        .with_width(WIDTH);
    let encoder: Mlp<B> = config.init(Seed::new(0), &Default::default());
    let (method, fresh) = (Method::named("retraining")?, Some(encoder.clone()));
    let record = trainer
        .update_with(&method, encoder, fresh, &mut Callbacks::new())?
        .record;
    let ends = &record.epoch_ends_s;
    let epochs = ends.windows(2).map(|pair| 1e3 * (pair[1] - pair[0]));
    let epochs = sorted(std::iter::once(1e3 * ends[0]).chain(epochs));
    let seconds = record.seconds;
    let share = |part: f64| 100.0 * part / seconds.training();
    println!(
        "| {noise} | {batch_size} | {:.0} | {:.0} % | {:.0} % | {:.1} % | {:.1} % |",
        epochs[epochs.len() / 2],
        share(seconds.steps),
        share(seconds.wait),
        share(seconds.views),
        share(seconds.collation),
    );
    Ok(())
}
