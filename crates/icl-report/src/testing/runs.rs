//! Made-up records of comparisons.

use std::collections::BTreeMap;

use icl_core::{ByOrigin, ExactRisk};
use icl_train::{Cost, Evaluation, Seconds};

use crate::record::{
    AccuracyByOrigin, FloorAccuracies, MadeBy, ProtocolAccuracies, RunRecord, RunSettings, SCHEMA,
    TrainingCourse, TrainingSummary, UpdateFacts,
};

/// Settings of seed 3 with 31 negatives.
pub(crate) fn settings() -> RunSettings {
    RunSettings {
        seed: 3,
        temperature: 0.1,
        negatives: 31.0,
        optimizer: Some("adam".to_owned()),
        backend: "flex".to_owned(),
        made_by: MadeBy::command("icl update --from first/encoder.safetensors"),
    }
}

pub(crate) fn risk(all: f64, nce1_old: f64) -> ExactRisk {
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
        auc_all: Some(0.9),
        auc_old: Some(0.92),
        auc_new: Some(0.88),
    }
}

pub(crate) fn parts(all: f64) -> AccuracyByOrigin {
    ByOrigin {
        all: Some(all),
        old: Some(all + 0.01),
        new: Some(all - 0.02),
    }
}

fn floors(shift: f64) -> FloorAccuracies {
    FloorAccuracies {
        majority: parts(0.66 + shift),
        size: parts(0.84 + shift),
        raw: parts(0.83 + shift),
        untrained: parts(0.86 + shift),
    }
}

/// A run of `n` epochs whose risk falls from `from` to `to`, and whose L^{I,X} drifts by `drift`.
pub(crate) fn run(method: &str, seed: u64, from: f64, to: f64, drift: f64, n: usize) -> RunRecord {
    let wobble = |epoch: usize| 0.02 * ((epoch as f64 * 1.7) + seed as f64).sin();
    let evaluations: Vec<Evaluation> = (0..=n)
        .map(|epoch| {
            let gone = 1.0 - (-(epoch as f64) / 8.0).exp();
            let swing = if epoch == 0 { 0.0 } else { wobble(epoch) };
            Evaluation {
                epoch,
                sample_passes: 376 * epoch as u64,
                charged_passes: 376.0 * epoch as f64,
                train_s: 0.021 * epoch as f64,
                risk: risk(
                    from + (to - from) * gone + swing,
                    2.1 + drift * gone + swing,
                ),
            }
        })
        .collect();
    let (start, end) = (evaluations[0].risk, evaluations[n].risk);
    RunRecord {
        schema: SCHEMA,
        method: method.to_owned(),
        budget: None,
        seed,
        data: "MUTAG".to_owned(),
        n_clipped: 0,
        split: "random".to_owned(),
        optimizer: Some("adam".to_owned()),
        backend: "flex".to_owned(),
        made_by: MadeBy::default(),
        target: Some(2.3),
        target_by_origin: None,
        epochs_to_target: None,
        passes_to_target: None,
        charged_to_target: None,
        time_to_target_s: None,
        lowest_loss_epoch: (n > 0).then_some(n / 2),
        lowest_loss_s: (n > 0).then_some(0.021 * (n / 2) as f64),
        risk: ByOrigin {
            all: end.all,
            old: end.old,
            new: end.new,
        },
        risk_old_partners: None,
        n_evaluated: 188,
        nce1_old: end.nce1_old,
        nce2_old: end.nce2_old,
        start,
        end,
        linear_probe: Some(ProtocolAccuracies {
            accuracy: parts(0.75),
            floors: floors(-0.1),
        }),
        knn: Some(ProtocolAccuracies {
            accuracy: parts(0.95),
            floors: floors(0.1),
        }),
        few_labels: None,
        added_protocols: BTreeMap::from([(
            "support vector machine".to_owned(),
            ProtocolAccuracies {
                accuracy: parts(0.85 + 0.004 * seed as f64),
                floors: floors(0.0),
            },
        )]),
        seconds: Seconds::default(),
        update: UpdateFacts {
            n_old: 94,
            n_new: 94,
            alpha: 0.5,
            held_out_risk: None,
            n_held_out: None,
            cross_version_recall: None,
            learning_rates: vec![0.003; n],
            support_learning_rates: Vec::new(),
            support_moves: Vec::new(),
            old_fractions: vec![1.0; n],
        },
        training: TrainingSummary {
            epochs: n,
            charged_passes: 376.0 * n as f64,
            cost: Cost {
                training: 376.0 * n as f64,
                ..Cost::default()
            },
            stopped_by: None,
            train_s: 0.021 * n as f64,
            parameter_change: if n == 0 { 0.0 } else { 0.42 },
        },
        course: TrainingCourse {
            sample_passes: 376 * n as u64,
            best_evaluation: None,
            expected_gain: None,
            evaluations,
            epoch_losses: vec![3.0; n],
            step_negatives: vec![31.0; n],
        },
    }
}

/// Makes one run of a method with nothing special about it.
pub fn record(method: &str, seed: u64) -> RunRecord {
    run(method, seed, 2.8, 2.25, 0.1, 40)
}

/// Makes one seed of a method with a target of 2 nats: epochs, passes and seconds to the target, and the
/// exact risk at the end.
pub fn reaching(method: &str, seed: u64, at: Option<(usize, u64, f64)>, end: f64) -> RunRecord {
    let mut record = record(method, seed);
    record.target = Some(2.0);
    record.epochs_to_target = at.map(|(epochs, _, _)| epochs);
    record.passes_to_target = at.map(|(_, passes, _)| passes);
    record.charged_to_target = at.map(|(_, passes, _)| passes as f64);
    record.time_to_target_s = at.map(|(_, _, seconds)| seconds);
    record.risk.all = end;
    let (target, last) = (2.0, record.course.evaluations.len() - 1);
    record.target_by_origin = Some(ByOrigin {
        all: target,
        old: target,
        new: target,
    });
    let risk = &mut record.course.evaluations[last].risk;
    (risk.all, risk.old, risk.new) = (end, end, end);
    record
}

/// Makes the runs of seven methods with three seeds.
pub fn comparison() -> Vec<RunRecord> {
    let mut records = Vec::new();
    for seed in 1..=3 {
        let tilt = 0.03 * seed as f64;
        let arriving = |mut record: RunRecord, epoch: usize| {
            let at = &record.course.evaluations[epoch];
            record.epochs_to_target = Some(epoch);
            record.passes_to_target = Some(at.sample_passes);
            record.charged_to_target = Some(at.charged_passes);
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
