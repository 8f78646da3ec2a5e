//! What a comparison of backends is told, checked.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use icl_core::GrowthRatio;
use icl_data::Split;
use icl_models::Stem;
use icl_train::{Method, StopRule, TrainingSettings, UpdateRule};
use serde::Serialize;

use crate::backend;
use crate::backend::BACKENDS;
use crate::options::images::{Classes, EncoderChoice, Selection};
use crate::options::values;
use crate::options::values::named;
use crate::process::failure::Failure;

/// Every option of `icl compare-backends`.
#[derive(Debug, Clone, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct CompareOptions {
    /// An embedded data set, or the path of one, as for `icl run`
    #[arg(long, default_value = "MUTAG")]
    data: String,
    /// The method whose steps are taken. `icl methods` lists them
    #[arg(long, value_name = "NAME", default_value = icl_train::DEFAULT)]
    method: String,
    /// The backends, the first being what the others are compared with [default: all that this
    /// binary holds]
    #[arg(long, value_name = "NAME[:DEVICE],…", value_delimiter = ',')]
    backends: Vec<String>,
    /// How many steps
    #[arg(long, value_name = "N", default_value_t = icl_report::COMPARED_STEPS, allow_negative_numbers = true)]
    steps: usize,
    /// The root seed
    #[arg(
        long,
        value_name = "S",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
    seed: u64,
    /// Growth ratio α, the share of the data that is new, from 0 to 1
    #[arg(long, default_value_t = 0.5, allow_negative_numbers = true)]
    alpha: f64,
    /// How old and new are told apart: random, size or class
    #[arg(long, default_value = "random")]
    split: String,
    /// Samples a batch [default: 32]
    #[arg(long, allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    batch_size: Option<usize>,
    /// adam or sgd [default: adam]
    #[arg(long, value_parser = named::<UpdateRule>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    optimizer: Option<UpdateRule>,
    /// Learning rate [default: 0.003]
    #[arg(long, allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    learning_rate: Option<f64>,
    /// Temperature τ [default: 0.1]
    #[arg(long, allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    /// K, the number of negatives in the formulas [default: 31]
    #[arg(
        long,
        visible_alias = "k",
        value_name = "K",
        allow_negative_numbers = true
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    negatives: Option<f64>,
    /// Of images: only these classes, as 1,7
    #[arg(long, value_name = "NAMES")]
    #[serde(skip_serializing_if = "Option::is_none")]
    classes: Option<Classes>,
    /// Of images: at most N, as evenly of each class as can be
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<usize>,
    /// Of images: the side of a view in pixels
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    image_size: Option<usize>,
    /// Of images: how the encoder begins: small or standard
    #[arg(long, value_name = "STEM", value_parser = named::<Stem>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    stem: Option<Stem>,
    /// The folder to write [default: the first free icl-runs/backends-1, -2, …]
    #[arg(long, value_name = "DIR")]
    #[serde(skip)]
    pub out: Option<PathBuf>,
    /// Replace what an earlier command left in the folder
    #[arg(long)]
    #[serde(skip)]
    pub force: bool,
    /// Only this backend, for a process that waits for its trace
    #[arg(long, hide = true)]
    #[serde(skip)]
    pub trace: Option<String>,
}

/// Options that have been checked.
#[derive(Debug)]
pub struct Resolved {
    /// All of them, as they are written to `config.toml`.
    pub options: CompareOptions,
    /// The data set's name or path.
    pub data: String,
    /// Which of its images.
    pub selection: Selection,
    /// What the encoder of images is.
    pub encoder: EncoderChoice,
    /// The method.
    pub method: Method,
    /// The backends, the first being what the others are compared with.
    pub backends: Vec<String>,
    /// How many steps.
    pub n_steps: usize,
    /// The root seed.
    pub seed: u64,
    /// α as asked for.
    pub alpha: GrowthRatio,
    /// The split.
    pub split: Split,
    /// The settings of the training run.
    pub settings: TrainingSettings,
}

impl CompareOptions {
    /// Checks every value and fills in what has no default above.
    ///
    /// # Errors
    /// At the first value that cannot be.
    pub fn resolve(mut self) -> Result<Resolved, Failure> {
        values::check_data("data", &self.data)?;
        let method = values::method(&self.method)?;
        if method.loss.is_none() {
            return Err(Failure::input(anyhow!(
                "method: found {}, which trains nothing, expected one that takes steps",
                method.name
            )));
        }
        if self.steps == 0 {
            return Err(Failure::input(anyhow!(
                "steps: found 0, expected at least 1"
            )));
        }
        if self.backends.is_empty() {
            self.backends = BACKENDS.iter().map(|&name| name.to_owned()).collect();
        }
        for (at, backend) in self.backends.iter().enumerate() {
            backend::check(backend)?;
            if self.backends[..at].contains(backend) {
                return Err(Failure::input(anyhow!(
                    "backends: found {backend} twice, expected each once"
                )));
            }
        }
        if let Some(out) = &self.out {
            values::check_out(out)?;
        }
        let defaults = TrainingSettings::default();
        let settings = values::settings(TrainingSettings {
            // Every epoch has a step, and the run is stopped after the last that is asked for.
            epochs: self.steps,
            stop: StopRule::Never,
            evaluate_every: Some(self.steps),
            batch_size: *self.batch_size.get_or_insert(defaults.batch_size),
            optimizer: *self.optimizer.get_or_insert(defaults.optimizer),
            learning_rate: *self.learning_rate.get_or_insert(defaults.learning_rate),
            temperature: *self.temperature.get_or_insert(defaults.temperature),
            negatives: *self.negatives.get_or_insert(defaults.negatives),
            ..defaults
        })?;
        Ok(Resolved {
            data: self.data.clone(),
            selection: Selection {
                classes: self.classes.clone(),
                limit: self.limit,
                skip_broken: false,
            },
            encoder: EncoderChoice {
                image_size: self.image_size,
                stem: self.stem,
                ..EncoderChoice::default()
            },
            method,
            backends: self.backends.clone(),
            n_steps: self.steps,
            seed: self.seed,
            alpha: GrowthRatio::try_new(self.alpha).map_err(Failure::input)?,
            split: self.split.parse().map_err(Failure::input)?,
            settings,
            options: self,
        })
    }
}
