//! The files of one data set, wherever they are.

use std::fs::{self, File};
use std::io::{BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use super::archive::{Archive, ArchiveBytes};
use super::names::{Stem, TuTable, only_data_set};
use super::table::Table;

use crate::error::DataError;
use crate::place::{FileRef, Found};
use crate::unpack::read_at_most;

/// What every zip archive begins with: the header of an entry, or the end of an empty table.
const ZIP_BEGINNINGS: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// The files of the one data set in an archive or a folder.
pub(super) struct TuFiles {
    stem: Stem,
    home: Home,
}

enum Home {
    Archive(Archive),
    Folder(PathBuf),
}

impl TuFiles {
    /// Finds the data set in the archive or folder at `path`.
    pub(super) fn open(path: &Path) -> Result<Self, DataError> {
        let unreadable = |source| DataError::Unreadable {
            file: FileRef::on_disk(path),
            source,
        };
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(DataError::NoSuchPath {
                    path: path.to_path_buf(),
                });
            }
            Err(error) => return Err(unreadable(error)),
        };
        if metadata.is_dir() {
            return Self::open_folder(path);
        }
        if metadata.is_file() {
            let file = File::open(path).map_err(unreadable)?;
            let opened = Self::open_archive(path, Box::new(BufReader::new(file)));
            // A zip archive may have anything before it, so that its beginning tells a damaged
            // archive from another kind of file only once it could not be read.
            if !matches!(opened, Err(DataError::Archive { .. })) || begins_as_zip(path) {
                return opened;
            }
        }
        Err(DataError::NotADataSet {
            path: path.to_path_buf(),
        })
    }

    /// Finds the data set in an archive, which messages call by `path`.
    pub(super) fn open_archive(
        path: &Path,
        bytes: Box<dyn ArchiveBytes>,
    ) -> Result<Self, DataError> {
        let archive = Archive::open(path, bytes)?;
        let stem = only_data_set(path, archive.files())?.ok_or_else(|| DataError::NoDataSet {
            path: path.to_path_buf(),
        })?;
        Ok(Self {
            stem,
            home: Home::Archive(archive),
        })
    }

    /// Finds the data set in a folder or, if the folder itself has none, in the folders in it.
    fn open_folder(path: &Path) -> Result<Self, DataError> {
        let (mut files, folders) = list(path)?;
        let mut stem = only_data_set(path, files.iter().map(String::as_str))?;
        if stem.is_none() {
            files.clear();
            for folder in folders {
                let (inner, _) = list(&path.join(&folder))?;
                files.extend(inner.iter().map(|file| format!("{folder}/{file}")));
            }
            stem = only_data_set(path, files.iter().map(String::as_str))?;
        }
        let stem = stem.ok_or_else(|| DataError::NoDataSet {
            path: path.to_path_buf(),
        })?;
        Ok(Self {
            stem,
            home: Home::Folder(path.to_path_buf()),
        })
    }

    /// The data set's name.
    pub(super) fn name(&self) -> &str {
        self.stem.name()
    }

    /// A table that may be absent.
    pub(super) fn optional(&mut self, table: TuTable) -> Result<Option<Table>, DataError> {
        let name = self.stem.file(table);
        let file = self.file_ref(&name);
        let bytes = match &mut self.home {
            Home::Archive(archive) => archive.read(&name)?,
            Home::Folder(_) => read_file(&file)?,
        };
        bytes
            .map(|bytes| Table::try_new(file, bytes, table))
            .transpose()
    }

    /// A table that must be there.
    pub(super) fn required(&mut self, table: TuTable) -> Result<Table, DataError> {
        self.optional(table)?.ok_or_else(|| DataError::MissingFile {
            file: self.file_ref(&self.stem.file(table)),
            beside: Found::new(&self.stem.file(TuTable::Edges)),
        })
    }

    fn file_ref(&self, name: &str) -> FileRef {
        match &self.home {
            Home::Archive(archive) => archive.file_ref(name),
            Home::Folder(path) => FileRef::on_disk(&path.join(name)),
        }
    }
}

fn begins_as_zip(path: &Path) -> bool {
    let mut beginning = [0; 4];
    let read =
        File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut beginning));
    read.is_ok() && ZIP_BEGINNINGS.contains(&beginning.as_slice())
}

/// The names of the files and of the folders in a folder, sorted.
///
/// Names that are not UTF-8 are left out: no file of a data set has one.
fn list(path: &Path) -> Result<(Vec<String>, Vec<String>), DataError> {
    let unreadable = |source| DataError::Unreadable {
        file: FileRef::on_disk(path),
        source,
    };
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

/// The contents of a file on disk, or `None` if it is not there.
fn read_file(file: &FileRef) -> Result<Option<Vec<u8>>, DataError> {
    let unreadable = |source| DataError::Unreadable {
        file: file.clone(),
        source,
    };
    let metadata = match fs::metadata(file.path()) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    if !metadata.is_file() {
        // Opening a pipe would wait for someone to write into it.
        return Err(unreadable(ErrorKind::InvalidInput.into()));
    }
    let opened = File::open(file.path()).map_err(unreadable)?;
    read_at_most(opened, metadata.len(), file, unreadable).map(Some)
}
