//! Single files, written and read as a whole.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::anyhow;
use icl_core::InputFile;
use icl_models::StoredEncoder;

use crate::process::failure::Failure;

/// Writes a file to the disk, in a folder in the making, where nobody else reads it.
///
/// # Errors
/// If it cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_with(path, |file| file.write_all(bytes))
}

/// Writes a file as [`write`] does, by a function.
///
/// # Errors
/// If it cannot be written.
pub fn write_with(
    path: &Path,
    fill: impl FnOnce(&mut File) -> std::io::Result<()>,
) -> Result<(), Failure> {
    let write = || {
        // A new file, never one behind a link that somebody has put there.
        remove_if_there(path)?;
        let mut file = File::create_new(path)?;
        fill(&mut file)?;
        file.sync_all()
    };
    write().map_err(|error| Failure::file(path, "cannot be written", error))
}

/// Removes a file or a link if there is one.
///
/// # Errors
/// The error of the system.
pub fn remove_if_there(path: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Returns the CRC-32 of a file, by which interrupted work recognises it, or `none` without a file.
///
/// # Errors
/// If the file cannot be read.
pub fn checksum(path: Option<&Path>) -> Result<String, Failure> {
    let Some(path) = path else {
        return Ok("none".to_owned());
    };
    let bytes = InputFile::open(path, StoredEncoder::MAX_BYTES).and_then(InputFile::bytes);
    let bytes = bytes.map_err(|error| {
        Failure::input(anyhow!(
            "{}: found no readable file ({error}), expected one",
            path.display()
        ))
    })?;
    Ok(format!("{:08x}", crc32fast::hash(&bytes)))
}

/// Returns the folder that a file is in.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_again() {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("a");
        write(&path, b"first").unwrap();
        write(&path, b"second").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"second");
        assert!(write(&at.path().join("none/a"), b"").is_err());
        #[cfg(unix)]
        {
            let link = at.path().join("link");
            std::os::unix::fs::symlink(&path, &link).unwrap();
            write(&link, b"third").unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), b"second");
        }
    }

    #[test]
    fn a_file_has_a_checksum() {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("a");
        assert!(checksum(Some(&path)).is_err());
        write(&path, b"123456789").unwrap();
        assert_eq!(checksum(Some(&path)).unwrap(), "cbf43926");
        assert_eq!(checksum(None).unwrap(), "none");
    }
}
