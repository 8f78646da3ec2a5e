//! The folders in which members work that are not the first.

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

/// Place in which a member works that is not the first.
#[derive(Debug, Clone)]
pub enum Place {
    /// Output folder of new work.
    New(PathBuf),
    /// Folder of interrupted work that it continues.
    Resumed(PathBuf),
}

/// Temporary folder of a member, removed when it is dropped, and the place in it.
pub struct OwnFolder {
    _folder: TempDir,
    pub place: Place,
}

impl OwnFolder {
    /// Makes the folder. Copies the folders of interrupted work that the command continues into it, each to its path there.
    ///
    /// # Errors
    /// If the folder cannot be made or the work not be copied.
    pub fn create(resumed: &[(PathBuf, PathBuf)]) -> Result<Self, Failure> {
        let folder = tempfile::tempdir().map_err(failure)?;
        made().push(folder.path().to_owned());
        let place = match resumed {
            [] => Place::New(folder.path().join("out")),
            folders => {
                let to = folder.path().join("resumed");
                for (from, path) in folders {
                    copy(from, &to.join(path))?;
                }
                Place::Resumed(to)
            }
        };
        Ok(Self {
            _folder: folder,
            place,
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
