//! The method to use: the cheapest that is not clearly worse than retraining.

use icl_core::Origin;
use icl_train::{Answer, DEFAULT, PairedDifference, REFERENCE};

use crate::record::RunRecord;
use crate::summary::over_seeds::{CONFIDENCE, mean, median};
use crate::summary::speed_up::SAME;

/// Smallest difference that counts, as a share of the risk: that of the target from the plateau of retraining.
const LEAST: f64 = 0.01;

/// Methods of a comparison against the one that all are measured against: retraining or, where it was not run, the
/// method with the lowest risk.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Choice {
    /// Whether the risks are those of held-out samples, or else the exact risks over training samples.
    pub(crate) is_held_out: bool,
    /// Place of the method that the others are measured against.
    pub(crate) reference: usize,
    /// Place of the method to use.
    pub(crate) best: usize,
    /// Methods, in the order of the records.
    pub(crate) methods: Vec<Measured>,
    /// Names of the other updates that cost the same as the method to use and are not clearly worse than it.
    pub(crate) as_good: Vec<String>,
}

/// A method next to the one that it is measured against.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measured {
    /// Name.
    pub(crate) method: String,
    /// Place among methods that cost the same: the default first, and last the one that starts from scratch, since it
    /// loses the embeddings that are stored.
    rank: u8,
    /// Risk above the other's as a share of it, on old or on new data, where it is more, of each seed.
    pub(crate) excess: Vec<f64>,
    /// Answers to whether the risk is lower (better), on old and on new data.
    pub(crate) answers: [Answer; 2],
    /// Median of the charged passes.
    pub(crate) passes: f64,
    /// Median of the seconds of training.
    pub(crate) train_s: f64,
}

impl Measured {
    /// Returns whether the method is clearly worse on old or on new data.
    pub(crate) fn is_worse(&self) -> bool {
        self.answers.contains(&Answer::Worse)
    }

    /// Returns the median of the excess.
    pub(crate) fn median(&self) -> Option<f64> {
        median(&self.excess)
    }
}

impl Choice {
    /// Chooses among the methods of these records. Returns `None` if a method has no finite risk, or no seed of the
    /// one that it is measured against.
    pub(crate) fn of(records: &[RunRecord]) -> Option<Self> {
        let is_held_out = records.iter().all(|of| of.update.held_out_risk.is_some());
        let is_finite =
            |of: &&RunRecord| risks(of, is_held_out).iter().all(|risk| risk.is_finite());
        let mut runs = runs(records);
        runs.iter_mut().for_each(|(_, own)| own.retain(is_finite));
        let total = |own: &[&RunRecord]| {
            let sums = own.iter().map(|of| risks(of, is_held_out).iter().sum());
            mean(&sums.collect::<Vec<f64>>()).unwrap_or(f64::INFINITY)
        };
        let lowest =
            || (0..runs.len()).min_by(|a, b| total(&runs[*a].1).total_cmp(&total(&runs[*b].1)));
        let retraining = runs.iter().position(|(name, _)| *name == REFERENCE);
        let reference = retraining.or_else(lowest)?;
        let of = &runs[reference].1;
        let methods = runs
            .iter()
            .map(|(name, own)| measured(name, own, of, is_held_out));
        let methods: Vec<Measured> = methods.collect::<Option<_>>()?;
        let is_worse = |a: usize, b: usize| {
            let (name, own) = &runs[a];
            measured(name, own, &runs[b].1, is_held_out).is_none_or(|of| of.is_worse())
        };
        let as_good = || (0..methods.len()).filter(|at| !methods[*at].is_worse());
        let least = as_good()
            .map(|at| methods[at].passes)
            .fold(f64::INFINITY, f64::min);
        // Costs within 5 % count as the same.
        let cheap: Vec<usize> = as_good()
            .filter(|at| methods[*at].passes <= SAME * least)
            .collect();
        // Of these the first by rank, unless it is clearly worse than another one.
        let best = cheap.iter().copied().min_by_key(|at| methods[*at].rank);
        let better = |best, at: &usize| match is_worse(best, *at) && !is_worse(*at, best) {
            true => *at,
            false => best,
        };
        let best = cheap.iter().fold(best.unwrap_or(reference), better);
        let equal = cheap
            .iter()
            .filter(|at| ![best, reference].contains(*at) && !is_worse(**at, best));
        Some(Self {
            is_held_out,
            reference,
            best,
            as_good: equal.map(|at| methods[*at].method.clone()).collect(),
            methods,
        })
    }
}

/// Returns the rank of a method by its name without a budget.
fn rank(method: &str) -> u8 {
    match method {
        DEFAULT => 0,
        REFERENCE => 2,
        _ => 1,
    }
}

