//! The folders in which members work that are not the first.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use icl_core::{InputFile, write_atomically};
use tempfile::TempDir;

use crate::process::failure::Failure;

/// Size of the largest file that is copied, in bytes: 16 GiB, that of a checkpoint.
const MAX_BYTES: u64 = 16 << 30;

/// Paths of the folders of all members of this process.
static MADE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Temporary folder of a member, removed when it is dropped, and the words of the command line with which the member works there.
pub struct OwnFolder {
    _folder: TempDir,
    pub words: Vec<OsString>,
}

impl OwnFolder {
    /// Makes the folder, for a command line of the user's words. Copies the folders of interrupted work that the command continues
    /// into it, each to its path there.
    ///
    /// # Errors
    /// If the folder cannot be made or the work not be copied.
    pub fn create(words: &[OsString], resumed: &[(PathBuf, PathBuf)]) -> Result<Self, Failure> {
        let folder = tempfile::tempdir().map_err(failure)?;
        made().push(folder.path().to_owned());
        let words = match resumed {
            [] => with_output(words, &folder.path().join("out")),
            folders => {
                let to = folder.path().join("resumed");
                for (from, path) in folders {
                    copy(from, &to.join(path))?;
                }
                let command = words[..2].iter().cloned();
                command.chain(["--resume".into(), to.into()]).collect()
            }
        };
        Ok(Self {
            _folder: folder,
            words,
        })
    }
}

/// Removes the folders of all members of this process before it ends at once.
pub fn remove_own_folders() {
    for folder in made().iter() {
        // What remains lies in a temporary folder.
        let _ = std::fs::remove_dir_all(folder);
    }
}

fn made() -> MutexGuard<'static, Vec<PathBuf>> {
    MADE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn failure(error: io::Error) -> Failure {
    Failure::Other(error.into())
}

/// Returns the words of a command line with another output folder.
fn with_output(words: &[OsString], out: &Path) -> Vec<OsString> {
    let mut own = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--out" {
            words.next();
        } else if !word.as_encoded_bytes().starts_with(b"--out=") {
            own.push(word.clone());
        }
    }
    own.extend([OsStr::new("--out").to_owned(), out.into()]);
    own
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let unread = |error| Failure::file(from, "cannot be read", error);
    std::fs::create_dir_all(to).map_err(failure)?;
    for entry in from.read_dir().map_err(unread)? {
        let entry = entry.map_err(unread)?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type().map_err(unread)?.is_dir() {
            true => copy(&from, &to)?,
            false => {
                let read = InputFile::open(&from, MAX_BYTES).and_then(InputFile::bytes);
                let bytes = read.map_err(|error| Failure::file(&from, "cannot be read", error))?;
                write_atomically(&to, &bytes).map_err(failure)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_output_takes_the_place_of_the_first() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let out = Path::new("b");
        for (found, expected) in [
            ("icl train --out a --data d", "icl train --data d --out b"),
            ("icl train --data d --out=a", "icl train --data d --out b"),
            ("icl run", "icl run --out b"),
        ] {
            assert_eq!(with_output(&words(found), out), words(expected));
        }
    }

    #[test]
    fn a_folder_is_copied_with_all_that_is_in_it() {
        let at = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| at.path().join(name));
        std::fs::create_dir_all(from.join("a/b")).unwrap();
        std::fs::write(from.join("a/b/c"), [1, 2, 3]).unwrap();
        std::fs::write(from.join("d"), []).unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(std::fs::read(to.join("a/b/c")).unwrap(), [1, 2, 3]);
        assert!(std::fs::read(to.join("d")).unwrap().is_empty());
    }
}
