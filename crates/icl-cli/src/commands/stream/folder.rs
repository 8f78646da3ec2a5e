//! The folder of a stream: an experience is in it or not.
//!
//! ```text
//! DIR/000-NAME/         an experience: it appears by one rename
//! DIR/matrix.json …     what follows from the experiences, written anew after each
//! DIR/.checkpoint/
//!     config.toml       the options, with which the stream continues
//!     lock              held by the process at work
//!     next/             files of the experience at work
//!     AT-LANE.checkpoint  state of a training of the experience at work
//! ```

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use icl_core::{AtomicFile, file_system, write_atomically};

use crate::files::destination::{
    CONFIG, Destination, WORK, lock, remove_created, remove_work, unusable,
};
use crate::process::failure::Failure;

/// File of the facts about an experience, in its folder.
pub const RECORD: &str = "record.json";
/// Folder of the experience at work.
const NEXT: &str = "next";
/// Extension of states.
const STATE: &str = "checkpoint";

/// Folder of a stream, locked by this process.
pub struct StreamFolder {
    target: PathBuf,
    /// The uppermost folder that was created for it.
    created: Option<PathBuf>,
    /// Whether there is something to continue.
    is_kept: bool,
    _lock: File,
}

impl StreamFolder {
    /// Begins a stream in a new folder.
    ///
    /// # Errors
    /// If the folder is not empty, or cannot be written.
    pub fn begin(out: &Path, config: &str) -> Result<Self, Failure> {
        let destination = Destination::new(Some(out.to_owned()), "stream", false);
        let (target, created) = destination.take(|_| false)?;
        let work = target.join(WORK);
        let begun = file_system()
            .create_folders(&work)
            .map_err(|error| unusable(&target, &error))
            .and_then(|()| lock(&target));
        let lock = begun.inspect_err(|_| {
            remove_created(Some(&work));
            remove_created(created.as_deref());
        })?;
        let folder = Self {
            target,
            created,
            is_kept: false,
            _lock: lock,
        };
        write_atomically(&work.join(CONFIG), config.as_bytes())
            .map_err(|error| unusable(&folder.target, &error))?;
        Ok(folder)
    }

    /// Continues the stream in a folder, without what was left of an experience that is not complete. States of its trainings
    /// stay.
    ///
    /// # Errors
    /// If another process is at work there, or the folder cannot be written.
    pub fn resume(target: &Path) -> Result<Self, Failure> {
        let folder = Self {
            _lock: lock(target)?,
            target: target.to_owned(),
            created: None,
            is_kept: true,
        };
        // They harm nobody.
        let _ = AtomicFile::remove_unfinished(target, |_| true);
        folder.remove_next()?;
        let at = folder.names()?.len();
        folder.remove_states(|of| of != Some(at))?;
        Ok(folder)
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        &self.target
    }

    /// Returns the names of the experiences that the folder holds, in their order.
    ///
    /// # Errors
    /// If it cannot be read, or an experience is missing.
    pub fn names(&self) -> Result<Vec<String>, Failure> {
        let unreadable = |error| Failure::file(&self.target, "cannot be read", error);
        let mut found: Vec<(usize, String)> = Vec::new();
        for entry in self.target.read_dir().map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            if !entry.path().join(RECORD).exists() {
                continue;
            }
            let name = entry.file_name();
            let parts = name.to_str().and_then(|name| name.split_once('-'));
            let numbered = parts.and_then(|(at, name)| Some((at.parse().ok()?, name.to_owned())));
            found.extend(numbered);
        }
        found.sort_unstable();
        for (expected, (at, name)) in found.iter().enumerate() {
            if *at != expected {
                return Err(Failure::input(anyhow!(
                    "{}: found {}, expected experience {expected} before it",
                    self.target.display(),
                    folder_name(*at, name)
                )));
            }
        }
        Ok(found.into_iter().map(|(_, name)| name).collect())
    }

    /// Returns the folder of an experience that is complete.
    pub fn experience(&self, at: usize, name: &str) -> PathBuf {
        self.target.join(folder_name(at, name))
    }

    /// Returns a new folder for the files of the experience at work.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin_experience(&self) -> Result<PathBuf, Failure> {
        self.remove_next()?;
        let next = self.next();
        file_system()
            .create_folders(&next)
            .map_err(|error| Failure::file(&next, "cannot be written", error))?;
        Ok(next)
    }

    /// Publishes the experience at work by one rename.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn publish(&mut self, at: usize, name: &str) -> Result<(), Failure> {
        let path = self.experience(at, name);
        let failure = |error| Failure::file(&path, "cannot be written", error);
        let files = file_system();
        files.sync_folder(&self.next()).map_err(failure)?;
        files.rename(&self.next(), &path).map_err(failure)?;
        files.sync_folder(&self.target).map_err(failure)?;
        self.is_kept = true;
        self.remove_states(|_| true)
    }

    /// Returns the path of the state of a training of the experience at work.
    pub fn state(&self, at: usize, lane: &str) -> PathBuf {
        let name = format!("{at}-{lane}.{STATE}");
        self.target.join(WORK).join(name)
    }

    /// Returns a failure with how to continue, if there is something to continue; else the folder is removed with it.
    pub fn fail(mut self, failure: Failure) -> Failure {
        let has_states = self.states().is_ok_and(|states| !states.is_empty());
        self.is_kept |= has_states && !matches!(failure, Failure::Input(_));
        if !self.is_kept {
            return failure;
        }
        let how = format!(
            "`icl stream --resume {}` continues it",
            self.target.display()
        );
        failure.continued_by(&how)
    }

    fn next(&self) -> PathBuf {
        self.target.join(WORK).join(NEXT)
    }

    fn remove_next(&self) -> Result<(), Failure> {
        let next = self.next();
        if !next.exists() {
            return Ok(());
        }
        let removed = file_system().remove_folders(&next);
        removed.map_err(|error| Failure::file(&next, "cannot be removed", error))
    }

    /// Returns the paths of states, each with the number of its experience.
    fn states(&self) -> std::io::Result<Vec<(PathBuf, Option<usize>)>> {
        let mut states = Vec::new();
        for entry in self.target.join(WORK).read_dir()? {
            let path = entry?.path();
            if path.extension().is_some_and(|it| it == STATE) {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let at = name.split('-').next().and_then(|at| at.parse().ok());
                states.push((path, at));
            }
        }
        Ok(states)
    }

    fn remove_states(&self, is_old: impl Fn(Option<usize>) -> bool) -> Result<(), Failure> {
        let failure = |error| Failure::file(&self.target, "cannot be written", error);
        for (path, at) in self.states().map_err(failure)? {
            if is_old(at) {
                file_system().remove_if_there(&path).map_err(failure)?;
            }
        }
        Ok(())
    }
}

impl Drop for StreamFolder {
    fn drop(&mut self) {
        if !self.is_kept {
            // An error here has no reader.
            let _ = remove_work(&self.target.join(WORK));
            remove_created(self.created.as_deref());
        }
    }
}

fn folder_name(at: usize, name: &str) -> String {
    format!("{at:03}-{name}")
}
