//! Quality at a budget, and the cost at which a method is as good as retraining.

use icl_train::{PairedDifference, REFERENCE};
use serde::Serialize;

use crate::record::RunRecord;
use crate::summary::over_seeds::{CONFIDENCE, mean};

/// Largest excess over retraining's end at which a method is as good as retraining.
const PARITY: f64 = 0.01;

/// Held-out risk of a method within a budget, next to that of retraining at its end.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WithinBudget {
    /// Name of the method, without its budget.
    pub method: String,
    /// Budget as `--budget` has it; `null` for a run without one.
    pub budget: Option<String>,
    /// Mean over the seeds of the charged cost as a share of retraining's.
    pub share_of_cost: f64,
    /// Excess over retraining's risk on old data.
    pub old: Excess,
    /// Excess over retraining's risk on new data.
    pub new: Excess,
}

/// Excess of held-out risk as a share of that of retraining in the same seed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Excess {
    /// Mean over the seeds.
    pub mean: f64,
    /// Ends of its 95 % interval by Student's t; `null` with one seed.
    pub interval: Option<[f64; 2]>,
}

/// Cost at which a method is as good as retraining.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Parity {
    /// Name of the method, without its budget.
    pub method: String,
    /// Smallest share of retraining's cost at which the method ended within 1 % of it on old and on new data, in the
    /// mean over the seeds; `null` if it did at none of its budgets.
    pub share_of_cost: Option<f64>,
}

/// Returns all methods but retraining at its end, in the order of the records. Empty where retraining was not run, or
/// nothing was held out.
pub(crate) fn within_budgets(records: &[RunRecord]) -> Vec<WithinBudget> {
    let mut names: Vec<&str> = Vec::new();
    for record in records {
        if record.method != REFERENCE && !names.contains(&record.method.as_str()) {
            names.push(&record.method);
        }
    }
    let of = |name: &&str| {
        let first = records.iter().find(|record| record.method == **name)?;
        let [old, new] = excess(records, name)?;
        Some(WithinBudget {
            method: first.plain_method().to_owned(),
            budget: first.budget.clone(),
            share_of_cost: share_of_cost(records, name)?,
            old,
            new,
        })
    };
    names.iter().filter_map(of).collect()
}

/// Returns the cost at parity of each method, in the order in which they come first.
pub(crate) fn parities(all: &[WithinBudget]) -> Vec<Parity> {
    let mut parities: Vec<Parity> = Vec::new();
    for of in all {
        let at = parities.iter().position(|it| it.method == of.method);
        let at = at.unwrap_or_else(|| {
            parities.push(Parity {
                method: of.method.clone(),
                share_of_cost: None,
            });
            parities.len() - 1
        });
        if of.old.mean.max(of.new.mean) <= PARITY {
            let least = parities[at].share_of_cost.unwrap_or(f64::INFINITY);
            parities[at].share_of_cost = Some(least.min(of.share_of_cost));
        }
    }
    parities
}

/// Returns the excess of a method over retraining on old and on new data; `None` where no seed has both, or a seed
/// lacks a held-out risk.
pub(crate) fn excess(records: &[RunRecord], method: &str) -> Option<[Excess; 2]> {
    let pairs = held_out_pairs(records, [method, REFERENCE])?;
    let part = |at: usize| {
        let shares: Vec<f64> = pairs.iter().map(|[own, of]| own[at] / of[at]).collect();
        // The excess of a seed is its quotient of the risks less 1, so that 1 is the other half of each pair.
        let interval = PairedDifference::of(&vec![1.0; shares.len()], &shares, CONFIDENCE);
        Some(Excess {
            mean: mean(&shares)? - 1.0,
            interval: interval.ok().map(|of| of.interval),
        })
    };
    Some([part(0)?, part(1)?])
}

/// Returns the held-out risks of two methods on old and on new data in each seed that has both; `None` where there
/// is no seed, or one lacks a held-out risk.
pub(crate) fn held_out_pairs(
    records: &[RunRecord],
    methods: [&str; 2],
) -> Option<Vec<[[f64; 2]; 2]>> {
    let [own, of] = methods.map(|name| records.iter().filter(move |it| it.method == name));
    let of: Vec<&RunRecord> = of.collect();
    let pairs = own.filter_map(|own| Some((own, *of.iter().find(|of| of.seed == own.seed)?)));
    let risks = |of: &RunRecord| {
        let mean = of.update.held_out_risk?.mean;
        Some([mean.old, mean.new])
    };
    let pairs = pairs.map(|(own, of)| Some([risks(own)?, risks(of)?]));
    let pairs: Vec<_> = pairs.collect::<Option<_>>()?;
    (!pairs.is_empty()).then_some(pairs)
}

