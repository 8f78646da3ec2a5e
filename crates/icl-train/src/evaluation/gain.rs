//! The fall of the risk that more training is expected to bring.

use serde::{Deserialize, Serialize};

/// Minimum number of evaluations through which a slope is fitted.
const SLOPE_POINTS: usize = 4;

/// Relative fall of the risk that the next doubling of a run's cost is expected to bring.
///
/// Gains of successive doublings shrink, so the gain of the last one is used: an estimate that is rather too
/// high.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ExpectedGain {
    /// Expected fall, as a share of the risk; below 0 if the risk rises.
    pub gain: f64,
    /// Standard error of the gain; NaN for the gain of a doubling if only means are known.
    pub standard_error: f64,
}

/// Minimum number of evaluations in a row at which a gain must have been too small: one alone may be a dip.
const SHORTEST: usize = 2;
/// Maximum number of these evaluations.
const LONGEST: usize = 12;

impl ExpectedGain {
    /// Returns whether the gain is below `min_gain`.
    pub fn is_below(self, min_gain: f64) -> bool {
        self.gain < min_gain
    }

    /// Returns the number of evaluations in a row at which the gain must be below `min_gain` before a run ends: the
    /// noisier the gain, the longer. From 2 to 12.
    ///
    /// ```text
    /// n = ⌈2·standard error / min_gain⌉
    /// ```
    pub fn n_needed(self, min_gain: f64) -> usize {
        // Ending at a gain below its own standard error left runs on digits 40 % above what they reached later.
        let n = (2.0 * self.standard_error / min_gain).ceil();
        // NaN is cast to 0: a gain without a standard error, or 0 ± 0 compared with 0.
        (n as usize).clamp(SHORTEST, LONGEST)
    }
}

/// Evaluation by which a run decides when to stop.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Point {
    /// Charged cost, in full passes.
    cost: f64,
    /// Losses of the samples evaluated, those of old samples first, in nats.
    losses: Vec<f64>,
}

/// Course of the risk over the cost of a run: its recent evaluations, all on the same samples and views.
///
/// The risk is the mean of the risk over old and the risk over new samples: over all data, a small increment would
/// count for nothing.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Course {
    points: Vec<Point>,
}

impl Course {
    /// Adds an evaluation.
    ///
    /// # Panics
    /// If it has another number of losses than those before.
    pub(crate) fn push(&mut self, cost: f64, losses: Vec<f64>) {
        if let Some(last) = self.points.last() {
            let (found, expected) = (losses.len(), last.losses.len());
            assert_eq!(found, expected, "expected the losses of the same samples");
        }
        // Both rules look back two doublings.
        self.points.retain(|point| point.cost >= cost / 4.0);
        self.points.push(Point { cost, losses });
    }

    /// Returns the gain of the last doubling of the cost C, from paired differences of each sample's loss. `n_old`
    /// is the number of old samples among them. Returns `None` without an evaluation at a quarter to half of the cost.
    ///
    /// ```text
    /// gain = (R̄ of evaluations at (C/4, C/2]  −  R̄ of those at (C/2, C]) / the former
    /// ```
    pub(crate) fn doubling(&self, n_old: usize) -> Option<ExpectedGain> {
        let cost = self.points.last()?.cost;
        // Whole octaves: narrower windows were empty at two of three evaluations of a short run.
        let later = self.mean_losses(cost / 2.0, cost)?;
        let earlier = self.mean_losses(cost / 4.0, cost / 2.0)?;
        let falls: Vec<f64> = earlier.iter().zip(&later).map(|(a, b)| a - b).collect();
        let (before, _) = balanced(&earlier, n_old);
        let (fall, standard_error) = balanced(&falls, n_old);
        Some(ExpectedGain {
            gain: fall / before,
            standard_error: standard_error / before,
        })
    }

    /// Returns the gain that a line through the risk over log₂ of the cost predicts, fitted by least squares to
    /// the evaluations of the last two doublings, with the standard error of its slope. Returns `None` for
    /// fewer than four.
    pub(crate) fn slope(&self, n_old: usize) -> Option<ExpectedGain> {
        let n = self.points.len() as f64;
        if self.points.len() < SLOPE_POINTS {
            return None;
        }
        let at: Vec<[f64; 2]> = self
            .points
            .iter()
            .map(|point| [point.cost.log2(), balanced(&point.losses, n_old).0])
            .collect();
        let mean = |axis: usize| at.iter().map(|point| point[axis]).sum::<f64>() / n;
        let (x, y) = (mean(0), mean(1));
        let squares: f64 = at.iter().map(|point| (point[0] - x).powi(2)).sum();
        let products: f64 = at.iter().map(|point| (point[0] - x) * (point[1] - y)).sum();
        let slope = products / squares;
        let residuals: f64 = at
            .iter()
            .map(|point| (point[1] - y - slope * (point[0] - x)).powi(2))
            .sum();
        let last = at.last()?[1];
        Some(ExpectedGain {
            gain: -slope / last,
            standard_error: (residuals / (n - 2.0) / squares).sqrt() / last,
        })
    }

    /// Returns the mean loss of each sample over the evaluations at a cost above `from` and at most `to`.
    fn mean_losses(&self, from: f64, to: f64) -> Option<Vec<f64>> {
        let within = |point: &&Point| point.cost > from && point.cost <= to;
        let points: Vec<&Point> = self.points.iter().filter(within).collect();
        let n_samples = points.first()?.losses.len();
        let mean = |sample: usize| {
            let sum: f64 = points.iter().map(|point| point.losses[sample]).sum();
            sum / points.len() as f64
        };
        Some((0..n_samples).map(mean).collect())
    }
}

