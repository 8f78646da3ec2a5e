//! Learning rates that are functions of the step.

use crate::rate::choice::RateChoice;

/// Learning rate that is a function of the step.
///
/// ```
/// use icl_core::RateChoice;
///
/// let cosine = RateChoice::Cosine.schedule(0.2, 100).expect("a function of the step");
/// assert_eq!(cosine.at(0), 0.2);
/// assert!(RateChoice::Learned.schedule(0.2, 100).is_none());
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Schedule {
    /// Function of the base, the step, the number of steps of the run, and that of earlier runs.
    rate: fn(f64, u64, u64, u64) -> f64,
    base: f64,
    n_steps: u64,
    n_before: u64,
}

impl RateChoice {
    /// Returns the learning rate as a function of the step, with the base `base`, for a run of at most `n_steps` steps;
    /// `u64::MAX` where the length is not known. It is `None` for a source that follows the run: hypergradient descent,
    /// and the learned rates.
    pub fn schedule(self, base: f64, n_steps: u64) -> Option<Schedule> {
        let rate: fn(f64, u64, u64, u64) -> f64 = match self {
            Self::Fixed => |base, _, _, _| base,
            Self::Cosine => |base, step, n_steps, _| cosine(base, step, n_steps),
            Self::Linear => |base, step, n_steps, _| linear(base, step, n_steps),
            Self::WarmupCosine => |base, step, n_steps, _| warmup_cosine(base, step, n_steps),
            Self::MetaDecay => meta_decay,
            Self::Hypergradient | Self::LearnedAsPublished | Self::Learned => return None,
        };
        Some(Schedule {
            rate,
            base,
            n_steps,
            n_before: 0,
        })
    }
}

impl Schedule {
    /// Turns the schedule into one for a run after `n_before` steps of earlier runs. Only [`RateChoice::MetaDecay`]
    /// makes use of it.
    pub fn after_steps(self, n_before: u64) -> Self {
        Self { n_before, ..self }
    }

    /// Returns the learning rate of a step of the run, counted from 0.
    pub fn at(&self, step: u64) -> f64 {
        (self.rate)(self.base, step, self.n_steps, self.n_before)
    }
}

/// Computes the learning rate of a step that falls from `base` to 0 as half a cosine (Loshchilov and
/// Hutter, 2017, without restarts).
///
/// ```text
/// lr(t) = base·(1 + cos(π·t/T))/2        t = step, T = n_steps
/// ```
fn cosine(base: f64, step: u64, n_steps: u64) -> f64 {
    let share = step as f64 / n_steps.max(1) as f64;
    base * (1.0 + (std::f64::consts::PI * share).cos()) / 2.0
}

/// Share of a run over which the linear schedule rises.
const RISE: f64 = 0.05;
/// Share of a run that is added to the share done during the rise: the first step has a fifth of the rate and not 0, at
/// which it would move nothing.
const FIRST: f64 = 0.01;

/// Computes the learning rate of a step that rises over the first twentieth of the steps and falls linearly to 0.
///
/// ```text
/// lr(c) = base·min(1, (c + 0.01)/0.05)·(1 − c)        c = step/n_steps
/// ```
fn linear(base: f64, step: u64, n_steps: u64) -> f64 {
    // A run of unknown length has no end to fall towards.
    if n_steps == u64::MAX {
        return base;
    }
    let share = step as f64 / n_steps.max(1) as f64;
    base * ((share + FIRST) / RISE).min(1.0) * (1.0 - share).max(0.0)
}

/// Computes the learning rate of a step that rises linearly to `base` over the first tenth of the steps,
/// rounded up, and then falls to 0 as half a cosine (Chen et al., 2020).
///
/// ```text
/// lr(t) = base·(t + 1)/W  for t < W = ⌈T/10⌉        base·(1 + cos(π·(t − W)/(T − W)))/2  from then on
/// ```
fn warmup_cosine(base: f64, step: u64, n_steps: u64) -> f64 {
    let n_warmup = warmup(n_steps);
    if step < n_warmup {
        base * (step + 1) as f64 / n_warmup as f64
    } else {
        cosine(base, step - n_warmup, n_steps - n_warmup)
    }
}

