//! The output folder of a command: chosen, and checked that it may be written.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::anyhow;

use crate::files::manifest::Manifest;
use crate::files::new_folders::NewFolders;
use crate::files::work_place::{INSIDE, options};
use crate::process::failure::Failure;

/// Folder of the output folders that have no name.
const RUNS: &str = "icl-runs";

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

    /// Checks the folder for files whose names `is_result` accepts. A missing folder is not created, but those above it, which
    /// are returned, too.
    ///
    /// # Errors
    /// If the folder is not empty and may not be replaced, holds interrupted work or a file of such a name that no command
    /// wrote, or cannot be written.
    pub fn take(self, is_result: fn(&str) -> bool) -> Result<(PathBuf, NewFolders), Failure> {
        match self.folder {
            Some(path) => claim(path, self.force, is_result),
            None => create_first_free(&self.otherwise),
        }
    }
}

fn claim(
    path: PathBuf,
    force: bool,
    is_result: fn(&str) -> bool,
) -> Result<(PathBuf, NewFolders), Failure> {
    let is_there = is_folder(&path)?;
    if !force && options(&path).exists() {
        return Err(Failure::input(anyhow!(
            "out: found interrupted work in {}, expected a new folder (--resume continues it, \
             --force replaces it)",
            path.display()
        )));
    }
    if is_there {
        if !force && is_taken(&path)? {
            return Err(Failure::input(anyhow!(
                "out: found files in {}, expected a new folder (--force replaces an earlier run)",
                path.display()
            )));
        }
        Manifest::read(&path)?.check(&path, is_result)?;
        return Ok((path, NewFolders::default()));
    }
    // What is meant by `..` below a folder that is not there is known only when it is.
    if path
        .ancestors()
        .any(|it| it.ends_with("..") && !it.exists())
    {
        return Err(unusable(&path, &ErrorKind::NotFound.into()));
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let created = NewFolders::create(folder).map_err(|error| unusable(&path, &error))?;
    Ok((path, created))
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

/// Whether a folder holds anything other than work in progress.
///
/// # Errors
/// If it cannot be read.
pub fn is_taken(path: &Path) -> Result<bool, Failure> {
    let mut entries = path.read_dir().map_err(|error| unusable(path, &error))?;
    Ok(entries.any(|entry| entry.is_ok_and(|entry| entry.file_name() != INSIDE)))
}

/// Returns the failure to write the output at a path: of the input if it cannot be there, may not be written or is being written,
/// of the machine after any other error of it.
pub fn unusable(path: &Path, error: &std::io::Error) -> Failure {
    let message = anyhow!("out: cannot write {}: {error}", path.display());
    match error.kind() {
        ErrorKind::ResourceBusy => Failure::input(anyhow!(
            "out: found another process at work in {}, expected none",
            path.display()
        )),
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

/// Creates the first folder of the names `name-1`, `name-2` and so on that is free.
fn create_first_free(name: &str) -> Result<(PathBuf, NewFolders), Failure> {
    let runs = Path::new(RUNS);
    let failure = |error| Failure::file(runs, "cannot be written", error);
    let mut created = NewFolders::create(runs).map_err(failure)?;
    let mut number = 1_u64;
    loop {
        let folder = runs.join(format!("{name}-{number}"));
        match created.create_in(&folder) {
            Ok(()) => return Ok((folder, created)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(failure(error)),
        }
    }
}
