//! The folder of a long command: its results and its states, until the results are complete.
//!
//! ```text
//! .icl-DIR.partial/     next to DIR while there is no DIR; DIR/.icl-work/ if there is one
//!     icl-lock          held by the process at work
//!     config.toml       the options; without it nothing has begun
//!     results/          the results so far; complete with the list of their names
//!     *.input           facts about the input, checked when the work continues
//!     *.checkpoint      states from which the work continues
//! ```
//!
//! Complete results become DIR by one rename. Into a folder that is there already they are moved one by one, so that it keeps
//! its permissions, its mount and the files of others.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use icl_core::{InputFile, PartialFolder, write_atomically};

use crate::files::destination::{Destination, is_taken, unusable};
use crate::files::manifest::{MANIFEST, Manifest};
use crate::files::new_folders::NewFolders;
use crate::files::whole;
use crate::files::whole::remove_if_there;
use crate::files::work_place::{CONFIG, options, place};
use crate::process::failure::Failure;

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

/// Finds the state of the work on an output folder. Results that are complete are published.
///
/// # Errors
/// If there is no such work, or the results cannot be published.
pub fn begun(target: &Path) -> Result<Begun, Failure> {
    let place = place(target);
    if place.join(PartialFolder::RESULTS).join(MANIFEST).exists() {
        publish(&mut take(target)?, target, true)?;
        return Ok(Begun::Complete);
    }
    let config = options(target);
    let read = InputFile::open(&config, MAX_OPTIONS_BYTES).and_then(InputFile::text);
    match read {
        Ok(options) => Ok(Begun::Interrupted(config, options)),
        Err(error)
            if error.kind() == ErrorKind::NotFound
                && Manifest::read(target)?.is_complete(target) =>
        {
            if place.exists() {
                // Removes what a kill has left; unless there is nothing of ours or another process is at work with it.
                let _ = PartialFolder::take(place);
            }
            Ok(Begun::Complete)
        }
        Err(error) => Err(Failure::input(anyhow!(
            "resume: found no interrupted work in {} ({}: {error}), expected the folder of a command that \
             was interrupted",
            target.display(),
            config.display()
        ))),
    }
}

/// Takes the folder of the work on an output folder, with what is in it.
fn take(target: &Path) -> Result<PartialFolder, Failure> {
    PartialFolder::take(place(target)).map_err(|error| unusable(target, &error))
}

/// A folder with work in progress.
///
/// Dropped before it is published, it is removed, unless it is kept.
pub struct WorkFolder {
    target: PathBuf,
    partial: PartialFolder,
    /// Whether other files may lie next to the results.
    may_share: bool,
    /// Folders above it that were created, dropped after it.
    _created: NewFolders,
}

impl WorkFolder {
    /// Begins to work for a folder.
    ///
    /// # Errors
    /// If the folder is not empty and may not be replaced, or cannot be written.
    pub fn begin(destination: Destination, is_result: fn(&str) -> bool) -> Result<Self, Failure> {
        let may_share = destination.may_replace();
        let (target, created) = destination.take(is_result)?;
        let partial = PartialFolder::begin(place(&target));
        Ok(Self {
            partial: partial.map_err(|error| unusable(&target, &error))?,
            target,
            may_share,
            _created: created,
        })
    }

