//! Errors in data, whatever its samples are, and in splits of it.

use std::io;
use std::path::PathBuf;

use icl_core::Error;

use crate::graph::GraphsError;
use crate::image::ImagesError;
use crate::interactions::InteractionsError;
use crate::join_error::{JoinError, JoinImagesError};
use crate::place::{ClassList, FileRef, Found};
use crate::tabular::TablesError;

/// Rejected data, or a rejected setting of views or splits.
///
/// Every message about a file names the file (and the archive's entry), the line where there is
/// one, what was found and what was expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The operating system could not read a file or folder.
    #[error("{file}: found a file or folder that cannot be read, expected a readable one")]
    Unreadable {
        /// File or folder.
        file: FileRef,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A file or folder cannot be written, or exists already.
    #[error(
        "{file}: found a file or folder that cannot be written, expected a new one in a writable folder"
    )]
    Unwritable {
        /// File or folder.
        file: FileRef,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A tar archive is cut or damaged, or cannot be unpacked into its target folder.
    #[error("{}: found a tar archive that cannot be unpacked, expected an intact one and a writable folder", path.display())]
    Tar {
        /// Path of the archive.
        path: PathBuf,
        /// Error of the decoder or of the operating system.
        source: io::Error,
    },
    /// A file is larger, once unpacked, than the largest that is read.
    #[error("{file}: found more than {limit} bytes, expected at most that many")]
    TooLarge {
        /// File or entry.
        file: FileRef,
        /// Largest size that is read, in bytes.
        limit: u64,
    },
    /// The archive or folder holds more than one data set.
    #[error("{}: found more than one data set, {first} and {second}, expected one", path.display())]
    SeveralDataSets {
        /// Path of the archive or folder.
        path: PathBuf,
        /// File that identifies one of the data sets.
        first: Found,
        /// File that identifies another one.
        second: Found,
    },
    /// A required file is missing.
    #[error("{file}: found no such file, expected it beside {beside}")]
    MissingFile {
        /// Missing file.
        file: FileRef,
        /// File that makes the missing one necessary.
        beside: Found,
    },
    /// A count exceeds the largest one that is supported.
    #[error("{file}: found {found} {what}, expected at most {limit}")]
    TooMany {
        /// File that holds, or causes, too many.
        file: FileRef,
        /// Name of the counted objects.
        what: &'static str,
        /// Number of them.
        found: usize,
        /// Largest supported number.
        limit: usize,
    },
    /// No split has this name.
    #[error(
        "split: found {found}, expected `random`, `size`, `class`, `class:NAME,NAME`, `column:NAME` or `time`"
    )]
    UnknownSplit {
        /// Rejected name.
        found: Found,
    },
    /// A selected class does not exist.
    #[error("data set {data}: found no class {found}, expected classes among {known}")]
    UnknownClass {
        /// Name of the data set.
        data: Found,
        /// Selected name.
        found: Found,
        /// Names of the classes.
        known: ClassList,
    },
    /// A class is selected twice.
    #[error("data set {data}: found class {found} twice, expected each of {known} at most once")]
    RepeatedClass {
        /// Name of the data set.
        data: Found,
        /// Name of the class.
        found: Found,
        /// Names of the classes.
        known: ClassList,
    },
    /// A split leaves fewer than two samples on one side.
    #[error(
        "split `{split}` at alpha {alpha}: found {n_old} old and {n_new} new of {} samples, expected at least 2 of each",
        n_old + n_new
    )]
    SplitTooSmall {
        /// Name of the split.
        split: &'static str,
        /// Growth ratio α.
        alpha: f64,
        /// Number of old samples.
        n_old: usize,
        /// Number of new samples.
        n_new: usize,
    },
    /// Classes leave fewer than two samples on one side of a split.
    #[error(
        "split {split}: found {n_old} old and {n_new} new samples, expected at least 2 of each"
    )]
    ClassesTooSmall {
        /// Text of the split.
        split: Found,
        /// Number of samples of the named classes.
        n_old: usize,
        /// Number of samples of other classes.
        n_new: usize,
    },
    /// A split by a column is used on data without columns.
    #[error("split {split}: found {found}, expected a table with this column")]
    NoColumns {
        /// Text of the split.
        split: Found,
        /// Kind of the samples.
        found: &'static str,
    },
    /// A split is used on samples of a kind for which it is none.
    #[error("split {split}: found {found}, expected {expected}")]
    UnfitSplit {
        /// Text of the split.
        split: Found,
        /// Kind of the samples.
        found: &'static str,
        /// Kinds of samples for which it is one.
        expected: &'static str,
    },
    /// Old and new samples do not form an increment.
    #[error(transparent)]
    Increment(#[from] Error),
    /// Graphs, or settings of their views, are invalid.
    #[error(transparent)]
    Graphs(#[from] GraphsError),
    /// Images, or a selection of them, are invalid.
    #[error(transparent)]
    Images(#[from] ImagesError),
    /// A table is invalid, or cannot be used as requested.
    #[error(transparent)]
    Tables(#[from] TablesError),
    /// Interactions are invalid, or cannot be split as requested.
    #[error(transparent)]
    Interactions(#[from] InteractionsError),
    /// Two data sets of graphs cannot be joined.
    #[error(transparent)]
    Join(#[from] JoinError),
    /// Two data sets of images cannot be joined.
    #[error(transparent)]
    JoinImages(#[from] JoinImagesError),
    /// No embedded data set of this kind has this name.
    #[error("embedded data: found {found}, expected one of {}", known.join(", "))]
    UnknownEmbedded {
        /// Rejected name.
        found: Found,
        /// Names of the embedded data sets of this kind.
        known: &'static [&'static str],
    },
    /// The catalogue has no data set of this name.
    #[error("catalogue: found {found}, expected one of {}", known.join(", "))]
    UnknownDownload {
        /// Rejected name.
        found: Found,
        /// Names of the data sets of the catalogue.
        known: Vec<&'static str>,
    },
    /// A data set of the catalogue is not in the folder of all data sets.
    #[error(
        "{file}: found nothing, expected the data set {name}; `icl fetch {name}` downloads it, and ICL_DATA_DIR names another folder"
    )]
    NotDownloaded {
        /// Expected file or folder.
        file: FileRef,
        /// Name of the data set.
        name: &'static str,
    },
    /// A path leads nowhere, and is no name of the catalogue.
    #[error("{file}: found nothing, expected a data set, or one of the names that `icl fetch` downloads: {}", known.join(", "))]
    Absent {
        /// Rejected path.
        file: FileRef,
        /// Names of the data sets of the catalogue.
        known: Vec<&'static str>,
    },
    /// The length of a downloaded file differs from the publisher's.
    #[error("{file}: found {found} bytes, expected {expected}")]
    DownloadLength {
        /// Downloaded file.
        file: FileRef,
        /// Its length in bytes.
        found: u64,
        /// Length of the publisher's file in bytes.
        expected: u64,
    },
    /// The MD5 sum of a downloaded file differs from the publisher's.
    #[error("{file}: found contents of MD5 sum {found}, expected {expected}")]
    DownloadSum {
        /// Downloaded file.
        file: FileRef,
        /// Its MD5 sum as 32 hexadecimal digits.
        found: String,
        /// MD5 sum that the publisher states.
        expected: &'static str,
    },
    /// The tables of a downloaded data set of graphs are not those that are known.
    #[error("{file}: found tables of MD5 sum {found}, expected {expected}")]
    DownloadTables {
        /// Downloaded archive.
        file: FileRef,
        /// MD5 sum of its tables as 32 hexadecimal digits.
        found: String,
        /// Sum of the tables that are known by this name.
        expected: &'static str,
    },
}
