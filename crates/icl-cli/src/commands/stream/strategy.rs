//! The course of a strategy through a stream, and its files.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use icl_train::{Experience, Strategy, StreamMemory, StreamState};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use anyhow::anyhow;
use icl_core::InputFile;
use icl_models::StoredEncoder;

use crate::commands::stream::options::Resolved;
use crate::files::encoder_work::ENCODER;
use crate::files::whole;
use crate::files::whole::remove_if_there;
use crate::process::failure::Failure;

/// File of the facts about a strategy, in the folder of each experience.
const STRATEGY: &str = "strategy.json";
/// Samples that its later updates may use, in the folder of the last experience.
const MEMORY: &str = "memory.json";

/// Strategy with what it has done in a stream.
#[derive(Debug)]
pub struct StrategyRun<'a> {
    /// The strategy.
    pub strategy: &'a Strategy,
    /// Folder in that of an experience; none for the chosen strategy.
    folder: Option<String>,
    /// Experiences that it has gone through.
    pub done: Vec<StrategyStep>,
    /// Samples that its later updates may use.
    pub memory: StreamMemory,
    /// File of its encoder.
    pub encoder: PathBuf,
}

/// A strategy after an experience.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StrategyStep {
    /// Facts about the experience, without its risks.
    pub experience: Experience,
    /// Risks on the panel of each experience up to this one.
    pub risks: Row,
    /// Accuracies on these panels; `None` without classes.
    pub accuracies: Option<Row>,
    /// Accuracy on the panel of this experience of the encoder before it; `None` without classes and for the first.
    pub served_accuracy: Option<f64>,
}

/// Row of a matrix of which few cells were measured. It is stored with all of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<Option<f64>>", into = "Vec<Option<f64>>")]
pub struct Row {
    n: usize,
    measured: Vec<(usize, f64)>,
}

impl From<Vec<Option<f64>>> for Row {
    fn from(cells: Vec<Option<f64>>) -> Self {
        let measured = cells.iter().enumerate();
        let mut measured: Vec<_> = measured
            .filter_map(|(at, cell)| Some((at, (*cell)?)))
            .collect();
        measured.shrink_to_fit();
        Self {
            n: cells.len(),
            measured,
        }
    }
}

impl From<Row> for Vec<Option<f64>> {
    fn from(row: Row) -> Self {
        row.cells(row.n)
    }
}

impl Row {
    /// Returns all cells, in a vector with room for `capacity`.
    pub fn cells(&self, capacity: usize) -> Vec<Option<f64>> {
        let mut cells = Vec::with_capacity(capacity);
        cells.resize(self.n, None);
        for &(at, value) in &self.measured {
            cells[at] = Some(value);
        }
        cells
    }
}

impl<'a> StrategyRun<'a> {
    /// Returns the runs of all strategies, that of the chosen one first.
    pub fn all(resolved: &'a Resolved) -> Vec<Self> {
        let of = |(at, strategy): (usize, &'a Strategy)| Self {
            strategy,
            folder: (at > 0).then(|| format!("control-{}", strategy.name)),
            done: Vec::new(),
            memory: StreamMemory::default(),
            encoder: PathBuf::new(),
        };
        resolved.strategies.iter().enumerate().map(of).collect()
    }

    /// Whether this is the chosen strategy.
    pub fn is_own(&self) -> bool {
        self.folder.is_none()
    }

    /// Returns the name of its states, other than those of all other strategies.
    pub fn state_name(&self) -> &str {
        self.folder.as_deref().unwrap_or("method")
    }

    /// Returns its folder in that of an experience.
    pub fn folder(&self, experience: &Path) -> PathBuf {
        match &self.folder {
            Some(folder) => experience.join(folder),
            None => experience.to_owned(),
        }
    }

    /// Returns the state of its stream, with the risks after the last experience alone: no decision needs the others.
    pub fn state(&self) -> StreamState {
        let n = self.done.len();
        let experiences = self.done.iter().enumerate().map(|(at, step)| Experience {
            risks: match at + 1 == n {
                true => step.risks.cells(n),
                false => Vec::new(),
            },
            ..step.experience.clone()
        });
        StreamState::from_parts(experiences.collect(), self.memory.clone())
    }