fn measured(
    name: &str,
    own: &[&RunRecord],
    of: &[&RunRecord],
    is_held_out: bool,
) -> Option<Measured> {
    let pairs: Vec<(&RunRecord, &RunRecord)> = own
        .iter()
        .filter_map(|own| Some((*own, *of.iter().find(|of| of.seed == own.seed)?)))
        .collect();
    let excess = |(own, of): &(&RunRecord, &RunRecord)| {
        let (own, of) = (risks(own, is_held_out), risks(of, is_held_out));
        (own[0] / of[0]).max(own[1] / of[1]) - 1.0
    };
    let over = |quantity: fn(&RunRecord) -> f64| {
        let values: Vec<f64> = own.iter().map(|of| quantity(of)).collect();
        median(&values)
    };
    (!pairs.is_empty()).then_some(())?;
    Some(Measured {
        method: name.to_owned(),
        rank: rank(own.first()?.plain_method()),
        excess: pairs.iter().map(excess).collect(),
        answers: [Origin::Old, Origin::New].map(|origin| answer(&pairs, origin, is_held_out)),
        passes: over(|of| of.training.charged_passes)?,
        train_s: over(|of| of.training.train_s)?,
    })
}

/// Returns the risks on old and on new data.
fn risks(of: &RunRecord, is_held_out: bool) -> [f64; 2] {
    match of.update.held_out_risk.filter(|_| is_held_out) {
        Some(risk) => [risk.mean.old, risk.mean.new],
        None => [of.risk.old, of.risk.new],
    }
}

/// Compares the risks of the seeds. With a single seed, the noise is twice the standard error of the difference of both
/// held-out risks as if they were independent. They are over the same samples, so that the true one is mostly smaller.
fn answer(pairs: &[(&RunRecord, &RunRecord)], origin: Origin, is_held_out: bool) -> Answer {
    let risk = |of: &RunRecord| risks(of, is_held_out)[usize::from(origin == Origin::New)];
    let (own, of): (Vec<f64>, Vec<f64>) = pairs.iter().map(|(a, b)| (risk(a), risk(b))).unzip();
    let error = |of: &RunRecord| Some(of.update.held_out_risk?.standard_error[origin]);
    let alone = match pairs {
        [(a, b)] if is_held_out => error(a).zip(error(b)),
        _ => None,
    };
    compare(&own, &of, alone.map_or(0.0, |(a, b)| 2.0 * a.hypot(b)))
}

/// Compares paired risks: a difference counts where it is more than 1 % of the risk and its interval does not hold 0. A
/// single pair has no interval: its difference must be more than `noise`.
pub(crate) fn compare(own: &[f64], of: &[f64], noise: f64) -> Answer {
    let Some((mean_own, mean_of)) = mean(own).zip(mean(of)) else {
        return Answer::NoClearDifference;
    };
    let noise = match own.len() {
        1 => noise,
        _ => PairedDifference::of(of, own, CONFIDENCE)
            .map_or(f64::INFINITY, |of| of.interval[1] - of.mean),
    };
    let least = noise.max(LEAST * mean_of.abs());
    match mean_own - mean_of {
        difference if difference > least => Answer::Worse,
        difference if difference < -least => Answer::Better,
        _ => Answer::NoClearDifference,
    }
}

/// Returns the methods whose runs are the same as those of an earlier one, with that one: equal risks at equal costs in
/// every seed.
pub(crate) fn same_runs(records: &[RunRecord]) -> Vec<(String, String)> {
    let is_same = |(a, b): (&RunRecord, &RunRecord)| {
        let (of_a, of_b) = (&a.course.evaluations, &b.course.evaluations);
        let mut pairs = of_a.iter().zip(of_b);
        (a.seed, a.risk, of_a.len()) == (b.seed, b.risk, of_b.len())
            && pairs.all(|(a, b)| (a.charged_passes, a.risk) == (b.charged_passes, b.risk))
    };
    let runs = runs(records);
    let mut same = Vec::new();
    for (at, (name, own)) in runs.iter().enumerate() {
        let mut earlier = runs[..at].iter();
        let is_alike = |(_, of): &&(&str, Vec<&RunRecord>)| {
            let mut pairs = of.iter().copied().zip(own.iter().copied());
            of.len() == own.len() && pairs.all(is_same)
        };
        same.extend(
            earlier
                .find(is_alike)
                .map(|(of, _)| ((*name).to_owned(), (*of).to_owned())),
        );
    }
    same
}

