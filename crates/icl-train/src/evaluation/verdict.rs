//! Whether an encoder is better than the one before: paired differences of the losses of held-out samples.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

use serde::{Deserialize, Serialize};

use crate::error::TrainError;

/// Answer to the question whether an encoder is better than the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Interval of the difference of the losses below 0.
    Better,
    /// Interval that holds 0.
    NoClearDifference,
    /// Interval above 0.
    Worse,
}

/// Difference of the losses of two encoders on the same samples, with an interval by Student's t.
///
/// Losses of one sample vary together: their difference is known better than either mean. The samples are those that
/// neither encoder was trained on, and have the same views.
///
/// ```
/// use icl_train::{Answer, PairedDifference};
///
/// let (before, after) = ([2.0, 3.0, 1.0, 4.0], [1.9, 2.8, 0.9, 3.8]);
/// let difference = PairedDifference::of(&before, &after, 0.95)?;
/// assert!((difference.mean + 0.15).abs() < 1e-12);
/// assert_eq!(difference.answer, Answer::Better);
/// # Ok::<(), icl_train::TrainError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PairedDifference {
    /// Number of samples n, at least 2.
    pub n: usize,
    /// Mean of the losses after minus those before, in nats: below 0 the encoder after is better.
    pub mean: f64,
    /// Standard error of this mean, in nats: sd/√n, with the sample standard deviation of the differences.
    pub standard_error: f64,
    /// Ends of the two-sided interval of the mean, in nats, with n − 1 degrees of freedom.
    pub interval: [f64; 2],
    /// Answer by the interval.
    pub answer: Answer,
}

impl PairedDifference {
    /// Compares the losses of the same samples before and after, with an interval that holds the true mean with the
    /// probability `level`.
    ///
    /// # Errors
    /// [`TrainError`] if the numbers of losses differ or are below 2, a loss is not finite, or the level is not above 0
    /// and below 1.
    pub fn of(before: &[f64], after: &[f64], level: f64) -> Result<Self, TrainError> {
        let n = before.len();
        let found = format!("{n} and {} losses", after.len());
        let expected = "two or more before, and as many after";
        TrainError::unless(n >= 2 && after.len() == n, "losses", found, expected)?;
        let is_level = level > 0.0 && level < 1.0;
        TrainError::unless(is_level, "level", level, "one above 0 and below 1")?;
        let differences = || {
            after
                .iter()
                .zip(before)
                .map(|(after, before)| after - before)
        };
        let mean = differences().sum::<f64>() / n as f64;
        TrainError::unless(mean.is_finite(), "losses", mean, "finite numbers")?;
        let squares: f64 = differences().map(|it| (it - mean).powi(2)).sum();
        let standard_error = (squares / (n - 1) as f64 / n as f64).sqrt();
        let half = student_t(level, n - 1) * standard_error;
        let interval = [mean - half, mean + half];
        let answer = match interval {
            [_, high] if high < 0.0 => Answer::Better,
            [low, _] if low > 0.0 => Answer::Worse,
            _ => Answer::NoClearDifference,
        };
        Ok(Self {
            n,
            mean,
            standard_error,
            interval,
            answer,
        })
    }
}

/// Whether an updated encoder is better than the one before, on old and on new data, by held-out samples alone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Probability with which each interval holds the true difference, [`LEVEL`](Self::LEVEL).
    pub level: f64,
    /// Difference on old samples.
    pub old: PairedDifference,
    /// Difference on new samples.
    pub new: PairedDifference,
}

impl Verdict {
    /// Level of each of the two intervals.
    // At 97.5 % a true difference of three standard errors would be found in fewer than 80 % of the cases; at 95 %
    // equal encoders would be called different in one case of twenty, which a daily update reaches every month.
    pub const LEVEL: f64 = 0.96;

    /// Compares the losses of the same held-out samples before and after, the first `n_old` of which are old, as
    /// [`Evaluator::held_out_risk_with_losses`](crate::Evaluator::held_out_risk_with_losses) returns them.
    ///
    /// # Errors
    /// Those of [`PairedDifference::of`], also if there are fewer than `n_old` losses.
    pub fn of(before: &[f64], after: &[f64], n_old: usize) -> Result<Self, TrainError> {
        let n = before.len().min(after.len());
        TrainError::unless(n_old <= n, "losses", n, format!("at least {n_old}"))?;
        let [(old_before, new_before), (old_after, new_after)] =
            [before, after].map(|losses| losses.split_at(n_old));
        Ok(Self {
            level: Self::LEVEL,
            old: PairedDifference::of(old_before, old_after, Self::LEVEL)?,
            new: PairedDifference::of(new_before, new_after, Self::LEVEL)?,
        })
    }

    /// Returns whether the encoder after is worse on old or on new data.
    pub fn is_worse(&self) -> bool {
        [self.old, self.new]
            .iter()
            .any(|it| it.answer == Answer::Worse)
    }
}

/// Returns the t with P(|T| ≤ t) = `level` for Student's distribution.
fn student_t(level: f64, degrees: usize) -> f64 {
    // By bisection of the angle, with which the probability rises. 60 halvings leave less than a double rounds.
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        match within(middle, degrees) < level {
            true => low = middle,
            false => high = middle,
        }
    }
    (degrees as f64).sqrt() * f64::midpoint(low, high).tan()
}

