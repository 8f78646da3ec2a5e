//! The group of processes that trains one encoder.
//!
//! All processes run the same command. The first one works in the folder that the user has named, and prints; the others work in
//! a temporary folder each, silently.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::Duration;

use anyhow::anyhow;
use icl_core::{Alone, Group, GroupError, InputFile, file_system, write_atomically};
use tempfile::TempDir;

use crate::process::failure::{Failure, INTERRUPTED};

/// Size of the largest file that is copied, in bytes: 16 GiB, that of a checkpoint.
const MAX_BYTES: u64 = 16 << 30;

/// Time after which a member tells an error that the first member does not have.
const PATIENCE: Duration = Duration::from_secs(5);

/// The group that this process has joined, and the folder in which it works if it is not the first member.
static JOINED: OnceLock<(Engine, Option<TempDir>)> = OnceLock::new();

#[cfg(feature = "mpi")]
type Engine = icl_train::Mpi;
#[cfg(not(feature = "mpi"))]
type Engine = Alone;

/// Returns the group of this process: itself alone unless it has joined one.
pub fn group() -> &'static dyn Group {
    match JOINED.get() {
        Some((engine, _)) => engine,
        None => &Alone,
    }
}

/// Returns whether this process leaves printing and the user's folder to another one.
pub fn is_silent() -> bool {
    group().rank() > 0
}

/// Joins the group of all processes that `mpirun` has started. Returns the words of a command line for this process, if it does not
/// run those that it was given.
///
/// # Errors
/// If this program is built without MPI, or a temporary folder cannot be made.
pub fn join(words: &[OsString], resumed: Option<&Path>) -> Result<Option<Vec<OsString>>, Failure> {
    let engine = engine()?;
    let folder = match engine.rank() {
        0 => None,
        _ => Some(tempfile::tempdir().map_err(|error| Failure::Other(error.into()))?),
    };
    let own = folder.as_ref().map(|folder| match resumed {
        None => Ok(with_output(words, &folder.path().join("out"))),
        Some(from) => {
            let to = folder.path().join("resumed");
            copy(from, &to)?;
            Ok(words[..2]
                .iter()
                .cloned()
                .chain(["--resume".into(), to.into()])
                .collect())
        }
    });
    // The first member changes the folder only after all others have copied it.
    engine.any(false).map_err(of_group)?;
    let own = own.transpose();
    if JOINED.set((engine, folder)).is_err() {
        return Err(Failure::Other(anyhow!("a process joins one group")));
    }
    own
}

#[cfg(feature = "mpi")]
fn engine() -> Result<Engine, Failure> {
    icl_train::Mpi::join().map_err(of_group)
}

#[cfg(not(feature = "mpi"))]
fn engine() -> Result<Engine, Failure> {
    Err(Failure::input(anyhow!(
        "devices: found mpi, expected one: this program was built without the feature mpi"
    )))
}

fn of_group(error: GroupError) -> Failure {
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
    let failure = |error: std::io::Error| Failure::Other(error.into());
    file_system().create_folders(to).map_err(failure)?;
    for entry in from.read_dir().map_err(failure)? {
        let entry = entry.map_err(failure)?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type().map_err(failure)?.is_dir() {
            true => copy(&from, &to)?,
            false => {
                let read = InputFile::open(&from, MAX_BYTES).and_then(InputFile::bytes);
                let bytes = read.map_err(|error| failure(error.into()))?;
                write_atomically(&to, &bytes).map_err(failure)?;
            }
        }
    }
    Ok(())
}

/// Leaves the group at the end of a command, or ends all its processes after a failure with its message and exit code. The first
/// member has told the failure already; another one tells it by `say` if the first does not have it.
pub fn leave(outcome: Result<(), (&str, u8)>, say: impl FnOnce(String)) {
    let Some((engine, folder)) = JOINED.get() else {
        return;
    };
    if let Some(folder) = folder {
        // What remains lies in a temporary folder.
        let _ = file_system().remove_folders(folder.path());
    }
    let (told, exit_code) = match outcome {
        Err(failure) if !engine.is_alone() => failure,
        _ => return end(engine),
    };
    if engine.rank() > 0 {
        // The first member has most failures, too, and an interruption always: it ends all when it has saved its state.
        if exit_code == INTERRUPTED {
            loop {
                sleep(PATIENCE);
            }
        }
        sleep(PATIENCE);
        say(format!("process {}: {told}", engine.rank()));
    }
    abort(engine, exit_code);
}

#[cfg(feature = "mpi")]
fn end(engine: &Engine) {
    engine.leave();
}

#[cfg(not(feature = "mpi"))]
fn end(_: &Engine) {}

#[cfg(feature = "mpi")]
fn abort(engine: &Engine, status: u8) -> ! {
    engine.abort(status)
}

#[cfg(not(feature = "mpi"))]
fn abort(_: &Engine, status: u8) -> ! {
    std::process::exit(status.into())
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

    #[test]
    fn a_process_is_alone_until_it_joins() {
        assert_eq!((group().size(), is_silent()), (1, false));
    }
}