    /// Writes the options, with which the work continues when it is interrupted.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn with_options(self, config: &str) -> Result<Self, Failure> {
        let path = self.partial.path().join(CONFIG);
        match write_atomically(&path, config.as_bytes()) {
            Ok(()) => Ok(self),
            Err(error) => Err(unusable(&self.target, &error)),
        }
    }

    /// Continues the work that was interrupted in a folder.
    ///
    /// # Errors
    /// If another process is at work there, or the folder holds a file of a result's name that no command wrote, or
    /// cannot be written.
    pub fn resume(target: &Path, is_result: fn(&str) -> bool) -> Result<Self, Failure> {
        let mut partial = take(target)?;
        partial.keep(true);
        if target.is_dir() {
            Manifest::read(target)?.check(target, is_result)?;
        }
        Ok(Self {
            target: target.to_owned(),
            partial,
            may_share: true,
            _created: NewFolders::default(),
        })
    }

    /// Returns the output folder.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Returns the folder of the work.
    pub fn partial(&mut self) -> &mut PartialFolder {
        &mut self.partial
    }

    /// Returns the folder of the results until they are complete.
    pub fn results(&self) -> PathBuf {
        self.partial.results()
    }

    /// Returns the path of a state.
    pub fn state(&self, name: &str) -> PathBuf {
        self.partial.path().join(format!("{name}.{STATE}"))
    }

    /// Returns the paths of the states that were saved.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn states(&self) -> Result<Vec<PathBuf>, Failure> {
        let mut paths = paths_in(self.partial.path())?;
        paths.retain(|path| path.extension().is_some_and(|it| it == STATE));
        Ok(paths)
    }

    /// Returns the failure of the work with how to continue it. States that were saved are kept,
    /// unless the failure is one of the input.
    pub fn fail(mut self, failure: Failure, command: &str) -> Failure {
        let has_states = self.states().is_ok_and(|states| !states.is_empty());
        if has_states && !matches!(failure, Failure::Input(_)) {
            self.partial.keep(true);
        }
        match self.partial.is_kept() {
            true => with_hint(failure, &self.target, command),
            false => failure,
        }
    }

    /// Publishes the results and ends the work. Earlier results, as the folder's list has them, are replaced or removed; other
    /// files stay. `command` is the one that continues the work, if any does.
    ///
    /// # Errors
    /// If files cannot be moved, or other files were put into the folder since the work began: the
    /// work is kept then.
    pub fn publish(mut self, command: Option<&str>) -> Result<PathBuf, Failure> {
        // What nothing continues stays only when it is complete.
        self.partial.keep(command.is_some());
        list(&self.results())
            .and_then(|()| publish(&mut self.partial, &self.target, self.may_share))
            .map_err(|failure| match command {
                Some(command) => with_hint(failure, &self.target, command),
                None => failure,
            })?;
        Ok(self.target)
    }
}

/// Returns a failure with how to continue the work, which is kept.
fn with_hint(failure: Failure, target: &Path, command: &str) -> Failure {
    let target = target.display();
    failure.continued_by(&format!("`icl {command} --resume {target}` continues it"))
}

/// Returns the paths of what is in a folder.
fn paths_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let paths = || -> std::io::Result<Vec<PathBuf>> {
        let entries = folder.read_dir()?;
        entries.map(|entry| Ok(entry?.path())).collect()
    };
    paths().map_err(|error| Failure::file(folder, "cannot be read", error))
}

/// Writes the list of what is in a folder into it, with which it is complete.
///
/// # Errors
/// If it cannot be written.
pub fn list(made: &Path) -> Result<(), Failure> {
    let name = |path: PathBuf| Some(path.file_name()?.to_string_lossy().into_owned());
    let names = paths_in(made)?.into_iter().filter_map(name);
    let list = Manifest::new(names.filter(|name| name != MANIFEST).collect());
    // With the list the folder is complete: a kill must not leave a part of it there.
    let place = whole::folder_of(made);
    list.write(place)?;
    fs::rename(place.join(MANIFEST), made.join(MANIFEST))
        .map_err(|error| Failure::file(made, "cannot be written", error))
}

/// Gives complete results their place. A kill leaves what [`begun`] publishes.
fn publish(partial: &mut PartialFolder, target: &Path, may_share: bool) -> Result<(), Failure> {
    partial.keep(true);
    let failure = |error| Failure::file(target, "cannot be written", error);
    let results = partial.results();
    // Without options nothing continues but the publication.
    remove_if_there(&partial.path().join(CONFIG)).map_err(failure)?;
    if target.symlink_metadata().is_err() {
        partial.publish(target).map_err(failure)?;
    } else if may_share || !is_taken(target)? {
        move_into(&results, target)?;
    } else {
        return Err(Failure::Other(anyhow!(
            "{}: found files that were not there when the work began, expected none; the results are kept in {}",
            target.display(),
            results.display()
        )));
    }
    partial.keep(false);
    Ok(())
}

