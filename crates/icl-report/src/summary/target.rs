//! Target of a comparison, and the distance of the old encoder from it against the noise of the measure.

use icl_core::{ByOrigin, Origin};
use icl_train::{Evaluation, REFERENCE, StoppedBy, TARGET_RATIO, plateau};
use serde::Serialize;

use crate::record::RunRecord;
use crate::summary::over_seeds::{Summary, deviation, mean};

/// Number of retraining's last evaluations whose spread is the noise of a single seed.
const PLATEAU: usize = 5;
/// Smallest distance of the old encoder from the target, in units of the noise, at which a speed-up is stated.
const CLEAR: f64 = 3.0;

/// Target in nats over the seeds that have one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TargetSummary {
    /// Target over all data.
    pub all: Summary,
    /// Target over the old data; `null` without retraining.
    pub old: Option<Summary>,
    /// Target over the new data; `null` without retraining.
    pub new: Option<Summary>,
    /// Whether retraining ended at its last epoch in a seed, and not by its own rule.
    pub is_truncated: bool,
}

impl TargetSummary {
    /// Summarises the targets, each seed once. Returns `None` without a target.
    pub(crate) fn of(records: &[RunRecord]) -> Option<Self> {
        let mut targets: Vec<(u64, f64)> = Vec::new();
        for record in records {
            if let Some(target) = record.target
                && targets.iter().all(|(seed, _)| *seed != record.seed)
            {
                targets.push((record.seed, target));
            }
        }
        let references = || records.iter().filter(|record| record.method == REFERENCE);
        let part = |part: fn(ByOrigin<f64>) -> f64| {
            Summary::of_present(references().map(|of| of.target_by_origin.map(part)))
        };
        Some(Self {
            all: Summary::of_present(targets.into_iter().map(|(_, target)| Some(target)))?,
            old: part(|of| of.old),
            new: part(|of| of.new),
            is_truncated: references().any(|of| of.training.stopped_by == Some(StoppedBy::Epochs)),
        })
    }
}

/// Distance of θ₀ from the target on one part of the data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Distance {
    /// Exact risk of θ₀ in nats, mean over the seeds.
    pub start: f64,
    /// Target in nats, mean over the seeds: retraining's plateau + 1 %.
    pub target: f64,
    /// Noise in nats: the standard deviation of the distance over the seeds, or of retraining's last
    /// evaluations in a single seed.
    pub noise: f64,
    /// Distance as a share of the target.
    pub above_target: f64,
    /// Distance in units of the noise.
    pub n_noise: f64,
}

/// Distance of θ₀ from the target on old and on new data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Distances {
    /// Distance on old data.
    pub old: Distance,
    /// Distance on new data.
    pub new: Distance,
    /// Whether θ₀ is farther from the target than three times the noise, on old or on new data.
    pub is_clear: bool,
}

impl Distances {
    /// Computes the distances. Returns `None` without retraining, without a method that starts from θ₀, or
    /// without noise.
    pub(crate) fn of(records: &[RunRecord]) -> Option<Self> {
        let (old, new) = (
            distance(records, Origin::Old)?,
            distance(records, Origin::New)?,
        );
        let is_clear = [old, new]
            .iter()
            .any(|of| of.start - of.target > CLEAR * of.noise);
        Some(Self { old, new, is_clear })
    }
}

