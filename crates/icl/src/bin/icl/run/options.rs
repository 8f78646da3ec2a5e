//! What a run is told: flags, a TOML file, and defaults, in this order of weight.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use icl::data::Split;
use icl::meta::{Method, StopRule, TrainingSettings, UpdateRule};
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserialize, Serialize};

use crate::backend::{self, BACKENDS};
use crate::failure::Failure;

/// Every option of `icl run`: as flags, and under the same names in the TOML file.
#[derive(Debug, Clone, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RunOptions {
    /// An embedded data set (MUTAG), or the path of a TU data set: a zip or a folder
    /// [default: MUTAG]
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// A method to run; may be repeated. `icl methods` lists them [default: all]
    #[arg(long = "method", value_name = "NAME")]
    #[serde(default, alias = "methods", deserialize_with = "one_or_many")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub method: Vec<String>,
    /// Growth ratio α, the share of the data that is new, from 0 to 1 [default: 0.5]
    #[arg(long, allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// How old and new are told apart: random, size or class [default: random]
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// Run the seeds 0 to N − 1 [default: 3]
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "seed",
        allow_negative_numbers = true
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seeds: Option<u64>,
    /// Run this one seed
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The most epochs of each training run [default: 300]
    #[arg(long, allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epochs: Option<usize>,
    /// Samples a batch [default: 32]
    #[arg(long, allow_negative_numbers = true)]
    #[serde(alias = "batch_size", skip_serializing_if = "Option::is_none")]
    pub batch_size: Option<usize>,
    /// adam or sgd [default: adam]
    #[arg(long, value_parser = named::<UpdateRule>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimizer: Option<UpdateRule>,
    /// Learning rate [default: 0.003]
    #[arg(long, allow_negative_numbers = true)]
    #[serde(alias = "learning_rate", skip_serializing_if = "Option::is_none")]
    pub learning_rate: Option<f64>,
    /// Temperature τ [default: 0.1]
    #[arg(long, allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// K, the number of negatives in the formulas; batches may hold more or fewer [default: 31]
    #[arg(
        long,
        visible_alias = "k",
        value_name = "K",
        allow_negative_numbers = true
    )]
    #[serde(alias = "k", alias = "K", skip_serializing_if = "Option::is_none")]
    pub negatives: Option<f64>,
    /// What ends a run early: exact-risk, training-loss (the paper's rule) or never
    /// [default: exact-risk]
    #[arg(long, value_parser = named::<StopRule>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopRule>,
    /// Evaluations (epochs under training-loss) without a new minimum that end a run
    /// [default: 20, or 50 under training-loss]
    #[arg(long, allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<usize>,
    /// Epochs between evaluations of the exact risk [default: about 32 steps, later a tenth of
    /// the epochs so far]
    #[arg(long, value_name = "EPOCHS", allow_negative_numbers = true)]
    #[serde(alias = "evaluate_every", skip_serializing_if = "Option::is_none")]
    pub evaluate_every: Option<usize>,
    /// Decay of the moving average of the parameters, which is what is evaluated and written; 0 for
    /// none [default: 0.99]
    #[arg(long, value_name = "DECAY", allow_negative_numbers = true)]
    #[serde(alias = "average_decay", skip_serializing_if = "Option::is_none")]
    pub average_decay: Option<f64>,
    /// The backend to run on [default: the first that this binary holds]
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// The folder to write [default: the first free icl-runs/NAME-1, -2, …]
    #[arg(long, value_name = "DIR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out: Option<PathBuf>,
    /// Replace what an earlier run left in the folder
    #[arg(long)]
    #[serde(skip)]
    pub force: bool,
    /// Read options from this TOML file; flags win
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub config: Option<PathBuf>,
}

/// Options that have been checked, with every default filled in.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// All of them again, as they are written to `config.toml`.
    pub options: RunOptions,
    /// The data set's name or path.
    pub data: String,
    /// The methods to run.
    pub methods: Vec<Method>,
    /// α as asked for; a split of whole samples comes close to it.
    pub alpha: f64,
    /// The split.
    pub split: Split,
    /// The seeds to run.
    pub seeds: RangeInclusive<u64>,
    /// The settings of every training run.
    pub settings: TrainingSettings,
    /// The backend's name.
    pub backend: String,
    /// The folder to write, if one was named.
    pub out: Option<PathBuf>,
    /// Whether what is there may be replaced.
    pub force: bool,
}

impl RunOptions {
    /// Reads the TOML file, if one is named, and puts these flags over it.
    ///
    /// # Errors
    /// If the file cannot be read, or holds an unknown key or a value of the wrong type.
    pub fn over_file(self) -> Result<Self, Failure> {
        let Some(path) = &self.config else {
            return Ok(self);
        };
        let text = std::fs::read_to_string(path).map_err(|error| {
            Failure::input(anyhow!(
                "{}: found no readable file ({error}), expected a TOML file",
                path.display()
            ))
        })?;
        let file: Self = toml::from_str(&text).map_err(|error| {
            let error = error.to_string();
            Failure::input(anyhow!("{}: {}", path.display(), error.trim_end()))
        })?;
        if file.seed.is_some() && file.seeds.is_some() {
            return Err(Failure::input(anyhow!(
                "{}: found both seed and seeds, expected one of them",
                path.display()
            )));
        }
        // One of the two seeds' forms on the command line replaces either form in the file.
        let has_seed = self.seed.is_some() || self.seeds.is_some();
        Ok(Self {
            data: self.data.or(file.data),
            method: if self.method.is_empty() {
                file.method
            } else {
                self.method
            },
            alpha: self.alpha.or(file.alpha),
            split: self.split.or(file.split),
            seeds: if has_seed { self.seeds } else { file.seeds },
            seed: if has_seed { self.seed } else { file.seed },
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
            config: None,
        })
    }

