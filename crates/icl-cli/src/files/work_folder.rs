//! The folder that a long command writes: its results appear when they are complete, and its states lie in
//! the folder until then.
//!
//! ```text
//! DIR/                  the complete results, and the list of their names
//! DIR/.checkpoint/      while the command is at work
//!     config.toml       the options; without it nothing has begun
//!     lock              held by the process at work
//!     moving            the names of the results that are being moved to DIR
//!     results/          the results so far
//!     *.input           facts about the input, checked when the work continues
//!     *.checkpoint      states from which the work continues
//! ```

use std::collections::BTreeSet;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use icl_core::{AtomicFile, InputFile, file_system, write_atomically};

use crate::files::destination::{
    CONFIG, Destination, WORK, is_taken, lock, remove_created, remove_work, unusable,
};
use crate::files::manifest::{Manifest, remove_unfinished};
use crate::process::failure::Failure;

const MOVING: &str = "moving";
const RESULTS: &str = "results";
/// Extension of states.
const STATE: &str = "checkpoint";
/// Extension of facts about the input, which are no states.
pub const INPUT: &str = "input";

/// Size of the largest file of options that is read, in bytes: 1 MiB.
pub const MAX_OPTIONS_BYTES: u64 = 1 << 20;

/// State of the work in a folder.
pub enum Begun {
    /// Interrupted work: the path of the file of its options, and their text.
    Interrupted(PathBuf, String),
    /// Complete results.
    Complete,
}

