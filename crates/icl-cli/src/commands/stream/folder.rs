//! The folder of a stream: an experience is in it or not.
//!
//! ```text
//! DIR/000-NAME/         an experience: it appears by one rename
//! DIR/current.json      the encoder to serve; DIR/current is a link to its folder
//! DIR/undone/1/         experiences that a rollback has taken back
//! DIR/matrix.json …     what follows from the experiences, replaced one by one after each
//! DIR/.icl-work/
//!     icl-lock          held by the process at work
//!     config.toml       the options, with which the stream continues
//!     results/          files of the experience at work
//!     summary/          what follows from the experiences, until it is moved up
//!     at-work.json      files of the experience at work, of a folder that is watched
//!     AT-STRATEGY.checkpoint  state of a training of the experience at work
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use icl_core::{InputFile, PartialFolder, write_atomically};
use serde::{Deserialize, Serialize};

use crate::commands::stream::provenance::Provenance;
use crate::files::destination::{Destination, unusable};
use crate::files::encoder_work::REPORT;
use crate::files::manifest::foreign;
use crate::files::new_folders::NewFolders;
use crate::files::whole::remove_if_there;
use crate::files::work_folder::{MAX_OPTIONS_BYTES, WorkFolder, list, move_into};
use crate::files::work_place::CONFIG;
use crate::process::failure::Failure;

/// Matrix, as JSON: the whole record.
pub const MATRIX: &str = "matrix.json";
/// Experiences, a line of JSON each.
pub const EXPERIENCES: &str = "stream.jsonl";
/// Decisions, a line of JSON each.
pub const DECISIONS: &str = "decisions.jsonl";
/// Cost by strategy, experience and purpose, a line of JSON each.
pub const LEDGER: &str = "ledger.jsonl";
/// Data of a folder that is watched which cannot be used, a line of JSON each.
pub const REJECTED: &str = "rejected.jsonl";
/// File of the facts about an experience, in its folder.
pub const RECORD: &str = "record.json";
/// Endings of files of data, which are no part of the name of an experience's folder.
const ENDINGS: [&str; 9] = [
    "csv",
    "tsv",
    "txt",
    "gz",
    "parquet",
    "zip",
    "inter",
    "npy",
    "safetensors",
];
/// Folder of what follows from the experiences, until it is moved up.
const SUMMARY: &str = "summary";

/// Files of a folder that is watched, in the folder of the work.
const AT_WORK: &str = "at-work.json";

/// Files that are the experience at work. A stream that continues takes them again, whatever has come since.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtWork {
    /// Place of the experience.
    pub at: usize,
    /// The files and the checksum of their data.
    #[serde(flatten)]
    pub provenance: Provenance,
}

/// Folder of a stream, locked by this process.
pub struct StreamFolder {
    work: WorkFolder,
    /// Folders that were created, dropped after the work in them.
    _created: NewFolders,
}

impl StreamFolder {
    /// Begins a stream in a new folder.
    ///
    /// # Errors
    /// If the folder is not empty, or cannot be written.
    pub fn begin(out: &Path, config: &str) -> Result<Self, Failure> {
        // Experiences come one by one, and so the folder is there from the beginning, with the work in it.
        let created = NewFolders::create(out).map_err(|error| unusable(out, &error))?;
        let destination = Destination::new(Some(out.to_owned()), "stream", false);
        Ok(Self {
            work: WorkFolder::begin(destination, is_result)?.with_options(config)?,
            _created: created,
        })
    }

    /// Continues the stream in a folder, without states of an experience that is complete.
    ///
    /// # Errors
    /// If another process is at work there, or the folder holds a file of a result's name that no command wrote, or cannot be
    /// written.
    pub fn resume(target: &Path) -> Result<Self, Failure> {
        let folder = Self {
            work: WorkFolder::resume(target, is_result)?,
            _created: NewFolders::default(),
        };
        let at = folder.names()?.len();
        folder.remove_states(|of| of != Some(at))?;
        Ok(folder)
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        self.work.target()
    }

