//! The folder of a cell: whether its run is complete, and how it is run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use icl_report::paper::MethodSet;
use icl_report::{RunRecord, read_records};
use icl_train::Method;
use icl_train::TrainingSettings;
use toml::{Table, Value};

use crate::backend::BACKENDS;
use crate::commands::reproduce::arguments::{ReproduceArguments, stem_name, stop_name};
use crate::commands::reproduce::grid::{GridCell, SPLIT};
use crate::commands::run::RECORD;
use crate::files::work_folder::{CONFIG, WORK};
use crate::process::failure::Failure;

/// A cell and its folder.
#[derive(Debug)]
pub struct CellFolder {
    pub cell: GridCell,
    pub path: PathBuf,
    pub state: State,
    methods: MethodSet,
}

/// How far a cell is.
#[derive(Debug)]
pub enum State {
    /// It has run.
    Complete(Vec<RunRecord>),
    /// It was interrupted and can go on.
    Interrupted,
    /// There is nothing, or nothing that can be used.
    Absent,
}

impl CellFolder {
    /// The folder of a cell among `cells`. One with more methods than are needed serves too.
    ///
    /// # Errors
    /// If there is a run with other options.
    pub fn find(
        cells: &Path,
        cell: &GridCell,
        arguments: &ReproduceArguments,
    ) -> Result<Self, Failure> {
        let covering = MethodSet::ALL.into_iter().rev();
        let mut interrupted = None;
        for methods in covering.filter(|set| set.covers(cell.methods)) {
            let mut folder = Self {
                path: cells.join(cell.folder_name(methods)),
                cell: cell.clone(),
                state: State::Absent,
                methods,
            };
            folder.state = folder.look(arguments)?;
            match folder.state {
                State::Complete(_) => return Ok(folder),
                State::Interrupted => interrupted = interrupted.or(Some(folder)),
                State::Absent => {}
            }
        }
        Ok(interrupted.unwrap_or_else(|| Self {
            path: cells.join(cell.folder_name(cell.methods)),
            cell: cell.clone(),
            state: State::Absent,
            methods: cell.methods,
        }))
    }

    /// How far the run in this folder is.
    ///
    /// # Errors
    /// If it has other options.
    pub fn look(&self, arguments: &ReproduceArguments) -> Result<State, Failure> {
        // Without options work has not begun, or is complete.
        if let Some(config) = read_config(&self.path.join(WORK)) {
            self.check(&config, arguments)?;
            return Ok(State::Interrupted);
        }
        let Some(config) = self.config() else {
            return Ok(State::Absent);
        };
        self.check(&config, arguments)?;
        let Ok(records) = read_records(&self.path.join(RECORD)) else {
            return Ok(State::Absent);
        };
        let is_there = |name: &String| {
            let of = |r: &&RunRecord| r.method == *name && r.seed == self.cell.seed;
            records.iter().filter(of).count() == 1
        };
        if self.methods.methods().iter().all(is_there) {
            Ok(State::Complete(records))
        } else {
            Ok(State::Absent)
        }
    }

    /// The options with which the folder's run was made.
    pub fn config(&self) -> Option<Table> {
        read_config(&self.path)
    }

    /// The arguments of the process that runs the cell, or goes on with it.
    pub fn command_line(&self, arguments: &ReproduceArguments) -> Vec<OsString> {
        let mut line: Vec<OsString> = vec!["run".into()];
        if matches!(self.state, State::Interrupted) {
            line.extend(["--resume".into(), self.path.clone().into()]);
            return line;
        }
        line.extend(["--data".into(), self.cell.source.path.clone().into()]);
        for (key, value) in self.options(arguments) {
            let values = match value {
                Value::Array(values) => values,
                value => vec![value],
            };
            for value in values {
                line.push(format!("--{key}").into());
                line.push(written(&value).into());
            }
        }
        // What is there is no complete run.
        line.extend(["--force".into(), "--out".into(), self.path.clone().into()]);
        line
    }

    /// All options of the run but its data and its folder, as they stand in its configuration.
    fn options(&self, arguments: &ReproduceArguments) -> Vec<(&'static str, Value)> {
        let integer = |number: u64| Value::Integer(i64::try_from(number).unwrap_or(i64::MAX));
        let methods = self.methods.methods().into_iter();
        let methods = methods.filter(|name| Method::named(name).is_ok());
        let mut options = vec![
            ("alpha", Value::Float(self.cell.alpha)),
            ("split", SPLIT.into()),
            ("seed", integer(self.cell.seed)),
            ("epochs", integer(arguments.epochs as u64)),
            ("stop", stop_name(arguments.stop).into()),
            ("method", methods.collect::<Vec<_>>().into()),
        ];
        let default = TrainingSettings::default().learning_rate;
        let rate = arguments.learning_rate.unwrap_or(default);
        options.push(("learning-rate", Value::Float(rate)));
        let backend = arguments.backend.as_deref().unwrap_or(BACKENDS[0]);
        options.push(("backend", backend.into()));
        if self.cell.data.is_image() {
            if let Some(classes) = self.cell.source.classes {
                options.push(("classes", classes.into()));
            }
            options.push(("image-size", integer(arguments.image_size as u64)));
            if let Some(limit) = arguments.limit {
                options.push(("limit", integer(limit as u64)));
            }
            if let Some(stem) = arguments.stem {
                options.push(("stem", stem_name(stem).into()));
            }
        }
        options
    }

    /// A run with other options is somebody's work: it is neither used nor replaced.
    fn check(&self, config: &Table, arguments: &ReproduceArguments) -> Result<(), Failure> {
        let mut expected: Vec<(&str, Option<Value>)> = self
            .options(arguments)
            .into_iter()
            .map(|(key, value)| (key, Some(value)))
            .collect();
        if self.cell.data.is_image() {
            // What stands for the data set is the user's choice, and so is how much of it is taken.
            let path = self.cell.source.path.to_string_lossy().into_owned();
            expected.push(("data", Some(path.into())));
            for key in ["limit", "stem", "classes"] {
                if expected.iter().all(|(known, _)| *known != key) {
                    expected.push((key, None));
                }
            }
        }
        for (key, expected) in expected {
            let found = config.get(key);
            if found != expected.as_ref() {
                let written = |value: Option<&Value>| value.map_or("absent".to_owned(), written);
                return Err(Failure::input(anyhow!(
                    "{}: found a run with {key} {}, expected {}: choose another folder with --out, or \
                     remove that of the cell",
                    self.path.display(),
                    written(found),
                    written(expected.as_ref())
                )));
            }
        }
        Ok(())
    }
}

fn read_config(folder: &Path) -> Option<Table> {
    let text = std::fs::read_to_string(folder.join(CONFIG)).ok()?;
    text.parse().ok()
}

/// A value as it is written in a command.
pub fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(written).collect::<Vec<_>>().join(", "),
        value => value.to_string(),
    }
}
