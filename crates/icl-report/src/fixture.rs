//! Synthetic records for the tests of the report.

use icl_core::ExactRisk;
use icl_train::{Evaluation, Seconds, StepSeconds};

use crate::{
    AccuracyParts, BACKEND_SCHEMA, BackendRecord, EmbeddingMap, FloorParts, KeptNeighbours,
    RiskParts, RunRecord, SCHEMA, TRAIN_SCHEMA, TrainRecord, UPDATE_SCHEMA, UpdateRecord,
};

fn risk(all: f64, nce1_old: f64) -> ExactRisk {
    ExactRisk {
        all,
        old: all - 0.1,
        new: all + 0.1,
        nce1_old,
        bound: nce1_old / 2.0,
        nce2_old: all - 0.1 - nce1_old,
        change_ratio_old: 1.1,
        bias_inference_old: 0.1,
        bias_inference_new: -all,
        bias_fine_tuning_new: 0.2,
        theorem1_residual: 0.0,
    }
}

fn parts(all: f64) -> AccuracyParts {
    AccuracyParts {
        all: Some(all),
        old: Some(all + 0.01),
        new: Some(all - 0.02),
    }
}

/// A run of 40 epochs whose risk falls from `from` to `to`, and whose L^{I,X} drifts by `drift`.
pub(crate) fn run(method: &str, seed: u64, from: f64, to: f64, drift: f64, n: usize) -> RunRecord {
    let wobble = |epoch: usize| 0.02 * ((epoch as f64 * 1.7) + seed as f64).sin();
    let evaluations: Vec<Evaluation> = (0..=n)
        .map(|epoch| {
            let gone = 1.0 - (-(epoch as f64) / 8.0).exp();
            let swing = if epoch == 0 { 0.0 } else { wobble(epoch) };
            Evaluation {
                epoch,
                sample_passes: 376 * epoch as u64,
                train_s: 0.021 * epoch as f64,
                risk: risk(
                    from + (to - from) * gone + swing,
                    2.1 + drift * gone + swing,
                ),
                old_queue: None,
            }
        })
        .collect();
    let (start, end) = (evaluations[0].risk, evaluations[n].risk);
    RunRecord {
        schema: SCHEMA,
        method: method.to_owned(),
        seed,
        data: "MUTAG".to_owned(),
        alpha: 0.5,
        split: "random".to_owned(),
        n_old: 94,
        n_new: 94,
        backend: "flex".to_owned(),
        epochs: n,
        sample_passes: 376 * n as u64,
        train_s: 0.021 * n as f64,
        target: Some(2.3),
        epochs_to_target: None,
        passes_to_target: None,
        time_to_target_s: None,
        lowest_loss_epoch: (n > 0).then_some(n / 2),
        lowest_loss_s: (n > 0).then_some(0.021 * (n / 2) as f64),
        risk: RiskParts {
            all: end.all,
            old: end.old,
            new: end.new,
        },
        nce1_old: end.nce1_old,
        nce2_old: end.nce2_old,
        start,
        end,
        accuracy: parts(0.85 + 0.004 * seed as f64),
        floors: FloorParts {
            majority: parts(0.66),
            size: parts(0.84),
            raw: parts(0.83),
            untrained: parts(0.86),
        },
        linear_probe: None,
        knn: None,
        parameter_change: if n == 0 { 0.0 } else { 0.42 },
        seconds: Seconds::default(),
        evaluations,
        epoch_losses: vec![3.0; n],
        learning_rates: vec![0.003; n],
        support_learning_rates: Vec::new(),
        old_fractions: vec![1.0; n],
    }
}

/// One run of a method with nothing special about it.
pub(crate) fn record(method: &str, seed: u64) -> RunRecord {
    run(method, seed, 2.8, 2.25, 0.1, 40)
}

/// Seven methods with three seeds.
pub(crate) fn comparison() -> Vec<RunRecord> {
    let mut records = Vec::new();
    for seed in 1..=3 {
        let tilt = 0.03 * seed as f64;
        let arriving = |mut record: RunRecord, epoch: usize| {
            let at = &record.evaluations[epoch];
            record.epochs_to_target = Some(epoch);
            record.passes_to_target = Some(at.sample_passes);
            record.time_to_target_s = Some(at.train_s);
            record
        };
        let passes = 2 * seed as usize;
        records.extend([
            run("inference", seed, 2.8 + tilt, 2.8, 0.0, 0),
            arriving(
                run("retraining", seed, 3.4, 2.2 + tilt, 0.2, 60),
                30 + passes,
            ),
            arriving(
                run("warm", seed, 2.8 + tilt, 2.18 + tilt, 0.15, 40),
                10 + passes,
            ),
            arriving(
                run("warm-sub", seed, 2.8 + tilt, 2.2 + tilt, 0.1, 40),
                8 + passes,
            ),
            run("fine-tuning", seed, 2.8 + tilt, 2.95, 0.5, 40),
            run(
                "icl-published-wo-m-lrl",
                seed,
                2.8 + tilt,
                2.6 + tilt,
                0.7,
                40,
            ),
            arriving(
                run("icl-corrected", seed, 2.8 + tilt, 2.19 + tilt, 0.12, 40),
                9 + passes,
            ),
        ]);
    }
    records
}

