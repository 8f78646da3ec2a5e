//! The options of `icl run`, raw and checked.

use std::ops::RangeInclusive;

use anyhow::anyhow;
use clap::builder::ArgPredicate;
use clap::{Arg, Args};
use icl_core::GrowthRatio;
use icl_data::Split;
use icl_train::{Method, TrainingSettings};
use serde::Serialize;

use crate::commands::run::division::DivisionRule;
use crate::commands::run::plan::{PlannedRun, plan};
use crate::options::budget::{UpdateBudget, as_texts};
use crate::options::data::DataOptions;
use crate::options::encoder::EncoderOptions;
use crate::options::evaluation::HoldOutOptions;
use crate::options::execution::{ExecutionOptions, fill_devices};
use crate::options::method::{MethodOptions, check_methods};
use crate::options::noise::NoiseOptions;
use crate::options::output::{JsonOption, OutputOptions, check_out};
use crate::options::protocol::NamedProtocol;
use crate::options::split::{ALPHA, SplitOptions};
use crate::options::training::PretrainingOptions;
use crate::options::{bounds, protocol, settings};
use crate::process::causes::Causes;
use crate::process::failure::Failure;

const DETAILS: &str = "\
For each seed, it trains an encoder on the old part of the data, updates the encoder by every method when the \
new part arrives, and compares the methods by the exact risk. It prints a table and writes a folder with the \
report, the record, the encoders and the options. Ctrl-C saves the state; icl run --resume DIR continues.

A TOML file for --config holds the same options without the dashes: learning-rate = 0.003";

/// Number of seeds.
const N_SEEDS: u64 = 3;

/// Options of `icl run`.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(after_help = DETAILS, mut_args(refined))]
pub struct RunOptions {
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    #[command(flatten)]
    #[serde(flatten)]
    increment: SplitOptions,
    #[command(flatten)]
    #[serde(flatten)]
    methods: MethodOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub encoder: EncoderOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub noise: NoiseOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub pretraining: PretrainingOptions,
    /// Charged costs that no method exceeds, comma-separated: shares of what retraining would cost as the training of
    /// θ₀ did (10%), or numbers of passes (20000). Each method runs within each; retraining runs to its end as well.
    /// Without it, none
    #[arg(
        long,
        value_name = "BUDGETS",
        value_delimiter = ',',
        help_heading = "Training"
    )]
    #[serde(serialize_with = "as_texts", skip_serializing_if = "Vec::is_empty")]
    budget: Vec<UpdateBudget>,
    #[command(flatten)]
    #[serde(flatten)]
    pub hold_out: HoldOutOptions,
    /// Number of old and of new samples that are held out; --alpha then chooses among the others. Without it,
    /// --hold-out decides
    #[arg(
        long,
        value_name = "N",
        value_parser = bounds::at_most(bounds::SAMPLES),
        conflicts_with = "hold_out",
        help_heading = "Evaluation"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    hold_out_samples: Option<usize>,
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = protocol::names(),
        default_value = protocol::DEFAULT,
        help = protocol::help(),
        help_heading = "Accuracy"
    )]
    protocol: Vec<String>,
    /// Number of seeds: run the seeds 0 to N − 1
    #[arg(
        long,
        value_name = "N",
        value_parser = bounds::at_most(bounds::SEEDS),
        default_value = N_SEEDS.to_string(),
        default_value_if("seed", ArgPredicate::IsPresent, None),
        conflicts_with = "seed",
        help_heading = "Execution"
    )]
    seeds: Option<u64>,
    #[command(flatten)]
    #[serde(flatten)]
    pub execution: ExecutionOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub output: OutputOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub json: JsonOption,
}

