//! Files of one data set, in an archive or a folder.

use std::error::Error as _;
use std::fs;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::archive::{Archive, ArchiveBytes};
use super::lines::Lines;
use super::names::{FilePrefix, TuTable, only_data_set};
use super::table::TextTable;
use crate::disk::{MAX_BYTES, list_folder, open_file};
use crate::error::{DataError, DataErrorKind, missing_file, unreadable};
use crate::place::FileRef;

/// Beginnings of zip archives: the header of an entry, or the end of an empty table.
const ZIP_BEGINNINGS: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// Files of the only data set in an archive or a folder.
pub(super) struct TuFiles {
    prefix: FilePrefix,
    container: Container,
}

enum Container {
    Archive(Archive),
    Folder(PathBuf),
}

impl TuFiles {
    /// Finds the data set in the archive or folder at `path`.
    pub(super) fn open(path: &Path) -> Result<Self, DataError> {
        let unreadable = |source| unreadable(FileRef::on_disk(path), source);
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(DataError::new(
                    path.display(),
                    "no such file or folder",
                    "a zip archive or a folder of a TU data set",
                ));
            }
            Err(error) => return Err(unreadable(error)),
        };
        if metadata.is_dir() {
            return Self::open_folder(path);
        }
        if metadata.is_file() {
            let file = open_file(&FileRef::on_disk(path))?;
            let opened = Self::open_archive(path, Box::new(BufReader::new(file)));
            // Arbitrary data may precede a zip archive, so that its beginning distinguishes a
            // damaged archive from another kind of file only after the archive cannot be read.
            let is_damaged = |error: &DataError| error.kind() == DataErrorKind::Damaged;
            if !opened.as_ref().is_err_and(is_damaged) || begins_as_zip(path) {
                return opened;
            }
        }
        Err(DataError::new(
            path.display(),
            "neither a zip archive nor a folder",
            "one of them with a TU data set",
        )
        .with_kind(DataErrorKind::NoDataSet))
    }

    /// Finds the data set in an archive, which error messages call by `path`.
    pub(super) fn open_archive(
        path: &Path,
        bytes: Box<dyn ArchiveBytes>,
    ) -> Result<Self, DataError> {
        let archive = Archive::open(path, bytes)?;
        let prefix = only_data_set(path, archive.files())?.ok_or_else(|| no_data_set(path))?;
        Ok(Self {
            prefix,
            container: Container::Archive(archive),
        })
    }

    /// Finds the data set in a folder or, if the folder itself has none, in the folders in it.
    fn open_folder(path: &Path) -> Result<Self, DataError> {
        let (mut files, folders) = list_folder(path)?;
        let mut prefix = only_data_set(path, files.iter().map(String::as_str))?;
        if prefix.is_none() {
            files.clear();
            for folder in folders {
                let (inner, _) = list_folder(&path.join(&folder))?;
                files.extend(inner.iter().map(|file| format!("{folder}/{file}")));
            }
            prefix = only_data_set(path, files.iter().map(String::as_str))?;
        }
        let prefix = prefix.ok_or_else(|| no_data_set(path))?;
        Ok(Self {
            prefix,
            container: Container::Folder(path.to_path_buf()),
        })
    }

    /// Returns the name of the data set.
    pub(super) fn name(&self) -> &str {
        self.prefix.data_set()
    }

    /// Reads a table, which may be missing.
    pub(super) fn optional(&mut self, table: TuTable) -> Result<Option<TextTable<'_>>, DataError> {
        let name = self.prefix.file(table);
        let file = self.file_ref(&name);
        let lines = match &mut self.container {
            Container::Archive(archive) => archive.lines(&name)?,
            Container::Folder(_) => match open_file(&file) {
                Err(error) if is_not_found(&error) => None,
                opened => {
                    let reader = Box::new(BufReader::new(opened?));
                    let of_file = file.clone();
                    let wrap = move |source| unreadable(&of_file, source);
                    Some(Lines::new(file, reader, MAX_BYTES, Box::new(wrap)))
                }
            },
        };
        Ok(lines.map(|lines| TextTable::new(lines, table)))
    }

    /// Reads a table, which must exist.
    pub(super) fn required(&mut self, table: TuTable) -> Result<TextTable<'_>, DataError> {
        let missing = missing_file(
            self.file_ref(&self.prefix.file(table)),
            &self.prefix.file(TuTable::Edges),
        );
        self.optional(table)?.ok_or(missing)
    }

    fn file_ref(&self, name: &str) -> FileRef {
        match &self.container {
            Container::Archive(archive) => archive.file_ref(name),
            Container::Folder(path) => FileRef::on_disk(&path.join(name)),
        }
    }
}

fn begins_as_zip(path: &Path) -> bool {
    let mut beginning = [0; 4];
    let read = open_file(&FileRef::on_disk(path)).map(|mut file| file.read_exact(&mut beginning));
    matches!(read, Ok(Ok(()))) && ZIP_BEGINNINGS.contains(&beginning.as_slice())
}

/// Returns the error of an archive or folder without a file `NAME_A.txt`.
fn no_data_set(path: &Path) -> DataError {
    let expected = "the files of one TU data set";
    DataError::new(path.display(), "no file `NAME_A.txt`", expected)
        .with_kind(DataErrorKind::NoDataSet)
}

/// Returns whether a file could not be read because it does not exist.
fn is_not_found(error: &DataError) -> bool {
    let source = error.source().and_then(|it| it.downcast_ref());
    source.is_some_and(|source: &io::Error| source.kind() == ErrorKind::NotFound)
}