    /// Returns the names of the experiences that the folder holds, in their order.
    ///
    /// # Errors
    /// If it cannot be read, or an experience is missing.
    pub fn names(&self) -> Result<Vec<String>, Failure> {
        let unreadable = |error| Failure::file(self.path(), "cannot be read", error);
        let mut found: Vec<(usize, String)> = Vec::new();
        for entry in self.path().read_dir().map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            // A link is no folder of ours: files of an experience are removed later.
            let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
            if !is_folder || !entry.path().join(RECORD).exists() {
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
                    self.path().display(),
                    folder_name(*at, name)
                )));
            }
        }
        Ok(found.into_iter().map(|(_, name)| name).collect())
    }

    /// Returns the folder of an experience that is complete.
    pub fn experience(&self, at: usize, name: &str) -> PathBuf {
        let plain = self.path().join(format!("{at:03}-{name}"));
        // Earlier versions kept the endings of names of files.
        match plain.is_dir() {
            true => plain,
            false => self.path().join(folder_name(at, name)),
        }
    }

    /// Returns the files of the experience that was at work; `None` if none are known.
    pub fn at_work(&self) -> Option<AtWork> {
        let file = InputFile::open(&self.at_work_path(), MAX_OPTIONS_BYTES).ok()?;
        serde_json::from_slice(&file.bytes().ok()?).ok()
    }

    /// Notes the files of the experience at work. States of other ones are removed.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn note_at_work(&self, files: &AtWork) -> Result<(), Failure> {
        if self.at_work().as_ref() == Some(files) {
            return Ok(());
        }
        self.remove_states(|_| true)?;
        let path = self.at_work_path();
        let bytes = serde_json::to_vec(files).map_err(|error| Failure::Other(error.into()))?;
        write_atomically(&path, &bytes)
            .map_err(|error| Failure::file(&path, "cannot be written", error))
    }

    /// Forgets the experience at work, with the states of its trainings.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub fn forget_work(&self) -> Result<(), Failure> {
        let path = self.at_work_path();
        let removed = remove_if_there(&path);
        removed.map_err(|error| Failure::file(&path, "cannot be removed", error))?;
        self.remove_states(|_| true)
    }

    fn at_work_path(&self) -> PathBuf {
        self.work.results().with_file_name(AT_WORK)
    }

    /// Returns a new folder for the files of the experience at work.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin_experience(&self) -> Result<PathBuf, Failure> {
        self.new_folder(PartialFolder::RESULTS)
    }

    /// Publishes the experience at work by one rename.
    ///
    /// # Errors
    /// If something has the name of its folder, or the folder cannot be written.
    pub fn publish(&mut self, at: usize, name: &str) -> Result<(), Failure> {
        let path = self.experience(at, name);
        if path.symlink_metadata().is_ok() {
            return Err(foreign(self.path(), &folder_name(at, name)));
        }
        let partial = self.work.partial();
        let published = partial.publish(&path);
        published.map_err(|error| Failure::file(&path, "cannot be written", error))?;
        partial.keep(true);
        self.remove_states(|_| true)
    }

    /// Returns a new folder for the files that follow from the experiences.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin_summary(&self) -> Result<PathBuf, Failure> {
        self.new_folder(SUMMARY)
    }

    /// Replaces the files that follow from the experiences by those in the folder for them.
    ///
    /// # Errors
    /// If a file of such a name is there that no command wrote, or one cannot be written.
    pub fn publish_summary(&self, made: &Path) -> Result<(), Failure> {
        list(made)?;
        move_into(made, self.path())
    }

    /// Returns the path of the state of a training of the experience at work.
    pub fn state(&self, at: usize, strategy: &str) -> PathBuf {
        self.work.state(&format!("{at}-{strategy}"))
    }

    /// Returns a failure with how to continue, if there is something to continue; else the folder is removed with it.
    pub fn fail(self, failure: Failure) -> Failure {
        self.work.fail(failure, "stream")
    }

    fn new_folder(&self, name: &str) -> Result<PathBuf, Failure> {
        let path = self.work.results().with_file_name(name);
        let create = || {
            if path.symlink_metadata().is_ok() {
                fs::remove_dir_all(&path)?;
            }
            fs::create_dir(&path)
        };
        create().map_err(|error| Failure::file(&path, "cannot be written", error))?;
        Ok(path)
    }

    fn remove_states(&self, is_old: impl Fn(Option<usize>) -> bool) -> Result<(), Failure> {
        for path in self.work.states()? {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if is_old(name.split('-').next().and_then(|at| at.parse().ok())) {
                remove_if_there(&path)
                    .map_err(|error| Failure::file(&path, "cannot be removed", error))?;
            }
        }
        Ok(())
    }
}

/// Whether a stream writes a file of this name next to the folders of its experiences.
fn is_result(name: &str) -> bool {
    [
        MATRIX,
        EXPERIENCES,
        DECISIONS,
        LEDGER,
        REJECTED,
        REPORT,
        CONFIG,
    ]
    .contains(&name)
}

/// Returns the name of the folder of an experience: its number and its name, without the endings of files of data.
fn folder_name(at: usize, name: &str) -> String {
    let mut stem = name;
    while let Some((rest, ending)) = stem.rsplit_once('.')
        && !rest.is_empty()
        && ENDINGS.iter().any(|it| it.eq_ignore_ascii_case(ending))
    {
        stem = rest;
    }
    format!("{at:03}-{stem}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_no_ending_of_a_file() {
        for (name, expected) in [
            ("2026-11-27", "003-2026-11-27"),
            ("2026-11-27.csv", "003-2026-11-27"),
            ("day.v2.TSV.gz", "003-day.v2"),
            ("2026.11", "003-2026.11"),
            (".csv", "003-.csv"),
        ] {
            assert_eq!(folder_name(3, name), expected);
        }
    }
}
