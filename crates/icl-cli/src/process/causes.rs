//! Options and files that can cause numbers that are not finite.

use std::path::Path;

use anyhow::anyhow;
use icl_eval::{EvalError, EvalErrorKind};
use icl_train::{Method, TrainError, TrainErrorKind, TrainingSettings};

use crate::process::failure::Failure;

/// Options and files on which the losses, risks and embeddings of a training run depend.
///
/// A run that meets a number that is not finite would meet it again: this is a failure of the input, and no state is
/// kept.
#[derive(Debug, Clone, Copy)]
pub struct Causes<'a> {
    /// Settings of the run.
    pub settings: &'a TrainingSettings,
    /// Method of the run; none for the training of a first encoder.
    pub method: Option<&'a Method>,
    /// File of the first encoder, or of its weights.
    pub file: Option<&'a Path>,
}

impl Causes<'_> {
    /// Returns the failure of a training run.
    pub fn training(&self, error: TrainError) -> Failure {
        let has_trained = matches!(
            error.kind(),
            TrainErrorKind::NonFinite { step, .. } | TrainErrorKind::Collapsed { step } if step > 0
        );
        self.failure(error, has_trained)
    }

    /// Returns the failure to measure a trained encoder.
    pub fn measurement(&self, error: TrainError) -> Failure {
        self.failure(error, true)
    }

    fn failure(&self, error: TrainError, has_trained: bool) -> Failure {
        match error.kind() {
            TrainErrorKind::NonFinite { .. } | TrainErrorKind::Collapsed { .. } => Failure::input(
                anyhow!("{error}; it depends on {}", self.listed(has_trained)),
            ),
            _ => Failure::training(error),
        }
    }

    /// Checks that the held-out risk of a trained encoder is finite, if there is one.
    ///
    /// # Errors
    /// If it is not.
    pub fn check_held_out(&self, found: Option<f64>) -> Result<(), Failure> {
        match found.filter(|risk| !risk.is_finite()) {
            None => Ok(()),
            Some(found) => Err(Failure::input(anyhow!(
                "the held-out risk is {found}, expected a finite number; it depends on {}",
                self.listed(true)
            ))),
        }
    }

    /// Returns the failure to measure the embeddings of a trained encoder.
    pub fn embeddings(&self, error: EvalError) -> Failure {
        match error.kind() {
            EvalErrorKind::NotFinite => Failure::input(anyhow!(
                "embeddings: {error}; they depend on {}",
                self.listed(true)
            )),
            _ => Failure::Other(error.into()),
        }
    }

    /// Returns the failure of a trained encoder that has collapsed.
    pub fn collapsed(&self, found: anyhow::Error) -> Failure {
        Failure::input(anyhow!("{found}; it depends on {}", self.listed(true)))
    }

    /// Lists the file, and the options with their values; before the first step without those of steps.
    fn listed(&self, has_trained: bool) -> String {
        let settings = self.settings;
        let is_meta = self.method.is_some_and(|method| method.optimizer.is_meta());
        let loss = self.method.and_then(|method| method.loss);
        let distils = loss.is_some_and(|loss| loss.distillation);
        let option =
            |is_used: bool, name: &str, value: f64| is_used.then(|| format!("{name} {value}"));
        let causes = [
            self.file.map(|path| path.display().to_string()),
            option(has_trained, "learning-rate", settings.learning_rate),
            option(
                has_trained && is_meta,
                "support-learning-rate",
                settings.support_learning_rate,
            ),
            option(
                has_trained && distils,
                "distillation-weight",
                settings.distillation_weight,
            ),
            option(true, "temperature", settings.temperature),
            option(true, "negatives", settings.negatives),
        ];
        let causes: Vec<String> = causes.into_iter().flatten().collect();
        causes.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_steps_are_named_after_a_step() {
        let settings = TrainingSettings::default();
        let method = Method::named("icl-corrected").unwrap();
        let not_finite = |step| {
            let place = format!("at step {step} (epoch 0, seed 7)");
            let error = format!("the exact risk is NaN {place}, expected a finite number");
            let kind = TrainErrorKind::NonFinite { step, sample: None };
            TrainError::message(error).with_kind(kind)
        };
        let causes = Causes {
            settings: &settings,
            method: Some(&method),
            file: Some(Path::new("a.safetensors")),
        };
        let found = "the exact risk is NaN at step";
        let expected = "(epoch 0, seed 7), expected a finite number; it depends on a.safetensors";
        for (step, options) in [
            (0, "temperature 0.1, negatives 31"),
            (
                2,
                "learning-rate 0.003, support-learning-rate 0.003, temperature 0.1, negatives 31",
            ),
        ] {
            let failure = causes.training(not_finite(step));
            assert!(matches!(failure, Failure::Input(_)));
            assert_eq!(
                failure.to_string(),
                format!("{found} {step} {expected}, {options}")
            );
        }
        let method = Method::named("distillation").unwrap();
        let causes = Causes {
            method: Some(&method),
            file: None,
            ..causes
        };
        let message = causes.training(not_finite(1)).to_string();
        let options = "learning-rate 0.003, distillation-weight 1, temperature 0.1, negatives 31";
        assert!(
            message.ends_with(&format!("depends on {options}")),
            "{message}"
        );
        assert!(causes.check_held_out(Some(1.0)).is_ok());
        let message = causes
            .check_held_out(Some(f64::INFINITY))
            .unwrap_err()
            .to_string();
        assert!(message.starts_with("the held-out risk is inf, expected a finite number"));
        let failure = causes.training(TrainError::new("the increment", "no new samples", "2"));
        assert!(failure.to_string().starts_with("the increment"));
    }
}
