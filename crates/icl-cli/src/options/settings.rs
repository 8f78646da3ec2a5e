//! The settings of a training from groups of options. What no option of a command sets has its default.

use clap::{Arg, Args, Command};
use icl_train::{NegativesPeak, StepNegatives, StopRule, TrainingSettings};

use crate::options::evaluation::HoldOutOptions;
use crate::options::execution::{DEFAULT_SEED, ExecutionOptions, fill_devices};
use crate::options::loss::Negatives;
use crate::options::method::MethodOptions;
use crate::options::training::{
    PAPER_PATIENCE, PretrainingOptions, StepOptions, Training, TrainingOptions,
};
use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// Number of samples of a shard below which its batch statistics are noisy.
const FEW_SAMPLES: usize = 32;

impl StepOptions {
    /// Returns the settings of steps.
    pub fn settings(&self) -> TrainingSettings {
        let (loss, defaults) = (&self.loss, TrainingSettings::default());
        TrainingSettings {
            batch_size: self.batch_size,
            learning_rate: self.learning_rate,
            warm_up: self.warm_up,
            weight_decay: self.weight_decay,
            clip_norm: self.clip_norm,
            temperature: loss.temperature(),
            negatives: match loss.negatives() {
                Negatives::Number(number) => number,
                Negatives::Auto => defaults.negatives,
            },
            step_negatives: StepNegatives {
                schedule: loss.negatives_schedule,
                peak: match (loss.negatives(), loss.negatives_peak) {
                    (_, Some(peak)) => NegativesPeak::Number(peak),
                    (Negatives::Auto, None) => NegativesPeak::Auto,
                    (Negatives::Number(_), None) => NegativesPeak::Reference,
                },
                form: loss.negatives_form,
                ..defaults.step_negatives
            },
            noise_set: self.noise_set,
            ..defaults
        }
    }
}

impl TrainingOptions {
    /// Returns the settings of a training by methods with these settings of their parts. Fills in the patience of the
    /// stopping rule where none is given.
    pub fn settings(&mut self, methods: Option<&MethodOptions>) -> TrainingSettings {
        let mut settings = self.step.settings();
        let patience = match self.stop {
            StopRule::TrainingLoss => PAPER_PATIENCE,
            StopRule::Doubling | StopRule::Slope | StopRule::ExactRisk | StopRule::Never => {
                settings.patience
            }
        };
        if let Some(methods) = methods {
            settings.meta_order = methods.meta_order;
            settings.support_learning_rate = methods.support_learning_rate;
            settings.replay_size = methods.replay_size;
            settings.distillation_weight = methods.distillation_weight;
            settings.distillation_distance = methods.distillation_distance;
        }
        TrainingSettings {
            epochs: self.epochs,
            stop: self.stop,
            min_gain: self.min_gain,
            monitor_samples: self.monitor_samples,
            patience: *self.patience.get_or_insert(patience),
            evaluate_every: self.evaluate_every,
            average_decay: self.average_decay,
            ..settings
        }
    }
}

impl PretrainingOptions {
    /// Returns the settings as [`TrainingOptions::settings`] does, with those of the training of a first encoder.
    pub fn settings(&mut self, methods: Option<&MethodOptions>) -> TrainingSettings {
        TrainingSettings {
            pretraining_rate: self.pretraining_rate,
            ..self.training.settings(methods)
        }
    }
}

impl ExecutionOptions {
    /// Returns the settings, checked, with the seed and the backend of the training. Fills in the first backend of this
    /// program where none is named.
    ///
    /// # Errors
    /// At the first that is not valid.
    pub fn training(&mut self, settings: TrainingSettings) -> Result<Training, Failure> {
        let chunk = self.chunk;
        Ok(Training {
            seed: self.seed.unwrap_or(DEFAULT_SEED),
            settings: checked(TrainingSettings { chunk, ..settings }, self.n_members())?,
            backend: fill_devices(&mut self.backend)?.to_owned(),
        })
    }
}

/// Returns the settings of a training by so many members if all of them are valid; errors name them as the options are
/// named. Warns of shards with few samples.
///
/// # Errors
/// At the first that is not.
pub fn checked(settings: TrainingSettings, n_members: usize) -> Result<TrainingSettings, Failure> {
    settings.check().map_err(|error| {
        let option = option_of(error.place());
        Failure::input(error.at(option))
    })?;
    settings.check_negatives().map_err(Failure::input)?;
    let n_shards = settings.n_shards(n_members);
    let n_samples = settings.batch_size / n_shards;
    if n_shards > 1 && n_samples < FEW_SAMPLES {
        tell(format_args!(
            "warning: {n_shards} shards of {n_samples} samples: batch statistics of normalisation, unless frozen, are \
             those of a shard, and noisy below {FEW_SAMPLES}"
        ));
    }
    Ok(settings)
}

/// Returns the name of the option that sets a field of the settings.
fn option_of(field: &str) -> String {
    let id = match field {
        "step_negatives.peak" => "negatives_peak",
        field => field,
    };
    let options = PretrainingOptions::augment_args(Command::new("icl"));
    let options = HoldOutOptions::augment_args(MethodOptions::augment_args(options));
    let options = ExecutionOptions::augment_args(options);
    let option = options.get_arguments().find(|option| option.get_id() == id);
    option.and_then(Arg::get_long).unwrap_or(field).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_named_as_their_options_are() {
        for (field, option) in [
            ("learning_rate", "learning-rate"),
            ("support_learning_rate", "support-learning-rate"),
            ("step_negatives.peak", "negatives-peak"),
            ("evaluation_samples", "evaluation-samples"),
            ("chunk", "chunk"),
        ] {
            assert_eq!(option_of(field), option);
        }
    }
}
