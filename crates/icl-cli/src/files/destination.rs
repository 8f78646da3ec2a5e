//! The output folder of a command: chosen, created, locked.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use icl_core::file_system;

use crate::files::manifest::{Manifest, remove_unfinished};
use crate::process::failure::Failure;

/// Folder of the output folders that have no name.
const RUNS: &str = "icl-runs";
/// Folder of work in progress in an output folder.
pub const WORK: &str = ".checkpoint";
/// Options of the command, in the output folder and in that of work in progress.
pub const CONFIG: &str = "config.toml";
const LOCK: &str = "lock";

/// The folder to write, and whether earlier output in it may be replaced.
pub struct Destination {
    folder: Option<PathBuf>,
    otherwise: String,
    force: bool,
}

impl Destination {
    /// Chooses `folder`; where none was named, the first free one of the names `icl-runs/otherwise-1`, `-2`
    /// and so on. With `force` it may hold the output of an earlier command.
    pub fn new(folder: Option<PathBuf>, otherwise: &str, force: bool) -> Self {
        Self {
            folder,
            otherwise: otherwise.to_owned(),
            force,
        }
    }

    /// Whether it may hold the output of an earlier command.
    pub fn may_replace(&self) -> bool {
        self.force
    }

    /// Takes the folder for files whose names `is_result` accepts; it is created if need be. Also returns the
    /// uppermost folder that was created.
    ///
    /// # Errors
    /// If the folder is not empty and may not be replaced, holds a file of such a name that no command wrote, or
    /// cannot be written.
    pub fn take(self, is_result: fn(&str) -> bool) -> Result<(PathBuf, Option<PathBuf>), Failure> {
        match self.folder {
            Some(path) => claim(path, self.force, is_result),
            None => create_first_free(&self.otherwise),
        }
    }
}

/// Takes a named folder, created if need be; also the uppermost folder that was created.
fn claim(
    path: PathBuf,
    force: bool,
    is_result: fn(&str) -> bool,
) -> Result<(PathBuf, Option<PathBuf>), Failure> {
    if !is_folder(&path)? {
        // The last ancestor of a relative path is the empty one, which is the current folder.
        let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let created = path.ancestors().take_while(is_missing).last();
        let created = created.map(ToOwned::to_owned);
        file_system().create_folders(&path).map_err(|error| {
            remove_created(created.as_deref());
            unusable(&path, &error)
        })?;
        return Ok((path, created));
    }
    let work = path.join(WORK);
    if work.join(CONFIG).exists() && !force {
        return Err(Failure::input(anyhow!(
            "out: found interrupted work in {}, expected a new folder (--resume continues it, \
             --force replaces it)",
            path.display()
        )));
    }
    remove_unfinished(&path, is_result);
    if !force && is_taken(&path)? {
        return Err(Failure::input(anyhow!(
            "out: found files in {}, expected a new folder (--force replaces an earlier run)",
            path.display()
        )));
    }
    Manifest::read(&path)?.check(&path, is_result)?;
    if work.exists() {
        // Unless another process is at work with it.
        drop(lock(&path)?);
        remove_work(&work).map_err(|error| unusable(&path, &error))?;
    }
    Ok((path, None))
}

/// Removes the folder of work in progress. After a kill in between the work is not taken for one that continues.
///
/// # Errors
/// The error of the file system.
pub fn remove_work(work: &Path) -> std::io::Result<()> {
    file_system().remove_if_there(&work.join(CONFIG))?;
    file_system().remove_folders(work)
}

/// Locks a folder for this process.
///
/// # Errors
/// If another process has locked it, or the lock cannot be written.
pub fn lock(target: &Path) -> Result<File, Failure> {
    let path = target.join(WORK).join(LOCK);
    let failure = |error| Failure::file(&path, "cannot be written", error);
    let file = file_system().create(&path).map_err(failure)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Failure::input(anyhow!(
            "out: found another process at work in {}, expected none",
            target.display()
        ))),
        Err(TryLockError::Error(error)) => Err(failure(error)),
    }
}

/// Whether the folder exists.
///
/// # Errors
/// If there is something else, or no folder can be there.
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

/// Whether a folder holds anything besides work in progress.
///
/// # Errors
/// If it cannot be read.
pub fn is_taken(path: &Path) -> Result<bool, Failure> {
    let mut entries = path.read_dir().map_err(|error| unusable(path, &error))?;
    Ok(entries.any(|entry| entry.is_ok_and(|entry| entry.file_name() != WORK)))
}

/// Returns the failure to write the output folder: of the input if there can be no folder or it may not be written,
/// of the machine after any other error of it.
pub fn unusable(path: &Path, error: &std::io::Error) -> Failure {
    let message = anyhow!("out: cannot write {}: {error}", path.display());
    match error.kind() {
        ErrorKind::AlreadyExists
        | ErrorKind::InvalidFilename
        | ErrorKind::InvalidInput
        | ErrorKind::NotADirectory
        | ErrorKind::NotFound
        | ErrorKind::PermissionDenied
        | ErrorKind::ReadOnlyFilesystem => Failure::Input(message),
        _ => Failure::Other(message),
    }
}

/// Removes a folder that was created and all empty folders in it.
pub fn remove_created(created: Option<&Path>) {
    let Some(created) = created else { return };
    if let Ok(entries) = created.read_dir() {
        for entry in entries.flatten() {
            remove_created(Some(&entry.path()));
        }
    }
    // A folder that is not empty holds other files, and stays.
    let _ = file_system().remove_folder(created);
}

/// Creates the first folder of the names `name-1`, `name-2` and so on that is free; also returns
/// the uppermost folder that was created.
fn create_first_free(name: &str) -> Result<(PathBuf, Option<PathBuf>), Failure> {
    let runs = Path::new(RUNS);
    let is_there = runs.exists();
    let failure = |error| Failure::file(runs, "cannot be written", error);
    file_system().create_folders(runs).map_err(failure)?;
    let mut number = 1_u64;
    loop {
        let folder = runs.join(format!("{name}-{number}"));
        match file_system().create_folder(&folder) {
            Ok(()) if is_there => return Ok((folder.clone(), Some(folder))),
            Ok(()) => return Ok((folder, Some(runs.to_owned()))),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(failure(error)),
        }
    }
}
