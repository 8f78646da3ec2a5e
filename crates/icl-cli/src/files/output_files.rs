//! The files that a command writes next to each other: all of them appear, or none.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use icl_core::PartialFolder;

use crate::files::destination::unusable;
use crate::files::whole;
use crate::process::failure::Failure;

/// Files in the making, in a [`PartialFolder`] next to the main one.
///
/// Without `force` they appear as second names (hard links) of files in that folder, the main one last. So the files that a kill
/// has left without the main one are known, and are removed by the next command.
pub struct OutputFiles {
    partial: PartialFolder,
    /// The main one last.
    paths: Vec<PathBuf>,
    force: bool,
}

impl OutputFiles {
    /// Begins to write `main` and the files `next_to` it, after a check that they may be written.
    ///
    /// # Errors
    /// If they may not: there is no folder for them, a file that may not be replaced has a name of theirs, or another process
    /// writes them.
    pub fn begin(main: &Path, next_to: &[PathBuf], force: bool) -> Result<Self, Failure> {
        let wrong = |found: &str, path: &Path, expected: &str| {
            let path = path.display();
            Failure::input(anyhow!("out: found {found} {path}, expected {expected}"))
        };
        if !whole::folder_of(main).is_dir() {
            return Err(wrong("no folder for", main, "an existing one"));
        }
        let failure = |error| unusable(main, &error);
        let files = Self {
            partial: PartialFolder::take(PartialFolder::next_to(main)).map_err(failure)?,
            paths: next_to.iter().cloned().chain([main.to_owned()]).collect(),
            force,
        };
        files.withdraw().map_err(failure)?;
        files.partial.clear().map_err(failure)?;
        for path in &files.paths {
            // Names next to the main one are longer: better known now than after the work.
            if let Err(error) = path.symlink_metadata()
                && error.kind() == ErrorKind::InvalidFilename
            {
                return Err(unusable(path, &error));
            }
            if path.is_dir() {
                return Err(wrong("a folder at", path, "a file or nothing"));
            }
            if !force && path.symlink_metadata().is_ok() {
                let expected = "nothing there (--force replaces it)";
                return Err(wrong("a file at", path, expected));
            }
        }
        Ok(files)
    }

    /// Writes one of the files; nobody sees it yet.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
        whole::write(&self.unpublished(path), bytes)
    }

    /// Gives all files that were written their names.
    ///
    /// # Errors
    /// If another file has such a name by now, or one cannot be given.
    pub fn publish(self) -> Result<(), Failure> {
        for path in &self.paths {
            let from = self.unpublished(path);
            if !from.exists() {
                continue;
            }
            let named = match self.force {
                true => std::fs::rename(&from, path),
                false => name_new(&from, path),
            };
            if let Err(error) = named {
                // The error that matters is the first one.
                let _ = self.withdraw();
                return Err(match error.kind() {
                    ErrorKind::AlreadyExists => Failure::input(anyhow!(
                        "{}: found a file that was not there before, expected none",
                        path.display()
                    )),
                    _ => Failure::file(path, "cannot be written", error),
                });
            }
        }
        Ok(())
    }

    /// Removes the files that have their names, if the main one has not.
    fn withdraw(&self) -> std::io::Result<()> {
        let is_named = |path: &&PathBuf| is_one_file(&self.unpublished(path), path);
        match self.paths.last().is_some_and(|main| is_named(&main)) {
            true => Ok(()),
            false => {
                let mut named = self.paths.iter().filter(is_named);
                named.try_for_each(std::fs::remove_file)
            }
        }
    }

    fn unpublished(&self, path: &Path) -> PathBuf {
        self.partial
            .results()
            .join(path.file_name().unwrap_or_default())
    }
}

/// Returns the path of a file whose name has `part` before its ending.
pub fn next_to(path: &Path, part: &str) -> PathBuf {
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    path.with_extension(format!("{part}.{ending}"))
}