/// Returns the mean of the cost of a method as a share of that of retraining in the same seed.
pub(crate) fn share_of_cost(records: &[RunRecord], method: &str) -> Option<f64> {
    let runs = records.iter().filter(|record| record.method == method);
    let shares = runs.filter_map(|own| {
        let mut all = records.iter();
        let of = all.find(|of| of.method == REFERENCE && of.seed == own.seed)?;
        Some(own.training.charged_passes / of.training.charged_passes)
    });
    mean(&shares.collect::<Vec<f64>>()).filter(|share| share.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{held_out as with_held_out, record};

    /// Runs of a method with a budget: excess over retraining on old and on new data in two seeds.
    fn runs(
        method: &str,
        budget: Option<&str>,
        excess: [[f64; 2]; 2],
        passes: f64,
    ) -> Vec<RunRecord> {
        let of = |seed: u64| {
            // Seeds differ by more than methods, but all methods of a seed alike.
            let scale = 1.0 + 0.3 * seed as f64;
            let [old, new] = excess[seed as usize].map(|it| scale * (1.0 + it));
            let name = match budget {
                Some(budget) => format!("{method}@{budget}"),
                None => method.to_owned(),
            };
            let mut record = with_held_out(record(&name, seed), [old, new]);
            record.budget = budget.map(str::to_owned);
            record.training.charged_passes = passes;
            record
        };
        (0..2).map(of).collect()
    }

    #[test]
    fn excess_and_parity_by_hand() {
        let records = [
            runs(REFERENCE, None, [[0.0; 2]; 2], 1000.0),
            runs(REFERENCE, Some("10%"), [[0.5, 0.4], [0.5, 0.6]], 100.0),
            runs("inference", None, [[0.0, 0.3], [0.0, 0.3]], 0.0),
            runs("icl", Some("5%"), [[0.02, 0.0], [0.0, 0.03]], 50.0),
            runs("icl", Some("10%"), [[0.01, 0.0], [0.0, 0.01]], 90.0),
            runs("icl", Some("25%"), [[-0.1, 0.0], [-0.1, 0.0]], 250.0),
        ]
        .concat();
        let all = within_budgets(&records);
        let names: Vec<(&str, Option<&str>)> = all
            .iter()
            .map(|of| (of.method.as_str(), of.budget.as_deref()))
            .collect();
        let expected = [
            (REFERENCE, Some("10%")),
            ("inference", None),
            ("icl", Some("5%")),
            ("icl", Some("10%")),
            ("icl", Some("25%")),
        ];
        assert_eq!(names, expected);
        assert!((all[2].old.mean - 0.01).abs() < 1e-12 && (all[2].new.mean - 0.015).abs() < 1e-12);
        // Student's t with one degree of freedom: 12.706 standard errors, each half of the seeds' difference.
        let [low, high] = all[2].old.interval.unwrap();
        assert!(
            (high - low - 2.0 * 12.706 * 0.01).abs() < 1e-4,
            "{low} to {high}"
        );
        assert!((all[3].share_of_cost - 0.09).abs() < 1e-12);
        let parities = parities(&all);
        let found: Vec<(&str, Option<f64>)> = parities
            .iter()
            .map(|of| (of.method.as_str(), of.share_of_cost))
            .collect();
        let expected = [(REFERENCE, None), ("inference", None), ("icl", Some(0.09))];
        assert_eq!(found, expected);
    }

    #[test]
    fn without_retraining_or_held_out_samples_there_is_none() {
        let records = runs("icl", Some("5%"), [[0.0; 2]; 2], 50.0);
        assert_eq!(within_budgets(&records), []);
        let mut records = [runs(REFERENCE, None, [[0.0; 2]; 2], 10.0), records].concat();
        assert_eq!(within_budgets(&records).len(), 1);
        let excess_of = |records: &[RunRecord]| within_budgets(records)[0].new;
        let both = excess_of(&records);
        assert!(both.interval.is_some());
        // The first seed is compared with itself, and is too few for an interval.
        records.remove(0);
        let one = excess_of(&records);
        assert_eq!((one.interval, one.mean), (None, 0.0));
        records[2].update.held_out_risk = None;
        assert_eq!(within_budgets(&records), []);
    }
}
