//! Distance of the old encoder from the quality of retraining, against the noise of the measure.

use icl_core::Origin;
use icl_train::{Evaluation, REFERENCE, TARGET_RATIO, plateau};

use crate::record::RunRecord;
use crate::text::number::{nats, percent, rounded};

/// Number of retraining's last evaluations whose spread is the noise of a single seed.
const PLATEAU: usize = 5;
/// Distance in units of the noise below which nothing can be said to have been made faster.
const CLEAR: f64 = 3.0;

/// Distance of θ₀ from the target on one part of the data.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Distance {
    part: &'static str,
    /// Exact risk of θ₀ in nats, mean over the seeds.
    start: f64,
    /// Target in nats, mean over the seeds.
    target: f64,
    /// Noise in nats: the standard deviation of the distance over the seeds, or of retraining's last
    /// evaluations in a single seed.
    noise: f64,
}

/// Distance of θ₀ from the target on old and on new data.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Distances([Distance; 2]);

impl Distances {
    /// Computes the distances. Returns `None` without retraining, without a method that starts from θ₀, or
    /// without noise.
    pub(crate) fn of(records: &[RunRecord]) -> Option<Self> {
        let old = distance(records, Origin::Old, "old")?;
        Some(Self([old, distance(records, Origin::New, "new")?]))
    }

    /// Returns whether θ₀ is farther from the target than three times the noise, on old or on new data.
    pub(crate) fn is_clear(&self) -> bool {
        self.0
            .iter()
            .any(|of| of.start - of.target > CLEAR * of.noise)
    }

    /// Writes the distances as a sentence.
    pub(crate) fn sentence(&self) -> String {
        let [old, new] = self.0.each_ref().map(|of| {
            format!(
                "on {} data it lies {} {} the target of {} nats ({} times the noise of {} nats)",
                of.part,
                percent((of.start / of.target - 1.0).abs()),
                if of.start < of.target {
                    "below"
                } else {
                    "above"
                },
                nats(of.target),
                rounded(((of.start - of.target) / of.noise).abs(), 1),
                nats(of.noise),
            )
        });
        format!(
            "Distance of the old encoder from the quality of retraining: {old}; {new}. The target is retraining's \
             plateau + 1 % on each part; the noise is the spread of the distance over the seeds, or of retraining's last \
             evaluations in a single seed. Below three times the noise no speed-up is given."
        )
    }
}

fn distance(records: &[RunRecord], origin: Origin, part: &'static str) -> Option<Distance> {
    let risk = |of: &Evaluation| of.risk.by_origin()[origin];
    let mut of_seeds = Vec::new();
    let mut last = Vec::new();
    for reference in records.iter().filter(|of| of.method == REFERENCE) {
        let first = reference.course.evaluations.len().saturating_sub(PLATEAU);
        last = reference.course.evaluations[first..]
            .iter()
            .map(risk)
            .collect();
        let is_from_first = |of: &&RunRecord| {
            of.seed == reference.seed
                && of.method != REFERENCE
                && (!of.method.contains("start=") || of.method.contains("start=trained"))
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
    let of = Distance {
        part,
        start: mean(&starts)?,
        target: mean(&targets)?,
        noise: deviation(if distances.len() == 1 {
            &last
        } else {
            &distances
        })?,
    };
    let numbers = [of.start, of.target, of.noise];
    (numbers.iter().all(|x| x.is_finite()) && of.noise > 0.0).then_some(of)
}

fn mean(of: &[f64]) -> Option<f64> {
    (!of.is_empty()).then(|| of.iter().sum::<f64>() / of.len() as f64)
}

/// Returns the standard deviation of the sample; `None` for fewer than two values.
fn deviation(of: &[f64]) -> Option<f64> {
    let centre = mean(of).filter(|_| of.len() > 1)?;
    let squares: f64 = of.iter().map(|x| (x - centre).powi(2)).sum();
    Some((squares / (of.len() - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{risk, run};

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
    fn a_distance_is_measured_in_units_of_the_noise() {
        // Plateaus of 2.0, 2.1 and 2.2 on all data: a mean of 2.1 and a deviation of 0.1 of the plateau, and of 0.101 of the
        // distance from 1.01 of it.
        let [old, new] = Distances::of(&records(&[2.0, 2.1, 2.2], 2.5)).unwrap().0;
        let close = |found: f64, expected: f64| (found - expected).abs() < 1e-12;
        assert!(close(old.start, 2.4) && close(old.target, 1.01 * 2.0) && close(old.noise, 0.101));
        assert!(close(new.start, 2.6) && close(new.target, 1.01 * 2.2) && close(new.noise, 0.101));
        // 0.38 is more than three times 0.101.
        let clear = |start| {
            Distances::of(&records(&[2.0, 2.1, 2.2], start))
                .unwrap()
                .is_clear()
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
        let [old, _] = Distances::of(&one).unwrap().0;
        assert!((old.noise - 0.1 * 2.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!(Distances::of(&records(&[2.0], 2.5)), None, "no noise");
        assert_eq!(Distances::of(&one[1..]), None, "no retraining");
        assert_eq!(Distances::of(&one[..1]), None, "no encoder to start from");
    }
}
