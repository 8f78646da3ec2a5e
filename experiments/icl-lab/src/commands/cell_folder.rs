//! The folder of a cell: the state of its run, and the command that runs it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::pages::paper::MethodSet;
use anyhow::anyhow;
use icl_cli::parts::{CONFIG, Failure, RECORD, options_of_work};
use icl_core::InputFile;
use icl_report::{RunRecord, read_records};
use icl_train::Method;
use toml::{Table, Value};

use crate::commands::grid::{GridCell, SPLIT};
use crate::commands::options::{ReproduceOptions, written};
use crate::svm::{NAME, WORDS};

/// Options of a run that its configuration lacks unless they are given.
const MAY_BE_ABSENT: [&str; 6] = [
    "classes",
    "evaluate-every",
    "limit",
    "projection",
    "stem",
    "weights",
];

/// Option of the protocols.
const PROTOCOL: &str = "protocol";

/// Size of the largest file of options that is read, in bytes: 1 MiB.
const MAX_OPTIONS_BYTES: u64 = 1 << 20;

/// A cell and its folder.
#[derive(Debug)]
pub struct CellFolder {
    pub cell: GridCell,
    pub path: PathBuf,
    pub state: State,
    methods: MethodSet,
}

/// State of a cell.
#[derive(Debug)]
pub enum State {
    /// Its run is complete.
    Complete(Vec<RunRecord>),
    /// Its run was interrupted and can be continued.
    Interrupted,
    /// There is no run that can be used.
    Absent,
}

impl CellFolder {
    /// Finds the folder of a cell among `cells`. A folder with more methods than are needed serves, too.
    ///
    /// # Errors
    /// If it has a run with other options.
    pub fn find(
        cells: &Path,
        cell: &GridCell,
        options: &ReproduceOptions,
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
            folder.state = folder.look(options)?;
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

    /// Returns the state of the run in this folder.
    ///
    /// # Errors
    /// If it has other options.
    pub fn look(&self, options: &ReproduceOptions) -> Result<State, Failure> {
        // Without options work has not begun, or is complete.
        if let Some(config) = read_config(&options_of_work(&self.path)) {
            self.check(&config, options)?;
            return Ok(State::Interrupted);
        }
        let Some(config) = self.config() else {
            return Ok(State::Absent);
        };
        self.check(&config, options)?;
        let Ok(records) = read_records(&self.path.join(RECORD)) else {
            return Ok(State::Absent);
        };
        let is_there = |name: &String| {
            // Earlier programs recorded the accuracies of the machine elsewhere: their cells run again.
            let of = |r: &&RunRecord| {
                let is_own = r.method == *name && r.seed == self.cell.seed;
                is_own && r.added_protocols.contains_key(WORDS)
            };
            records.iter().filter(of).count() == 1
        };
        if self.methods.methods().iter().all(is_there) {
            Ok(State::Complete(records))
        } else {
            Ok(State::Absent)
        }
    }

    /// Returns the options of the run in this folder.
    pub fn config(&self) -> Option<Table> {
        read_config(&self.path.join(CONFIG))
    }

    /// Returns the arguments of the process that runs the cell, or continues it.
    ///
    /// # Errors
    /// If a path is not UTF-8.
    pub fn command_line(&self, options: &ReproduceOptions) -> Result<Vec<OsString>, Failure> {
        let mut line: Vec<OsString> = vec!["run".into()];
        if matches!(self.state, State::Interrupted) {
            line.extend(["--resume".into(), self.path.clone().into()]);
            return Ok(line);
        }
        line.extend(["--data".into(), self.cell.source.path.clone().into()]);
        for (key, value) in self.options(options)? {
            let values = match value {
                Value::Array(values) => values,
                value => vec![value],
            };
            line.extend(
                values
                    .iter()
                    .map(|value| format!("--{key}={}", written(value)).into()),
            );
        }
        line.push(format!("--{PROTOCOL}={NAME}").into());
        // A run that is there is not complete.
        line.extend(["--force".into(), "--out".into(), self.path.clone().into()]);
        Ok(line)
    }

    /// Returns all options of the run but its data and its folder, as its configuration has them.
    fn options(&self, options: &ReproduceOptions) -> Result<Table, Failure> {
        let mut table = options.of_cells(self.cell.data.is_image())?;
        let methods = self.methods.methods().into_iter();
        let methods = methods.filter(|name| Method::named(name).is_ok());
        table.insert("method".to_owned(), methods.collect::<Vec<_>>().into());
        table.insert("alpha".to_owned(), self.cell.alpha.into());
        table.insert("split".to_owned(), SPLIT.into());
        // The paper holds nothing out.
        table.insert("hold-out".to_owned(), 0.0.into());
        let seed = i64::try_from(self.cell.seed).unwrap_or(i64::MAX);
        table.insert("seed".to_owned(), seed.into());
        if let Some(classes) = self.cell.source.classes {
            table
                .entry("classes".to_owned())
                .or_insert_with(|| classes.into());
        }
        Ok(table)
    }

    /// Checks that a run has the same options: one with others is neither used nor replaced.
    fn check(&self, config: &Table, options: &ReproduceOptions) -> Result<(), Failure> {
        let mut expected = self.options(options)?;
        if self.cell.data.is_image() {
            // The user chooses the data that replace the data set.
            let path = self.cell.source.path.to_string_lossy().into_owned();
            expected.insert("data".to_owned(), path.into());
        }
        let keys = expected.keys().map(String::as_str);
        for key in keys.chain(MAY_BE_ABSENT) {
            let (found, expected) = (config.get(key), expected.get(key));
            if found != expected {
                let written = |value: Option<&Value>| value.map_or("absent".to_owned(), written);
                return Err(Failure::input(anyhow!(
                    "{}: found a run with {key} {}, expected {}: choose another folder with --out, or \
                     remove that of the cell",
                    self.path.display(),
                    written(found),
                    written(expected)
                )));
            }
        }
        let protocols = config.get(PROTOCOL).and_then(Value::as_array);
        if let Some(found) = protocols.filter(|it| !it.contains(&Value::from(NAME))) {
            return Err(Failure::input(anyhow!(
                "{}: found a run with {PROTOCOL} {}, expected {NAME}: choose another folder with --out, or \
                 remove that of the cell",
                self.path.display(),
                written(&Value::from(found.clone())),
            )));
        }
        Ok(())
    }
}

fn read_config(path: &Path) -> Option<Table> {
    let file = InputFile::open(path, MAX_OPTIONS_BYTES).ok()?;
    file.text().ok()?.parse().ok()
}