/// Moves the files of a complete folder into an output folder that is there. Its earlier files, as its list has them, are replaced or
/// removed. After a kill the same call moves the rest.
///
/// # Errors
/// If a file of such a name is there that no command wrote, or files cannot be moved.
pub fn move_into(made: &Path, target: &Path) -> Result<(), Failure> {
    let failure = |error| Failure::file(target, "cannot be written", error);
    let (earlier, ours) = (Manifest::read(target)?, Manifest::read(made)?);
    earlier.check(target, |name| ours.files().contains(name))?;
    let place = whole::folder_of(made);
    earlier.with(&ours).write(place)?;
    fs::rename(place.join(MANIFEST), target.join(MANIFEST)).map_err(failure)?;
    for name in ours.files() {
        match fs::rename(made.join(name), target.join(name)) {
            // Moved before a kill.
            Err(error) if error.kind() == ErrorKind::NotFound => (),
            moved => moved.map_err(failure)?,
        }
    }
    for name in earlier.files().difference(ours.files()) {
        let path = target.join(name);
        // Instead of the file that a command wrote there may be a folder of somebody by now.
        if path.symlink_metadata().is_ok_and(|it| !it.is_dir()) {
            fs::remove_file(path).map_err(failure)?;
        }
    }
    fs::rename(made.join(MANIFEST), target.join(MANIFEST)).map_err(failure)?;
    // Not every system can sync a folder.
    let _ = fs::File::open(target).and_then(|folder| folder.sync_all());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    use tempfile::tempdir;

    fn is_result(name: &str) -> bool {
        name == CONFIG || name.starts_with("encoder-")
    }

    fn try_begin(target: &Path, force: bool) -> Result<WorkFolder, Failure> {
        let destination = Destination::new(Some(target.to_owned()), "", force);
        WorkFolder::begin(destination, is_result)?.with_options("options")
    }

    /// Work with these results, and a state.
    fn worked(target: &Path, results: &[&str]) -> WorkFolder {
        let work = try_begin(target, true).unwrap();
        for name in results {
            whole::write(&work.results().join(name), b"new").unwrap();
        }
        whole::write(&work.state("s"), b"").unwrap();
        work
    }

    /// The same after a kill, with complete results or before they are.
    fn killed(target: &Path, results: &[&str], is_complete: bool) -> PathBuf {
        let mut work = worked(target, results);
        if is_complete {
            list(&work.results()).unwrap();
        }
        work.partial.keep(true);
        work.partial.path().to_owned()
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
        fs::write(out.join("notes.txt"), "theirs").unwrap();
        worked(&out, &[CONFIG, "encoder-b", "encoder-c"])
            .publish(None)
            .unwrap();
        assert_eq!(
            names(&out),
            [MANIFEST, CONFIG, "encoder-b", "encoder-c", "notes.txt"]
        );
        assert_eq!(names(at.path()), ["out"]);

        fs::write(out.join("encoder-mine"), "theirs").unwrap();
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
        fs::remove_file(out.join("encoder-mine")).unwrap();
        fs::create_dir(out.join("encoder-mine")).unwrap();
        refused(try_begin(&out, true));
    }

    #[test]
    fn files_that_come_while_the_work_goes_on_are_not_replaced() {
        let at = tempdir().unwrap();
        let out = at.path().join("out");
        for is_there in [false, true] {
            if is_there {
                fs::create_dir(&out).unwrap();
            }
            let work = worked(&out, &[CONFIG, "encoder-a"]);
            fs::create_dir_all(&out).unwrap();
            fs::write(out.join("encoder-a"), "theirs").unwrap();
            let error = work.publish(None).unwrap_err().to_string();
            assert!(error.starts_with("out: found encoder-a in "), "{error}");
            assert!(begun(&out).is_err());
            assert_eq!(fs::read(out.join("encoder-a")).unwrap(), b"theirs");
            // Without it the work continues.
            fs::remove_file(out.join("encoder-a")).unwrap();
            resume(&out);
            assert_eq!(names(&out), [MANIFEST, CONFIG, "encoder-a"]);
            assert_eq!(names(at.path()), ["out"]);
            fs::remove_dir_all(&out).unwrap();
        }
    }

    /// A kill after each part of the publication, in its order: into a folder with earlier results, and as a new folder.
    #[test]
    fn a_kill_in_the_publication_is_made_good() {
        let results = [CONFIG, "encoder-b"];
        let of = |names: &[&str]| Manifest::new(names.iter().map(|&it| it.to_owned()).collect());
        for (n_parts, is_new, force) in (0..=7_usize).flat_map(|n_parts| {
            [(false, false), (false, true), (true, false), (true, true)]
                .map(|(is_new, force)| (n_parts, is_new, force))
        }) {
            let at = tempdir().unwrap();
            let out = at.path().join("out");
            if !is_new {
                worked(&out, &[CONFIG, "encoder-a"]).publish(None).unwrap();
            }
            let place = killed(&out, &results, n_parts > 0);
            let made = place.join(PartialFolder::RESULTS);
            let move_up = |name: &str| fs::rename(made.join(name), out.join(name)).unwrap();
            let end_work = || fs::remove_file(place.join(CONFIG)).unwrap();
            let into_folder: [&dyn Fn(); 6] = [
                &end_work,
                &|| of(&[CONFIG, "encoder-a", "encoder-b"]).write(&out).unwrap(),
                &|| move_up(CONFIG),
                &|| {
                    move_up("encoder-b");
                    fs::remove_file(out.join("encoder-a")).unwrap();
                },
                &|| move_up(MANIFEST),
                &|| fs::remove_dir(&made).unwrap(),
            ];
            let as_folder: [&dyn Fn(); 2] = [&end_work, &|| fs::rename(&made, &out).unwrap()];
            let parts = if is_new { &as_folder[..] } else { &into_folder };
            let n_parts = n_parts.saturating_sub(1).min(parts.len());
            parts[..n_parts].iter().for_each(|part| part());
            match force {
                false => resume(&out),
                true => drop(worked(&out, &results).publish(None).unwrap()),
            }
            let when = format!("{n_parts} parts, new {is_new}, force {force}");
            assert_eq!(names(&out), [MANIFEST, CONFIG, "encoder-b"], "{when}");
            assert_eq!(fs::read(out.join("encoder-b")).unwrap(), b"new");
            assert_eq!(Manifest::read(&out).unwrap(), of(&results), "{when}");
            assert!(matches!(begun(&out), Ok(Begun::Complete)));
            assert_eq!(names(at.path()), ["out"], "{when}");
        }
    }

    #[test]
    fn a_folder_without_work_has_nothing_to_continue() {
        let at = tempdir().unwrap();
        let out = at.path().join("out");
        for folder in [at.path(), &out] {
            assert!(matches!(begun(folder), Err(Failure::Input(_))));
        }
        killed(&out, &[CONFIG], false);
        assert!(matches!(begun(&out), Ok(Begun::Interrupted(..))));
        // Also when somebody has created the folder meanwhile.
        fs::create_dir(&out).unwrap();
        assert!(matches!(begun(&out), Ok(Begun::Interrupted(..))));
        assert!(try_begin(&out, false).is_err());
        resume(&out);
        assert_eq!(names(&out), [MANIFEST, CONFIG]);
        assert_eq!(names(at.path()), ["out"]);
    }

    #[test]
    fn a_kill_before_the_options_is_as_if_nothing_had_begun() {
        let at = tempdir().unwrap();
        let [new, there] = ["new", "there"].map(|name| at.path().join(name));
        fs::create_dir(&there).unwrap();
        for out in [new, there] {
            let place = killed(&out, &["encoder-x"], false);
            fs::remove_file(place.join(CONFIG)).unwrap();
            let work = try_begin(&out, false).unwrap();
            assert!(names(&work.results()).is_empty());
            assert!(!work.state("s").exists());
        }
        assert_eq!(names(at.path()), ["there"]);
    }
}