/// Gives a file a second name, or another one where a file system has no hard links.
fn name_new(from: &Path, path: &Path) -> std::io::Result<()> {
    match std::fs::hard_link(from, path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
        Err(_) if path.symlink_metadata().is_ok() => Err(ErrorKind::AlreadyExists.into()),
        Err(_) => std::fs::rename(from, path),
        Ok(()) => Ok(()),
    }
}

/// Whether two paths are names of one file.
#[cfg(unix)]
fn is_one_file(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let [a, b] = [a, b].map(|path| {
        let found = path.symlink_metadata().ok()?;
        found.is_file().then(|| (found.dev(), found.ino()))
    });
    a.is_some() && a == b
}

/// On other systems the standard library has no such comparison.
#[cfg(not(unix))]
fn is_one_file(_: &Path, _: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::fs;

    use tempfile::tempdir;

    #[test]
    fn all_files_appear_or_none() {
        let at = tempdir().unwrap();
        let [main, labels] = ["a.npy", "a.labels.npy"].map(|name| at.path().join(name));
        assert_eq!(next_to(&main, "labels"), labels);
        let names = || {
            let mut names: Vec<_> = at
                .path()
                .read_dir()
                .unwrap()
                .map(|it| it.unwrap().file_name())
                .collect();
            names.sort();
            names
        };
        let begin = |force| OutputFiles::begin(&main, std::slice::from_ref(&labels), force);
        let write = |files: &OutputFiles, text: &str| {
            files.write(&main, text.as_bytes()).unwrap();
            files.write(&labels, text.as_bytes()).unwrap();
        };
        drop(begin(false).unwrap());
        assert!(names().is_empty());

        // Somebody else's file comes in the meantime: no other appears.
        let files = begin(false).unwrap();
        write(&files, "ours");
        fs::write(&main, "theirs").unwrap();
        let error = files.publish().unwrap_err().to_string();
        assert!(
            error.contains("found a file that was not there before"),
            "{error}"
        );
        assert_eq!(names(), ["a.npy"]);
        assert_eq!(fs::read(&main).unwrap(), b"theirs");
        assert!(begin(false).is_err());

        let files = begin(true).unwrap();
        write(&files, "ours");
        files.publish().unwrap();
        assert_eq!(names(), ["a.labels.npy", "a.npy"]);
        assert_eq!(fs::read(&main).unwrap(), b"ours");
        let error = begin(false).err().unwrap().to_string();
        assert!(error.contains("expected nothing there (--force replaces it)"));
        // A file that was not written, such as that of labels where there are none, is left out.
        fs::remove_file(&main).unwrap();
        fs::remove_file(&labels).unwrap();
        let files = begin(false).unwrap();
        files.write(&main, b"").unwrap();
        files.publish().unwrap();
        assert_eq!(names(), ["a.npy"]);
    }

    /// A kill after each step of a publication without `force`.
    #[cfg(unix)]
    #[test]
    fn a_kill_in_the_publication_is_made_good() {
        for n_named in 0..=2 {
            let at = tempdir().unwrap();
            let [main, labels] = ["a.npy", "a.labels.npy"].map(|name| at.path().join(name));
            let begin = || OutputFiles::begin(&main, std::slice::from_ref(&labels), false);
            let mut files = begin().unwrap();
            for path in [&labels, &main] {
                files.write(path, b"ours").unwrap();
            }
            for path in [&labels, &main].into_iter().take(n_named) {
                name_new(&files.unpublished(path), path).unwrap();
            }
            files.partial.keep(true);
            drop(files);
            match begin() {
                Ok(files) => {
                    drop(files);
                    assert!(n_named < 2);
                    assert_eq!(at.path().read_dir().unwrap().count(), 0);
                }
                // Both are there, and the work is done.
                Err(_) => assert_eq!(n_named, 2),
            }
            // A file of labels that is not ours stays.
            if n_named == 0 {
                fs::write(&labels, "theirs").unwrap();
                assert!(begin().is_err());
                assert_eq!(fs::read(&labels).unwrap(), b"theirs");
            }
        }
    }
}
