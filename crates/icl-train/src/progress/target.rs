//! The time that a method needs to reach the quality of retraining.

use icl_core::{ByOrigin, ExactRisk};
use serde::{Deserialize, Serialize};

use crate::progress::record::Evaluation;

/// Ratio of the target to the plateau of retraining, on old and on new data each.
pub const TARGET_RATIO: f64 = 1.01;
/// Number of evaluations whose median is the plateau.
const PLATEAU: usize = 5;
/// Number of consecutive evaluations that must lie at or under the target: one alone may be a dip.
const STAYS: usize = 3;

/// Computes the plateau of a run in nats, over all data, over old and over new data: the median of the last five exact
/// risks, or of all if there are fewer. Returns `None` without evaluations.
pub fn plateau(evaluations: &[Evaluation]) -> Option<ByOrigin<f64>> {
    let last = &evaluations[evaluations.len().saturating_sub(PLATEAU)..];
    let median = |risk: fn(&ExactRisk) -> f64| {
        let mut risks: Vec<f64> = last.iter().map(|of| risk(&of.risk)).collect();
        risks.sort_by(f64::total_cmp);
        let middle = risks.len() / 2;
        match risks.len() {
            0 => None,
            n if n % 2 == 1 => Some(risks[middle]),
            _ => Some((risks[middle - 1] + risks[middle]) / 2.0),
        }
    };
    Some(ByOrigin {
        all: median(|risk| risk.all)?,
        old: median(|risk| risk.old)?,
        new: median(|risk| risk.new)?,
    })
}

/// Cost of reaching a target.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TimeToTarget {
    /// Number of epochs.
    pub epochs: usize,
    /// Number of views that passed through the encoder in training.
    pub sample_passes: u64,
    /// Cost that is charged to the method, in full passes.
    pub charged_passes: f64,
    /// Training time in seconds, without evaluations.
    pub train_s: f64,
}

/// Finds the first of three consecutive evaluations whose exact risks over old and over new data are each at or under
/// that of `target` (in nats), and returns the cost up to it. Returns `None` if there is none.
///
/// Over all data, an encoder that is better than retraining on old data would hide that it is worse on new data.
///
/// A run with fewer than three evaluations (inference has one, and a run of one epoch two) reaches the
/// target if all of them are at or under it.
pub fn time_to_target(evaluations: &[Evaluation], target: &ByOrigin<f64>) -> Option<TimeToTarget> {
    let in_a_row = STAYS.min(evaluations.len());
    let is_under = |of: &Evaluation| of.risk.old <= target.old && of.risk.new <= target.new;
    evaluations
        .windows(in_a_row.max(1))
        .find(|window| window.iter().all(is_under))
        .map(|window| TimeToTarget {
            epochs: window[0].epoch,
            sample_passes: window[0].sample_passes,
            charged_passes: window[0].charged_passes,
            train_s: window[0].train_s,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn under(risk: f64) -> ByOrigin<f64> {
        ByOrigin {
            all: risk,
            old: risk,
            new: risk,
        }
    }

    fn run(risks: &[f64]) -> Vec<Evaluation> {
        let evaluation = |(epoch, &all): (usize, &f64)| Evaluation {
            epoch,
            sample_passes: 10 * epoch as u64,
            charged_passes: 12.5 * epoch as f64,
            train_s: epoch as f64 / 2.0,
            risk: ExactRisk {
                all,
                old: all,
                new: all,
                nce1_old: all,
                bound: 0.0,
                nce2_old: 0.0,
                change_ratio_old: 1.0,
                bias_inference_old: 0.0,
                bias_inference_new: -all,
                bias_fine_tuning_new: 0.0,
                theorem1_residual: 0.0,
                auc_all: None,
                auc_old: None,
                auc_new: None,
            },
        };
        risks.iter().enumerate().map(evaluation).collect()
    }

    #[test]
    fn a_dip_is_no_arrival() {
        let evaluations = run(&[5.0, 1.0, 3.0, 2.0, 1.9, 2.0, 9.0]);
        let reached = time_to_target(&evaluations, &under(2.0)).unwrap();
        assert_eq!(
            (reached.epochs, reached.sample_passes, reached.train_s),
            (3, 30, 1.5)
        );
        assert_eq!(time_to_target(&evaluations, &under(1.0)), None);
        assert_eq!(time_to_target(&evaluations, &under(9.0)).unwrap().epochs, 0);
    }

    #[test]
    fn both_parts_must_arrive() {
        let mut evaluations = run(&[3.0, 2.0, 2.0, 2.0, 2.0, 2.0]);
        evaluations[1].risk.new = 2.5;
        evaluations[2].risk.old = 2.5;
        let reached = time_to_target(&evaluations, &under(2.0)).unwrap();
        assert_eq!(reached.epochs, 3);
        let apart = ByOrigin {
            new: 2.6,
            ..under(2.0)
        };
        let reached = time_to_target(&evaluations[..2], &apart);
        assert_eq!(reached, None);
    }

    #[test]
    fn three_in_a_row_or_all_there_are() {
        assert_eq!(time_to_target(&run(&[]), &under(2.0)), None);
        assert_eq!(time_to_target(&run(&[1.0]), &under(2.0)).unwrap().epochs, 0);
        assert_eq!(time_to_target(&run(&[3.0]), &under(2.0)), None);
        assert_eq!(time_to_target(&run(&[3.0, 1.0]), &under(2.0)), None);
        assert_eq!(
            time_to_target(&run(&[3.0, 3.0, 1.0, 1.0]), &under(2.0)),
            None
        );
        assert_eq!(
            time_to_target(&run(&[3.0, 1.0, 1.0, 1.0]), &under(2.0))
                .unwrap()
                .epochs,
            1
        );
    }

    #[test]
    fn the_plateau_is_a_median_of_the_end() {
        assert_eq!(plateau(&run(&[])), None);
        let mut nine = run(&[9.0, 8.0, 1.0, 5.0, 2.0, 3.0, 4.0]);
        assert_eq!(plateau(&nine), Some(under(3.0)));
        nine[6].risk.new = 0.5;
        assert_eq!(plateau(&nine).unwrap().new, 2.0);
        assert_eq!(plateau(&run(&[4.0, 2.0])), Some(under(3.0)));
    }
}