    /// Returns a matrix of this strategy: of each experience a row, with what was served right of the diagonal and nothing beyond.
    fn matrix<'r>(
        &'r self,
        row: impl Fn(&'r StrategyStep) -> Option<&'r Row>,
        served: impl Fn(&StrategyStep) -> Option<f64>,
    ) -> Option<Vec<Vec<Option<f64>>>> {
        let row = |(at, step): (usize, &'r StrategyStep)| {
            let mut cells = row(step)?.cells(at + 2);
            cells.extend(self.done.get(at + 1).map(&served));
            Some(cells)
        };
        self.done.iter().enumerate().map(row).collect()
    }

    /// Returns the matrix of risks.
    pub fn risks(&self) -> Vec<Vec<Option<f64>>> {
        let risks = self.matrix(|it| Some(&it.risks), |it| it.experience.served);
        risks.expect("risks are always measured")
    }

    /// Returns the matrix of accuracies; `None` without classes.
    pub fn accuracies(&self) -> Option<Vec<Vec<Option<f64>>>> {
        self.matrix(|it| it.accuracies.as_ref(), |it| it.served_accuracy)
    }

    /// Writes what it has done with the last experience.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, experience: &Path) -> Result<(), Failure> {
        let folder = self.folder(experience);
        let created = std::fs::create_dir_all(&folder);
        created.map_err(|error| Failure::file(&folder, "cannot be written", error))?;
        write_json(&folder.join(STRATEGY), &self.done.last())?;
        write_json(&folder.join(MEMORY), &self.memory)
    }

    /// Reads what it has done in the folder of the next experience; of the memory, only the last is read.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn read(&mut self, experience: &Path, is_last: bool) -> Result<(), Failure> {
        let folder = self.folder(experience);
        self.done.push(read_json(&folder.join(STRATEGY))?);
        if is_last {
            self.memory = read_json(&folder.join(MEMORY))?;
        }
        self.publish(experience);
        Ok(())
    }

    /// Takes the encoder in the folder of an experience that is complete: without an update there is none, and controls begin with
    /// that of the method.
    pub fn publish(&mut self, experience: &Path) {
        let folders = match self.encoder.as_os_str().is_empty() {
            true => [experience.to_owned(), self.folder(experience)],
            false => [self.folder(experience), self.folder(experience)],
        };
        for folder in folders {
            let encoder = folder.join(ENCODER);
            if encoder.exists() {
                self.encoder = encoder;
            }
        }
    }

    /// Forgets the held-out samples of experiences that will not be measured again: they would be copied at each
    /// decision.
    pub fn drop_panels(&mut self) {
        let measured = StreamState::measured(self.done.len() + 1);
        for (at, step) in self.done.iter_mut().enumerate() {
            if !measured.contains(&at) {
                step.experience.panel = Vec::new();
            }
        }
    }

    /// Removes the memory of an experience that is no longer the last.
    pub fn forget(&self, experience: &Path) {
        // It is never read again, and does no harm.
        let _ = remove_if_there(&self.folder(experience).join(MEMORY));
    }
}

/// Writes a value as JSON.
///
/// # Errors
/// If the file cannot be written.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<(), Failure> {
    write_lines(path, std::slice::from_ref(value))
}

/// Writes values as lines of JSON, without holding their text.
///
/// # Errors
/// If the file cannot be written.
pub fn write_lines(path: &Path, values: &[impl Serialize]) -> Result<(), Failure> {
    whole::write_with(path, |file| {
        let mut file = BufWriter::new(file);
        for value in values {
            serde_json::to_writer(&mut file, value)?;
            file.write_all(b"\n")?;
        }
        file.flush()
    })
}

/// Reads a value of JSON.
///
/// # Errors
/// If the file cannot be read, or holds something else.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    let wrong = |found: String| {
        Failure::input(anyhow!(
            "{}: found {found}, expected a file that icl stream wrote",
            path.display()
        ))
    };
    let bytes = InputFile::open(path, StoredEncoder::MAX_BYTES).and_then(InputFile::bytes);
    let bytes = bytes.map_err(|error| wrong(format!("no readable file ({error})")))?;
    serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))
}
