//! The folder that a long command writes: its results appear whole or not at all, and what it needs
//! to go on after an interruption lies beside them.
//!
//! ```text
//! DIR/                  the results, once they are complete
//! DIR/.checkpoint/      while the command is at work
//!     config.toml       the options; without it nothing has begun
//!     lock              held by the process at work
//!     moving            results are being put where they belong
//!     results/          results in the making
//!     *.input           by which the input is known again
//!     *.checkpoint      states to go on from
//! ```

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use icl_core::write_atomically;

use crate::process::failure::Failure;

/// Where commands write whose folder was not named.
const RUNS: &str = "icl-runs";
/// The folder of work in progress.
pub const WORK: &str = ".checkpoint";
const LOCK: &str = "lock";
const MOVING: &str = "moving";
const RESULTS: &str = "results";
/// The options of the command.
pub const CONFIG: &str = "config.toml";
/// The ending of states.
const STATE: &str = "checkpoint";
/// The ending of files that know the input again. They are no states to go on from.
pub const INPUT: &str = "input";

/// The folder to write.
pub enum Target {
    /// The one that was asked for.
    Named(PathBuf),
    /// The first free one after this name.
    Numbered(String),
}

/// A folder with work in progress. Dropped before it is published it is as it was before, unless it
/// is to be kept.
pub struct WorkFolder {
    target: PathBuf,
    /// The uppermost folder that was made for it.
    made: Option<PathBuf>,
    /// Whether a file of this name is one that the command writes, and may replace.
    is_ours: fn(&str) -> bool,
    /// Whether somebody else's files may lie beside the results.
    may_share: bool,
    is_kept: bool,
    /// Held as long as the process works here.
    _lock: File,
}

impl WorkFolder {
    /// Begins to work in the target.
    ///
    /// # Errors
    /// If it holds anything and may not be replaced, or cannot be written.
    pub fn begin(
        target: Target,
        force: bool,
        config: &str,
        is_ours: fn(&str) -> bool,
    ) -> Result<Self, Failure> {
        let (target, made) = match target {
            Target::Named(path) => claim(path, force)?,
            Target::Numbered(name) => create_first_free(&name)?,
        };
        let work = target.join(WORK);
        let failure = |error| {
            remove_made(made.as_deref());
            unusable(&target, &error)
        };
        std::fs::create_dir_all(work.join(RESULTS)).map_err(failure)?;
        let folder = Self {
            _lock: lock(&target)?,
            target,
            made,
            is_ours,
            may_share: force,
            is_kept: false,
        };
        write_atomically(&work.join(CONFIG), config.as_bytes())
            .map_err(|error| unusable(&folder.target, &error))?;
        Ok(folder)
    }

    /// Goes on with work that was interrupted; also the options that it was begun with.
    ///
    /// # Errors
    /// If there is none, or another process is at work.
    pub fn resume(target: &Path, is_ours: fn(&str) -> bool) -> Result<(Self, String), Failure> {
        let config = target.join(WORK).join(CONFIG);
        let options = std::fs::read_to_string(&config).map_err(|error| {
            Failure::input(anyhow!(
                "resume: found no interrupted work in {} ({}: {error}), expected the folder of a \
                 command that was stopped",
                target.display(),
                config.display()
            ))
        })?;
        let folder = Self {
            _lock: lock(target)?,
            target: target.to_owned(),
            made: None,
            is_ours,
            may_share: true,
            is_kept: true,
        };
        let results = folder.results();
        std::fs::create_dir_all(&results)
            .map_err(|error| Failure::file(&results, "cannot be written", error))?;
        Ok((folder, options))
    }

    /// Where results go until they are complete.
    pub fn results(&self) -> PathBuf {
        self.target.join(WORK).join(RESULTS)
    }

    /// The file of a state.
    pub fn state(&self, name: &str) -> PathBuf {
        self.target.join(WORK).join(format!("{name}.{STATE}"))
    }

    /// The failure of the work, with what it means for the folder: states that were saved are kept
    /// unless the input was at fault.
    pub fn fail(mut self, failure: Failure, command: &str) -> Failure {
        let has_states = self.target.join(WORK).read_dir().is_ok_and(|mut entries| {
            let is_state = |entry: std::fs::DirEntry| {
                entry
                    .path()
                    .extension()
                    .is_some_and(|ending| ending == STATE)
            };
            entries.any(|entry| entry.is_ok_and(is_state))
        });
        self.is_kept |= has_states && !matches!(failure, Failure::Input(_));
        if !self.is_kept {
            return failure;
        }
        let how = format!("`icl {command} --resume {}` goes on", self.target.display());
        match failure {
            Failure::Input(error) => Failure::Input(error),
            Failure::Other(error) => Failure::Other(anyhow!("{}; {how}", Failure::Other(error))),
            Failure::Interrupted(error) => Failure::Interrupted(anyhow!("{error}; {how}")),
        }
    }

