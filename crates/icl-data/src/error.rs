//! Errors in data, whatever its samples are, and in splits of it.

use std::fmt::Display;
use std::io;
use std::path::Path;

use icl_core::{ErrorOf, KindAbove};

use crate::place::Found;

/// Rejected data, or a rejected split of it.
///
/// Every message about a file names the file (and the archive's entry), the line where there is
/// one, what was found and what was expected.
pub type DataError = ErrorOf<DataErrorKind>;

/// Kind of a [`DataError`], as far as a caller may act on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum DataErrorKind {
    /// Data that are not what is expected; the message says what.
    #[default]
    Invalid,
    /// The operating system could not read a file or folder. Its error is the source.
    Unreadable,
    /// A file or folder cannot be written, or exists already. The error of the operating system is the source.
    Unwritable,
    /// A path that leads to no data set of this kind.
    NoDataSet,
    /// A file that is damaged or of another kind; other files of the data set may be intact.
    Damaged,
    /// A file that holds no samples.
    Empty,
}

impl KindAbove for DataErrorKind {}

/// Returns the error of a file or folder that the operating system could not read.
pub(crate) fn unreadable(file: impl Display, source: io::Error) -> DataError {
    let found = "a file or folder that cannot be read";
    DataError::new(file, found, "a readable one")
        .with_source(source)
        .with_kind(DataErrorKind::Unreadable)
}

/// Returns the error of a file that is larger, once unpacked, than the largest that is read.
pub(crate) fn too_large(file: impl Display, limit: u64) -> DataError {
    DataError::new(
        file,
        format!("more than {limit} bytes"),
        "at most that many",
    )
}

/// Returns the error of a file that holds, or leads to, more objects than are supported; `what` names them.
pub(crate) fn too_many(file: impl Display, found: usize, what: &str, limit: usize) -> DataError {
    DataError::new(file, format!("{found} {what}"), format!("at most {limit}"))
}

/// Returns the error of a missing file that belongs next to the file `next_to`.
pub(crate) fn missing_file(file: impl Display, next_to: &str) -> DataError {
    let expected = format!("it next to {}", Found::new(next_to));
    DataError::new(file, "no such file", expected)
}

/// Returns the error of an archive or folder with more than one data set, of which `files` identify two.
pub(crate) fn several_data_sets(path: &Path, files: [&str; 2]) -> DataError {
    let [first, second] = files.map(Found::new);
    let found = format!("more than one data set, {first} and {second}");
    DataError::new(path.display(), found, "one")
}
