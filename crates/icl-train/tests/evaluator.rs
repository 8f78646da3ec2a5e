//! An evaluator without a trainer, against a double loop and against the trainer's.

use burn::module::AutodiffModule;
use icl_core::testing::{TestBackend, to_vec};
use icl_core::{Increment, Seed, Views};
use icl_train::{Evaluator, TrainErrorKind, TrainingSettings};

use crate::toy::{Jitter, Linear, Stack, increment, own_seed, points, start, trainer};

type Found = (f64, f64);

const TEMPERATURE: f64 = 0.3;
const NEGATIVES: f64 = 12.0;

/// Mean and standard error.
fn summary(losses: &[f64]) -> Found {
    let n = losses.len() as f64;
    let mean = losses.iter().sum::<f64>() / n;
    let squares: f64 = losses.iter().map(|loss| (loss - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0) / n).sqrt())
}

/// The loss of each held-out sample, pair by pair: NCE-I under the mixed noise of all other samples.
fn losses(encoder: &Linear<TestBackend>, held_out: &Increment, seed: u64) -> Vec<f64> {
    let samples = points();
    let weight = to_vec(&encoder.weight.val());
    let seed = Seed::new(seed).child("evaluation");
    let embedding = |index: usize, side: u64| -> Vec<f64> {
        let own = own_seed(seed, index, 0);
        let view = Jitter.view(&samples[index], &mut own.at(side).rng());
        let row: Vec<f64> = (0..4)
            .map(|j| (0..4).map(|i| f64::from(view[i]) * weight[4 * i + j]).sum())
            .collect();
        let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        row.into_iter().map(|x| x / length).collect()
    };
    let (all, n_old) = (held_out.all(), held_out.old().len());
    let alpha = (all.len() - n_old) as f64 / all.len() as f64;
    let score = |anchor: usize, other: usize| -> f64 {
        let [anchor, other] = [embedding(all[anchor], 0), embedding(all[other], 1)];
        let cosine: f64 = anchor.iter().zip(&other).map(|(x, y)| x * y).sum();
        (cosine / TEMPERATURE).exp()
    };
    let loss = |anchor: usize| {
        let (mut sums, mut counts) = ([0.0; 2], [0.0; 2]);
        for other in (0..all.len()).filter(|&other| other != anchor) {
            let origin = usize::from(other >= n_old);
            sums[origin] += score(anchor, other);
            counts[origin] += 1.0;
        }
        let noise = (1.0 - alpha) * sums[0] / counts[0] + alpha * sums[1] / counts[1];
        let positive = score(anchor, anchor);
        -(positive / (positive + NEGATIVES * noise)).ln()
    };
    (0..all.len()).map(loss).collect()
}

#[test]
fn the_held_out_risk_is_that_of_a_double_loop() {
    let samples = points();
    let held_out = Increment::try_new((40..60).collect(), (75..90).collect()).unwrap();
    let encoder = start().valid();
    for seed in [0, 5] {
        let evaluator =
            Evaluator::<TestBackend, _, _, _>::new(&samples, &Jitter, &Stack, &held_out)
                .with_temperature(TEMPERATURE)
                .with_negatives(NEGATIVES)
                .with_seed(seed);
        let found = evaluator.held_out_risk(&encoder, &held_out).unwrap();
        let losses = losses(&encoder, &held_out, seed);
        let (mean, error) = (found.mean, found.standard_error);
        for (found, losses) in [
            ((mean.all, error.all), &losses[..]),
            ((mean.old, error.old), &losses[..20]),
            ((mean.new, error.new), &losses[20..]),
        ] {
            let expected = summary(losses);
            assert!(
                (found.0 - expected.0).abs() < 1e-5 * expected.0,
                "{found:?}, {expected:?}"
            );
            assert!(
                (found.1 - expected.1).abs() < 1e-5 * expected.0,
                "{found:?}, {expected:?}"
            );
        }
    }
}

/// Without settings it has those of the trainer by default, and then the same bits.
#[test]
fn an_evaluator_alone_is_that_of_the_trainer() {
    let (samples, increment) = (points(), increment());
    let held_out = Increment::try_new((40..60).collect(), (75..90).collect()).unwrap();
    let encoder = start().valid();
    let alone = || Evaluator::<TestBackend, _, _, _>::new(&samples, &Jitter, &Stack, &increment);
    let of_trainer = TrainingSettings {
        temperature: 0.2,
        negatives: 7.0,
        ..Default::default()
    };
    for (alone, settings, seed) in [
        (alone(), TrainingSettings::default(), 0),
        (
            alone()
                .with_temperature(0.2)
                .with_negatives(7.0)
                .with_seed(3),
            of_trainer,
            3,
        ),
    ] {
        let trainer = trainer(&samples, &increment, &settings, seed);
        let [found, expected] = [alone, trainer.evaluator()].map(|by| {
            let of_held_out = by.held_out_risk(&encoder, &held_out).unwrap();
            (by.evaluate(encoder.clone()).unwrap().risk, of_held_out)
        });
        assert_eq!(found, expected);
    }
}

#[test]
fn a_temperature_of_0_is_an_error() {
    let (samples, held_out) = (points(), increment());
    let evaluator = Evaluator::<TestBackend, _, _, _>::new(&samples, &Jitter, &Stack, &held_out);
    let error = evaluator
        .with_temperature(0.0)
        .held_out_risk(&start().valid(), &held_out);
    assert_eq!(error.unwrap_err().kind(), TrainErrorKind::Invalid);
}
