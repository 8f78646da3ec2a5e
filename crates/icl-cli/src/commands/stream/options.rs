//! The options of `icl stream`, raw and checked.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::{Arg, ArgAction, Args};
use icl_data::StreamSplit;
use icl_train::{Keep, Method, TrainingSettings, When};
use serde::{Serialize, Serializer};

use crate::options::bounds;
use crate::options::data::ReadingOptions;
use crate::options::encoder::EncoderOptions;
use crate::options::execution::{
    BackendOption, ConfigOption, DEFAULT_SEED, ResumeOption, SeedOption,
};
use crate::options::method::{MethodOption, MethodOptions};
use crate::options::noise::NoiseOptions;
use crate::options::output::{OutOption, TableOption, text};
use crate::options::training::{PretrainingOptions, Training, TrainingOptions};
use crate::options::values;
use crate::process::failure::Failure;

const DETAILS: &str = "\
It trains an encoder on the first experience, or takes one, and updates it for each one that follows, as --when says. \
DIR holds a folder for each experience (encoder.safetensors, record.json), matrix.json (the risk of each encoder on held-out samples of \
each experience), stream.jsonl, decisions.jsonl, ledger.jsonl and report.html. Ctrl-C saves the state; icl stream --resume DIR continues, \
and goes through experiences that were added to the manifest since.

A manifest is a TOML file: schema = 1, and for each experience [[experience]] with name and data, and if need be arrived (a time) and \
held_out (other data, on which it is measured). With --dry-run its data may be embeddings of any framework (.npy, .safetensors, .parquet), \
with those of their positives as positives.

A TOML file for --config holds the same options without the dashes: keep = \"reservoir:1000\"";

/// Shares and sizes of what is held out.
const HOLD_OUT: f64 = 0.1;
const PANEL: usize = 512;

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
    pub reading: ReadingOptions,
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
    method: MethodOption,
    #[command(flatten)]
    #[serde(flatten)]
    methods: MethodOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub course: CourseOptions,
    #[command(flatten)]
    #[serde(flatten)]
    training: TrainingOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pretraining: PretrainingOptions,
    #[command(flatten)]
    #[serde(flatten)]
    seed: SeedOption,
    #[command(flatten)]
    #[serde(flatten)]
    backend: BackendOption,
    #[command(flatten)]
    #[serde(skip)]
    config: ConfigOption,
    #[command(flatten)]
    #[serde(skip)]
    pub resume: ResumeOption,
    #[command(flatten)]
    #[serde(flatten)]
    pub output: OutOption,
    #[command(flatten)]
    #[serde(skip)]
    pub tables: TableOption,
}

/// Where experiences come from: one data set that is divided, a manifest, or a folder.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Data")]
pub struct SourceOptions {
    /// Data set that is divided into experiences (--split), named as for icl train
    #[arg(long, conflicts_with_all = ["stream", "watch"])]
    pub data: Option<String>,
    /// Division of the data set: data:T, size:T, class:T, time:COLUMN, time:COLUMN:T, blurred:T:SHARE, imbalanced:T:RATIO or
    /// concurrent:T:N, each into T experiences
    #[arg(long, value_name = "SPLIT", conflicts_with_all = ["stream", "watch"])]
    #[serde(serialize_with = "maybe_text", skip_serializing_if = "Option::is_none")]
    pub split: Option<StreamSplit>,
    /// Manifest of the experiences
    #[arg(long, value_name = "FILE.toml", conflicts_with = "watch")]
    pub stream: Option<PathBuf>,
    /// Folder in which experiences arrive, each a file or a folder that is moved there. Of several new ones, the order is that
    /// of their names. The command waits for more until it is interrupted
    #[arg(long, value_name = "DIR")]
    pub watch: Option<PathBuf>,
}

/// The course of a stream: when to update, what is kept, what is measured, and what it may cost.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Stream")]
pub struct CourseOptions {
    /// Moment of an update: always, every:N experiences, samples:N, drift or drift:NATS, regret:L or never. Experiences
    /// without an update wait, and belong to the next one
    #[arg(long, value_name = "RULE", default_value_t = When::Always)]
    #[serde(serialize_with = "as_text")]
    pub when: When,
    /// Largest number of experiences that wait: so many are a reason for an update under every rule but never
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
    /// Control that goes through the same stream, keeps all samples and has no budget: retraining, warm or another method at
    /// every experience, or never, the first encoder without updates; may be given several times
    #[arg(long, value_name = "METHOD")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub control: Vec<String>,
    /// Share of each experience that no training sees, and over which risks are computed
    #[arg(long, value_name = "SHARE", default_value_t = HOLD_OUT)]
    pub hold_out: f64,
    /// Maximum number of held-out samples of an experience over which risks are computed
    #[arg(
        long,
        value_name = "N",
        value_parser = bounds::at_most(bounds::SAMPLES),
        default_value_t = PANEL
    )]
    pub panel: usize,
    /// Measure at each experience what the encoder learns from it in so many epochs beside a fresh encoder; charged to nobody
    #[arg(long, value_name = "EPOCHS", value_parser = bounds::at_most(bounds::EPOCHS))]
    pub trainability: Option<usize>,
    /// Print the decisions on updates alone: nothing is trained or written
    #[arg(long)]
    #[serde(skip)]
    pub dry_run: bool,
}

