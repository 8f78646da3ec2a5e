//! The folder that a run writes: whole, or not there.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use tempfile::TempDir;

use super::{CONFIG, ENCODER, MAP, RECORD, REPORT};
use crate::failure::Failure;

/// Where runs go whose folder was not named.
const RUNS: &str = "icl-runs";

/// The folder that a run becomes.
pub enum Target {
    /// The one that was asked for.
    Named(PathBuf),
    /// The first free one after this name, which is chosen when the run is complete, so that runs
    /// side by side do not meet.
    Numbered(String),
}

/// A folder in the making. It lies in the target or in the nearest folder above that is there, so
/// that a failing run leaves nothing behind and a complete one need not be copied.
pub struct Output {
    staging: TempDir,
    target: Target,
    force: bool,
}

impl Output {
    /// Prepares to write the target.
    ///
    /// # Errors
    /// If it is there already and may not be replaced, or nothing can be written beside it.
    pub fn prepare(target: Target, force: bool) -> Result<Self, Failure> {
        let path = match &target {
            Target::Named(path) => path,
            Target::Numbered(_) => Path::new(RUNS),
        };
        let is_there = is_folder(path)?;
        if is_there && !force && matches!(target, Target::Named(_)) && is_taken(path, None)? {
            return Err(Failure::input(anyhow!(
                "out: found {} already there, expected a new folder (--force replaces an earlier \
                 run)",
                path.display()
            )));
        }
        let above = path.ancestors().find(|path| path.is_dir());
        let above = above.unwrap_or(Path::new("."));
        let staging = tempfile::Builder::new()
            .prefix(".icl-run-")
            .tempdir_in(above)
            .map_err(|error| unusable(above, &error))?;
        Ok(Self {
            staging,
            target,
            force,
        })
    }

    /// Where to write until the run is complete.
    pub fn folder(&self) -> &Path {
        self.staging.path()
    }

    /// Puts the complete run where it belongs; what an earlier run left there goes, what others
    /// left stays.
    ///
    /// # Errors
    /// If files cannot be moved, or if somebody else has filled the folder since the run began: the
    /// run is kept then, under the name that the message says.
    pub fn publish(self) -> Result<PathBuf, Failure> {
        let target = match self.target {
            Target::Named(path) => path,
            Target::Numbered(name) => create_first_free(&name)?,
        };
        let failure = |error| Failure::file(&target, "cannot be written", error);
        std::fs::create_dir_all(&target).map_err(failure)?;
        if !self.force && is_taken(&target, self.staging.path().file_name())? {
            return Err(Failure::Other(anyhow!(
                "{}: found files that were not there when the run began; the run is kept in {}",
                target.display(),
                self.staging.keep().display()
            )));
        }
        for entry in target.read_dir().map_err(failure)? {
            let entry = entry.map_err(failure)?;
            if is_ours(&entry.file_name().to_string_lossy()) {
                std::fs::remove_file(entry.path()).map_err(failure)?;
            }
        }
        for entry in self.staging.path().read_dir().map_err(failure)? {
            let entry = entry.map_err(failure)?;
            std::fs::rename(entry.path(), target.join(entry.file_name())).map_err(failure)?;
        }
        Ok(target)
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

/// Whether a folder holds anything but `staging`.
fn is_taken(path: &Path, staging: Option<&OsStr>) -> Result<bool, Failure> {
    let mut entries = path.read_dir().map_err(|error| unusable(path, &error))?;
    Ok(
        entries
            .any(|entry| entry.is_ok_and(|entry| Some(entry.file_name().as_os_str()) != staging)),
    )
}

fn unusable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::input(anyhow!("out: cannot write {}: {error}", path.display()))
}

fn is_ours(name: &str) -> bool {
    [CONFIG, RECORD, REPORT, MAP].contains(&name)
        || name.starts_with(ENCODER) && name.ends_with(".safetensors")
}

/// The first folder after `name` that was not there.
fn create_first_free(name: &str) -> Result<PathBuf, Failure> {
    let runs = Path::new(RUNS);
    let failure = |error| Failure::file(runs, "cannot be written", error);
    std::fs::create_dir_all(runs).map_err(failure)?;
    let mut number = 1_u64;
    loop {
        let folder = runs.join(format!("{name}-{number}"));
        match std::fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(failure(error)),
        }
    }
}
