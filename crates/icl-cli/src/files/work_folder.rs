//! The folder that a long command writes: its results appear when they are complete, and its states lie in
//! the folder until then.
//!
//! ```text
//! DIR/                  the complete results
//! DIR/.checkpoint/      while the command is at work
//!     config.toml       the options; without it nothing has begun
//!     lock              held by the process at work
//!     moving            the results are being moved to DIR
//!     results/          the results so far
//!     *.input           facts about the input, checked when the work continues
//!     *.checkpoint      states from which the work continues
//! ```

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use icl_core::{AtomicFile, InputFile, write_atomically};

use crate::files::destination::{
    CONFIG, Destination, WORK, is_taken, lock, remove_created, unusable,
};
use crate::process::failure::Failure;

const MOVING: &str = "moving";
const RESULTS: &str = "results";
/// Extension of states.
const STATE: &str = "checkpoint";
/// Extension of facts about the input, which are no states.
pub const INPUT: &str = "input";

/// Size of the largest file of options that is read, in bytes: 1 MiB.
pub const MAX_OPTIONS_BYTES: u64 = 1 << 20;

/// Reads the options of the work that was interrupted in a folder; the path of their file, and its text.
///
/// # Errors
/// If there is no such work.
pub fn interrupted_options(folder: &Path) -> Result<(PathBuf, String), Failure> {
    let config = folder.join(WORK).join(CONFIG);
    let read = InputFile::open(&config, MAX_OPTIONS_BYTES).and_then(InputFile::text);
    match read {
        Ok(options) => Ok((config, options)),
        Err(error) => Err(Failure::input(anyhow!(
            "resume: found no interrupted work in {} ({}: {error}), expected the folder of a command that \
             was interrupted",
            folder.display(),
            config.display()
        ))),
    }
}

/// A folder with work in progress.
///
/// Dropped before it is published, it becomes what it was before, unless it is kept.
pub struct WorkFolder {
    target: PathBuf,
    /// The uppermost folder that was created for it.
    created: Option<PathBuf>,
    /// Whether the command writes a file of this name, and may replace it.
    is_result: fn(&str) -> bool,
    /// Whether other files may lie beside the results.
    may_share: bool,
    is_kept: bool,
    /// Held as long as the process works here.
    _lock: File,
}

impl WorkFolder {
    /// Begins to work in a folder.
    ///
    /// # Errors
    /// If the folder is not empty and may not be replaced, or cannot be written.
    pub fn begin(
        destination: Destination,
        config: &str,
        is_result: fn(&str) -> bool,
    ) -> Result<Self, Failure> {
        let may_share = destination.may_replace();
        let (target, created) = destination.take()?;
        let work = target.join(WORK);
        let failure = |error| {
            remove_created(created.as_deref());
            unusable(&target, &error)
        };
        std::fs::create_dir_all(work.join(RESULTS)).map_err(failure)?;
        let folder = Self {
            _lock: lock(&target)?,
            target,
            created,
            is_result,
            may_share,
            is_kept: false,
        };
        write_atomically(&work.join(CONFIG), config.as_bytes())
            .map_err(|error| unusable(&folder.target, &error))?;
        Ok(folder)
    }

    /// Continues the work that was interrupted in a folder.
    ///
    /// # Errors
    /// If another process is at work there, or the folder cannot be written.
    pub fn resume(target: &Path, is_result: fn(&str) -> bool) -> Result<Self, Failure> {
        let folder = Self {
            _lock: lock(target)?,
            target: target.to_owned(),
            created: None,
            is_result,
            may_share: true,
            is_kept: true,
        };
        let results = folder.results();
        std::fs::create_dir_all(&results)
            .map_err(|error| Failure::file(&results, "cannot be written", error))?;
        Ok(folder)
    }

    /// Returns the folder of the results until they are complete.
    pub fn results(&self) -> PathBuf {
        self.target.join(WORK).join(RESULTS)
    }

    /// Returns the path of a state.
    pub fn state(&self, name: &str) -> PathBuf {
        self.target.join(WORK).join(format!("{name}.{STATE}"))
    }

    /// Returns the failure of the work with how to continue it. States that were saved are kept,
    /// unless the failure is one of the input.
    pub fn fail(mut self, failure: Failure, command: &str) -> Failure {
        let has_states = self.target.join(WORK).read_dir().is_ok_and(|mut entries| {
            let is_state = |entry: std::fs::DirEntry| {
                let is_state = entry.path().extension().is_some_and(|it| it == STATE);
                is_state && !is_unfinished(&entry)
            };
            entries.any(|entry| entry.is_ok_and(is_state))
        });
        self.is_kept |= has_states && !matches!(failure, Failure::Input(_));
        if !self.is_kept {
            return failure;
        }
        let how = format!(
            "`icl {command} --resume {}` continues it",
            self.target.display()
        );
        match failure {
            Failure::Input(error) => Failure::Input(error),
            Failure::Other(error) => Failure::Other(anyhow!("{}; {how}", Failure::Other(error))),
            Failure::Interrupted(error) => Failure::Interrupted(anyhow!("{error}; {how}")),
        }
    }

    /// Moves the results to their folder and ends the work. Earlier results are removed, other files stay.
    ///
    /// # Errors
    /// If files cannot be moved, or other files were put into the folder since the work began: the
    /// work is kept then.
    pub fn publish(mut self) -> Result<PathBuf, Failure> {
        self.is_kept = true;
        let target = self.target.clone();
        let failure = |error| Failure::file(&target, "cannot be written", error);
        if !self.may_share && is_taken(&target)? {
            return Err(Failure::Other(anyhow!(
                "{}: found files that were not there when the work began, expected none; the results are kept in {}",
                target.display(),
                self.results().display()
            )));
        }
        // After a kill at this point the work continues later: the results moved by then are new ones.
        let is_moving = target.join(WORK).join(MOVING);
        if !is_moving.exists() {
            for entry in target.read_dir().map_err(failure)? {
                let entry = entry.map_err(failure)?;
                if (self.is_result)(&entry.file_name().to_string_lossy()) {
                    std::fs::remove_file(entry.path()).map_err(failure)?;
                }
            }
            write_atomically(&is_moving, b"").map_err(failure)?;
        }
        for entry in self.results().read_dir().map_err(failure)? {
            let entry = entry.map_err(failure)?;
            if is_unfinished(&entry) {
                continue;
            }
            std::fs::rename(entry.path(), target.join(entry.file_name())).map_err(failure)?;
        }
        std::fs::remove_dir_all(target.join(WORK)).map_err(failure)?;
        Ok(target)
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        if !self.is_kept {
            // An error here has no reader.
            let _ = std::fs::remove_dir_all(self.target.join(WORK));
            remove_created(self.created.as_deref());
        }
    }
}

/// Whether an entry is a file that was being written when its process was killed.
fn is_unfinished(entry: &std::fs::DirEntry) -> bool {
    AtomicFile::is_unfinished(&entry.file_name().to_string_lossy())
}
