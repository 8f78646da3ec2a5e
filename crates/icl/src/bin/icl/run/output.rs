//! The folder that a run writes: whole, or not there.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use tempfile::TempDir;

use super::{CONFIG, ENCODER, MAP, RECORD, REPORT};
use crate::failure::Failure;

/// A folder in the making, beside the one that it becomes.
pub struct Output {
    staging: TempDir,
    target: PathBuf,
}

impl Output {
    /// Prepares to write `out`, or the first free folder named after the data.
    ///
    /// # Errors
    /// If `out` is there already and may not be replaced, or nothing can be written beside it.
    pub fn prepare(out: Option<&Path>, name: &str, force: bool) -> Result<Self, Failure> {
        let target = match out {
            Some(out) => out.to_owned(),
            None => first_free(name),
        };
        if target.exists() && !target.is_dir() {
            return Err(Failure::input(anyhow!(
                "--out: found a file at {}, expected a folder or nothing",
                target.display()
            )));
        }
        let is_taken = target
            .read_dir()
            .is_ok_and(|mut entries| entries.next().is_some());
        if is_taken && !force {
            return Err(Failure::input(anyhow!(
                "--out: found {} already there, expected a new folder (--force replaces an \
                 earlier run)",
                target.display()
            )));
        }
        let parent = match target.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let staging = std::fs::create_dir_all(parent)
            .and_then(|()| {
                tempfile::Builder::new()
                    .prefix(".icl-run-")
                    .tempdir_in(parent)
            })
            .map_err(|error| {
                Failure::input(anyhow!(
                    "--out: cannot write in {}: {error}",
                    parent.display()
                ))
            })?;
        Ok(Self { staging, target })
    }

    /// Where to write until the run is complete.
    pub fn folder(&self) -> &Path {
        self.staging.path()
    }

    /// Puts the complete run where it belongs; what an earlier run left there goes, what others
    /// left stays.
    ///
    /// # Errors
    /// If files cannot be moved.
    pub fn publish(self) -> Result<PathBuf, Failure> {
        let target = self.target;
        let failure = |error| Failure::file(&target, "cannot be written", error);
        std::fs::create_dir_all(&target).map_err(failure)?;
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

fn is_ours(name: &str) -> bool {
    [CONFIG, RECORD, REPORT, MAP].contains(&name)
        || name.starts_with(ENCODER) && name.ends_with(".safetensors")
}

fn first_free(name: &str) -> PathBuf {
    let folder = |number: usize| Path::new("icl-runs").join(format!("{name}-{number}"));
    let number = (1..).find(|&number| !folder(number).exists());
    folder(number.unwrap_or(1))
}
