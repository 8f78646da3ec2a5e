//! Proteins as graphs: the old ones are small, the new ones are large.
//!
//! Shows an update under a shift of the distribution, and that accuracy says little here: it stands
//! beside its floors. The four steps are those of every use of the library: train θ₀ on the old data,
//! update it by the default method, retrain for comparison, measure all of them in the same way.

#[path = "../../table.rs"]
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Error, Result};
use burn::backend::{Autodiff, Flex};
use burn::module::AutodiffModule;
use clap::Parser;
use icl::core::{GrowthRatio, Seed};
use icl::data::{Graph, GraphCollate, GraphDataset, GraphViewsConfig, Split, read_tu};
use icl::eval::{Accuracies, Accuracy, Judgement, KnnProtocolConfig, Matrix};
use icl::models::{Gcn, GcnConfig};
use icl::train::{Method, Trainer, TrainingSettings};
use table::Row;

type B = Autodiff<Flex>;

/// Updates an encoder of proteins: old graphs are small, new ones large
#[derive(Parser)]
struct Arguments {
    /// The data set as zip or folder, in the TU format [default: graphs/PROTEINS.zip below
    /// ICL_DATA_DIR, else below ../shared/data]
    #[arg(long)]
    data: Option<PathBuf>,
    /// The most epochs of each training
    #[arg(long, default_value_t = 300)]
    epochs: usize,
    /// What all randomness comes from
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let path = arguments.data.clone().unwrap_or_else(|| {
        let folder = std::env::var_os("ICL_DATA_DIR").unwrap_or_else(|| "../shared/data".into());
        PathBuf::from(folder).join("graphs/PROTEINS.zip")
    });
    if !path.exists() {
        eprintln!(
            "{}: found nothing, expected the data set; download PROTEINS.zip from \
             https://chrsmrrs.github.io/datasets/ and name it with --data",
            path.display()
        );
        return Ok(ExitCode::from(2));
    }
    compare(&read_tu(&path)?, &arguments)?;
    Ok(ExitCode::SUCCESS)
}

fn compare(data: &GraphDataset, arguments: &Arguments) -> Result<()> {
    let seed = Seed::new(arguments.seed);
    let device = Default::default();
    let increment = data.increment(Split::Size, GrowthRatio::try_new(0.5)?, seed.child("data"))?;
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
    let untrained: Gcn<B> = GcnConfig::new(data.d_features()).init(seed.child("init"), &device);
    let first = trainer.pretrain(untrained.clone())?;
    // Today: the new data are there.
    let updated = trainer.update(&Method::icl(), first.trained.clone())?;
    // What it would have cost without θ₀.
    let retrained = trainer.update(&Method::retraining(), untrained.clone())?;

    // All are measured on the same views and the same folds.
    let evaluator = trainer.evaluator();
    let labels = data.labels();
    let knn = KnnProtocolConfig::default().try_init()?;
    let raw: Vec<f64> = data.graphs().iter().flat_map(summed_features).collect();
    let raw = Matrix::try_new(raw, data.d_features())?;
    let judge = Accuracies::new(&knn, &labels, seed.child("folds")).with_raw(&raw);
    let measure = |name, encoder: &Gcn<Flex>| -> Result<(Row, Judgement)> {
        let measured = evaluator.measure(&judge, encoder.clone(), untrained.valid());
        let measured = measured.map_err(Error::from_boxed)?;
        let accuracy = measured.judgement.accuracy.all.as_ref();
        let accuracy = accuracy.context("the data have a single class")?.mean;
        Ok((Row::new(name, measured.risk, accuracy), measured.judgement))
    };
    let (row, Judgement { floors, .. }) = measure("untrained", &untrained.valid())?;
    let rows = [
        row,
        measure("θ₀", &first.encoder)?.0.after(&first),
        measure("updated", &updated.encoder)?.0.after(&updated),
        measure("retrained", &retrained.encoder)?
            .0
            .after(&retrained),
    ];
    let mean = |floor: Option<Accuracy>| floor.map_or(f64::NAN, |floor| floor.mean);
    table::print(
        &rows,
        &[
            ("raw features", mean(floors.all.raw)),
            ("untrained encoder", mean(floors.all.untrained)),
        ],
    );
    println!("{}", table::verdict(&updated.record, &retrained.record));
    Ok(())
}

/// What a graph says without any encoder: the sum of its nodes' features.
fn summed_features(graph: &Graph) -> Vec<f64> {
    let mut sum = vec![0.0; graph.d_features()];
    for node in 0..graph.n_nodes() {
        for (sum, feature) in sum.iter_mut().zip(graph.node_features(node)) {
            *sum += f64::from(*feature);
        }
    }
    sum
}
