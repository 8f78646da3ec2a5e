//! Words on the end of a run: the rule that ended it, and the encoder that it kept.

use icl_train::StoppedBy;

use crate::record::TrainingCourse;
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
        StoppedBy::Caller => "caller",
    }
}

/// Writes why a run ended as one or two sentences; `None` for methods that train nothing.
pub(crate) fn stop_reason<R>(
    stopped_by: Option<StoppedBy>,
    course: &TrainingCourse<R>,
) -> Option<String> {
    let gain = course.expected_gain.map(|of| {
        let word = if of.gain < 0.0 { "raised" } else { "lowered" };
        let [gain, error] = [of.gain.abs(), of.standard_error].map(percent);
        format!("{word} the risk by {gain} (standard error {error})")
    });
    let gain = gain.as_deref();
    let end = match (stopped_by?, gain) {
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
        (StoppedBy::Caller, _) => "The run ended where its caller ended it.".to_owned(),
        (StoppedBy::Epochs, None) => "The run ended at its last epoch.".to_owned(),
    };
    Some(end + &kept(course).unwrap_or_default())
}

/// Writes which encoder is the result, if it is not the last one.
fn kept<R>(course: &TrainingCourse<R>) -> Option<String> {
    let n = course.evaluations.len();
    let best = course.best_evaluation.filter(|best| best + 1 < n)?;
    let n = plural(n, "evaluation");
    Some(match best {
        0 => {
            format!(" No encoder of the {n} has a lower risk than the first, which is the result.")
        }
        _ => format!(
            " The result is the encoder with the lowest risk of the {n}, at {} charged passes.",
            count(course.evaluations[best].charged_passes)
        ),
    })
}

#[cfg(test)]
mod tests {
    use icl_train::ExpectedGain;

    use super::*;
    use crate::fixture::first;

    /// A run with evaluations at 0, 9000 and 18,000 charged passes.
    fn course(best_evaluation: Option<usize>, expected_gain: Option<f64>) -> TrainingCourse<f64> {
        let mut course = first().course;
        let at = |charged_passes| icl_train::Evaluation {
            charged_passes,
            ..course.evaluations[0].clone()
        };
        course.evaluations = [0.0, 9000.0, 18_000.0].map(at).to_vec();
        course.best_evaluation = best_evaluation;
        course.expected_gain = expected_gain.map(|gain| ExpectedGain {
            gain,
            standard_error: 0.001,
        });
        course
    }

    #[test]
    fn a_stop_has_its_reason_and_its_encoder() {
        let words = |rule, best, gain| stop_reason(Some(rule), &course(best, gain)).unwrap();
        assert_eq!(
            words(StoppedBy::Doubling, Some(2), Some(0.002)),
            "The run ended by itself: the last doubling of its cost lowered the risk by 0.2 % (standard error 0.1 %)."
        );
        let earlier = words(StoppedBy::Epochs, Some(1), Some(0.002));
        assert!(earlier.starts_with("The run ended at its last epoch, before"));
        assert!(
            earlier.ends_with("of the 3 evaluations, at 9000 charged passes."),
            "{earlier}"
        );
        let first = words(StoppedBy::Slope, Some(0), Some(0.002));
        assert!(first.ends_with("than the first, which is the result."));
        let rising = words(StoppedBy::Doubling, None, Some(-0.01));
        assert!(rising.contains("raised the risk by 1.0 %"));
        let paper = words(StoppedBy::TrainingLoss, None, None);
        assert!(paper.ends_with("the training loss reached no new minimum."));
        assert_eq!(stop_reason(None, &course(None, None)), None);
    }
}
