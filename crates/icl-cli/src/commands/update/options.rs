//! The options of `icl update`, raw and checked.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::{Arg, ArgAction, Args};
use icl_models::{Origin, SamplesDigest, StoredEncoder};
use icl_train::{Method, TrainingSettings};
use serde::Serialize;

use crate::commands::update::old_sample::OldSample;
use crate::domain::data::sources;
use crate::domain::encoder_file;
use crate::files::apart::check_apart;
use crate::files::encoder_work::CHECKPOINT;
use crate::options::bounds;
use crate::options::budget::{BudgetOptions, UpdateBudget};
use crate::options::classes::Classes;
use crate::options::data::ReadingOptions;
use crate::options::evaluation::{HoldOutOptions, TaskOptions, VerdictOptions};
use crate::options::execution::{DEFAULT_SEED, ExecutionOptions};
use crate::options::loss::inherited;
use crate::options::method::{MethodOptions, check_methods};
use crate::options::output::{EncoderOutputOptions, check_out, text};
use crate::options::training::{Training, TrainingOptions};
use crate::process::failure::Failure;
use crate::process::terminal::tell;

const DETAILS: &str = "\
It updates the encoder so that it is as good as one retrained on old and new data together, and writes \
DIR/encoder.safetensors, DIR/record.json, DIR/report.html (the encoder before and after) and \
DIR/config.toml. Data are embedded data sets or paths, as for icl train. The node features of graphs are those \
of the old data; the views of images are those that the encoder was trained on. Ctrl-C saves the state; icl \
update --resume DIR continues. An update that its budget ended leaves DIR/training.checkpoint, from which icl update \
--more DIR continues to twice the budget.

A TOML file for --config holds the same options without the dashes: learning-rate = 0.003";

/// Options of `icl update`.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(after_help = DETAILS, mut_args(refined))]
pub struct UpdateOptions {
    /// File of the encoder, as written by icl
    #[arg(long, value_name = "ENCODER.safetensors", help_heading = "Encoder")]
    from: PathBuf,
    /// Old data, on which the encoder was trained: one or more data sets or paths, patterns such as 'days/*.csv', or
    /// @LIST, a file with one of them on each line. Without it, those that the encoder's file names
    #[arg(long, value_name = "DATA", num_args = 1.., help_heading = "Data")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    old: Vec<PathBuf>,
    /// Uniform sample of the old data, where they are gone: a folder that icl keep wrote, or data sets as for --old
    /// with --old-count
    #[arg(
        long,
        value_name = "DATA",
        num_args = 1..,
        conflicts_with = "old",
        help_heading = "Data"
    )]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    old_sample: Vec<PathBuf>,
    /// Number of old samples for which those of --old-sample stand. Without it, that of icl keep
    #[arg(
        long,
        value_name = "N",
        value_parser = bounds::at_most(bounds::REPRESENTED),
        requires = "old_sample",
        conflicts_with = "old",
        help_heading = "Data"
    )]
    old_count: Option<usize>,
    /// New data, which have arrived since, as for --old
    #[arg(long, value_name = "DATA", num_args = 1.., required = true, help_heading = "Data")]
    new: Vec<PathBuf>,
    /// Use only these classes of the old data, comma-separated. Old and new data may then come from one data set
    #[arg(long, value_name = "NAMES", help_heading = "Data")]
    old_classes: Option<Classes>,
    /// Use only these classes of the new data, comma-separated
    #[arg(long, value_name = "NAMES", help_heading = "Data")]
    new_classes: Option<Classes>,
    #[command(flatten)]
    #[serde(flatten)]
    pub reading: ReadingOptions,
    #[command(flatten)]
    #[serde(flatten)]
    methods: MethodOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub training: TrainingOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub budget: BudgetOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub hold_out: HoldOutOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub task: TaskOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub verdict: VerdictOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub execution: ExecutionOptions,
    /// Continue the update in this folder, which reached its budget, with its original options to twice the budget
    #[arg(long, value_name = "DIR", exclusive = true, help_heading = "Execution")]
    #[serde(skip)]
    pub more: Option<PathBuf>,
    #[command(flatten)]
    #[serde(flatten)]
    pub output: EncoderOutputOptions,
}

/// Returns a shared option as this command takes it.
fn refined(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "method" => option
            .action(ArgAction::Set)
            .default_value(icl_train::DEFAULT),
        "seed" => option.default_value(DEFAULT_SEED.to_string()),
        "out" => option.required(true),
        // The default is that of the encoder's file.
        "hold_out" => option.default_value(None).help(
            "Share of the old and of the new samples that is held out; 0 for none. No training, no statistic and no \
             stopping rule sees these samples, and the held-out risk is computed over them. Without it, that of the \
             encoder's file, or a tenth where the file says none",
        ),
        _ => inherited(option),
    }
}

/// Checked options of `icl update`.
#[derive(Debug)]
pub struct Resolved {
    /// The options with every default, as `config.toml` has them.
    pub options: UpdateOptions,
    /// File of the encoder, as it was named.
    pub from: String,
    /// Names or paths of the sources of the old and of the new data.
    pub data: [Vec<String>; 2],
    /// Number and digest of the samples that the old data must have, where the encoder's file names their sources.
    pub remembered: Option<(usize, SamplesDigest)>,
    /// The sample that stands for the old data, if one does.
    pub old_sample: Option<OldSample>,
    /// The method.
    pub method: Method,
    /// The budget.
    pub budget: UpdateBudget,
    /// Seed, settings and backend.
    pub training: Training,
}