/// Finds the state of the work that was begun in a folder. Where it is complete, removes what a kill has left of it.
///
/// # Errors
/// If there is no such work.
pub fn begun(folder: &Path) -> Result<Begun, Failure> {
    let work = folder.join(WORK);
    let config = work.join(CONFIG);
    let read = InputFile::open(&config, MAX_OPTIONS_BYTES).and_then(InputFile::text);
    match read.map_err(std::io::Error::from) {
        Ok(options) => Ok(Begun::Interrupted(config, options)),
        Err(error)
            if error.kind() == ErrorKind::NotFound
                && Manifest::read(folder)?.is_complete(folder) =>
        {
            if work.exists() && lock(folder).is_ok() {
                // It does no harm, and the next command that writes here removes it.
                let _ = remove_work(&work);
            }
            Ok(Begun::Complete)
        }
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
        let (target, created) = destination.take(is_result)?;
        let work = target.join(WORK);
        let begun = file_system()
            .create_folders(&work.join(RESULTS))
            .map_err(|error| unusable(&target, &error))
            .and_then(|()| lock(&target));
        let lock = begun.inspect_err(|_| {
            // Only empty folders: another process may have begun here meanwhile.
            remove_created(Some(&work));
            remove_created(created.as_deref());
        })?;
        let folder = Self {
            _lock: lock,
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
    /// If another process is at work there, or the folder holds a file of a result's name that no command wrote, or
    /// cannot be written.
    pub fn resume(target: &Path, is_result: fn(&str) -> bool) -> Result<Self, Failure> {
        let folder = Self {
            _lock: lock(target)?,
            target: target.to_owned(),
            created: None,
            is_result,
            may_share: true,
            is_kept: true,
        };
        remove_unfinished(target, is_result);
        Manifest::read(target)?.check(target, is_result)?;
        let results = folder.results();
        file_system()
            .create_folders(&results)
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
        self.with_hint(failure, command)
    }

    /// Returns a failure with how to continue the work, which is kept.
    fn with_hint(&self, failure: Failure, command: &str) -> Failure {
        let how = format!(
            "`icl {command} --resume {}` continues it",
            self.target.display()
        );
        failure.continued_by(&how)
    }

    /// Moves the results to their folder and ends the work. Earlier results, as the folder's list has them, are
    /// replaced or removed; other files stay. `command` is the one that continues the work, if any does.
    ///
    /// # Errors
    /// If files cannot be moved, or other files were put into the folder since the work began: the
    /// work is kept then.
    pub fn publish(mut self, command: Option<&str>) -> Result<PathBuf, Failure> {
        self.is_kept = true;
        self.move_results().map_err(|failure| match command {
            Some(command) => self.with_hint(failure, command),
            None => failure,
        })?;
        // The results are complete, and the next command here removes the rest.
        let _ = remove_work(&self.target.join(WORK));
        Ok(self.target.clone())
    }

    /// Moves the results to their folder, and removes the options last, without which nothing continues.
    fn move_results(&self) -> Result<(), Failure> {
        let target = &self.target;
        let failure = |error| Failure::file(target, "cannot be written", error);
        if !self.may_share && is_taken(target)? {
            return Err(Failure::Other(anyhow!(
                "{}: found files that were not there when the work began, expected none; the results are kept in {}",
                target.display(),
                self.results().display()
            )));
        }
        let earlier = Manifest::read(target)?;
        earlier.check(target, self.is_result)?;
        let ours = self.names_to_move().map_err(failure)?;
        let either = earlier.files().union(&ours).cloned().collect();
        // After a kill from here on the work continues later, or another command replaces what was moved by then.
        Manifest::new(either).write(target)?;
        for name in self.names_of_results().map_err(failure)? {
            file_system()
                .rename(&self.results().join(&name), &target.join(&name))
                .map_err(failure)?;
        }
        for name in earlier.files().difference(&ours) {
            file_system()
                .remove_if_there(&target.join(name))
                .map_err(failure)?;
        }
        Manifest::new(ours).write(target)?;
        file_system()
            .remove_file(&target.join(WORK).join(CONFIG))
            .map_err(failure)
    }

    /// Returns the names of the results, those that were moved before a kill included, and notes them for the next
    /// time.
    fn names_to_move(&self) -> std::io::Result<BTreeSet<String>> {
        let path = self.target.join(WORK).join(MOVING);
        let mut names = self.names_of_results()?;
        let read = InputFile::open(&path, MAX_OPTIONS_BYTES).and_then(InputFile::text);
        match read.map_err(std::io::Error::from) {
            Ok(noted) => names.extend(noted.lines().map(str::to_owned)),
            Err(error) if error.kind() == ErrorKind::NotFound => (),
            Err(error) => return Err(error),
        }
        let lines: Vec<&str> = names.iter().map(String::as_str).collect();
        write_atomically(&path, lines.join("\n").as_bytes())?;
        Ok(names)
    }

    /// Returns the names of the complete files among the results so far.
    fn names_of_results(&self) -> std::io::Result<BTreeSet<String>> {
        let mut names = BTreeSet::new();
        for entry in self.results().read_dir()? {
            let entry = entry?;
            if !is_unfinished(&entry) {
                names.insert(entry.file_name().to_string_lossy().into_owned());
            }
        }
        Ok(names)
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        if !self.is_kept {
            // An error here has no reader.
            let _ = remove_work(&self.target.join(WORK));
            remove_created(self.created.as_deref());
        }
    }
}

/// Whether an entry is a file that was being written when its process was killed.
fn is_unfinished(entry: &std::fs::DirEntry) -> bool {
    AtomicFile::is_unfinished(&entry.file_name().to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    use tempfile::tempdir;

    use crate::files::manifest::MANIFEST;

    fn is_result(name: &str) -> bool {
        name == CONFIG || name.starts_with("encoder-")
    }

    fn try_begin(target: &Path, force: bool) -> Result<WorkFolder, Failure> {
        let destination = Destination::new(Some(target.to_owned()), "", force);
        WorkFolder::begin(destination, "options", is_result)
    }

    /// Work with these results, and a state.
    fn worked(target: &Path, results: &[&str]) -> WorkFolder {
        let work = try_begin(target, true).unwrap();
        for name in results {
            std::fs::write(work.results().join(name), "new").unwrap();
        }
        std::fs::write(work.state("s"), "").unwrap();
        work
    }

    /// The same after a kill.
    fn killed(target: &Path, results: &[&str]) {
        let mut work = worked(target, results);
        work.names_to_move().unwrap();
        work.is_kept = true;
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = folder.read_dir().unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Continues the work in a folder, if it is not complete.
    fn resume(target: &Path) {
        match begun(target).unwrap() {
            Begun::Complete => (),
            Begun::Interrupted(..) => {
                let work = WorkFolder::resume(target, is_result).unwrap();
                work.publish(None).unwrap();
            }
        }
    }

    #[test]
    fn only_files_of_the_list_are_replaced_or_removed() {
        let at = tempdir().unwrap();
        let out = at.path().join("out");
        worked(&out, &[CONFIG, "encoder-a", "encoder-b"])
            .publish(None)
            .unwrap();
        assert_eq!(names(&out), [MANIFEST, CONFIG, "encoder-a", "encoder-b"]);
        std::fs::write(out.join("notes.txt"), "theirs").unwrap();
        worked(&out, &[CONFIG, "encoder-b", "encoder-c"])
            .publish(None)
            .unwrap();
        assert_eq!(
            names(&out),
            [MANIFEST, CONFIG, "encoder-b", "encoder-c", "notes.txt"]
        );

        std::fs::write(out.join("encoder-mine"), "theirs").unwrap();
        let before = names(&out);
        let refused = |result: Result<_, Failure>| {
            let error = result.map(|_: WorkFolder| ()).unwrap_err();
            assert!(matches!(error, Failure::Input(_)));
            assert!(
                error.to_string().starts_with("out: found encoder-mine in "),
                "{error}"
            );
            assert_eq!(names(&out), before);
        };
        refused(try_begin(&out, true));
        // A folder of a result's name, too, is found before anything has begun.
        std::fs::remove_file(out.join("encoder-mine")).unwrap();
        std::fs::create_dir(out.join("encoder-mine")).unwrap();
        refused(try_begin(&out, true));
    }

    #[test]
    fn files_that_come_while_the_work_goes_on_are_not_replaced() {
        let at = tempdir().unwrap();
        let out = at.path().join("out");
        let work = worked(&out, &[CONFIG, "encoder-a"]);
        std::fs::write(out.join("encoder-a"), "theirs").unwrap();
        let error = work.publish(None).unwrap_err().to_string();
        assert!(error.starts_with("out: found encoder-a in "), "{error}");
        assert!(WorkFolder::resume(&out, is_result).is_err());
        assert_eq!(std::fs::read(out.join("encoder-a")).unwrap(), b"theirs");
        // Without it the work continues.
        std::fs::remove_file(out.join("encoder-a")).unwrap();
        resume(&out);
        assert_eq!(names(&out), [MANIFEST, CONFIG, "encoder-a"]);
    }

    /// A kill after each part of the publication, in its order.
    #[test]
    fn a_kill_in_the_publication_is_made_good() {
        let results = [CONFIG, "encoder-b"];
        let list = |names: &[&str]| Manifest::new(names.iter().map(|&it| it.to_owned()).collect());
        for n_parts in 0..=6 {
            let at = tempdir().unwrap();
            for force in [false, true] {
                let out = at.path().join(format!("out{force}"));
                worked(&out, &[CONFIG, "encoder-a"]).publish(None).unwrap();
                killed(&out, &results);
                let work = out.join(WORK);
                let parts: [&dyn Fn(); 6] = [
                    &|| {
                        list(&[CONFIG, "encoder-a", "encoder-b"])
                            .write(&out)
                            .unwrap()
                    },
                    &|| std::fs::rename(work.join(RESULTS).join(CONFIG), out.join(CONFIG)).unwrap(),
                    &|| {
                        std::fs::rename(
                            work.join(RESULTS).join("encoder-b"),
                            out.join("encoder-b"),
                        )
                        .unwrap();
                        std::fs::remove_file(out.join("encoder-a")).unwrap();
                    },
                    &|| list(&results).write(&out).unwrap(),
                    &|| std::fs::remove_file(work.join(CONFIG)).unwrap(),
                    &|| std::fs::remove_dir(work.join(RESULTS)).unwrap(),
                ];
                parts[..n_parts].iter().for_each(|part| part());
                match force {
                    false => resume(&out),
                    true => drop(worked(&out, &results).publish(None).unwrap()),
                }
                assert_eq!(
                    names(&out),
                    [MANIFEST, CONFIG, "encoder-b"],
                    "{n_parts} parts"
                );
                assert_eq!(std::fs::read(out.join("encoder-b")).unwrap(), b"new");
                assert!(matches!(begun(&out), Ok(Begun::Complete)));
            }
        }
    }

    #[test]
    fn unfinished_files_of_a_kill_are_removed_by_the_next_command() {
        let at = tempdir().unwrap();
        let out = at.path().join("out");
        worked(&out, &[CONFIG]).publish(None).unwrap();
        let left = [
            ".unfinished-1-0-config.toml",
            ".unfinished-1-1-.icl-manifest.json",
        ];
        for name in left.iter().chain(&[".unfinished-1-0-notes.txt"]) {
            std::fs::write(out.join(name), "").unwrap();
        }
        drop(try_begin(&out, true).unwrap());
        assert_eq!(names(&out), [MANIFEST, ".unfinished-1-0-notes.txt", CONFIG]);
        assert!(matches!(begun(&out), Ok(Begun::Complete)));
    }

    #[test]
    fn a_folder_without_work_has_nothing_to_continue() {
        let at = tempdir().unwrap();
        for folder in [at.path(), &at.path().join("none")] {
            assert!(matches!(begun(folder), Err(Failure::Input(_))));
        }
        killed(at.path(), &[CONFIG]);
        assert!(matches!(begun(at.path()), Ok(Begun::Interrupted(..))));
    }
}
