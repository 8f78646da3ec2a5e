//! The options of commands that train one encoder, as flags and in a TOML file.
//!
//! Such a command has options of its own beside those of every training run. A macro declares both
//! as one structure: serde's flattening would lose the place of an error in the file.

use std::path::{Path, PathBuf};

use icl_train::TrainingSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::process::failure::Failure;

/// What every training run is told, checked.
#[derive(Debug, Clone)]
pub struct Training {
    /// The root seed.
    pub seed: u64,
    /// The settings.
    pub settings: TrainingSettings,
    /// The backend's name.
    pub backend: String,
    /// The folder to write.
    pub out: PathBuf,
    /// Whether what is there may be replaced.
    pub force: bool,
}

/// The options of a command that trains one encoder.
pub trait TrainingOptions: Sized + Serialize + DeserializeOwned {
    /// The folder of interrupted work to go on with.
    fn resume(&self) -> Option<&Path>;

    /// Reads the TOML file, if one is named, and puts these flags over it.
    ///
    /// # Errors
    /// If the file cannot be read, or holds an unknown key or a value of the wrong type.
    fn over_file(self) -> Result<Self, Failure>;

    /// Fills in the defaults of every training run, those of `defaults`, and checks the values.
    ///
    /// # Errors
    /// At the first value that cannot be.
    fn fill(&mut self, defaults: TrainingSettings) -> Result<Training, Failure>;
}

