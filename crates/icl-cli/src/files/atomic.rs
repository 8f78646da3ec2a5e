//! Files that are whole or not there.

use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::anyhow;
use tempfile::{Builder, NamedTempFile};

use crate::process::failure::Failure;

/// Writes a file beside its place, waits until the disk has it and gives it its name; what had the
/// name before is replaced.
///
/// # Errors
/// If it cannot be written; what was there before is there still.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let beside = write_beside(path, bytes)?;
    beside
        .persist(path)
        .map_err(|error| unwritable(path, error.error))?;
    sync_folder(path);
    Ok(())
}

/// As [`replace`], but only where nothing has the name.
///
/// # Errors
/// If something has the name, or the file cannot be written.
pub fn create(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let beside = write_beside(path, bytes)?;
    beside.persist_noclobber(path).map_err(|error| {
        if error.error.kind() == ErrorKind::AlreadyExists {
            Failure::input(anyhow!(
                "{}: found a file that was not there before, expected none",
                path.display()
            ))
        } else {
            unwritable(path, error.error)
        }
    })?;
    sync_folder(path);
    Ok(())
}

/// The folder that a file lies in.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

fn write_beside(path: &Path, bytes: &[u8]) -> Result<NamedTempFile, Failure> {
    let mut builder = Builder::new();
    builder.prefix(".icl-");
    // Temporary files are their owner's alone; this one becomes a file like others, for whom the
    // user's mask decides.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let write = || {
        let mut file = builder.tempfile_in(folder_of(path))?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        Ok(file)
    };
    write().map_err(|error| unwritable(path, error))
}

/// Waits until the disk has the new name, too, where folders can be waited for.
fn sync_folder(path: &Path) {
    if let Ok(folder) = std::fs::File::open(folder_of(path)) {
        let _ = folder.sync_all();
    }
}

fn unwritable(path: &Path, error: std::io::Error) -> Failure {
    Failure::file(path, "cannot be written", error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_or_left_alone() {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("a");
        create(&path, b"first").unwrap();
        let error = create(&path, b"second").unwrap_err().to_string();
        assert!(error.contains("found a file that was not there before"));
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        replace(&path, b"third").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"third");
        // Nothing is left beside it, whatever happened.
        assert!(replace(&at.path().join("none/a"), b"").is_err());
        assert_eq!(at.path().read_dir().unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn its_rights_are_those_of_other_files() {
        use std::os::unix::fs::PermissionsExt;

        let at = tempfile::tempdir().unwrap();
        let [ours, theirs] = ["ours", "theirs"].map(|name| at.path().join(name));
        create(&ours, b"").unwrap();
        std::fs::write(&theirs, b"").unwrap();
        let [ours, theirs] =
            [ours, theirs].map(|path| path.metadata().unwrap().permissions().mode());
        assert_eq!(ours, theirs);
    }
}
