//! The cost at which each method has the quality that retraining has at shares of its own cost.

use icl_train::{Evaluation, REFERENCE};
use serde::Serialize;

use crate::record::RunRecord;
use crate::summary::methods::MethodSummary;
use crate::summary::over_seeds::Summary;
use crate::summary::speed_up::{Outcome, SpeedUp};
use crate::summary::target::Distances;

/// Shares of retraining's charged cost.
const SHARES: [f64; 4] = [0.1, 0.25, 0.5, 1.0];

/// Level of quality: the risks of the best encoder that retraining has had by a share of its charged cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Level {
    /// Share of retraining's charged cost.
    pub share: f64,
    /// Risk over old data in nats.
    pub old: Option<Summary>,
    /// Risk over new data in nats.
    pub new: Option<Summary>,
    /// Costs of the methods, in the order of the comparison.
    pub costs: Vec<LevelCost>,
}

/// Cost until a method is at a level for the first time, on old and on new data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LevelCost {
    /// Name of the method.
    pub method: String,
    /// Charged passes; never counts as infinite.
    pub charged_passes: Option<Summary>,
    /// Retraining's own cost of the level divided by them.
    pub speed_up: Option<SpeedUp>,
}

/// Level of one seed: the risks in nats, and retraining's charged passes until it has them.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reached {
    old: f64,
    new: f64,
    passes: f64,
}

/// Computes the levels and the costs of the methods. Returns none without retraining, or where the old encoder is not
/// clearly below its quality, so that there is nothing to speed up.
pub(crate) fn levels(
    records: &[RunRecord],
    methods: &[MethodSummary],
    distances: Option<&Distances>,
) -> Vec<Level> {
    let retraining: Vec<&RunRecord> = records
        .iter()
        .filter(|record| record.method == REFERENCE && record.training.epochs > 0)
        .collect();
    if retraining.is_empty() || distances.is_some_and(|of| !of.is_clear) {
        return Vec::new();
    }
    let of_share = |share: f64| {
        let over = |risk: fn(Reached) -> f64| {
            let risks = retraining.iter().map(|of| level(of, share).map(risk));
            Summary::of_present(risks)
        };
        let cost = |of: &MethodSummary| {
            let own = records.iter().filter(|record| record.method == of.method);
            let seeds = own.filter_map(|record| {
                let mut references = retraining.iter();
                let reference = references.find(|of| of.seed == record.seed)?;
                let level = level(reference, share)?;
                Some((level, first_at(record, level)))
            });
            let seeds: Vec<(Reached, Option<f64>)> = seeds.collect();
            let outcomes = seeds.iter().map(|(level, passes)| match passes {
                None => Outcome::Never,
                Some(0.0) => Outcome::AtStart,
                Some(passes) => Outcome::Ratio(level.passes / passes),
            });
            LevelCost {
                method: of.method.clone(),
                charged_passes: Summary::new(seeds.iter().map(|(_, passes)| *passes)),
                speed_up: SpeedUp::over(outcomes),
            }
        };
        Level {
            share,
            old: over(|of| of.old),
            new: over(|of| of.new),
            costs: methods.iter().map(cost).collect(),
        }
    };
    SHARES.into_iter().map(of_share).collect()
}

/// Returns the lowest risks that a run has had by a share of its whole charged passes, after the first step, and the
/// passes until then.
fn level(record: &RunRecord, share: f64) -> Option<Reached> {
    let whole = record.course.evaluations.last()?.charged_passes;
    let trained = record
        .course
        .evaluations
        .iter()
        .filter(|of| of.sample_passes > 0);
    // A product of a share may lie a rounding below the cost that it stands for.
    let within = trained.filter(|of| of.charged_passes <= share * whole * (1.0 + 1e-9));
    within
        .map(|of| Reached {
            old: of.risk.old,
            new: of.risk.new,
            passes: of.charged_passes,
        })
        .filter(|level| (level.old + level.new).is_finite())
        .min_by(|a, b| (a.old + a.new).total_cmp(&(b.old + b.new)))
}

/// Returns the charged passes until a run has at most the risks of this level for the first time.
fn first_at(record: &RunRecord, level: Reached) -> Option<f64> {
    let mut evaluations = record.course.evaluations.iter();
    let is_there = |of: &&Evaluation| of.risk.old <= level.old && of.risk.new <= level.new;
    evaluations.find(is_there).map(|of| of.charged_passes)
}