    /// Puts the results where they belong and ends the work; what the command left there earlier
    /// goes, what others left stays.
    ///
    /// # Errors
    /// If files cannot be moved, or if somebody else has filled the folder since the work began: it
    /// is kept then.
    pub fn publish(mut self) -> Result<PathBuf, Failure> {
        self.is_kept = true;
        let target = self.target.clone();
        let failure = |error| Failure::file(&target, "cannot be written", error);
        if !self.may_share && is_taken(&target)? {
            return Err(Failure::Other(anyhow!(
                "{}: found files that were not there when the work began; the results are kept in {}",
                target.display(),
                self.results().display()
            )));
        }
        // Somebody may kill us here and go on later: what has been moved by then is ours of today.
        let is_moving = target.join(WORK).join(MOVING);
        if !is_moving.exists() {
            for entry in target.read_dir().map_err(failure)? {
                let entry = entry.map_err(failure)?;
                if (self.is_ours)(&entry.file_name().to_string_lossy()) {
                    std::fs::remove_file(entry.path()).map_err(failure)?;
                }
            }
            write_atomically(&is_moving, b"").map_err(failure)?;
        }
        for entry in self.results().read_dir().map_err(failure)? {
            let entry = entry.map_err(failure)?;
            std::fs::rename(entry.path(), target.join(entry.file_name())).map_err(failure)?;
        }
        std::fs::remove_dir_all(target.join(WORK)).map_err(failure)?;
        Ok(target)
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        if !self.is_kept {
            // There is nobody left to tell that this, too, has failed.
            let _ = std::fs::remove_dir_all(self.target.join(WORK));
            remove_made(self.made.as_deref());
        }
    }
}

/// Takes a named folder, made if need be; also the uppermost one that was made.
fn claim(path: PathBuf, force: bool) -> Result<(PathBuf, Option<PathBuf>), Failure> {
    if !is_folder(&path)? {
        // The last ancestor of a relative path is the empty one, which is where the program is.
        let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let made = path.ancestors().take_while(is_missing).last();
        let made = made.map(ToOwned::to_owned);
        std::fs::create_dir_all(&path).map_err(|error| {
            remove_made(made.as_deref());
            unusable(&path, &error)
        })?;
        return Ok((path, made));
    }
    let work = path.join(WORK);
    if work.join(CONFIG).exists() && !force {
        return Err(Failure::input(anyhow!(
            "out: found interrupted work in {}, expected a new folder (--resume goes on with it, \
             --force replaces it)",
            path.display()
        )));
    }
    if !force && is_taken(&path)? {
        return Err(Failure::input(anyhow!(
            "out: found {} already there, expected a new folder (--force replaces an earlier run)",
            path.display()
        )));
    }
    if work.exists() {
        // Not what another process is at work with.
        drop(lock(&path)?);
        std::fs::remove_dir_all(&work).map_err(|error| unusable(&path, &error))?;
    }
    Ok((path, None))
}

/// Makes sure that this process is the only one at work in a folder.
fn lock(target: &Path) -> Result<File, Failure> {
    let path = target.join(WORK).join(LOCK);
    let failure = |error| Failure::file(&path, "cannot be written", error);
    let file = File::create(&path).map_err(failure)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Failure::input(anyhow!(
            "out: found another process at work in {}, expected none",
            target.display()
        ))),
        Err(TryLockError::Error(error)) => Err(failure(error)),
    }
}

/// Whether a folder is there; anything else that is there, or that keeps a folder from being
/// there, is an error.
fn is_folder(path: &Path) -> Result<bool, Failure> {
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(true),
        Ok(_) => Err(Failure::input(anyhow!(
            "out: found a file at {}, expected a folder or nothing",
            path.display()
        ))),
        Err(error) if error.kind() == ErrorKind::NotFound && !path.is_symlink() => Ok(false),
        Err(error) => Err(unusable(path, &error)),
    }
}

/// Whether a folder holds anything but work in progress.
fn is_taken(path: &Path) -> Result<bool, Failure> {
    let mut entries = path.read_dir().map_err(|error| unusable(path, &error))?;
    Ok(entries.any(|entry| entry.is_ok_and(|entry| entry.file_name() != WORK)))
}

fn unusable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::input(anyhow!("out: cannot write {}: {error}", path.display()))
}

/// Removes a folder that was made and all below it, as far as they are empty.
fn remove_made(made: Option<&Path>) {
    let Some(made) = made else { return };
    if let Ok(entries) = made.read_dir() {
        for entry in entries.flatten() {
            remove_made(Some(&entry.path()));
        }
    }
    // What is not empty is somebody else's, and stays.
    let _ = std::fs::remove_dir(made);
}

/// The first folder after `name` that was not there; also the uppermost one that was made.
fn create_first_free(name: &str) -> Result<(PathBuf, Option<PathBuf>), Failure> {
    let runs = Path::new(RUNS);
    let is_there = runs.exists();
    let failure = |error| Failure::file(runs, "cannot be written", error);
    std::fs::create_dir_all(runs).map_err(failure)?;
    let mut number = 1_u64;
    loop {
        let folder = runs.join(format!("{name}-{number}"));
        match std::fs::create_dir(&folder) {
            Ok(()) if is_there => return Ok((folder.clone(), Some(folder))),
            Ok(()) => return Ok((folder, Some(runs.to_owned()))),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(failure(error)),
        }
    }
}