    /// Fills in the defaults and checks every value.
    ///
    /// # Errors
    /// At the first value that cannot be.
    pub fn resolve(self) -> Result<Resolved, Failure> {
        let defaults = TrainingSettings::default();
        let stop = self.stop.unwrap_or(defaults.stop);
        let settings = TrainingSettings {
            epochs: self.epochs.unwrap_or(defaults.epochs),
            batch_size: self.batch_size.unwrap_or(defaults.batch_size),
            optimizer: self.optimizer.unwrap_or(defaults.optimizer),
            learning_rate: self.learning_rate.unwrap_or(defaults.learning_rate),
            temperature: self.temperature.unwrap_or(defaults.temperature),
            negatives: self.negatives.unwrap_or(defaults.negatives),
            stop,
            patience: self.patience.unwrap_or(match stop {
                StopRule::TrainingLoss => PAPER_PATIENCE,
                StopRule::ExactRisk | StopRule::Never => defaults.patience,
            }),
            evaluate_every: self.evaluate_every.or(defaults.evaluate_every),
            average_decay: self.average_decay.unwrap_or(defaults.average_decay),
        };
        settings.check().map_err(|error| {
            let option = error.field.replace('_', "-");
            Failure::input(anyhow!(
                "{option}: found {}, expected {}",
                error.found,
                error.expected
            ))
        })?;
        let alpha = self.alpha.unwrap_or(0.5);
        icl::core::GrowthRatio::try_new(alpha).map_err(Failure::input)?;
        let split = self.split.as_deref().unwrap_or("random");
        let split: Split = split.parse().map_err(Failure::input)?;
        let n_seeds = self.seeds.unwrap_or(3);
        let seeds = match (self.seed, n_seeds) {
            (Some(seed), _) => seed..=seed,
            (None, 0) => {
                return Err(Failure::input(anyhow!(
                    "seeds: found 0, expected at least 1"
                )));
            }
            (None, n) => 0..=n - 1,
        };
        let methods = methods(&self.method)?;
        let backend = self.backend.unwrap_or_else(|| BACKENDS[0].to_owned());
        if !BACKENDS.contains(&backend.as_str()) {
            return Err(backend::unknown(&backend));
        }
        let data = self.data.unwrap_or_else(|| "MUTAG".to_owned());
        if data.is_empty() {
            return Err(Failure::input(anyhow!(
                "data: found no name, expected that of a data set, a zip or a folder"
            )));
        }
        if let Some(out) = &self.out {
            check_out(out)?;
        }
        let options = Self {
            data: Some(data.clone()),
            method: methods
                .iter()
                .map(|method| method.name.to_owned())
                .collect(),
            alpha: Some(alpha),
            split: Some(split.to_string()),
            seeds: self.seed.is_none().then_some(n_seeds),
            seed: self.seed,
            epochs: Some(settings.epochs),
            batch_size: Some(settings.batch_size),
            optimizer: Some(settings.optimizer),
            learning_rate: Some(settings.learning_rate),
            temperature: Some(settings.temperature),
            negatives: Some(settings.negatives),
            stop: Some(settings.stop),
            patience: Some(settings.patience),
            evaluate_every: settings.evaluate_every,
            average_decay: Some(settings.average_decay),
            backend: Some(backend.clone()),
            out: self.out.clone(),
            force: false,
            config: None,
        };
        Ok(Resolved {
            options,
            data,
            methods,
            alpha,
            split,
            seeds,
            settings,
            backend,
            out: self.out,
            force: self.force,
        })
    }
}

/// The paper's patience, in epochs.
pub const PAPER_PATIENCE: usize = 50;

/// The methods of these names in the registry's order, all if there are none.
fn methods(names: &[String]) -> Result<Vec<Method>, Failure> {
    let all = icl::methods();
    for name in names {
        if icl::method(name).is_none() {
            let known: Vec<&str> = all.iter().map(|method| method.name).collect();
            return Err(Failure::input(anyhow!(
                "method: found \"{name}\", expected one of {}",
                known.join(", ")
            )));
        }
    }
    let is_asked = |method: &Method| names.is_empty() || names.iter().any(|n| n == method.name);
    Ok(all.into_iter().filter(is_asked).collect())
}

/// A value by the name that it has in the TOML file.
fn named<T: DeserializeOwned>(name: &str) -> Result<T, serde::de::value::Error> {
    T::deserialize(name.into_deserializer())
}

/// `method = "warm"` as well as `method = ["warm", "retraining"]`.
fn one_or_many<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a name or a list of names")]
    enum Names {
        One(String),
        Many(Vec<String>),
    }
    Ok(match Names::deserialize(deserializer)? {
        Names::One(name) => vec![name],
        Names::Many(names) => names,
    })
}

/// A folder that can be named in `config.toml`.
fn check_out(out: &Path) -> Result<(), Failure> {
    match out.to_str() {
        Some("") => Err(Failure::input(anyhow!(
            "out: found no name, expected that of a folder"
        ))),
        Some(_) => Ok(()),
        None => Err(Failure::input(anyhow!(
            "out: found {}, expected a name in UTF-8",
            out.display()
        ))),
    }
}