/// Computes the mean of the values' means over old and over new samples, or over old ones if there are no others,
/// and its standard error.
fn balanced(values: &[f64], n_old: usize) -> (f64, f64) {
    let (old, new) = values.split_at(n_old);
    let parts: Vec<&[f64]> = [old, new]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    let (mut sum, mut variance) = (0.0, 0.0);
    for part in &parts {
        let n = part.len() as f64;
        let mean = part.iter().sum::<f64>() / n;
        let squares: f64 = part.iter().map(|value| (value - mean).powi(2)).sum();
        sum += mean;
        variance += squares / (n - 1.0) / n;
    }
    let n = parts.len() as f64;
    (sum / n, variance.sqrt() / n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(of: &[(f64, [f64; 4])]) -> Course {
        let mut course = Course::default();
        for (cost, losses) in of {
            course.push(*cost, losses.to_vec());
        }
        course
    }

    /// Sample standard deviation over √n.
    fn error_of(values: [f64; 2]) -> f64 {
        (values[0] - values[1]).abs() / 2.0
    }

    #[test]
    fn a_doubling_is_a_paired_difference() {
        let found = course(&[(10.0, [2.0, 3.0, 4.0, 6.0]), (20.0, [1.0, 2.5, 4.0, 4.0])]);
        let found = found.doubling(2).unwrap();
        // Old samples fall by 1 and 0.5, new ones by 0 and 2; before, the parts' means are 2.5 and 5.
        assert!((found.gain - (0.75 + 1.0) / (2.5 + 5.0)).abs() < 1e-12);
        let errors = [error_of([1.0, 0.5]), error_of([0.0, 2.0])];
        let error = errors[0].hypot(errors[1]) / (2.5 + 5.0);
        assert!((found.standard_error - error).abs() < 1e-12);
    }

    #[test]
    fn evaluations_of_a_window_are_averaged() {
        let found = course(&[
            (5.0, [9.0; 4]),
            (7.5, [3.0; 4]),
            (10.0, [1.0; 4]),
            (15.0, [1.5; 4]),
            (20.0, [0.5; 4]),
        ]);
        // (5, 10] holds 7.5 and 10, (10, 20] holds 15 and 20.
        let found = found.doubling(2).unwrap();
        assert!((found.gain - 0.5).abs() < 1e-12);
        assert_eq!(found.standard_error, 0.0);
    }

    #[test]
    fn no_doubling_without_an_evaluation_at_half_the_cost() {
        assert_eq!(course(&[]).doubling(2), None);
        assert_eq!(course(&[(10.0, [1.0; 4])]).doubling(2), None);
        let found = course(&[(10.0, [1.0; 4]), (19.0, [1.0; 4])]);
        assert_eq!(found.doubling(2), None);
    }

    #[test]
    fn a_line_over_the_logarithm_of_the_cost_has_its_slope() {
        let line = |cost: f64| (cost, [4.0 - cost.log2() / 4.0; 4]);
        let found = course(&[8.0, 11.0, 16.0, 23.0, 32.0].map(line));
        let found = found.slope(2).unwrap();
        // A quarter of a nat a doubling, at 4 − 5/4.
        assert!((found.gain - 0.25 / 2.75).abs() < 1e-12);
        assert!(found.standard_error < 1e-9);
        assert_eq!(course(&[8.0, 16.0, 32.0].map(line)).slope(2), None);
    }

    /// SciPy: linregress([3, 3.5, 4, 5], [2, 1.5, 1.6, 1]) has the slope −0.45142857142857146 and the standard
    /// error 0.11876919823329442.
    #[test]
    fn a_slope_has_the_error_of_its_residuals() {
        let points = [(8.0, 2.0), (3.5_f64.exp2(), 1.5), (16.0, 1.6), (32.0, 1.0)];
        let found = course(&points.map(|(cost, risk)| (cost, [risk; 4])));
        let found = found.slope(2).unwrap();
        assert!((found.gain - 0.451_428_571_428_571_46).abs() < 1e-12);
        assert!((found.standard_error - 0.118_769_198_233_294_42).abs() < 1e-12);
    }

    #[test]
    fn old_data_alone_have_one_mean() {
        let found = course(&[(1.0, [2.0, 2.0, 4.0, 4.0]), (2.0, [1.0, 1.0, 2.0, 2.0])]);
        assert!((found.doubling(4).unwrap().gain - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_noisy_gain_must_be_small_for_longer() {
        let gain = |gain, standard_error| ExpectedGain {
            gain,
            standard_error,
        };
        assert!(!gain(0.02, 0.01).is_below(0.005));
        assert!(gain(0.004, 0.001).is_below(0.005));
        assert!(gain(-0.1, 0.001).is_below(0.005));
        let needed = |error| gain(0.0, error).n_needed(0.005);
        assert_eq!(
            [0.0, 0.005, 0.0051, 0.018, 1.0].map(needed),
            [2, 2, 3, 8, 12]
        );
        assert_eq!(gain(0.0, 0.0).n_needed(0.0), 2);
        assert_eq!(gain(0.0, 0.1).n_needed(0.0), 12);
    }
}