impl UpdateOptions {
    /// Returns the options of the readers of the old and of the new data.
    ///
    /// # Errors
    /// If classes are given twice.
    pub fn readings(&self) -> Result<[ReadingOptions; 2], Failure> {
        let reading = &self.reading;
        let of = |option: &str, classes: &Option<Classes>| {
            if classes.is_some() && reading.classes.is_some() {
                return Err(Failure::input(anyhow!(
                    "{option}: found it with --classes, expected one of the two"
                )));
            }
            Ok(ReadingOptions {
                classes: classes.clone().or_else(|| reading.classes.clone()),
                ..reading.clone()
            })
        };
        Ok([
            of("old-classes", &self.old_classes)?,
            of("new-classes", &self.new_classes)?,
        ])
    }

    /// Turns these options, those of the update in the folder of `--more`, into those of the same update with twice the
    /// budget.
    ///
    /// # Errors
    /// If that update had no budget, or has left no state to continue from.
    pub fn take_more(&mut self) -> Result<(), Failure> {
        let Some(folder) = &self.more else {
            return Ok(());
        };
        self.budget = self.budget.doubled()?;
        let state = folder.join(CHECKPOINT);
        if !state.is_file() {
            return Err(Failure::input(anyhow!(
                "more: found no {}, expected that of an update that reached its budget: one that its stopping rule \
                 ended has none",
                state.display()
            )));
        }
        self.output.folder.out = Some(folder.clone());
        self.output.folder.force = true;
        Ok(())
    }

    /// Fills in the sources of the old data that the encoder's file names, and reports them. Returns the number and the
    /// digest of their samples.
    fn remember(&mut self) -> Result<(usize, SamplesDigest), Failure> {
        let stored = StoredEncoder::open(&self.from).map_err(Failure::input)?;
        let origin = stored.origin().map_err(Failure::input)?;
        let is_sample = |origin: &Origin| origin.data.iter().any(|it| it.stands_for.is_some());
        if origin.as_ref().is_some_and(is_sample) {
            return Err(Failure::input(anyhow!(
                "old: found nothing, expected --old-sample: {} was trained on a sample of its old data",
                self.from.display()
            )));
        }
        // Two parts of one source, such as its classes, cannot be distinguished when it is read again.
        let is_known = |origin: &Origin| {
            let sources = origin.data.iter().flat_map(|data| &data.sources);
            let distinct: BTreeSet<&String> = sources.clone().collect();
            distinct.len() == sources.count() && origin.data.iter().all(|it| !it.sources.is_empty())
        };
        let origin = origin.filter(is_known).ok_or_else(|| {
            Failure::input(anyhow!(
                "old: found nothing, expected the data on which {} was trained: its file does not say where they are",
                self.from.display()
            ))
        })?;
        let sources = origin.data.iter().flat_map(|data| &data.sources);
        self.old = sources.map(PathBuf::from).collect();
        let names: Vec<String> = self.old.iter().map(|it| it.display().to_string()).collect();
        tell(format_args!(
            "note: old: the data of the encoder's training: {}",
            names.join(", ")
        ));
        Ok(origin.samples())
    }

    /// Fills in what is that of the encoder's training and the defaults that depend on other options, and checks every
    /// value.
    ///
    /// # Errors
    /// At the first value that is not valid, or if the file of the encoder cannot be read.
    pub fn resolve(mut self) -> Result<Resolved, Failure> {
        self.training.check(true)?;
        let method = self.methods.one()?;
        self.hold_out.check()?;
        check_out(self.output.folder.out.as_deref())?;
        // What is wrong by itself is reported before any file is read.
        // A file that cannot be read is reported by its reader, after the data.
        let loss = encoder_file::loss_of(&self.from).unwrap_or_default();
        self.training.step.loss.inherit(loss);
        if let (Some(limit), false) = (self.reading.limit, self.old_sample.is_empty()) {
            return Err(Failure::input(anyhow!(
                "limit: found {limit} with --old-sample, expected the whole sample: it stands for all old data"
            )));
        }
        let sampled = OldSample::of(&self.old_sample, self.old_count)?;
        let is_remembered = self.old.is_empty() && sampled.is_none();
        let remembered = is_remembered.then(|| self.remember()).transpose()?;
        let settings = TrainingSettings {
            evaluation_samples: self.hold_out.evaluation_samples,
            ..self.training.settings(Some(&self.methods))
        };
        let training = self.execution.training(settings)?;
        let budget = self.budget.fill(method.start);
        check_methods(
            &training.settings,
            self.execution.n_members(),
            std::slice::from_ref(&method),
        )?;
        let from = text("from", &self.from)?.to_owned();
        let (old, old_sample) = match sampled {
            None => (sources("old", &self.old)?, None),
            Some((sources, sample)) => (sources, Some(sample)),
        };
        let new = sources("new", &self.new)?;
        if let Some(out) = &self.output.folder.out {
            let inputs = [("old", &old), ("new", &new)].into_iter();
            let inputs =
                inputs.flat_map(|(option, all)| all.iter().map(move |it| (option, Path::new(it))));
            check_apart(out, inputs)?;
        }
        Ok(Resolved {
            from,
            data: [old, new],
            remembered,
            old_sample,
            method,
            budget,
            training,
            options: self,
        })
    }
}
