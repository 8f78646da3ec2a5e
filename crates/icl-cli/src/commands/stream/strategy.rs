//! The course of a strategy through a stream, and its files.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use icl_train::{Experience, SparseRow, Strategy, StreamState};
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
/// Samples that its later updates may use, in the folders of the last experiences.
pub const MEMORY: &str = "memory.json";
/// Number of experiences that keep it: so many days a rollback can go back. It holds a number for each sample, and in
/// all folders a long stream would take space as the square of its length.
pub const N_MEMORIES: usize = 32;

/// Strategy with what it has done in a stream.
#[derive(Debug)]
pub struct StrategyRun<'a> {
    /// The strategy.
    pub strategy: &'a Strategy,
    /// Folder in that of an experience; none for the chosen strategy.
    folder: Option<String>,
    /// State of its stream, without held-out samples that are not measured again.
    pub state: StreamState,
    /// Accuracies after each experience.
    accuracies: Vec<Accuracies>,
    /// File of its encoder.
    pub encoder: PathBuf,
}

/// Accuracies after an experience.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Accuracies {
    /// Accuracies on held-out samples of each experience up to this one; `None` without classes.
    pub accuracies: Option<SparseRow>,
    /// Accuracy of the encoder before this experience on its held-out samples; `None` without classes and for the
    /// first.
    pub served_accuracy: Option<f64>,
}

/// State and accuracies of a strategy after an experience.
pub type Done = (StreamState, Accuracies);

/// A strategy after an experience, as its file has it.
#[derive(Serialize, Deserialize)]
struct StrategyRecord {
    /// Facts about the experience, without its risks.
    experience: Experience,
    /// Risks on held-out samples of each experience up to this one.
    risks: SparseRow,
    #[serde(flatten)]
    accuracies: Accuracies,
}

impl<'a> StrategyRun<'a> {
    /// Returns the runs of all strategies, that of the chosen one first.
    pub fn all(resolved: &'a Resolved) -> Vec<Self> {
        let of = |(at, strategy): (usize, &'a Strategy)| Self {
            strategy,
            folder: (at > 0).then(|| format!("control-{}", strategy.name)),
            state: StreamState::default(),
            accuracies: Vec::new(),
            encoder: PathBuf::new(),
        };
        resolved.strategies.iter().enumerate().map(of).collect()
    }

    /// Whether this is the chosen strategy.
    pub fn is_own(&self) -> bool {
        self.folder.is_none()
    }

    /// Returns the name of its states, which no other strategy has.
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

    /// Returns the matrix of accuracies, with what was served right of the diagonal; `None` without classes.
    pub fn accuracies(&self) -> Option<Vec<Vec<Option<f64>>>> {
        let served = self.accuracies.iter().map(|it| Some(it.served_accuracy));
        let rows = self.accuracies.iter().zip(served.skip(1).chain([None]));
        rows.map(|(it, served)| Some(it.accuracies.as_ref()?.followed_by(served)))
            .collect()
    }

    /// Writes its state and accuracies after an experience into the folder of the experience.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, experience: &Path, (state, accuracies): &Done) -> Result<(), Failure> {
        let folder = self.folder(experience);
        let created = std::fs::create_dir_all(&folder);
        created.map_err(|error| Failure::file(&folder, "cannot be written", error))?;
        let last = state.experiences().last();
        let mut last = last.expect("an experience has come").clone();
        let record = StrategyRecord {
            risks: std::mem::take(&mut last.risks),
            experience: last,
            accuracies: accuracies.clone(),
        };
        write_json(&folder.join(STRATEGY), &record)?;
        write_json(&folder.join(MEMORY), state.memory())
    }

    /// Continues from what it has written in the folders of all experiences so far.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn read(&mut self, experiences: &[PathBuf]) -> Result<(), Failure> {
        let Some(last) = experiences.last() else {
            return Ok(());
        };
        let mut done = Vec::with_capacity(experiences.len());
        for path in experiences {
            let record: StrategyRecord = read_json(&self.folder(path).join(STRATEGY))?;
            done.push(Experience {
                risks: record.risks,
                ..record.experience
            });
            self.accuracies.push(record.accuracies);
            self.find_encoder(path);
        }
        let memory = read_json(&self.folder(last).join(MEMORY))?;
        self.state = StreamState::from_parts(done, memory);
        self.state.forget_held_out();
        // A kill may have left them.
        let n_old = experiences.len().saturating_sub(N_MEMORIES);
        experiences[..n_old]
            .iter()
            .for_each(|path| self.forget(path));
        Ok(())
    }

    /// Continues from an experience that is complete, in its folder.
    pub fn publish(&mut self, experience: &Path, (mut state, accuracies): Done) {
        state.forget_held_out();
        self.state = state;
        self.accuracies.push(accuracies);
        self.find_encoder(experience);
    }

    /// Finds the encoder in the folder of an experience that is complete: without an update there is none, and
    /// controls begin with that of the method.
    fn find_encoder(&mut self, experience: &Path) {
        let own = self.folder(experience).join(ENCODER);
        let of_method = experience.join(ENCODER);
        if own.exists() {
            self.encoder = own;
        } else if self.encoder.as_os_str().is_empty() && of_method.exists() {
            self.encoder = of_method;
        }
    }

    /// Removes the memory of an experience that is too old for a rollback.
    pub fn forget(&self, experience: &Path) {
        // A file that could not be removed is never read again.
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