/// Two noisy spirals, one a class, that each method turns a little further.
pub(crate) fn map(methods: &[&str], n: usize) -> EmbeddingMap {
    let turned = |by: f64| {
        (0..n)
            .map(|i| {
                let angle = i as f64 / 9.0 + by + (i % 2) as f64 * 3.0;
                let radius = 1.0 + (i * 7 % 13) as f64 / 6.0;
                [radius * angle.cos(), 0.6 * radius * angle.sin()]
            })
            .collect::<Vec<_>>()
    };
    EmbeddingMap {
        seed: 1,
        labels: (0..n).map(|i| i % 2).collect(),
        is_new: (0..n).map(|i| i % 3 == 0).collect(),
        before: turned(0.0),
        after: methods
            .iter()
            .enumerate()
            .map(|(i, method)| ((*method).to_owned(), turned(0.4 * (i + 1) as f64)))
            .collect(),
    }
}

/// An update of 20 epochs whose risk goes from `from` to `to`, and whose L^{I,X} drifts by `drift`.
pub(crate) fn update(from: f64, to: f64, drift: f64) -> UpdateRecord {
    let run = run("warm", 3, from, to, drift, 20);
    UpdateRecord {
        schema: UPDATE_SCHEMA,
        method: run.method,
        seed: run.seed,
        from: "e.safetensors".to_owned(),
        old_data: "OLD".to_owned(),
        new_data: "NEW".to_owned(),
        n_old: 120,
        n_new: 80,
        alpha: 0.4,
        temperature: 0.1,
        negatives: 31.0,
        backend: run.backend,
        epochs: run.epochs,
        sample_passes: run.sample_passes,
        train_s: run.train_s,
        before: risk(from, 2.1),
        after: risk(to, 2.1 + drift),
        neighbours_kept: Some(KeptNeighbours {
            k: 10,
            share: 0.835,
        }),
        parameter_change: run.parameter_change,
        evaluations: run.evaluations,
        epoch_losses: run.epoch_losses,
        learning_rates: vec![3e-3; 2],
        support_learning_rates: Vec::new(),
        old_fractions: vec![0.2, 0.4],
    }
}

/// The training of a first encoder.
pub(crate) fn first() -> TrainRecord {
    let evaluation = |epoch: usize, risk| Evaluation {
        epoch,
        sample_passes: 240 * epoch as u64,
        train_s: 0.125 * epoch as f64,
        risk,
        old_queue: None,
    };
    TrainRecord {
        schema: TRAIN_SCHEMA,
        seed: 3,
        data: "TOYS".to_owned(),
        n: 120,
        temperature: 0.1,
        negatives: 31.0,
        backend: "flex".to_owned(),
        epochs: 2,
        sample_passes: 480,
        train_s: 0.25,
        untrained: 3.5,
        trained: 2.25,
        parameter_change: 0.42,
        seconds: Seconds::default(),
        evaluations: vec![evaluation(0, 3.5), evaluation(2, 2.25)],
        epoch_losses: vec![3.4, 2.6],
    }
}

/// Three steps on two backends.
pub(crate) fn backends() -> Vec<BackendRecord> {
    let of = |backend: &str, step_s, differences: [f64; 3]| BackendRecord {
        schema: BACKEND_SCHEMA,
        backend: backend.to_owned(),
        data: "TOYS".to_owned(),
        method: "warm".to_owned(),
        seed: 1,
        alpha: 0.5,
        batch_size: 32,
        max_relative_loss_difference: differences[2],
        relative_loss_differences: differences.to_vec(),
        losses: vec![3.0, 2.5, 2.25],
        risk_at_start: 3.5,
        first_step_s: 0.03,
        step_s,
        seconds: StepSeconds {
            views: 0.0001,
            transfer: 0.0002,
            forward: 0.001,
            backward: 0.002,
            update: 0.001,
        },
        peak_memory_mib: Some(17.4),
        energy_j: None,
    };
    vec![
        of("flex", 0.004, [0.0; 3]),
        of("tch", 0.008, [0.0, 0.001, 0.01]),
    ]
}
