//! Speed on graphs: steps, epochs, and where their time goes. Run by `cargo xtask bench graphs`.
//!
//! Data sets that are not there are skipped, and said to be. Nothing is asserted: a machine's speed
//! is no property of the program.

use std::error::Error;
use std::time::Instant;

use burn::backend::{Autodiff, Flex};
use burn::optim::{AdamConfig, GradientsParams, Optimizer};
use icl_core::{Collate, Encoder, GrowthRatio, InfoNceConfig, Mode, Seed, Views};
use icl_data::catalogue;
use icl_data::{GraphCollate, GraphDataset, GraphView, GraphViewsConfig, Split};
use icl_models::{Gcn, GcnConfig};
use icl_train::{Callbacks, Method, StopRule, Trainer, TrainingSettings};

type B = Autodiff<Flex>;

fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "median [minimum–maximum]; {} threads",
        std::thread::available_parallelism()?
    );
    for (name, n_epochs) in [("PROTEINS", 20), ("REDDIT-BINARY", 3)] {
        let path = catalogue::folder()
            .join("graphs")
            .join(format!("{name}.zip"));
        if !path.exists() {
            println!("{name}: skipped, {} is not there", path.display());
            continue;
        }
        let data = icl_data::read_tu(&path)?;
        let counts = data.counts();
        println!(
            "\n{name}: {} graphs of {:.0} nodes on average",
            counts.n_graphs,
            counts.n_nodes as f64 / counts.n_graphs as f64
        );
        for n_graphs in [32, 64] {
            step(&data, n_graphs);
        }
        for label in [
            "retraining",
            "icl-corrected-wo-m-lrl",
            "icl-published-wo-m-lrl",
        ] {
            epochs(&data, label, n_epochs)?;
        }
        println!("  peak memory so far: {} MiB", peak_memory_mib());
    }
    Ok(())
}

/// One step on ready batches: forward, NCE-I, backward, update.
fn step(data: &GraphDataset, n_graphs: usize) {
    let device = Default::default();
    let views = GraphViewsConfig::new().init();
    let graphs = data.graphs();
    let batches: Vec<Vec<GraphView>> = (0..8)
        .map(|batch| {
            (0..n_graphs)
                .map(|at| {
                    let position = batch * n_graphs / 2 + at % (n_graphs / 2);
                    // A prime stride goes through the whole data set, whatever its order.
                    let index = position * 7919 % graphs.len();
                    let mut rng = Seed::new(0).at(batch as u64).at(at as u64).rng();
                    views.view(&graphs[index], &mut rng)
                })
                .collect()
        })
        .collect();
    let mut encoder: Gcn<B> = GcnConfig::new(data.d_features()).init(Seed::new(0), &device);
    let mut optimizer = AdamConfig::new().init();
    let loss = InfoNceConfig::new().with_negatives(Some(31.0)).init();
    let mut parts: [Vec<f64>; 5] = Default::default();
    for round in 0..200 {
        let mut rng = Seed::new(1).at(round).rng();
        let mut clock = Instant::now();
        let mut lap = |part: usize| {
            parts[part].push(clock.elapsed().as_secs_f64() * 1e3);
            clock = Instant::now();
        };
        let batch = GraphCollate.collate(&batches[round as usize % 8], &device);
        lap(0);
        let embeddings = encoder.encode(batch, Mode::Training(&mut rng));
        lap(1);
        let half = n_graphs / 2;
        let value = loss.forward(
            embeddings.clone().narrow(0, 0, half),
            embeddings.narrow(0, half, half),
        );
        lap(2);
        let gradients = GradientsParams::from_grads(value.backward(), &encoder);
        lap(3);
        encoder = optimizer.step(1e-3, encoder, gradients);
        lap(4);
    }
    let totals: Vec<f64> = (0..parts[0].len())
        .map(|round| (1..5).map(|part| parts[part][round]).sum())
        .collect();
    let n_nodes: usize = batches.iter().flatten().map(|view| view.kept().len()).sum();
    println!(
        "  step on {n_graphs} graphs of {:.0} nodes: {} ms",
        n_nodes as f64 / (8 * n_graphs) as f64,
        spread(&totals)
    );
    for (part, name) in ["collation", "forward", "loss", "backward", "update"]
        .iter()
        .enumerate()
    {
        println!("    {name:<10} {} ms", spread(&parts[part]));
    }
}

/// Whole epochs of the trainer, views and collation included.
fn epochs(data: &GraphDataset, label: &str, n_epochs: usize) -> Result<(), Box<dyn Error>> {
    let increment = data.increment(Split::Random, GrowthRatio::try_new(0.5)?, Seed::new(0))?;
    let views = GraphViewsConfig::new().init();
    let settings = TrainingSettings {
        epochs: n_epochs,
        stop: StopRule::Never,
        evaluate_every: Some(n_epochs),
        ..Default::default()
    };
    let trainer =
        Trainer::<B, _, _, _>::new(data, views, GraphCollate, &increment).settings(settings);
    let encoder: Gcn<B> = GcnConfig::new(data.d_features()).init(Seed::new(0), &Default::default());
    let (method, fresh) = (Method::named(label)?, Some(encoder.clone()));
    let outcome = trainer.update_with(&method, encoder, fresh, &mut Callbacks::new())?;
    let record = outcome.record;
    let ends = &record.epoch_ends_s;
    let epochs: Vec<f64> = std::iter::once(ends[0])
        .chain(ends.windows(2).map(|pair| pair[1] - pair[0]))
        .map(|seconds| seconds * 1e3)
        .collect();
    let seconds = record.seconds;
    let total = seconds.training();
    println!(
        "  epoch of {label}: {} ms; steps {:.0} %, waiting for batches {:.0} % (views take {:.0} %, \
         collation {:.0} % next to them)",
        spread(&epochs),
        100.0 * seconds.steps / total,
        100.0 * seconds.wait / total,
        100.0 * seconds.views / total,
        100.0 * seconds.collation / total,
    );
    println!(
        "    one exact risk: {:.0} ms",
        1e3 * seconds.evaluation / record.evaluations.len() as f64
    );
    Ok(())
}

fn spread(values: &[f64]) -> String {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (first, last) = (sorted[0], sorted[sorted.len() - 1]);
    format!("{:.3} [{first:.3}–{last:.3}]", sorted[sorted.len() / 2])
}

/// The largest resident memory of this process so far; 0 where the system does not tell.
fn peak_memory_mib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<usize>().ok());
    kib.unwrap_or(0) / 1024
}