/// Returns P(|T| ≤ √ν·tan θ) with ν degrees of freedom (Abramowitz and Stegun, 1964, 26.7.3 and 26.7.4):
///
/// ```text
/// ν odd:  2/π·(θ + sin θ·(cos θ + 2/3·cos³θ + … + (2·4…(ν−3))/(3·5…(ν−2))·cos^(ν−2) θ))
/// ν even: sin θ·(1 + 1/2·cos²θ + … + (1·3…(ν−3))/(2·4…(ν−2))·cos^(ν−2) θ)
/// ```
fn within(theta: f64, degrees: usize) -> f64 {
    let (sin, cos) = theta.sin_cos();
    let is_odd = degrees % 2 == 1;
    let (mut term, mut sum) = (if is_odd { cos } else { 1.0 }, 0.0);
    for power in (degrees % 2..degrees.saturating_sub(1)).step_by(2) {
        sum += term;
        term *= cos * cos * (power + 1) as f64 / (power + 2) as f64;
    }
    match is_odd {
        true => FRAC_2_PI * (theta + sin * sum),
        false => sin * sum,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use icl_core::{Rng, Seed};
    use rand::RngExt as _;

    /// Levels, degrees of freedom and values of `scipy.stats.t.ppf((1 + level) / 2, degrees)`.
    const QUANTILES: [(f64, usize, f64); 8] = [
        (0.96, 1, 15.89454484386529),
        (0.96, 2, 4.848732213850609),
        (0.96, 3, 3.481908760321212),
        (0.96, 10, 2.359314623736535),
        (0.96, 57, 2.101817845588452),
        (0.96, 1999, 2.055089962825777),
        (0.95, 4, 2.7764451051977934),
        (0.99, 30, 2.7499956535672254),
    ];

    #[test]
    fn quantiles_are_those_of_scipy() {
        for (level, degrees, expected) in QUANTILES {
            let found = student_t(level, degrees);
            assert!((found / expected - 1.0).abs() < 1e-9, "{degrees}: {found}");
        }
    }

    /// A standard normal number (Box and Muller).
    fn normal(rng: &mut Rng) -> f64 {
        let [u, v] = [(); 2].map(|()| rng.random_range(f64::MIN_POSITIVE..1.0));
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    /// A number with heavy tails: Student's t with five degrees of freedom, of standard deviation √(5/3).
    fn heavy(rng: &mut Rng) -> f64 {
        let z = normal(rng);
        let squares: f64 = (0..5).map(|_| normal(rng).powi(2)).sum();
        z / (squares / 5.0).sqrt()
    }

    /// Losses of two encoders on 200 samples: a part that both share, heavy-tailed, and a part of each; the second is
    /// larger by some standard errors of the mean difference.
    fn losses(rng: &mut Rng, n_errors: f64) -> [Vec<f64>; 2] {
        let n = 200;
        let shift = n_errors * (2.0 * 5.0 / 3.0 / n as f64).sqrt();
        let pair = |rng: &mut Rng| {
            let shared = 5.0 * heavy(rng).abs();
            [shared + heavy(rng), shared + heavy(rng) + shift]
        };
        let pairs: Vec<[f64; 2]> = (0..n).map(|_| pair(rng)).collect();
        [0, 1].map(|side| pairs.iter().map(|pair| pair[side]).collect())
    }

    /// Number of simulated pairs of encoders. Of 200 the share of answers has a standard error of 2.7 %, more than what
    /// lies between the expected 82.4 % and the bound of 80 %.
    const PAIRS: usize = 2000;

    /// The number of pairs with each answer: better, no clear difference, worse.
    fn answers(seed: &str, n_errors: f64) -> [usize; 3] {
        let mut rng = Seed::new(42).child(seed).rng();
        let mut counts = [0; 3];
        for _ in 0..PAIRS {
            let [before, after] = losses(&mut rng, n_errors);
            let found = PairedDifference::of(&before, &after, Verdict::LEVEL).unwrap();
            counts[found.answer as usize] += 1;
        }
        counts
    }

    #[test]
    fn equal_encoders_are_rarely_called_different_and_three_errors_are_found() {
        let [better, same, worse] = answers("equal", 0.0);
        assert!(same * 100 >= 95 * PAIRS, "{better} {same} {worse}");
        let [better, same, worse] = answers("worse", 3.0);
        assert!(
            worse * 100 >= 80 * PAIRS && better == 0,
            "{better} {same} {worse}"
        );
        let [better, same, worse] = answers("better", -3.0);
        assert!(
            better * 100 >= 80 * PAIRS && worse == 0,
            "{better} {same} {worse}"
        );
    }

    #[test]
    fn a_verdict_has_an_answer_for_each_part() {
        let before = [1.0, 2.0, 3.0, 1.0, 2.0, 3.0];
        let after = [0.9, 1.8, 2.9, 1.3, 2.2, 3.25];
        let found = Verdict::of(&before, &after, 3).unwrap();
        assert_eq!((found.old.n, found.new.n), (3, 3));
        assert_eq!(found.new.answer, Answer::Worse);
        assert!(found.is_worse() && found.old.mean < 0.0);
        // The same encoder twice: no difference, no error.
        let equal = Verdict::of(&before, &before, 3).unwrap();
        assert_eq!(equal.old.interval, [0.0; 2]);
        assert_eq!(equal.old.answer, Answer::NoClearDifference);
        assert!(!equal.is_worse());
        for n_old in [0, 1, 5, 7] {
            assert!(Verdict::of(&before, &after, n_old).is_err(), "{n_old}");
        }
        assert!(PairedDifference::of(&before, &after[1..], 0.9).is_err());
        assert!(PairedDifference::of(&before, &[f64::NAN; 6], 0.9).is_err());
        assert!(PairedDifference::of(&before, &after, 1.0).is_err());
    }
}