/// Returns the methods in the order in which they first appear, with their runs.
fn runs(records: &[RunRecord]) -> Vec<(&str, Vec<&RunRecord>)> {
    let mut runs: Vec<(&str, Vec<&RunRecord>)> = Vec::new();
    for record in records {
        match runs.iter_mut().find(|(name, _)| *name == record.method) {
            Some((_, of)) => of.push(record),
            None => runs.push((&record.method, vec![record])),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{comparison, held_out, record};

    /// Three seeds of a method with these risks on old and on new held-out data, and charged passes.
    fn method(name: &str, risks: [[f64; 2]; 3], passes: f64) -> Vec<RunRecord> {
        let seeds = (1..).zip(risks);
        let of = |(seed, risks)| {
            let mut record = held_out(record(name, seed), risks);
            record.training.charged_passes = passes;
            record
        };
        seeds.map(of).collect()
    }

    fn best(methods: &[Vec<RunRecord>]) -> (String, Vec<String>) {
        let choice = Choice::of(&methods.concat()).unwrap();
        (choice.methods[choice.best].method.clone(), choice.as_good)
    }

    const FLAT: [[f64; 2]; 3] = [[1.0, 1.0]; 3];

    #[test]
    fn a_difference_within_noise_is_not_crowned() {
        let retraining = method(REFERENCE, FLAT, 1000.0);
        // 8 % better in one seed, 4 % worse in another: within the spread of three seeds.
        let noisy = method("warm", [[0.92, 1.0], [1.04, 1.0], [0.96, 1.0]], 500.0);
        let cheap = method(
            "fine-tuning",
            [[1.02, 1.0], [0.98, 1.0], [1.01, 1.0]],
            100.0,
        );
        let found = best(&[retraining.clone(), noisy.clone(), cheap]);
        assert_eq!(found, ("fine-tuning".to_owned(), vec![]));
        // The same cost: the default, next to which the other is named.
        let icl = method("icl", FLAT, 510.0);
        let found = best(&[retraining, noisy, icl]);
        assert_eq!(found, ("icl".to_owned(), vec!["warm".to_owned()]));
    }

    #[test]
    fn what_is_clearly_worse_is_not_used() {
        let retraining = method(REFERENCE, FLAT, 1000.0);
        let worse = method("warm", [[1.0, 1.1], [1.0, 1.11], [1.0, 1.1]], 10.0);
        assert_eq!(best(&[retraining.clone(), worse.clone()]).0, REFERENCE);
        // Less than 1 % is no difference, however steady.
        let near = method("icl", [[1.005, 1.0]; 3], 900.0);
        assert_eq!(best(&[retraining.clone(), worse, near.clone()]).0, "icl");
        let better = method("warm", [[0.9, 0.9], [0.91, 0.9], [0.9, 0.9]], 900.0);
        assert_eq!(
            best(&[retraining, near, better]),
            ("warm".to_owned(), vec![])
        );
    }

    #[test]
    fn one_seed_has_the_errors_of_its_samples() {
        let of = |risk| vec![method("warm", [[1.0, risk]; 3], 10.0).swap_remove(0)];
        let retraining = || vec![method(REFERENCE, FLAT, 1000.0).swap_remove(0)];
        // Standard errors of 0.01 each: twice their hypotenuse is 0.028.
        assert_eq!(best(&[retraining(), of(1.02)]).0, "warm");
        assert_eq!(best(&[retraining(), of(1.03)]).0, REFERENCE);
    }

    #[test]
    fn without_retraining_the_lowest_risk_is_what_counts() {
        let of = |name, risk, passes| method(name, [[risk, risk]; 3], passes);
        let methods = [of("inference", 1.5, 0.0), of("warm", 1.0, 100.0)];
        assert_eq!(best(&methods).0, "warm");
        let mut lost = methods.concat();
        lost.retain(|of| of.method == "warm");
        lost.iter_mut()
            .for_each(|of| of.update.held_out_risk = None);
        lost.iter_mut().for_each(|of| of.risk.old = f64::NAN);
        assert_eq!(Choice::of(&lost), None);
    }

    #[test]
    fn equal_runs_are_found() {
        let mut records = comparison();
        assert_eq!(same_runs(&records), []);
        let warm: Vec<RunRecord> = records
            .iter()
            .filter(|of| of.method == "warm")
            .cloned()
            .collect();
        let mut icl = warm;
        icl.iter_mut().for_each(|of| of.method = "icl".to_owned());
        icl[0].course.evaluations[3].train_s += 1.0;
        records.extend(icl.clone());
        assert_eq!(same_runs(&records), [("icl".to_owned(), "warm".to_owned())]);
        let last = records.len() - 1;
        records[last].course.evaluations[3].risk.all += 1e-9;
        assert_eq!(same_runs(&records), []);
    }
}
