//! The options of `icl update`, raw and checked.

use std::path::Path;

use clap::{Arg, ArgAction, Args};
use icl_train::{Method, TrainingSettings};
use serde::Serialize;

use crate::options::data::ReadingOptions;
use crate::options::devices::{DevicesOptions, Engine};
use crate::options::encoder::FromOption;
use crate::options::evaluation::HoldOutOptions;
use crate::options::execution::{
    BackendOption, ConfigOption, DEFAULT_SEED, ResumeOption, SeedOption,
};
use crate::options::increment::{OldNewClassesOptions, OldNewOptions};
use crate::options::method::{MethodOption, MethodOptions};
use crate::options::output::{EventsOption, OutputOptions, TableOption, text};
use crate::options::training::{Training, TrainingOptions};
use crate::options::values;
use crate::process::failure::Failure;

const DETAILS: &str = "\
It updates the encoder so that it is as good as one retrained on old and new data together, and writes \
DIR/encoder.safetensors, DIR/record.json, DIR/report.html (the encoder before and after) and \
DIR/config.toml. Data are embedded data sets or paths, as for icl train. The node features of graphs are those \
of the old data; the views of images are those that the encoder was trained on. Ctrl-C saves the state; icl \
update --resume DIR continues.

A TOML file for --config holds the same options without the dashes: learning-rate = 0.003";

/// Options of `icl update`.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(after_help = DETAILS, mut_args(refined))]
pub struct UpdateOptions {
    #[command(flatten)]
    #[serde(flatten)]
    from: FromOption,
    #[command(flatten)]
    #[serde(flatten)]
    data: OldNewOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub classes: OldNewClassesOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub reading: ReadingOptions,
    #[command(flatten)]
    #[serde(flatten)]
    method: MethodOption,
    #[command(flatten)]
    #[serde(flatten)]
    methods: MethodOptions,
    #[command(flatten)]
    #[serde(flatten)]
    training: TrainingOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub hold_out: HoldOutOptions,
    #[command(flatten)]
    #[serde(flatten)]
    seed: SeedOption,
    #[command(flatten)]
    #[serde(flatten)]
    backend: BackendOption,
    #[command(flatten)]
    #[serde(flatten)]
    devices: DevicesOptions,
    #[command(flatten)]
    #[serde(skip)]
    config: ConfigOption,
    #[command(flatten)]
    #[serde(skip)]
    pub resume: ResumeOption,
    #[command(flatten)]
    #[serde(flatten)]
    pub output: OutputOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub events: EventsOption,
    #[command(flatten)]
    #[serde(skip)]
    pub tables: TableOption,
}

/// Returns a shared option as this command takes it.
fn refined(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "from" => option.required(true),
        "old" | "new" => option.value_name("DATA"),
        "method" => option
            .action(ArgAction::Set)
            .default_value(icl_train::DEFAULT),
        "seed" => option.default_value(DEFAULT_SEED.to_string()),
        "out" => option.required(true),
        _ => option,
    }
}

/// Checked options of `icl update`.
#[derive(Debug)]
pub struct Resolved {
    /// The options with every default, as `config.toml` has them.
    pub options: UpdateOptions,
    /// File of the encoder, as it was named.
    pub from: String,
    /// Names or paths of the old and of the new data.
    pub data: [String; 2],
    /// The method.
    pub method: Method,
    /// Seed, settings and backend.
    pub training: Training,
}

impl UpdateOptions {
    /// Returns the engine of the group that trains, and the folder of the interrupted work that it continues.
    pub fn engine(&self) -> (Engine, Option<&Path>) {
        (self.devices.engine(&self.backend), self.resume.folder())
    }

    /// Fills in the defaults that depend on other options, and checks every value.
    ///
    /// # Errors
    /// At the first value that is not valid.
    pub fn resolve(mut self) -> Result<Resolved, Failure> {
        let settings = self.devices.over(TrainingSettings::default());
        let settings = self.methods.over(settings);
        self.training.check_negatives(true)?;
        let training = Training {
            seed: self.seed.seed.unwrap_or(DEFAULT_SEED),
            settings: values::settings(self.training.over(self.hold_out.over(settings)))?,
            backend: self.backend.fill_all()?.to_owned(),
        };
        let method = self.method.one()?;
        values::check_methods(&training.settings, std::slice::from_ref(&method))?;
        self.hold_out.check()?;
        self.output.folder.check()?;
        let from = text("from", self.from.path())?.to_owned();
        let old = text("old", &self.data.old)?.to_owned();
        let new = text("new", &self.data.new)?.to_owned();
        Ok(Resolved {
            from,
            data: [old, new],
            method,
            training,
            options: self,
        })
    }
}