fn distance(records: &[RunRecord], origin: Origin) -> Option<Distance> {
    let risk = |of: &Evaluation| of.risk.by_origin()[origin];
    let mut of_seeds = Vec::new();
    let mut last = Vec::new();
    for reference in records.iter().filter(|of| of.method == REFERENCE) {
        let first = reference.course.evaluations.len().saturating_sub(PLATEAU);
        last = reference.course.evaluations[first..]
            .iter()
            .map(risk)
            .collect();
        // Methods begin with θ₀, but for those whose names have another `start=`.
        let is_from_first = |of: &&RunRecord| {
            of.seed == reference.seed
                && of.plain_method() != REFERENCE
                && (!of.method.contains("start=")
                    || ["start=trained", "start=statistics"]
                        .iter()
                        .any(|it| of.method.contains(it)))
        };
        let starts = records.iter().filter(is_from_first);
        let starts: Vec<f64> = starts
            .filter_map(|of| of.course.evaluations.first().map(risk))
            .collect();
        of_seeds.push((
            mean(&starts)?,
            TARGET_RATIO * plateau(&reference.course.evaluations)?[origin],
        ));
    }
    let (starts, targets): (Vec<f64>, Vec<f64>) = of_seeds.iter().copied().unzip();
    let distances: Vec<f64> = of_seeds
        .iter()
        .map(|(start, target)| start - target)
        .collect();
    let (start, target) = (mean(&starts)?, mean(&targets)?);
    let noise = deviation(if distances.len() == 1 {
        &last
    } else {
        &distances
    })?;
    let is_known = [start, target, noise].iter().all(|x| x.is_finite()) && noise > 0.0;
    is_known.then(|| Distance {
        start,
        target,
        noise,
        above_target: start / target - 1.0,
        n_noise: (start - target) / noise,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{record, risk, run};

    /// Retraining ends at these risks, one for each seed; θ₀ begins at `start`.
    fn records(ends: &[f64], start: f64) -> Vec<RunRecord> {
        let of = |(seed, end): (usize, &f64)| {
            let mut retraining = run(REFERENCE, seed as u64, 4.0, *end, 0.0, 8);
            for evaluation in &mut retraining.course.evaluations[4..] {
                evaluation.risk = risk(*end, 1.0);
            }
            [retraining, run("warm", seed as u64, start, *end, 0.0, 8)]
        };
        ends.iter().enumerate().flat_map(of).collect()
    }

    #[test]
    fn each_seed_gives_its_target_once() {
        let mut records = [record("a", 1), record("b", 1), record("a", 2)];
        records[2].target = None;
        assert_eq!(TargetSummary::of(&records).unwrap().all.n, 1);
        records[0].target = None;
        records[1].target = None;
        assert_eq!(TargetSummary::of(&records), None);
    }

    #[test]
    fn a_distance_is_measured_in_units_of_the_noise() {
        // Plateaus of 2.0, 2.1 and 2.2 on all data: a mean of 2.1 and a deviation of 0.1 of the plateau, and of 0.101 of the
        // distance from 1.01 of it.
        let Distances { old, new, .. } = Distances::of(&records(&[2.0, 2.1, 2.2], 2.5)).unwrap();
        let close = |found: f64, expected: f64| (found - expected).abs() < 1e-12;
        assert!(close(old.start, 2.4) && close(old.target, 1.01 * 2.0) && close(old.noise, 0.101));
        assert!(close(new.start, 2.6) && close(new.target, 1.01 * 2.2) && close(new.noise, 0.101));
        // 0.38 is more than three times 0.101.
        let clear = |start| {
            Distances::of(&records(&[2.0, 2.1, 2.2], start))
                .unwrap()
                .is_clear
        };
        assert!(clear(2.5));
        assert!(!clear(2.4));
    }

    #[test]
    fn a_single_seed_has_the_noise_of_its_last_evaluations() {
        let mut one = records(&[2.0], 2.5);
        for (i, evaluation) in one[0].course.evaluations[4..].iter_mut().enumerate() {
            evaluation.risk = risk(2.0 + 0.1 * (i as f64 - 2.0), 1.0);
        }
        let old = Distances::of(&one).unwrap().old;
        assert!((old.noise - 0.1 * 2.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!(Distances::of(&records(&[2.0], 2.5)), None, "no noise");
        assert_eq!(Distances::of(&one[1..]), None, "no retraining");
        assert_eq!(Distances::of(&one[..1]), None, "no encoder to start from");
    }
}
