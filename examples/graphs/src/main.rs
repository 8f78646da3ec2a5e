//! Keeps an encoder of graphs up to date. In PROTEINS the old graphs are small and the new ones large; `--data` takes
//! any data set in the TU format.
//!
//! The four steps are those of every use of the library: train θ₀ on the old data, update it by the default method,
//! retrain for comparison, measure all of them in the same way.

#[path = "../../table.rs"]
mod table;

use std::process::ExitCode;

use anyhow::Result;
use burn::backend::{Autodiff, Flex};
use clap::Parser;
use icl::data::{Graph, GraphCollate, GraphDataset, GraphViewsConfig, Split, catalogue, read_tu};
use icl::eval::{Accuracies, KnnProtocolConfig, Matrix};
use icl::models::{Gcn, GcnConfig};
use icl::prelude::*;

type B = Autodiff<Flex>;

/// Updates an encoder of graphs
#[derive(Parser)]
struct Arguments {
    /// Data set in the TU format: a name that `icl fetch` downloads, or the path of a zip or folder
    #[arg(long, default_value = "PROTEINS")]
    data: String,
    /// New graphs: the larger half (`size`), or any half (`random`)
    #[arg(long, default_value = "size")]
    split: Split,
    /// Maximum number of epochs of each training
    #[arg(long, default_value_t = 300)]
    epochs: usize,
    /// Seed of all randomness
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    match catalogue::locate(&arguments.data).and_then(read_tu) {
        Ok(data) => compare(&data, &arguments)?,
        Err(error) => {
            eprintln!("{error}");
            return Ok(ExitCode::from(2));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn compare(data: &GraphDataset, arguments: &Arguments) -> Result<()> {
    let seed = Seed::new(arguments.seed);
    let (split, alpha) = (arguments.split.clone(), GrowthRatio::try_new(0.5)?);
    let increment = data.increment(split, alpha, seed.child("data"))?;
    let (n_old, n_new) = (increment.old().len(), increment.new_data().len());
    println!("{}: {n_old} old graphs, {n_new} new ones", data.name());

    let views = GraphViewsConfig::new().init();
    let settings = TrainingSettings {
        epochs: arguments.epochs,
        ..Default::default()
    };
    let trainer = Trainer::<B, _, _, _>::new(data, &views, GraphCollate, &increment)
        .settings(settings)
        .seed(arguments.seed);

    // Yesterday: θ₀, from the old data alone.
    let config = GcnConfig::new(data.d_features());
    let untrained: Gcn<B> = config.init(seed.child("init"), &Default::default());
    let first = trainer.pretrain(untrained.clone())?;
    // Today: the new data are there.
    let updated = trainer.update(&Method::icl(), first.trained.clone())?;
    // What it would have cost without θ₀.
    let (theta0, fresh) = (first.trained.clone(), Some(untrained.clone()));
    let retrained =
        trainer.update_with(&Method::retraining(), theta0, fresh, &mut Callbacks::new())?;

    // All are measured on the same views and the same folds.
    let labels = data.labels();
    let knn = KnnProtocolConfig::default().try_init()?;
    let raw: Vec<f64> = data.graphs().iter().flat_map(summed_features).collect();
    let raw = Matrix::try_new(raw, data.d_features())?;
    let accuracies = Accuracies::new(&knn, &labels, seed.child("folds")).with_raw(&raw);
    table::print(
        &trainer,
        (&accuracies, "features"),
        &untrained,
        &first,
        [&updated, &retrained],
    )
}

/// Returns the features of a graph without any encoder: the sum over its nodes.
fn summed_features(graph: &Graph) -> Vec<f64> {
    let mut sum = vec![0.0; graph.d_features()];
    for node in 0..graph.n_nodes() {
        for (sum, feature) in sum.iter_mut().zip(graph.node_features(node)) {
            *sum += f64::from(*feature);
        }
    }
    sum
}
