//! The number of negatives over the steps of a run.

use serde::{Deserialize, Serialize};

/// Course of the number of negatives K over the steps of a run (Wu et al., 2022, section 5), between 1 and a peak K*.
///
/// ```text
/// t = step/(n − 1), from 0 at the first of n steps to 1 at the last
/// fixed      K(t) = K*
/// up         K(t) = 1 + (K* − 1)·t
/// down       K(t) = K* − (K* − 1)·t
/// ans        K(t) = 1 + (K* − 1)·t/turn                     up to the turn, then
///            K(t) = K* − (K* − 1)·(t − turn)/(1 − turn)
/// ```
///
/// K is a real number. `up`, `down` and `ans` have the mean (1 + K*)/2.
///
/// Deviation from the paper: it draws the course of ANS as a curve (Fig. 6) without a formula; both of its parts are straight
/// here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NegativesSchedule {
    /// The peak in all steps (`fixed`).
    #[default]
    Fixed,
    /// From 1 up to the peak (`up`).
    Up,
    /// From the peak down to 1 (`down`).
    Down,
    /// From 1 quickly up to the peak, then slowly down to 1 (`ans`): adaptive negative sampling.
    Ans,
    /// The number with the largest effectiveness at each evaluation, without a peak (`stagewise`).
    ///
    /// ```text
    /// K ← argmax over K of P(μ, K) − P(B; K)        from 1 to 1000
    /// ```
    ///
    /// μ is the separation of the highest AUC on training samples so far, and P(B; K) is measured on held-out samples: a
    /// twentieth of the training samples, which are not trained on. K begins at 1 and at most doubles or halves at an
    /// evaluation. This is no part of the paper, which does not measure P(B).
    Stagewise,
}

impl NegativesSchedule {
    /// Returns K at a step, counted from 0, of a run of at most `n_steps` steps. A run that a stopping rule ends has not
    /// seen the end of its schedule. Stagewise K does not depend on the step; the peak is returned for it.
    pub(crate) fn at(self, step: u64, n_steps: u64, peak: f64, turn: f64) -> f64 {
        let t = step as f64 / n_steps.saturating_sub(1).max(1) as f64;
        let share = match self {
            Self::Fixed | Self::Stagewise => 1.0,
            Self::Up => t,
            Self::Down => 1.0 - t,
            Self::Ans if t <= turn => t / turn,
            Self::Ans => 1.0 - (t - turn) / (1.0 - turn),
        };
        1.0 + (peak - 1.0) * share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ans_rises_for_a_tenth_of_the_steps_and_falls_for_the_rest() {
        let k = |step| NegativesSchedule::Ans.at(step, 1001, 21.0, 0.1);
        assert_eq!((k(0), k(1000)), (1.0, 1.0));
        assert!((k(100) - 21.0).abs() < 1e-12);
        assert!((k(50) - 11.0).abs() < 1e-12 && (k(550) - 11.0).abs() < 1e-12);
    }

    #[test]
    fn every_course_but_the_fixed_one_has_the_same_mean() {
        use NegativesSchedule::{Ans, Down, Fixed, Up};
        let n = 100_001;
        for (schedule, mean) in [(Fixed, 9.0), (Up, 5.0), (Down, 5.0), (Ans, 5.0)] {
            let ks = (0..n).map(|step| schedule.at(step, n, 9.0, 0.1));
            let found = ks.sum::<f64>() / n as f64;
            assert!((found - mean).abs() < 1e-3, "{schedule:?}: {found}");
        }
        assert_eq!(
            (Up.at(0, n, 9.0, 0.1), Up.at(n - 1, n, 9.0, 0.1)),
            (1.0, 9.0)
        );
        assert_eq!(
            (Down.at(0, n, 9.0, 0.1), Down.at(n - 1, n, 9.0, 0.1)),
            (9.0, 1.0)
        );
    }

    #[test]
    fn a_single_step_has_the_first_number() {
        assert_eq!(NegativesSchedule::Ans.at(0, 1, 9.0, 0.1), 1.0);
        assert_eq!(NegativesSchedule::Down.at(0, 1, 9.0, 0.1), 9.0);
    }
}
