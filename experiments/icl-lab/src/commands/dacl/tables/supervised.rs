//! The encoder with a linear classifier, trained with labels.

use crate::pages::dacl::DaclAccuracies;
use burn::module::AutodiffModule;
use burn::optim::{GradientsParams, Optimizer};
use burn::tensor::activation::log_softmax;
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{Tensor, TensorData};
use icl_cli::parts::{Failure, interrupt};
use icl_core::{Encoder, Mode, Seed, host_values};
use icl_models::{Mlp, MlpConfig};
use icl_train::OnePassAdam;
use rand::seq::SliceRandom;

use crate::commands::dacl::classifiers::share;
use crate::commands::dacl::tables::divided_table::DividedTable;

/// Learning rates to choose from.
const RATES: [f64; 2] = [1e-3, 3e-3];
/// Maximum batch size.
const BATCH: usize = 128;
/// Number of epochs without a better validation accuracy after which the training ends.
const PATIENCE: usize = 10;
/// Number of rows per pass without gradients.
const CHUNK: usize = 512;

/// Trains an encoder with one affine layer on it by cross entropy, and returns its accuracy on the test
/// rows at the learning rate and epoch that are best on the validation rows.
///
/// Gradients are of the rows for fitting alone. `encoder` is the configuration without a head.
///
/// # Errors
/// If it is interrupted, or the configuration is not valid.
pub fn supervised<B: AutodiffBackend>(
    table: &DividedTable,
    encoder: &MlpConfig,
    max_epochs: usize,
    seed: Seed,
    device: &B::Device,
) -> Result<DaclAccuracies, Failure> {
    let config = MlpConfig {
        projection: Some(table.data.class_names().len()),
        n_projection_layers: 1,
        ..encoder.clone()
    };
    let mut best = DaclAccuracies::default();
    for rate in RATES {
        let model: Mlp<B> = config
            .try_init(seed.child("encoder"), device)
            .map_err(Failure::input)?;
        let seed = seed.child("supervised");
        fit(table, model, (rate, max_epochs), seed, device, &mut best)?;
    }
    Ok(best)
}

/// Trains one model with a learning rate, and keeps the accuracies of the best epoch in `best`.
fn fit<B: AutodiffBackend>(
    table: &DividedTable,
    mut model: Mlp<B>,
    (rate, max_epochs): (f64, usize),
    seed: Seed,
    device: &B::Device,
    best: &mut DaclAccuracies,
) -> Result<(), Failure> {
    let mut optimizer = OnePassAdam::init::<Mlp<B>, B>();
    let mut rows = table.split.fitting.clone();
    let batch = BATCH.min(rows.len() / 4).max(2);
    // The best of this learning rate, by which the training ends.
    let (mut highest, mut n_worse) = (f64::NEG_INFINITY, 0);
    for epoch in 0..max_epochs {
        rows.shuffle(&mut seed.child("order").at(epoch as u64).rng());
        // The statistics of a batch need two rows.
        for chunk in rows.chunks(batch).filter(|chunk| chunk.len() > 1) {
            if interrupt::requested() {
                return Err(Failure::Interrupted(anyhow::anyhow!("interrupted")));
            }
            let loss = cross_entropy(table, &model, chunk, device);
            let gradients = GradientsParams::from_grads(loss.backward(), &model);
            model = optimizer.step(rate, model, gradients);
        }
        let trained = table.recalibrated(model.valid(), device)?;
        let accuracy = |rows: &[usize]| {
            let labels: Vec<usize> = rows.iter().map(|&row| table.data.labels()[row]).collect();
            share(&predicted(table, &trained, rows, device), &labels)
        };
        let validation = accuracy(&table.split.validation);
        if best.validation.is_none_or(|best| validation > best) {
            best.validation = Some(validation);
            best.own = Some(accuracy(&table.split.test));
        }
        if validation > highest {
            (highest, n_worse) = (validation, 0);
        } else {
            n_worse += 1;
        }
        if n_worse == PATIENCE {
            break;
        }
    }
    Ok(())
}

/// Computes the mean cross entropy of some rows in training.
fn cross_entropy<B: AutodiffBackend>(
    table: &DividedTable,
    model: &Mlp<B>,
    rows: &[usize],
    device: &B::Device,
) -> Tensor<B, 1> {
    // The encoder draws nothing in training.
    let mut rng = Seed::new(0).rng();
    let logits = model.encode(table.tensor::<B>(rows, device), Mode::Training(&mut rng));
    let n_classes = logits.dims()[1];
    let mut is_class = vec![0_f32; rows.len() * n_classes];
    for (place, &row) in rows.iter().enumerate() {
        is_class[place * n_classes + table.data.labels()[row]] = 1.0;
    }
    let is_class = TensorData::new(is_class, [rows.len(), n_classes]);
    let is_class = Tensor::<B, 2>::from_data(is_class, device);
    (log_softmax(logits, 1) * is_class).sum().neg() / rows.len() as f64
}

/// Predicts the class of each row: that of the largest logit, the first of several.
fn predicted<B: Backend>(
    table: &DividedTable,
    model: &Mlp<B>,
    rows: &[usize],
    device: &B::Device,
) -> Vec<usize> {
    let mut classes = Vec::with_capacity(rows.len());
    for chunk in rows.chunks(CHUNK) {
        let logits = model.encode(table.tensor::<B>(chunk, device), Mode::Evaluation);
        let n_classes = logits.dims()[1];
        classes.extend(host_values(logits).chunks(n_classes).map(|logits| {
            let mut largest = 0;
            for (class, logit) in logits.iter().enumerate() {
                if *logit > logits[largest] {
                    largest = class;
                }
            }
            largest
        }));
    }
    classes
}
