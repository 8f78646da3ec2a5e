//! The options of `icl stream`, raw and checked.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::{Arg, ArgAction, Args};
use icl_train::{Keep, Policy, Strategy, When};
use serde::Serialize;

use crate::commands::stream::source_options::SourceOptions;
use crate::domain::encoder_file;
use crate::options::data::DataOptions;
use crate::options::encoder::EncoderOptions;
use crate::options::evaluation::{HoldOutOptions, TaskOptions, VerdictOptions};
use crate::options::execution::{DEFAULT_SEED, Devices, ExecutionOptions};
use crate::options::loss::inherited;
use crate::options::method::{MethodOptions, check_methods};
use crate::options::noise::NoiseOptions;
use crate::options::output::{JsonOption, check_out, text};
use crate::options::split::as_text;
use crate::options::training::{PretrainingOptions, Training};
use crate::options::{bounds, method};
use crate::process::failure::Failure;

const DETAILS: &str = "\
It trains an encoder on the first experience, or takes one, and updates it for each one that follows, as --when says. \
DIR holds a folder for each experience (encoder.safetensors, record.json), matrix.json (the risk of each encoder on held-out samples of \
each experience), stream.jsonl, decisions.jsonl, ledger.jsonl and report.html. Ctrl-C saves the state; icl stream --resume DIR continues, \
and goes through experiences that were added to the manifest or to the folder since. It needs the data of all experiences as they were.

With --watch, files are read when they have not changed for --settle seconds; names that end in .part or .tmp or begin with a dot wait \
until they are renamed. One with too few samples for an experience is merged with the next. For cron: begin with --watch DIR --once, then \
icl stream --resume DIR each time.

A manifest is a TOML file: schema = 1, and for each experience [[experience]] with name and data, and if need be arrived (a time) and \
held_out (other data, on which it is measured). With --dry-run its data may be embeddings of any framework (.npy, .safetensors, .parquet), \
with those of their positives as positives.

A TOML file for --config holds the same options without the dashes: keep = \"reservoir:1000\"";

/// Largest number of held-out samples of an experience that are measured.
const HELD_OUT: usize = 512;

/// Options of `icl stream`.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(after_help = DETAILS, mut_args(refined))]
pub struct StreamOptions {
    #[command(flatten)]
    #[serde(flatten)]
    pub source: SourceOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// Encoder that was trained on the first experience, as written by icl. Without it, one is trained
    #[arg(long, value_name = "ENCODER.safetensors", help_heading = "Encoder")]
    pub from: Option<PathBuf>,
    #[command(flatten)]
    #[serde(flatten)]
    pub encoder: EncoderOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub noise: NoiseOptions,
    #[command(flatten)]
    #[serde(flatten)]
    methods: MethodOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub course: CourseOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub verdict: VerdictOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub task: TaskOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub pretraining: PretrainingOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub execution: ExecutionOptions,
    /// Take the stream in DIR of --out back to its state after the experience of this number, which the name of its
    /// folder begins with. Later experiences are moved to DIR/undone, and --resume goes through their data again
    #[arg(long, value_name = "N", requires = "out", help_heading = "Execution")]
    #[serde(skip)]
    pub rollback: Option<usize>,
    /// Output folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Print every column of tables. Without it, the four most important ones
    #[arg(long, help_heading = "Output")]
    #[serde(skip)]
    pub wide: bool,
    #[command(flatten)]
    #[serde(flatten)]
    pub json: JsonOption,
}

/// The course of a stream: when to update, what is kept, what is measured, and what it may cost.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Stream")]
pub struct CourseOptions {
    /// Moment of an update: always, every:N experiences, samples:N, drift or drift:NATS, regret:L or never. Experiences
    /// without an update wait, and belong to the next one
    #[arg(long, value_name = "RULE", default_value_t = When::Always)]
    pub when: When,
    /// Largest number of experiences that wait: when so many wait, every rule but never updates
    #[arg(long, value_name = "N", value_parser = bounds::at_most(bounds::SAMPLES))]
    pub at_latest: Option<usize>,
    /// Old samples that later updates may use: all, reservoir:N, equal:N, exponential:N or fifo:N
    #[arg(long, value_name = "RULE", default_value_t = Keep::All)]
    #[serde(serialize_with = "as_text")]
    pub keep: Keep,
    /// Maximum charged cost of an update, in full passes of a view through the encoder
    #[arg(long, value_name = "PASSES")]
    pub budget_per_update: Option<f64>,
    /// Maximum charged cost of all updates together, in full passes
    #[arg(long, value_name = "PASSES")]
    pub budget_total: Option<f64>,
    /// Control that goes through the same stream, keeps all samples and has no budget; may be given several times. It
    /// is retraining, warm or another method at every experience, or never, the first encoder without updates
    #[arg(long, value_name = "METHOD", action = ArgAction::Append)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub control: Vec<String>,
    #[command(flatten)]
    #[serde(flatten)]
    pub measured: HoldOutOptions,
    /// Print the decisions on updates alone: nothing is trained or written
    #[arg(long)]
    #[serde(skip)]
    pub dry_run: bool,
}

