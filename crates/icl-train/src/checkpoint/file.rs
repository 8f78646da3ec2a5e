//! The file of a checkpoint.
//!
//! ```text
//! one line of JSON: {"schema": 6, "length": …, "checksum": …, "identity": [[field, value], …]}
//! `length` bytes of MessagePack
//! ```

use std::fmt::Display;
use std::io::{BufWriter, Write};
use std::path::Path;

use icl_core::module_bytes::unfit;
use icl_core::{AtomicFile, Error, InputFile};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{TrainError, TrainErrorKind};
use crate::identity::Identity;

/// Version of the format and of the state in it.
const SCHEMA: u32 = 6;

/// Size of the largest checkpoint that is read, in bytes: 16 GiB.
const MAX_BYTES: u64 = 16 << 30;

#[derive(Serialize, Deserialize)]
struct Header {
    schema: u32,
    length: u64,
    checksum: u32,
    identity: Identity,
}

/// Part of the header that every version has.
#[derive(Deserialize)]
struct AnyHeader {
    schema: u32,
}

/// Writes a state to a file atomically: after an interruption the file is either the earlier one or the
/// new one, complete.
///
/// # Errors
/// [`TrainErrorKind::Failed`] if the file cannot be written or the state cannot be encoded.
pub fn write_checkpoint(
    path: &Path,
    identity: &Identity,
    state: &impl Serialize,
) -> Result<(), TrainError> {
    // Encoded twice, first for the header alone: the state of a large encoder is not held in memory once more.
    let mut measured = Measured::default();
    encode(&mut measured, state).map_err(|source| {
        TrainError::message("the state of the run could not be encoded")
            .with_source(source)
            .with_kind(TrainErrorKind::Failed)
    })?;
    let header = Header {
        schema: SCHEMA,
        length: measured.length,
        checksum: measured.checksum.finalize(),
        identity: identity.clone(),
    };
    let failure = |source| of_file(path, "written", source);
    let mut file = BufWriter::new(AtomicFile::begin(path).map_err(failure)?);
    serde_json::to_writer(&mut file, &header).map_err(|error| failure(error.into()))?;
    file.write_all(b"\n").map_err(failure)?;
    // What can be encoded once can be encoded again: an error is the file's.
    encode(&mut file, state).map_err(|error| failure(std::io::Error::other(error)))?;
    let file = file
        .into_inner()
        .map_err(|error| failure(error.into_error()))?;
    file.replace().map_err(failure)
}

/// Writes a state as MessagePack.
fn encode(to: &mut impl Write, state: &impl Serialize) -> Result<(), rmp_serde::encode::Error> {
    // With names: without them, a struct that has changed would be read as another one without an error (ADR 4).
    rmp_serde::encode::write_named(to, state)
}

/// Length and checksum of what is written to it.
#[derive(Default)]
struct Measured {
    length: u64,
    checksum: crc32fast::Hasher,
}

