//! Zip archives, whose entries are all checked before any is read.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use zip::ZipArchive;
use zip::result::ZipError;

use super::lines::Lines;
use crate::disk::MAX_BYTES;
use crate::error::{DataError, DataErrorKind, too_large};
use crate::place::FileRef;

/// Source of an archive's bytes.
pub(super) trait ArchiveBytes: Read + Seek {}
impl<T: Read + Seek> ArchiveBytes for T {}

/// An archive whose entries are all files and folders inside it.
pub(super) struct Archive {
    path: PathBuf,
    zip: ZipArchive<Box<dyn ArchiveBytes>>,
    entries: Vec<ArchiveEntry>,
    /// Length to which each file may unpack, in bytes.
    limit: u64,
}

/// Length to which every file may unpack, in bytes: 4 MiB.
const MAX_SMALL_BYTES: u64 = 4 << 20;

/// Largest number of bytes to which a file may unpack for each byte of a larger archive. The data sets of the
/// format's authors reach 5 to 12 in total; an archive made for harm reaches 1000.
const MAX_RATIO: u64 = 32;

/// A file of the archive, with its index in the archive's table.
struct ArchiveEntry {
    /// Path with single slashes and without `.` and `..`.
    file: String,
    /// Path as it is spelled in the archive.
    name: String,
    index: usize,
}

impl Archive {
    /// Reads and checks the archive's table. Error messages call the archive by `path`.
    pub(super) fn open(path: &Path, mut bytes: Box<dyn ArchiveBytes>) -> Result<Self, DataError> {
        let damaged = |source| {
            DataError::new(
                path.display(),
                "a cut or damaged zip archive",
                "an intact one",
            )
            .with_source(source)
            .with_kind(DataErrorKind::Damaged)
        };
        let n_bytes = bytes.seek(SeekFrom::End(0));
        let n_bytes = n_bytes.map_err(|error| damaged(ZipError::Io(error)))?;
        let limit = n_bytes.saturating_mul(MAX_RATIO);
        let zip = ZipArchive::new(bytes).map_err(damaged)?;
        if zip.has_duplicate_names() {
            return Err(DataError::new(
                path.display(),
                "an archive that lists an entry twice",
                "every name once",
            ));
        }
        let mut entries = Vec::with_capacity(zip.len());
        for index in 0..zip.len() {
            let entry = zip.by_index_data(index).map_err(damaged)?;
            let name = entry.name().map_err(damaged)?.into_owned();
            let file = FileRef::in_archive(path, &name);
            let inside = entry.enclosed_name().filter(|_| is_relative(&name));
            let Some(inside) = inside.as_deref().and_then(Path::to_str) else {
                return Err(DataError::new(
                    file,
                    "an entry that points outside the archive",
                    "a relative path without `..`",
                ));
            };
            if entry.is_symlink() {
                return Err(DataError::new(
                    file,
                    "a symbolic link",
                    "only files and folders in the archive",
                ));
            }
            if !entry.is_dir() {
                entries.push(ArchiveEntry {
                    file: inside.replace(std::path::MAIN_SEPARATOR, "/"),
                    name,
                    index,
                });
            }
        }
        Ok(Self {
            path: path.to_path_buf(),
            zip,
            entries,
            limit: limit.clamp(MAX_SMALL_BYTES, MAX_BYTES),
        })
    }

    /// Returns the paths of all files, with single slashes.
    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.file.as_str())
    }

    /// Returns the name of a file, which may be missing, for error messages.
    pub(super) fn file_ref(&self, file: &str) -> FileRef {
        let entry = self.entries.iter().find(|entry| entry.file == file);
        FileRef::in_archive(&self.path, entry.map_or(file, |entry| &entry.name))
    }

    /// Returns the lines of a file, or `None` if it is missing.
    pub(super) fn lines(&mut self, file: &str) -> Result<Option<Lines<'_>>, DataError> {
        let Some(entry) = self.entries.iter().find(|entry| entry.file == file) else {
            return Ok(None);
        };
        let name = FileRef::in_archive(&self.path, &entry.name);
        let of_entry = name.clone();
        let damaged = move |source| {
            DataError::new(
                &of_entry,
                "an entry that cannot be unpacked",
                "an intact one, stored or deflated",
            )
            .with_source(source)
        };
        let reader = self.zip.by_index(entry.index).map_err(&damaged)?;
        let limit = self.limit;
        if reader.size() > limit {
            return Err(too_large(name, limit));
        }
        let wrap = move |source: io::Error| damaged(ZipError::Io(source));
        let reader = Box::new(BufReader::new(reader));
        Ok(Some(Lines::new(name, reader, limit, Box::new(wrap))))
    }
}

/// Returns `true` if an entry's name is a relative path by the rules of every system.
///
/// The decoder's own check turns an absolute path into a relative one instead of rejecting it.
fn is_relative(name: &str) -> bool {
    let mut chars = name.chars();
    let (first, second) = (chars.next(), chars.next());
    let rooted = matches!(first, Some('/' | '\\'));
    let drive = first.is_some_and(|letter| letter.is_ascii_alphabetic()) && second == Some(':');
    !rooted && !drive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_names_are_told_from_relative_ones() {
        for name in ["a", "a/b", "a//b", "./a", "..", "é:a", ""] {
            assert!(is_relative(name), "{name}");
        }
        for name in ["/a", "\\a", "c:/a", "C:a", "\\\\server\\a"] {
            assert!(!is_relative(name), "{name}");
        }
    }
}