/// Returns a shared option as this command takes it.
fn refined(option: Arg) -> Arg {
    let option = match option.get_id().as_str() {
        "rollback" | "out" => option,
        _ => option.conflicts_with("rollback"),
    };
    match option.get_id().as_str() {
        "method" => option
            .action(ArgAction::Set)
            .default_value(icl_train::DEFAULT),
        "seed" => option.default_value(DEFAULT_SEED.to_string()),
        "data" => option.default_value("").hide_default_value(true),
        "hold_out" => option.help(
            "Share of each experience that no training sees, and over which risks are computed",
        ),
        "evaluation_samples" => option.default_value(HELD_OUT.to_string()).help(
            "Maximum number of held-out samples of an experience over which risks are computed",
        ),
        "accept" => option.help(
            "Serve an updated encoder even if it is worse on held-out samples. Without it, the encoder that is served is \
             kept, and the data wait for the next update",
        ),
        "exit_code" => option.help(
            "Exit with 3 if the update for the last experience is worse on old or on new held-out samples",
        ),
        _ => inherited(option),
    }
}

/// Checked options of `icl stream`.
#[derive(Debug)]
pub struct Resolved {
    /// The options with every default, as `config.toml` has them.
    pub options: StreamOptions,
    /// The chosen strategy, then the controls in the order in which they were named.
    pub strategies: Vec<Strategy>,
    /// Seed, settings and backend.
    pub training: Training,
}

impl Resolved {
    /// Returns the folder of the stream, if there is one.
    pub fn folder(&self) -> Option<&Path> {
        let options = &self.options;
        options.execution.resumed().or(options.out.as_deref())
    }
}

impl StreamOptions {
    /// Fills in the defaults that depend on other options, and checks every value.
    ///
    /// # Errors
    /// At the first value that is not valid.
    pub fn resolve(mut self) -> Result<Resolved, Failure> {
        self.source.check(&self.data.name)?;
        self.course.check()?;
        check_out(self.out.as_deref())?;
        self.pretraining.training.check(false)?;
        if self.out.is_none() && !self.course.dry_run {
            return Err(Failure::input(anyhow!(
                "out: found no folder, expected --out DIR (or --dry-run, which writes nothing)"
            )));
        }
        if self.execution.devices == Devices::Mpi || self.execution.n_members() > 1 {
            let refused = [
                (
                    self.source.watch.is_some(),
                    "--watch, whose experiences they may find at different moments",
                ),
                (self.course.dry_run, "--dry-run, which trains nothing"),
            ];
            if let Some((_, with)) = refused.iter().find(|(is_given, _)| *is_given) {
                return Err(Failure::input(anyhow!(
                    "devices: found several devices or processes with {with}; expected one"
                )));
            }
        }
        // A stream can be continued from another folder.
        let paths = [
            &mut self.source.stream,
            &mut self.source.watch,
            &mut self.from,
            &mut self.task.task,
        ];
        for path in paths.into_iter().flatten() {
            *path = absolute(path)?;
        }
        if let Some(from) = &self.from {
            // A file that cannot be read is reported by its reader, after the data.
            let of_encoder = encoder_file::loss_of(from).unwrap_or_default();
            self.pretraining.training.step.loss.inherit(of_encoder);
        }
        let settings = self.pretraining.settings(Some(&self.methods));
        let training = self.execution.training(settings)?;
        let n_members = self.execution.n_members();
        let method = self.methods.one()?;
        let mut strategies = vec![Strategy {
            name: method.name.clone(),
            method: Some(method),
            policy: self.course.policy()?,
            keep: self.course.keep,
        }];
        for name in &self.course.control {
            let control = Strategy::control(name).map_err(|error| method::unknown(&error))?;
            if strategies[1..].iter().any(|it| it.name == control.name) {
                return Err(Failure::input(anyhow!(
                    "control: found {name} twice, expected each control once"
                )));
            }
            strategies.push(control);
        }
        for method in strategies.iter().filter_map(|it| it.method.as_ref()) {
            check_methods(&training.settings, n_members, std::slice::from_ref(method))?;
        }
        Ok(Resolved {
            strategies,
            training,
            options: self,
        })
    }
}

impl CourseOptions {
    /// Returns when to update, and at what cost.
    ///
    /// # Errors
    /// At the first number that is not valid.
    fn policy(&self) -> Result<Policy, Failure> {
        let policy = Policy {
            when: self.when,
            at_latest: self.at_latest,
            budget_per_update: self.budget_per_update,
            budget_total: self.budget_total,
        };
        let checked = policy.check().map_err(|error| {
            let option = error.place().replace('_', "-");
            Failure::input(error.at(option))
        });
        checked.map(|()| policy)
    }

    /// Checks what is measured.
    fn check(&self) -> Result<(), Failure> {
        self.measured.check()?;
        if self.measured.share() == 0.0 {
            return Err(Failure::input(anyhow!(
                "hold-out: found 0, expected a share above 0 and below 1"
            )));
        }
        Ok(())
    }
}

/// Returns the absolute path of a file or folder.
fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    let found = std::path::absolute(path);
    let found = found.map_err(|error| Failure::file(path, "cannot be found", error))?;
    text("path", &found)?;
    Ok(found)
}
