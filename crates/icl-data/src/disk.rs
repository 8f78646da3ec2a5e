//! Files and folders on disk, read without trusting the size that a file states.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::str::from_utf8;

use flate2::bufread::MultiGzDecoder;
use icl_core::InputFile;

use crate::error::{DataError, too_large, unreadable};
use crate::place::FileRef;

/// Size of the largest file that is read, in bytes after unpacking: 2 GiB.
///
/// A malicious archive of a few kilobytes can unpack to any size.
pub(crate) const MAX_BYTES: u64 = 2 << 30;

/// Size to which every gzip file may unpack.
const MAX_SMALL_BYTES: u64 = 64 << 20;

/// Largest number of bytes to which one compressed byte of a larger file may unpack. Real tables and
/// images reach 5 to 50; a file made for harm reaches 1000.
const MAX_RATIO: u64 = 200;

/// Size of the largest archive or compressed table that is opened, in bytes: 64 GiB. It is read in parts
/// and never held in memory as a whole.
const MAX_STREAMED_BYTES: u64 = 64 << 30;

/// First bytes of every gzip file. Neither text nor an IDX or CIFAR file begins with them.
const GZIP_BEGINNING: [u8; 2] = [0x1f, 0x8b];

/// Size of the largest buffer that is allocated only because a file states this size.
const MAX_TRUSTED_BYTES: u64 = 64 << 20;

/// Reads a regular file on disk.
///
/// # Errors
/// [`DataError`] if it is missing, unreadable or no regular file, or holds more than 2 GiB.
pub(crate) fn read_file(file: &FileRef) -> Result<Vec<u8>, DataError> {
    let opened = InputFile::open(file.path(), MAX_BYTES);
    opened
        .and_then(InputFile::bytes)
        .map_err(|error| rejected(file, MAX_BYTES, error))
}

/// Opens a regular file on disk that is read in parts.
///
/// # Errors
/// [`DataError`] if it is missing, unreadable or no regular file, or holds more than 64 GiB.
pub(crate) fn open_file(file: &FileRef) -> Result<File, DataError> {
    let opened = InputFile::open(file.path(), MAX_STREAMED_BYTES);
    opened
        .map(InputFile::into_file)
        .map_err(|error| rejected(file, MAX_STREAMED_BYTES, error))
}

fn rejected(file: &FileRef, limit: u64, source: io::Error) -> DataError {
    match source.kind() {
        ErrorKind::FileTooLarge => too_large(file, limit),
        _ => unreadable(file, source),
    }
}

/// Reads all bytes that `reader` unpacks from a gzip file, at least `size`: at most `limit`, and at most 2 GiB.
///
/// # Errors
/// [`DataError`] if there are more, or the file is cut or damaged.
fn read_within(
    reader: impl Read,
    size: u64,
    limit: u64,
    file: &FileRef,
) -> Result<Vec<u8>, DataError> {
    let limit = limit.min(MAX_BYTES);
    let too_large = || too_large(file, limit);
    if size > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(size.min(MAX_TRUSTED_BYTES) as usize);
    // One byte beyond the limit shows that the file is too large without unpacking the rest.
    match reader.take(limit + 1).read_to_end(&mut bytes) {
        Err(source) => {
            let found = "a cut or damaged gzip file";
            Err(DataError::new(file, found, "an intact one").with_source(source))
        }
        Ok(read) if read as u64 > limit => Err(too_large()),
        Ok(_) => Ok(bytes),
    }
}

/// Returns bytes, decompressed if they are those of a gzip file. The contents decide, not a name.
///
/// # Errors
/// [`DataError`] if they unpack to more than 64 MiB and more than 200 times their size, or to more than 2 GiB, or are
/// cut or damaged.
pub(crate) fn unpacked<'a>(
    bytes: impl Into<Cow<'a, [u8]>>,
    file: &FileRef,
) -> Result<Cow<'a, [u8]>, DataError> {
    let bytes = bytes.into();
    if !bytes.starts_with(&GZIP_BEGINNING) {
        return Ok(bytes);
    }
    // A gzip file states its size only at its end and modulo 2^32, so that it is not used.
    let size = bytes.len() as u64;
    let limit = MAX_SMALL_BYTES.max(size.saturating_mul(MAX_RATIO));
    read_within(MultiGzDecoder::new(&*bytes), size, limit, file).map(Cow::Owned)
}

/// Reads a regular file on disk, and decompresses it if it is a gzip file.
///
/// # Errors
/// Those of [`read_file`] and [`unpacked`].
pub(crate) fn read_unpacked(file: &FileRef) -> Result<Cow<'static, [u8]>, DataError> {
    unpacked(read_file(file)?, file)
}

/// Returns the text of bytes of a file.
///
/// # Errors
/// [`DataError`] if they are not UTF-8.
pub(crate) fn text_of<'a>(bytes: &'a [u8], file: &FileRef) -> Result<&'a str, DataError> {
    from_utf8(bytes).map_err(|error| {
        let byte = error.valid_up_to();
        let n_line_ends = bytes[..byte].iter().filter(|byte| **byte == b'\n').count();
        DataError::new(
            file.line(1 + n_line_ends),
            format!("byte {byte} that is not UTF-8"),
            "text",
        )
    })
}

/// Lists the names of the files and of the folders in a folder, each sorted.
///
/// Names that are not UTF-8 are left out: no file of the formats that call this has one.
///
/// # Errors
/// [`DataError`] if the folder cannot be listed.
pub(crate) fn list_folder(path: &Path) -> Result<(Vec<String>, Vec<String>), DataError> {
    let unreadable = |source| unreadable(FileRef::on_disk(path), source);
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        if let Ok(name) = entry.file_name().into_string() {
            if entry.path().is_dir() {
                folders.push(name);
            } else {
                files.push(name);
            }
        }
    }
    files.sort_unstable();
    folders.sort_unstable();
    Ok((files, folders))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_the_stated_nor_the_real_size_may_exceed_the_limit() {
        let file = FileRef::on_disk(Path::new("bomb"));
        let read = |held: u64, stated| {
            let reader = io::repeat(b'0').take(held);
            read_within(reader, stated, 10, &file)
        };
        assert_eq!(read(10, 10).unwrap().len(), 10);
        assert_eq!(read(3, 10).unwrap().len(), 3);
        for (held, stated) in [(11, 11), (11, 3), (3, 11), (u64::MAX, 0)] {
            assert_eq!(
                read(held, stated).unwrap_err().to_string(),
                "bomb: found more than 10 bytes, expected at most that many"
            );
        }
    }
}