/// Returns a shared option as this command takes it.
fn refined(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "method" => option.help(
            "Method to run, as listed by `icl methods`, or all; may be repeated. Without it, inference, fine-tuning, \
             warm, icl and retraining",
        ),
        "alpha" => option.help(
            format!(
                "Growth ratio α: share of the data that is new, from 0 to 1. Without it, {ALPHA}, or for class:A,B \
                 what the classes give"
            )
        ),
        "epochs" => option.help("Maximum number of epochs of θ₀, and of each run without a budget"),
        "hold_out" => {
            option.default_value_if("hold_out_samples", ArgPredicate::IsPresent, None)
        }
        "seed" => option.help("Run only this root seed"),
        "out" => option
            .help("Output folder. Without it, the first free folder icl-runs/NAME-1, NAME-2, …"),
        _ => option,
    }
}

/// Checked options of `icl run`.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// The options with every default, as `config.toml` has them.
    pub options: RunOptions,
    /// Methods to run, each with its budget.
    pub runs: Vec<PlannedRun>,
    /// Protocols to measure accuracies by.
    pub protocols: Vec<NamedProtocol>,
    /// Requested growth ratio α; a split of whole samples comes close to it.
    pub alpha: GrowthRatio,
    /// Split into old and new data.
    pub split: Split,
    /// Rule by which each seed divides the data.
    pub division: DivisionRule,
    /// Seeds to run.
    pub seeds: RangeInclusive<u64>,
    /// Settings of every training run.
    pub settings: TrainingSettings,
    /// Name of the backend.
    pub backend: String,
}

impl Resolved {
    /// Returns the options and the file on which a run of the method depends, or that of the first encoder.
    pub fn causes<'a>(&'a self, method: Option<&'a Method>) -> Causes<'a> {
        Causes {
            settings: &self.settings,
            method,
            file: self.options.encoder.weights.as_deref(),
        }
    }
}

impl RunOptions {
    /// Returns the rule by which each seed divides the data. The classes of a split determine the growth ratio, so that
    /// another one leaves samples out; and so does a growth ratio after samples have been held out.
    fn division(&self, alpha: GrowthRatio) -> DivisionRule {
        let is_free = !matches!(self.increment.split, Split::Classes(_));
        let is_thinned = match is_free {
            true => self.hold_out_samples.is_some(),
            false => self.increment.has_growth_ratio(),
        };
        DivisionRule {
            hold_out_samples: self.hold_out_samples,
            alpha: is_thinned.then_some(alpha),
        }
    }

    /// Fills in the defaults that depend on other options, and checks every value.
    ///
    /// # Errors
    /// At the first value that is not valid.
    pub fn resolve(mut self) -> Result<Resolved, Failure> {
        self.pretraining.training.check(true)?;
        let settings = TrainingSettings {
            evaluation_samples: self.hold_out.evaluation_samples,
            chunk: self.execution.chunk,
            ..self.pretraining.settings(Some(&self.methods))
        };
        let n_members = self.execution.n_members();
        let settings = settings::checked(settings, n_members)?;
        let alpha = self.increment.growth_ratio()?;
        let split = self.increment.split.clone();
        let division = self.division(alpha);
        if !matches!(split, Split::Classes(_)) {
            self.increment.fill();
        }
        let seeds = match (self.execution.seed, self.seeds.unwrap_or(N_SEEDS)) {
            (Some(seed), _) => seed..=seed,
            (None, 0) => {
                return Err(Failure::input(anyhow!(
                    "seeds: found 0, expected at least 1"
                )));
            }
            (None, n) => 0..=n - 1,
        };
        let methods = self.methods.fill()?;
        check_methods(&settings, n_members, &methods)?;
        let runs = plan(methods, &self.budget)?;
        let protocols = protocol::fill(&mut self.protocol)?;
        let backend = fill_devices(&mut self.execution.backend)?.to_owned();
        self.data.check()?;
        self.hold_out.check()?;
        check_out(self.output.out.as_deref())?;
        Ok(Resolved {
            runs,
            protocols,
            alpha,
            split,
            division,
            seeds,
            settings,
            backend,
            options: self,
        })
    }
}
