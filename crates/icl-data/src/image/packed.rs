//! A whole file in memory, unpacked if gzip has packed it.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::ErrorKind;

use flate2::bufread::MultiGzDecoder;

use super::error::ImagesError;
use crate::error::DataError;
use crate::place::FileRef;
use crate::unpack::read_at_most;

/// What every gzip file begins with. No IDX or CIFAR file does.
const GZIP_BEGINNING: [u8; 2] = [0x1f, 0x8b];

/// The bytes of a file on disk, as they are.
pub(super) fn read_file(file: &FileRef) -> Result<Vec<u8>, DataError> {
    let unreadable = |source| DataError::Unreadable {
        file: file.clone(),
        source,
    };
    let metadata = fs::metadata(file.path()).map_err(unreadable)?;
    if !metadata.is_file() {
        // Opening a pipe would wait for someone to write into it.
        return Err(unreadable(ErrorKind::InvalidInput.into()));
    }
    let opened = File::open(file.path()).map_err(unreadable)?;
    read_at_most(opened, metadata.len(), file, unreadable)
}

/// The bytes of a file on disk, unpacked if they are packed.
///
/// What the file holds decides, not its name: some programs unpack what they download and keep the
/// name.
pub(super) fn read_unpacked(file: &FileRef) -> Result<Vec<u8>, DataError> {
    let bytes = read_file(file)?;
    Ok(match unpacked(file, &bytes)? {
        Cow::Owned(unpacked) => unpacked,
        Cow::Borrowed(_) => bytes,
    })
}

/// `bytes`, unpacked if they are packed. Messages call them by `file`.
pub(super) fn unpacked<'a>(file: &FileRef, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>, DataError> {
    if !bytes.starts_with(&GZIP_BEGINNING) {
        return Ok(Cow::Borrowed(bytes));
    }
    let damaged = |source| {
        DataError::from(ImagesError::Gzip {
            file: file.clone(),
            source,
        })
    };
    // The size that a gzip file gives is modulo 2^32 and only at its end, so it is not looked at.
    let size = bytes.len() as u64;
    read_at_most(MultiGzDecoder::new(bytes), size, file, damaged).map(Cow::Owned)
}