impl Write for Measured {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.length += bytes.len() as u64;
        self.checksum.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Reads the state in a file, or returns `None` if the file does not exist.
///
/// # Errors
/// [`TrainError`] if the file cannot be read, is truncated or changed, has another schema version, or
/// belongs to another run.
pub fn read_checkpoint<T: DeserializeOwned>(
    path: &Path,
    identity: &Identity,
) -> Result<Option<T>, TrainError> {
    let bytes = read_bytes(path)?;
    bytes
        .map(|bytes| state_of(&bytes, path, identity))
        .transpose()
}

/// Reads a checkpoint as bytes, or returns `None` if the file does not exist.
pub(crate) fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>, TrainError> {
    let read = InputFile::open(path, MAX_BYTES).and_then(InputFile::bytes);
    match read {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(of_file(path, "read", source)),
    }
}

/// Returns the error of a file that cannot be read or written.
fn of_file(path: &Path, what: &str, source: std::io::Error) -> TrainError {
    // A file that is no regular one, or too large, is the caller's; all else is the system's.
    let is_refused = source.get_ref().is_some_and(|inner| inner.is::<Error>());
    let kind = match is_refused {
        true => TrainErrorKind::Checkpoint,
        false => TrainErrorKind::Failed,
    };
    TrainError::new(
        path.display(),
        format!("the checkpoint cannot be {what}"),
        "",
    )
    .with_source(source)
    .with_kind(kind)
}

/// Returns the error of a checkpoint that is damaged or of another version.
fn damaged(path: &Path, found: impl Display, expected: impl Display) -> TrainError {
    TrainError::new(path.display(), found, expected).with_kind(TrainErrorKind::Checkpoint)
}

/// Returns the error of a checkpoint whose run has another fact.
pub(crate) fn other_run(
    path: &Path,
    field: &str,
    found: impl Display,
    expected: impl Display,
) -> TrainError {
    let found = format!("a checkpoint of another run, whose {field} is {found}");
    damaged(path, found, expected)
}

/// Returns the error of a state that is complete, but of another kind of encoder, optimizer or agent.
pub(crate) fn of_state(path: &Path, unfit: Error) -> TrainError {
    unfit
        .within(path.display())
        .with_kind(TrainErrorKind::Checkpoint)
}

/// Returns the state in the bytes of a checkpoint. `path` is for messages.
pub(crate) fn state_of<T: DeserializeOwned>(
    bytes: &[u8],
    path: &Path,
    identity: &Identity,
) -> Result<T, TrainError> {
    let no_header = || damaged(path, "no checkpoint header", "one line of JSON");
    let end = bytes
        .iter()
        .position(|&byte| byte == b'\n')
        .ok_or_else(no_header)?;
    let (header, body) = (&bytes[..end], &bytes[end + 1..]);
    // Version, length, checksum and identity come first: neither Burn nor serde decodes incomplete bytes (ADR 4).
    let any: AnyHeader = serde_json::from_slice(header).map_err(|_| no_header())?;
    if any.schema != SCHEMA {
        let found = format!("a checkpoint of schema {}", any.schema);
        return Err(damaged(path, found, format!("schema {SCHEMA}")));
    }
    let header: Header = serde_json::from_slice(header).map_err(|_| no_header())?;
    if body.len() as u64 != header.length {
        let found = format!("{} bytes of state", body.len());
        let expected = format!(
            "{}: the file is truncated or has extra bytes",
            header.length
        );
        return Err(damaged(path, found, expected));
    }
    let checksum = crc32fast::hash(body);
    if checksum != header.checksum {
        let found = format!("a state with checksum {checksum:08x}");
        return Err(damaged(path, found, format!("{:08x}", header.checksum)));
    }
    if let Some((field, found, expected)) = header.identity.difference(identity) {
        return Err(other_run(path, &field, found, expected));
    }
    rmp_serde::from_slice(body).map_err(|_| of_state(path, unfit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(rate: &str) -> Identity {
        Identity::new([("learning_rate".to_owned(), rate.to_owned())])
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        assert!(
            read_checkpoint::<Vec<f64>>(&path, &identity("1"))
                .unwrap()
                .is_none()
        );
        let state = vec![1.0, f64::MIN_POSITIVE, 0.1 + 0.2, f64::INFINITY];
        write_checkpoint(&path, &identity("1"), &vec![0.0]).unwrap();
        write_checkpoint(&path, &identity("1"), &state).unwrap();
        assert_eq!(
            read_checkpoint::<Vec<f64>>(&path, &identity("1")).unwrap(),
            Some(state)
        );
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn every_damage_has_its_words() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        write_checkpoint(&path, &identity("1"), &vec![1.0, 2.0, 3.0]).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let error = |bytes: &[u8], rate| {
            std::fs::write(&path, bytes).unwrap();
            read_checkpoint::<Vec<f64>>(&path, &identity(rate))
                .unwrap_err()
                .to_string()
        };
        let other = error(&whole, "2");
        assert!(other.contains("learning_rate is 1, expected 2"), "{other}");
        for length in 0..whole.len() {
            let cut = error(&whole[..length], "1");
            assert!(cut.contains("found"), "{cut}");
        }
        let mut flipped = whole.clone();
        *flipped.last_mut().unwrap() ^= 1;
        assert!(error(&flipped, "1").contains("checksum"));
        let text = String::from_utf8_lossy(&whole).into_owned();
        let newer = text.replace("\"schema\":6", "\"schema\":7");
        assert!(error(newer.as_bytes(), "1").contains("schema 7, expected schema 6"));
        assert!(error(b"hello\n", "1").contains("header"));
    }
}
