//! The options of `icl run`, raw and checked.

use std::ops::RangeInclusive;

use anyhow::anyhow;
use clap::builder::ArgPredicate;
use clap::{Arg, Args};
use icl_data::Split;
use icl_report::SHORT_RETRAINING;
use icl_train::{Method, TrainingSettings};
use serde::Serialize;

use crate::options::budget::{BudgetOptions, UpdateBudget};
use crate::options::data::DataOptions;
use crate::options::encoder::EncoderOptions;
use crate::options::evaluation::HoldOutOptions;
use crate::options::execution::{ExecutionOptions, fill_devices};
use crate::options::method::{MethodOptions, check_methods};
use crate::options::noise::NoiseOptions;
use crate::options::output::{JsonOption, OutputOptions, check_out};
use crate::options::protocol::NamedProtocol;
use crate::options::split::SplitOptions;
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
    #[command(flatten)]
    #[serde(flatten)]
    budget: BudgetOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub hold_out: HoldOutOptions,
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
        "budget" => option.help(format!(
            "Charged cost that no method exceeds: a share of what retraining would cost as the training of θ₀ did \
             (10%), or a number of passes (20000). Retraining runs to its end as well, and within the budget as \
             {SHORT_RETRAINING}. Without it, none"
        )),
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
    /// Methods to run.
    pub methods: Vec<Method>,
    /// Budget of every method but retraining to its end.
    pub budget: UpdateBudget,
    /// Protocols to measure accuracies by.
    pub protocols: Vec<NamedProtocol>,
    /// Growth ratio α that is asked for; a split of whole samples comes close to it.
    pub alpha: f64,
    /// Split into old and new data.
    pub split: Split,
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
        let alpha = self.increment.growth_ratio()?.value();
        let split = self.increment.split.clone();
        let seeds = match (self.execution.seed, self.seeds.unwrap_or(N_SEEDS)) {
            (Some(seed), _) => seed..=seed,
            (None, 0) => {
                return Err(Failure::input(anyhow!(
                    "seeds: found 0, expected at least 1"
                )));
            }
            (None, n) => 0..=n - 1,
        };
        let mut methods = self.methods.fill()?;
        let budget = self.budget.budget.unwrap_or(UpdateBudget::None);
        if let UpdateBudget::Minutes(_) = budget {
            return Err(Failure::input(anyhow!(
                "budget: found {budget}, expected a share of retraining such as 10%, passes such as 20000, or none"
            )));
        }
        let retraining = methods.iter().find(|it| it.name == icl_train::REFERENCE);
        if let (Some(retraining), true) = (retraining, budget != UpdateBudget::None) {
            methods.push(Method {
                name: SHORT_RETRAINING.to_owned(),
                ..retraining.clone()
            });
        }
        let protocols = protocol::fill(&mut self.protocol)?;
        check_methods(&settings, n_members, &methods)?;
        let backend = fill_devices(&mut self.execution.backend)?.to_owned();
        self.data.check()?;
        self.hold_out.check()?;
        check_out(self.output.out.as_deref())?;
        Ok(Resolved {
            methods,
            budget,
            protocols,
            alpha,
            split,
            seeds,
            settings,
            backend,
            options: self,
        })
    }
}