/// Serializes a value as its text.
fn as_text<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// Serializes a value as its text, if there is one.
fn maybe_text<S: Serializer>(
    value: &Option<impl Display>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.collect_str(value),
        None => serializer.serialize_none(),
    }
}

/// Returns a shared option as this command takes it.
fn refined(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "method" => option
            .action(ArgAction::Set)
            .default_value(icl_train::DEFAULT),
        "seed" => option.default_value(DEFAULT_SEED.to_string()),
        // Here, --keep is about samples.
        "keep_columns" => option.alias(None),
        "control" => option.action(ArgAction::Append),
        _ => option,
    }
}

/// Control of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Control {
    /// Name.
    pub name: String,
    /// Method that updates at every experience; `None`: never.
    pub method: Option<Method>,
}

/// Checked options of `icl stream`.
#[derive(Debug)]
pub struct Resolved {
    /// The options with every default, as `config.toml` has them.
    pub options: StreamOptions,
    /// The method.
    pub method: Method,
    /// The controls, in the order in which they were named.
    pub controls: Vec<Control>,
    /// Seed, settings and backend.
    pub training: Training,
}

/// Name of the control without updates.
const NEVER: &str = "never";

impl StreamOptions {
    /// Fills in the defaults that depend on other options, and checks every value.
    ///
    /// # Errors
    /// At the first value that is not valid.
    pub fn resolve(mut self) -> Result<Resolved, Failure> {
        self.source.check()?;
        self.course.check()?;
        self.output.check()?;
        self.training.check_negatives(false)?;
        if self.output.out.is_none() && !self.course.dry_run {
            return Err(Failure::input(anyhow!(
                "out: found no folder, expected --out DIR (or --dry-run, which writes nothing)"
            )));
        }
        // A stream can be continued from another folder.
        let paths = [
            &mut self.source.stream,
            &mut self.source.watch,
            &mut self.from,
        ];
        for path in paths.into_iter().flatten() {
            *path = absolute(path)?;
        }
        let settings = self.methods.over(TrainingSettings::default());
        let settings = self.training.over(self.pretraining.over(settings));
        let training = Training {
            seed: self.seed.seed.unwrap_or(DEFAULT_SEED),
            settings: values::settings(settings)?,
            backend: self.backend.fill()?.to_owned(),
        };
        let method = self.method.one()?;
        values::check_methods(&training.settings, std::slice::from_ref(&method))?;
        let mut controls: Vec<Control> = Vec::new();
        for name in &self.course.control {
            if controls.iter().any(|it| it.name == *name) {
                return Err(Failure::input(anyhow!(
                    "control: found {name} twice, expected each control once"
                )));
            }
            let method = (name != NEVER).then(|| values::method(name)).transpose()?;
            if let Some(method) = &method {
                values::check_methods(&training.settings, std::slice::from_ref(method))?;
            }
            let name = method.as_ref().map_or(NEVER, |method| &method.name);
            controls.push(Control {
                name: name.to_owned(),
                method,
            });
        }
        Ok(Resolved {
            method,
            controls,
            training,
            options: self,
        })
    }
}

impl SourceOptions {
    /// Checks that there is one source.
    fn check(&self) -> Result<(), Failure> {
        match (&self.data, &self.split) {
            (Some(_), Some(_)) => Ok(()),
            (None, None) if self.stream.is_some() || self.watch.is_some() => Ok(()),
            (Some(data), None) => Err(Failure::input(anyhow!(
                "split: found none for {data}, expected a division into experiences, such as --split data:5"
            ))),
            (None, _) => Err(Failure::input(anyhow!(
                "stream: found no experiences, expected --data with --split, --stream or --watch"
            ))),
        }
    }
}

impl CourseOptions {
    /// Checks the numbers.
    fn check(&self) -> Result<(), Failure> {
        if !(self.hold_out > 0.0 && self.hold_out < 1.0) {
            return Err(Failure::input(anyhow!(
                "hold-out: found {}, expected a share above 0 and below 1",
                self.hold_out
            )));
        }
        if self.panel < 4 {
            return Err(Failure::input(anyhow!(
                "panel: found {}, expected at least 4",
                self.panel
            )));
        }
        if self.at_latest == Some(0) {
            return Err(Failure::input(anyhow!(
                "at-latest: found 0, expected at least 1"
            )));
        }
        let budgets = [
            ("budget-per-update", self.budget_per_update),
            ("budget-total", self.budget_total),
        ];
        for (name, budget) in budgets {
            if let Some(found) = budget.filter(|found| !(found.is_finite() && *found > 0.0)) {
                return Err(Failure::input(anyhow!(
                    "{name}: found {found}, expected a number of passes above 0"
                )));
            }
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