/// Declares the options of a command: the fields that are written here, each of which may be absent,
/// and those of every training run.
macro_rules! training_options {
    (
        $(#[$of_struct:meta])*
        pub struct $name:ident {
            $($(#[$of_field:meta])* pub $field:ident: $value:ty,)*
        }
    ) => {
        $(#[$of_struct])*
        #[derive(Debug, Clone, Default, PartialEq, clap::Args, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields, rename_all = "kebab-case")]
        pub struct $name {
            $(
                $(#[$of_field])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $field: Option<$value>,
            )*
            /// The root seed [default: 0]
            #[arg(long, value_name = "S", allow_negative_numbers = true)]
            #[serde(skip_serializing_if = "Option::is_none")]
            pub seed: Option<u64>,
            /// The most epochs [default: 300]
            #[arg(long, allow_negative_numbers = true)]
            #[serde(skip_serializing_if = "Option::is_none")]
            pub epochs: Option<usize>,
            /// Samples a batch [default: 32]
            #[arg(long, allow_negative_numbers = true)]
            #[serde(alias = "batch_size", skip_serializing_if = "Option::is_none")]
            pub batch_size: Option<usize>,
            /// adam or sgd [default: adam]
            #[arg(long, value_parser = crate::options::values::named::<icl_train::UpdateRule>)]
            #[serde(skip_serializing_if = "Option::is_none")]
            pub optimizer: Option<icl_train::UpdateRule>,
            /// Learning rate [default: 0.003]
            #[arg(long, allow_negative_numbers = true)]
            #[serde(alias = "learning_rate", skip_serializing_if = "Option::is_none")]
            pub learning_rate: Option<f64>,
            /// Temperature τ [default: 0.1]
            #[arg(long, allow_negative_numbers = true)]
            #[serde(skip_serializing_if = "Option::is_none")]
            pub temperature: Option<f64>,
            /// K, the number of negatives in the formulas; batches may hold more or fewer [default: 31]
            #[arg(long, visible_alias = "k", value_name = "K", allow_negative_numbers = true)]
            #[serde(alias = "k", alias = "K", skip_serializing_if = "Option::is_none")]
            pub negatives: Option<f64>,
            /// What ends the run early: exact-risk, training-loss (the paper's rule) or never
            /// [default: exact-risk]
            #[arg(long, value_parser = crate::options::values::named::<icl_train::StopRule>)]
            #[serde(skip_serializing_if = "Option::is_none")]
            pub stop: Option<icl_train::StopRule>,
            /// Evaluations (epochs under training-loss) without a new minimum that end the run
            /// [default: 20, or 50 under training-loss]
            #[arg(long, allow_negative_numbers = true)]
            #[serde(skip_serializing_if = "Option::is_none")]
            pub patience: Option<usize>,
            /// Epochs between evaluations of the exact risk [default: about 32 steps, later a tenth
            /// of the epochs so far]
            #[arg(long, value_name = "EPOCHS", allow_negative_numbers = true)]
            #[serde(alias = "evaluate_every", skip_serializing_if = "Option::is_none")]
            pub evaluate_every: Option<usize>,
            /// Decay of the moving average of the parameters, which is what is evaluated and
            /// written; 0 for none [default: 0.99]
            #[arg(long, value_name = "DECAY", allow_negative_numbers = true)]
            #[serde(alias = "average_decay", skip_serializing_if = "Option::is_none")]
            pub average_decay: Option<f64>,
            /// The backend to run on, and which of its devices; `icl backends` lists them [default: the
            /// first that this binary holds]
            #[arg(long, value_name = "NAME[:DEVICE]")]
            #[serde(skip_serializing_if = "Option::is_none")]
            pub backend: Option<String>,
            /// The folder to write
            #[arg(long, value_name = "DIR")]
            #[serde(skip_serializing_if = "Option::is_none")]
            pub out: Option<std::path::PathBuf>,
            /// Replace what an earlier command left in the folder
            #[arg(long)]
            #[serde(skip)]
            pub force: bool,
            /// Go on with work that was stopped, with the options that it was begun with
            #[arg(long, value_name = "DIR", exclusive = true)]
            #[serde(skip)]
            pub resume: Option<std::path::PathBuf>,
            /// Read options from this TOML file; flags win
            #[arg(long, value_name = "FILE")]
            #[serde(skip)]
            pub config: Option<std::path::PathBuf>,
        }

        impl crate::options::training::TrainingOptions for $name {
            fn resume(&self) -> Option<&std::path::Path> {
                self.resume.as_deref()
            }

            fn over_file(self) -> Result<Self, crate::process::failure::Failure> {
                let Some(path) = &self.config else {
                    return Ok(self);
                };
                let file: Self = crate::options::values::read_toml(path)?;
                Ok(Self {
                    $($field: self.$field.or(file.$field),)*
                    seed: self.seed.or(file.seed),
                    epochs: self.epochs.or(file.epochs),
                    batch_size: self.batch_size.or(file.batch_size),
                    optimizer: self.optimizer.or(file.optimizer),
                    learning_rate: self.learning_rate.or(file.learning_rate),
                    temperature: self.temperature.or(file.temperature),
                    negatives: self.negatives.or(file.negatives),
                    stop: self.stop.or(file.stop),
                    patience: self.patience.or(file.patience),
                    evaluate_every: self.evaluate_every.or(file.evaluate_every),
                    average_decay: self.average_decay.or(file.average_decay),
                    backend: self.backend.or(file.backend),
                    out: self.out.or(file.out),
                    force: self.force,
                    resume: None,
                    config: None,
                })
            }

            fn fill(
                &mut self,
                defaults: icl_train::TrainingSettings,
            ) -> Result<crate::options::training::Training, crate::process::failure::Failure> {
                use crate::options::values;
                let stop = *self.stop.get_or_insert(defaults.stop);
                let settings = values::settings(icl_train::TrainingSettings {
                    epochs: *self.epochs.get_or_insert(defaults.epochs),
                    batch_size: *self.batch_size.get_or_insert(defaults.batch_size),
                    optimizer: *self.optimizer.get_or_insert(defaults.optimizer),
                    learning_rate: *self.learning_rate.get_or_insert(defaults.learning_rate),
                    temperature: *self.temperature.get_or_insert(defaults.temperature),
                    negatives: *self.negatives.get_or_insert(defaults.negatives),
                    stop,
                    patience: *self.patience.get_or_insert(values::patience(stop)),
                    evaluate_every: self.evaluate_every,
                    average_decay: *self.average_decay.get_or_insert(defaults.average_decay),
                    ..defaults
                })?;
                let backend = values::backend(self.backend.take())?;
                self.backend = Some(backend.clone());
                let out = crate::options::training::given("out", "a folder to write", &self.out)?;
                values::check_out(&out)?;
                Ok(crate::options::training::Training {
                    seed: *self.seed.get_or_insert(0),
                    settings,
                    backend,
                    out,
                    force: self.force,
                })
            }
        }
    };
}

pub(crate) use training_options;

/// The value of an option that has no default.
///
/// # Errors
/// If it is absent.
pub fn given<T: Clone>(option: &str, expected: &str, value: &Option<T>) -> Result<T, Failure> {
    value.clone().ok_or_else(|| {
        Failure::input(anyhow::anyhow!(
            "{option}: found nothing, expected {expected} (--{option})"
        ))
    })
}
