//! Samples that are written as a data set of their own.

use std::error::Error as _;
use std::path::{Path, PathBuf};

use icl_data::{DataError, DataErrorKind, Header};

use crate::domain::data::Data;
use crate::options::classes::Classes;
use crate::process::failure::Failure;
use crate::process::terminal::tell;

impl Data {
    /// Writes samples into a new folder, from which they can be read: graphs as a TU data set, images as IDX files, PNG
    /// files or copies of their files, interactions as `.inter`, tables and pairs of texts as `.csv`.
    ///
    /// # Errors
    /// If the folder cannot be written, or a name cannot be that of a file.
    pub fn write(&self, samples: &[usize], folder: &Path) -> Result<(), Failure> {
        match self {
            Self::Graphs(graphs) => graphs.write(samples, folder).map_err(failure),
            Self::Images(images) => images.write(samples, folder).map_err(failure),
            Self::Interactions(interactions) => {
                let path = in_new_folder(folder, &format!("{}.inter", interactions.name()))?;
                interactions.write(samples, path).map_err(failure)
            }
            Self::Tables(table) => {
                let path = in_new_folder(folder, &format!("{}.csv", table.name()))?;
                table.write(samples, path).map_err(failure)
            }
            Self::TextPairs(pairs) => {
                let path = in_new_folder(folder, &format!("{}.csv", pairs.name()))?;
                pairs.write(samples, path).map_err(failure)
            }
        }
    }

    /// Returns what the first line of a table of these samples is, if it is a table.
    pub fn written_header(&self, samples: &[usize]) -> Option<Header> {
        match self {
            Self::Tables(table) => Some(table.written_header(samples)),
            _ => None,
        }
    }

    /// Reports the options with which parts that were written are read as the whole was.
    pub fn tell_reading(&self, parts: &[&[usize]]) {
        match self {
            Self::TextPairs(pairs) => {
                let columns = pairs.written_columns();
                tell(format_args!(
                    "note: read what was written with --texts '{}'",
                    Classes::text(columns.iter().map(String::as_str))
                ));
            }
            Self::Tables(table) => {
                let mut headers = parts.iter().map(|rows| table.written_header(rows));
                if let Some(header) = headers.find(|header| *header != Header::Auto) {
                    tell(format_args!(
                        "note: read what was written with --header {header}, since its first line could be read as \
                         something else"
                    ));
                }
                for name in table.index_columns() {
                    tell(format_args!(
                        "note: column {name} numbers the rows of the whole table, and is written, too; read what was \
                         written with --exclude '{}'",
                        Classes::text([name])
                    ));
                }
            }
            Self::Graphs(_) | Self::Images(_) | Self::Interactions(_) => {}
        }
    }
}

/// Creates a folder, and returns the path of the file of this name in it.
fn in_new_folder(folder: &Path, name: &str) -> Result<PathBuf, Failure> {
    let failure = |error| Failure::file(folder, "cannot be written", error);
    std::fs::create_dir(folder).map_err(failure)?;
    Ok(folder.join(name))
}

/// Returns the failure to write a part: in our own folder, that of the machine, unless the names in the data cannot be
/// those of files.
fn failure(error: DataError) -> Failure {
    use std::io::ErrorKind::{AlreadyExists, InvalidFilename, InvalidInput};

    let source = error.source().and_then(|source| source.downcast_ref());
    match source.map(std::io::Error::kind) {
        Some(kind)
            if error.kind() == DataErrorKind::Unwritable
                && !matches!(kind, AlreadyExists | InvalidFilename | InvalidInput) =>
        {
            Failure::Other(error.into())
        }
        _ => Failure::input(error),
    }
}