/// Computes the learning rate of a step of the warm-up and the cosine of [`warmup_cosine`], whose peak falls from run
/// to run: it is the rate that one cosine over this run and all steps before it has at the end of this run's warm-up.
///
/// ```text
/// lr(t) = warmup_cosine with the base  base·(1 + cos(π·P/(P + T − W)))/2        P = n_before, W = ⌈T/10⌉
/// ```
fn meta_decay(base: f64, step: u64, n_steps: u64, n_before: u64) -> f64 {
    // A run of one step has a warm-up of one step, and would be beyond the end of the cosine.
    let n_left = (n_steps - warmup(n_steps)).max(1);
    let peak = cosine(base, n_before, n_before.saturating_add(n_left));
    warmup_cosine(peak, step, n_steps)
}

/// Returns the number of steps of the warm-up, a tenth of all, rounded up.
fn warmup(n_steps: u64) -> u64 {
    n_steps.div_ceil(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cosine_falls_from_the_base_to_nothing() {
        assert_eq!(cosine(0.2, 0, 100), 0.2);
        assert!((cosine(0.2, 50, 100) - 0.1).abs() < 1e-12);
        assert!((cosine(0.2, 25, 100) - 0.1 * (1.0 + 0.5_f64.sqrt())).abs() < 1e-12);
        assert!(cosine(0.2, 100, 100).abs() < 1e-12);
    }

    #[test]
    fn the_linear_rate_rises_briefly_and_falls_to_nothing() {
        let at = |step| linear(0.2, step, 1000);
        for (step, expected) in [
            (0, 0.04),
            (20, 0.1176),
            (40, 0.192),
            (500, 0.1),
            (900, 0.02),
        ] {
            assert!((at(step) - expected).abs() < 1e-12, "{step}");
        }
        assert_eq!(at(1000), 0.0);
        assert_eq!(linear(0.2, 7, u64::MAX), 0.2);
    }

    #[test]
    fn the_warm_up_is_a_tenth_of_the_steps_and_the_cosine_the_rest() {
        let rates: Vec<f64> = (0..100).map(|step| warmup_cosine(0.2, step, 100)).collect();
        for (step, rate) in rates.iter().enumerate() {
            let expected = if step < 10 {
                0.02 * (step + 1) as f64
            } else {
                0.2 * (std::f64::consts::PI * (step - 10) as f64 / 180.0)
                    .cos()
                    .powi(2)
            };
            assert!((rate - expected).abs() < 1e-12, "{step}");
        }
        assert_eq!((rates[9], rates[10]), (0.2, 0.2));
        assert!((rates[55] - 0.1).abs() < 1e-12);
        // The first steps of the shortest runs have the full rate.
        assert_eq!(warmup_cosine(0.2, 0, 1), 0.2);
        assert_eq!(warmup_cosine(0.2, 0, 10), 0.2);
        assert_eq!(warmup_cosine(0.2, 0, 11), 0.1);
    }

    #[test]
    fn the_peak_of_a_run_is_on_one_cosine_over_all_steps() {
        let base = 0.2;
        // Three runs of other lengths: number of steps before, of the run, and of its warm-up.
        for (n_before, n_steps, n_warmup) in [(0, 100, 10), (100, 40, 4), (140, 205, 21)] {
            let rates = (0..n_steps).map(|step| meta_decay(base, step, n_steps, n_before));
            let rates: Vec<f64> = rates.collect();
            // One cosine after a warm-up, which ends with this run, where the warm-up of this run ends.
            let (at, total) = (n_before + n_warmup, n_before + n_steps);
            let share = (at - n_warmup) as f64 / (total - n_warmup) as f64;
            let angle = std::f64::consts::PI * share;
            let peak = base * (angle / 2.0).cos().powi(2);
            let highest = rates.iter().copied().fold(0.0, f64::max);
            assert!((highest - peak).abs() < 1e-12, "{n_before}");
            for step in [n_warmup as usize - 1, n_warmup as usize] {
                assert!((rates[step] - peak).abs() < 1e-12, "{n_before}");
            }
            let last = rates[n_steps as usize - 1];
            assert!(last > 0.0 && last < 1e-2 * peak, "{n_before}");
        }
        let first: Vec<f64> = (0..50).map(|step| meta_decay(base, step, 50, 0)).collect();
        let alone: Vec<f64> = (0..50).map(|step| warmup_cosine(base, step, 50)).collect();
        assert_eq!(first, alone);
        // As many steps before as after the warm-up: the middle of the cosine. A run of one step has a rate, too.
        assert!((meta_decay(base, 1_000_000, 10_000_000, 9_000_000) - 0.1).abs() < 1e-12);
        assert!(meta_decay(base, 0, 1, 5) > 0.0);
    }
}
