//! The training of an encoder, the same for all methods.

use clap::Args;
use icl_train::{NoiseSet, RateChoice, StopRule, TrainingSettings, UpdateRule};
use serde::Serialize;

use crate::options::loss::LossOptions;
use crate::options::{bounds, choice};
use crate::process::failure::Failure;

/// Patience of the paper, in epochs.
pub const PAPER_PATIENCE: usize = 50;

/// A training step.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Training")]
pub struct StepOptions {
    /// Batch size, at least 4
    #[arg(
        long,
        value_name = "N",
        value_parser = bounds::at_most(bounds::BATCH),
        default_value_t = defaults().batch_size
    )]
    pub batch_size: usize,
    /// Optimizer
    #[arg(
        long,
        value_parser = choice::any::<UpdateRule>(),
        default_value = choice::name(&UpdateRule::default())
    )]
    pub optimizer: UpdateRule,
    /// Weight decay of the optimizer. Without it, 0.01 under adamw, 1e-6 under lars, 0 under the others; adam has none
    #[arg(long, value_name = "DECAY", value_parser = bounds::number_in(bounds::WEIGHT_DECAY))]
    pub weight_decay: Option<f64>,
    /// Largest norm of the gradient of a step over all parameters. Without it, no limit
    #[arg(long, value_name = "NORM", value_parser = bounds::number_in(bounds::WEIGHT))]
    pub clip_norm: Option<f64>,
    /// Number of steps over which the learning rate rises linearly to its value, whatever its source; 0 for none
    #[arg(
        long,
        value_name = "STEPS",
        value_parser = bounds::at_most(bounds::EPOCHS as u64),
        default_value_t = defaults().warm_up
    )]
    pub warm_up: u64,
    /// Learning rate
    #[arg(
        long,
        value_name = "RATE",
        value_parser = bounds::number_in(bounds::RATE),
        default_value_t = defaults().learning_rate
    )]
    pub learning_rate: f64,
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) loss: LossOptions,
    /// Noise samples of InfoNCE in a batch: the second views of the other samples (other), or both views, with
    /// every view an anchor (both: NT-Xent, as in SimCLR and DACL)
    #[arg(
        long,
        value_parser = choice::any::<NoiseSet>(),
        default_value = choice::name(&defaults().noise_set)
    )]
    pub noise_set: NoiseSet,
}

/// A training run.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Training")]
pub struct TrainingOptions {
    /// Maximum number of epochs
    #[arg(
        long,
        value_name = "N",
        value_parser = bounds::at_most(bounds::EPOCHS),
        default_value_t = defaults().epochs
    )]
    pub epochs: usize,
    /// Stopping rule: the gain of the last doubling of the cost is too small (doubling), that of a line through
    /// the last two doublings (slope), no new minimum of the exact risk (exact-risk), none of the training loss
    /// (training-loss, the paper's rule), or never
    #[arg(
        long,
        value_name = "RULE",
        value_parser = choice::any::<StopRule>(),
        default_value = choice::name(&defaults().stop)
    )]
    pub stop: StopRule,
    /// Smallest gain of a doubling of the cost that is worth it, as a share of the risk (doubling and slope)
    #[arg(
        long,
        value_name = "SHARE",
        value_parser = bounds::number_in(bounds::SHARE),
        default_value_t = defaults().min_gain
    )]
    pub min_gain: f64,
    /// Maximum number of training samples of an evaluation that decides when a run stops
    #[arg(
        long,
        value_name = "N",
        value_parser = bounds::at_most(bounds::SAMPLES),
        default_value_t = defaults().monitor_samples,
        alias = "steering-panel"
    )]
    pub monitor_samples: usize,
    #[arg(
        long,
        value_name = "N",
        value_parser = bounds::at_most(bounds::EPOCHS),
        help = format!(
            "Number of evaluations under exact-risk, of epochs under training-loss, without a new minimum after which \
             the training ends. Without it, {}, or {PAPER_PATIENCE} under training-loss",
            defaults().patience
        )
    )]
    pub(crate) patience: Option<usize>,
    /// Number of epochs between evaluations of the exact risk. Without it, at least 32 steps and a tenth of the cost so
    /// far, and as many as keep evaluations below a fifth of the run's cost
    #[arg(long, value_name = "EPOCHS", value_parser = bounds::at_most(bounds::EPOCHS))]
    pub evaluate_every: Option<usize>,
    /// Decay of the moving average of the parameters, which is evaluated and written; 0 for no average. Without it, 0.99,
    /// or under a budget an average over the last quarter of the steps
    #[arg(long, value_name = "DECAY")]
    pub average_decay: Option<f64>,
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) step: StepOptions,
}

impl StepOptions {
    /// Checks options of steps that depend on each other. `can_advise` says whether the command has an encoder that can
    /// advise the number of negatives.
    ///
    /// # Errors
    /// If they do not fit each other or the command.
    pub fn check(&self, can_advise: bool) -> Result<(), Failure> {
        let of_rule = self.optimizer.check(self.weight_decay);
        of_rule.map_err(|error| Failure::input(error.at("weight-decay")))?;
        self.loss.check(can_advise)
    }
}

impl TrainingOptions {
    /// Checks the options of the steps as theirs does, and prints over which steps the negatives extend.
    ///
    /// # Errors
    /// If they do not fit each other or the command.
    pub fn check(&self, can_advise: bool) -> Result<(), Failure> {
        self.step.check(can_advise)?;
        self.step.loss.report_course(self.epochs, self.stop);
        Ok(())
    }
}

/// The training of a first encoder, and of its updates.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Training")]
pub struct PretrainingOptions {
    #[command(flatten)]
    #[serde(flatten)]
    pub training: TrainingOptions,
    /// Source of the learning rate in the training of the first encoder
    #[arg(
        long,
        value_name = "RATE",
        value_parser = choice::any::<RateChoice>(),
        default_value = choice::name(&defaults().pretraining_rate),
        // Without it, clap takes the heading of the group that ends before it, the loss.
        help_heading = "Training"
    )]
    pub pretraining_rate: RateChoice,
}

/// Checked options of a command that trains one encoder.
#[derive(Debug, Clone)]
pub struct Training {
    /// Root seed.
    pub seed: u64,
    /// Settings of the training run.
    pub settings: TrainingSettings,
    /// Name of the backend.
    pub backend: String,
}

fn defaults() -> TrainingSettings {
    TrainingSettings::default()
}
