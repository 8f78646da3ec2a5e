//! Single files, written and read as a whole.

use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::anyhow;
use icl_core::{AtomicFile, InputFile, write_atomically};

use crate::process::failure::Failure;

/// Size of the largest file of an encoder or its weights that is read, in bytes: 2 GiB.
pub const MAX_ENCODER_BYTES: u64 = 2 << 30;

/// Writes a file and replaces the one that had its name.
///
/// # Errors
/// If it cannot be written; an earlier file still exists then.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_atomically(path, bytes).map_err(|error| Failure::file(path, "cannot be written", error))
}

/// Writes a file unless one has its name.
///
/// # Errors
/// If a file has the name, or this one cannot be written.
pub fn create(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let write = || {
        let mut file = AtomicFile::begin(path)?;
        file.write_all(bytes)?;
        file.create_new()
    };
    write().map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::input(anyhow!(
            "{}: found a file that was not there before, expected none",
            path.display()
        )),
        _ => Failure::file(path, "cannot be written", error),
    })
}

/// Returns the CRC-32 of a file, by which interrupted work recognises it, or `none` without a file.
///
/// # Errors
/// If the file cannot be read.
pub fn checksum(path: Option<&Path>) -> Result<String, Failure> {
    let Some(path) = path else {
        return Ok("none".to_owned());
    };
    let bytes = InputFile::open(path, MAX_ENCODER_BYTES).and_then(InputFile::bytes);
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
    fn a_file_is_created_or_replaced_as_asked() {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("a");
        create(&path, b"first").unwrap();
        let error = create(&path, b"second").unwrap_err().to_string();
        assert!(error.contains("found a file that was not there before"));
        replace(&path, b"third").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"third");
        assert!(replace(&at.path().join("none/a"), b"").is_err());
    }

    #[test]
    fn a_file_has_a_checksum() {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("a");
        assert!(checksum(Some(&path)).is_err());
        replace(&path, b"123456789").unwrap();
        assert_eq!(checksum(Some(&path)).unwrap(), "cbf43926");
        assert_eq!(checksum(None).unwrap(), "none");
    }
}
