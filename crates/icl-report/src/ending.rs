//! The end of a run in words: the rule that ended it, and the encoder that it kept.

use icl_train::{Evaluation, ExpectedGain, StoppedBy};

use crate::text::number::{count, percent, plural};

/// Returns the name of a rule, as options and records have it.
pub(crate) fn rule_name(rule: StoppedBy) -> &'static str {
    match rule {
        StoppedBy::Doubling => "doubling",
        StoppedBy::Slope => "slope",
        StoppedBy::ExactRisk => "exact-risk",
        StoppedBy::TrainingLoss => "training-loss",
        StoppedBy::Epochs => "epochs",
        StoppedBy::Budget => "budget",
    }
}

/// Facts about the end of a run.
#[derive(Debug, Clone)]
pub(crate) struct Ending {
    pub(crate) stopped_by: Option<StoppedBy>,
    pub(crate) expected_gain: Option<ExpectedGain>,
    pub(crate) best_evaluation: Option<usize>,
    /// Charged cost at each evaluation, in full passes.
    pub(crate) charged: Vec<f64>,
}

impl Ending {
    /// Writes the end of the run as one or two sentences; `None` for methods that train nothing.
    pub(crate) fn sentences(&self) -> Option<String> {
        let gain = self.expected_gain.map(|of| {
            let word = if of.gain < 0.0 { "raised" } else { "lowered" };
            let [gain, error] = [of.gain.abs(), of.standard_error].map(percent);
            format!("{word} the risk by {gain} (standard error {error})")
        });
        let gain = gain.as_deref();
        let end = match (self.stopped_by?, gain) {
            (StoppedBy::Doubling, Some(gain)) => {
                format!("The run ended by itself: the last doubling of its cost {gain}.")
            }
            (StoppedBy::Slope, Some(gain)) => {
                format!(
                    "The run ended by itself: by the slope of its risk, a doubling of its cost {gain}."
                )
            }
            (StoppedBy::Doubling | StoppedBy::Slope | StoppedBy::ExactRisk, _) => {
                "The run ended by itself: the exact risk reached no new minimum.".to_owned()
            }
            (StoppedBy::TrainingLoss, _) => {
                "The run ended by itself: the training loss reached no new minimum.".to_owned()
            }
            (StoppedBy::Epochs, Some(gain)) => format!(
                "The run ended at its last epoch, before its stopping rule: a doubling of its cost still {gain}."
            ),
            (StoppedBy::Budget, Some(gain)) => format!(
                "The run ended at its budget, before its stopping rule: a doubling of its cost still {gain}."
            ),
            (StoppedBy::Budget, None) => "The run ended at its budget.".to_owned(),
            (StoppedBy::Epochs, None) => "The run ended at its last epoch.".to_owned(),
        };
        Some(end + &self.kept().unwrap_or_default())
    }

    /// Writes which encoder is the result, if it is not the last one.
    fn kept(&self) -> Option<String> {
        let best = self
            .best_evaluation
            .filter(|best| best + 1 < self.charged.len())?;
        let n = plural(self.charged.len(), "evaluation");
        Some(match best {
            0 => format!(
                " No encoder of the {n} has a lower risk than the first, which is the result."
            ),
            _ => format!(
                " The result is the encoder with the lowest risk of the {n}, at {} charged passes.",
                count(self.charged[best])
            ),
        })
    }
}

/// Returns the charged cost at each evaluation of a run.
pub(crate) fn charged<R>(evaluations: &[Evaluation<R>]) -> Vec<f64> {
    evaluations.iter().map(|of| of.charged_passes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ending(stopped_by: StoppedBy, best_evaluation: Option<usize>) -> Ending {
        Ending {
            stopped_by: Some(stopped_by),
            expected_gain: Some(ExpectedGain {
                gain: 0.002,
                standard_error: 0.001,
            }),
            best_evaluation,
            charged: vec![0.0, 9000.0, 18_000.0],
        }
    }

    #[test]
    fn an_ending_has_its_reason_and_its_encoder() {
        let words = |of: Ending| of.sentences().unwrap();
        assert_eq!(
            words(ending(StoppedBy::Doubling, Some(2))),
            "The run ended by itself: the last doubling of its cost lowered the risk by 0.2 % (standard error 0.1 %)."
        );
        let earlier = words(ending(StoppedBy::Epochs, Some(1)));
        assert!(earlier.starts_with("The run ended at its last epoch, before"));
        assert!(
            earlier.ends_with("of the 3 evaluations, at 9000 charged passes."),
            "{earlier}"
        );
        let first = ending(StoppedBy::Slope, Some(0));
        assert!(words(first).ends_with("than the first, which is the result."));
        let rising = Ending {
            expected_gain: Some(ExpectedGain {
                gain: -0.01,
                standard_error: 0.0,
            }),
            ..ending(StoppedBy::Doubling, None)
        };
        assert!(words(rising).contains("raised the risk by 1.0 %"));
        let paper = Ending {
            expected_gain: None,
            ..ending(StoppedBy::TrainingLoss, None)
        };
        assert!(words(paper.clone()).ends_with("the training loss reached no new minimum."));
        let untrained = Ending {
            stopped_by: None,
            ..paper
        };
        assert_eq!(untrained.sentences(), None);
    }
}
