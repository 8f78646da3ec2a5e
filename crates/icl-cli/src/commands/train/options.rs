//! The options of `icl train`.

use clap::{Arg, Args};
use icl_train::TrainingSettings;
use serde::Serialize;

use crate::options::data::DataOptions;
use crate::options::encoder::EncoderOptions;
use crate::options::evaluation::{HoldOutOptions, TaskOptions};
use crate::options::execution::{DEFAULT_SEED, ExecutionOptions};
use crate::options::noise::NoiseOptions;
use crate::options::output::{EncoderOutputOptions, check_out};
use crate::options::training::{PretrainingOptions, Training};
use crate::process::failure::Failure;

const DETAILS: &str = "\
It trains an encoder on all of the data (graphs: a GCN, images: a ResNet-18, small images and tables: an MLP) \
and writes DIR/encoder.safetensors, DIR/record.json and DIR/config.toml. Ctrl-C saves the state; \
icl train --resume DIR continues.

A TOML file for --config holds the same options without the dashes: learning-rate = 0.003";

/// Options of `icl train`.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(after_help = DETAILS, mut_args(refined))]
pub struct TrainOptions {
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub encoder: EncoderOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub noise: NoiseOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub pretraining: PretrainingOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub hold_out: HoldOutOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub task: TaskOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub execution: ExecutionOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub output: EncoderOutputOptions,
}

/// Returns a shared option as this command takes it.
fn refined(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "data" => option.required(true).default_value(None),
        "seed" => option.default_value(DEFAULT_SEED.to_string()),
        "out" => option.required(true),
        _ => option,
    }
}

impl TrainOptions {
    /// Fills in the defaults that depend on other options, and checks every value.
    ///
    /// # Errors
    /// At the first value that is not valid.
    pub fn resolve(&mut self) -> Result<Training, Failure> {
        self.data.check()?;
        self.hold_out.check()?;
        self.task.check(self.hold_out.share())?;
        self.pretraining.training.check(false)?;
        check_out(self.output.folder.out.as_deref())?;
        self.execution.training(TrainingSettings {
            evaluation_samples: self.hold_out.evaluation_samples,
            ..self.pretraining.settings(None)
        })
    }
}
