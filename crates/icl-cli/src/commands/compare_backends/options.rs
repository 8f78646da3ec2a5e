//! The options of `icl compare-backends`, raw and checked.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::{Arg, Args};
use icl_core::GrowthRatio;
use icl_data::Split;
use icl_train::{Method, StopRule, TrainingSettings};
use serde::Serialize;

use crate::backend;
use crate::backend::BACKENDS;
use crate::options::data::DataOptions;
use crate::options::encoder::EncoderOptions;
use crate::options::execution::DEFAULT_SEED;
use crate::options::noise::NoiseOptions;
use crate::options::output::{OutputOptions, check_out};
use crate::options::split::SplitOptions;
use crate::options::training::StepOptions;
use crate::options::{bounds, method, settings};
use crate::process::failure::Failure;

const DETAILS: &str = "\
Each backend is a process of its own that starts from the same fresh encoder and takes the first steps of the \
method with the same batches, views and random numbers, made on the CPU from the seed. It prints a table and \
writes DIR/report.html with the loss curves, DIR/record.jsonl with a line for each backend, and \
DIR/config.toml.";

/// Options of `icl compare-backends`.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(after_help = DETAILS, mut_args(refined))]
pub struct CompareOptions {
    #[arg(
        long,
        value_name = "NAME[:DEVICE],…",
        value_delimiter = ',',
        help = format!(
            "Backends to compare, comma-separated; the others are compared with the first. Without it, all \
             backends of this program: {}",
            BACKENDS.join(", ")
        )
    )]
    backends: Vec<String>,
    /// Number of steps
    #[arg(
        long,
        value_name = "N",
        value_parser = bounds::at_most(bounds::EPOCHS),
        default_value_t = icl_report::COMPARED_STEPS
    )]
    steps: usize,
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    #[command(flatten)]
    #[serde(flatten)]
    increment: SplitOptions,
    #[arg(
        long,
        alias = "methods",
        value_name = "NAME",
        default_value = icl_train::DEFAULT,
        help = method::HELP,
        help_heading = "Method"
    )]
    method: String,
    #[command(flatten)]
    #[serde(flatten)]
    pub encoder: EncoderOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub noise: NoiseOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub step: StepOptions,
    /// Root seed of all random numbers
    #[arg(long, value_name = "S", default_value_t = DEFAULT_SEED, help_heading = "Execution")]
    seed: u64,
    /// Read options from a TOML file; options on the command line take precedence
    #[arg(long, value_name = "FILE", help_heading = "Execution")]
    #[serde(skip)]
    config: Option<PathBuf>,
    #[command(flatten)]
    #[serde(flatten)]
    pub output: OutputOptions,
    /// Only this backend, for a process that waits for its trace
    #[arg(long, hide = true)]
    #[serde(skip)]
    pub trace: Option<String>,
}

/// Returns a shared option as this command takes it.
fn refined(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "out" => option.help(
            "Output folder. Without it, the first free folder icl-runs/backends-1, backends-2, …",
        ),
        _ => option,
    }
}

/// Checked options of `icl compare-backends`.
#[derive(Debug)]
pub struct Resolved {
    /// The options with every default, as `config.toml` has them.
    pub options: CompareOptions,
    /// The method.
    pub method: Method,
    /// Backends; the others are compared with the first.
    pub backends: Vec<String>,
    /// Number of steps.
    pub n_steps: usize,
    /// Root seed.
    pub seed: u64,
    /// Requested growth ratio α.
    pub alpha: GrowthRatio,
    /// Split into old and new data.
    pub split: Split,
    /// Settings of the training run.
    pub settings: TrainingSettings,
}

impl CompareOptions {
    /// Fills in the backends where none are named, and checks every value.
    ///
    /// # Errors
    /// At the first value that is not valid.
    pub fn resolve(mut self) -> Result<Resolved, Failure> {
        self.data.check()?;
        let method = method::named(&self.method)?;
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
        check_out(self.output.out.as_deref())?;
        self.step.check(false)?;
        let settings = settings::checked(
            TrainingSettings {
                // Every epoch has a step, and the run is stopped after the last requested one.
                epochs: self.steps,
                stop: StopRule::Never,
                evaluate_every: Some(self.steps),
                ..self.step.settings()
            },
            1,
        )?;
        Ok(Resolved {
            method,
            backends: self.backends.clone(),
            n_steps: self.steps,
            seed: self.seed,
            alpha: self.increment.growth_ratio()?,
            split: self.increment.split.clone(),
            settings,
            options: self,
        })
    }
}
