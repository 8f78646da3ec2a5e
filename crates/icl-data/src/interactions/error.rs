//! Errors in files of interactions.

use std::io;

use crate::place::{FileRef, Found, Place};

/// Rejected file of interactions, or a rejected split of them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InteractionsError {
    /// A gzip-compressed file is cut or damaged.
    #[error("{file}: found a cut or damaged gzip file, expected an intact one")]
    Gzip {
        /// Compressed file.
        file: FileRef,
        /// Error of the decoder.
        source: io::Error,
    },
    /// A file is not UTF-8 text.
    #[error("{at}: found byte {byte} that is not UTF-8, expected text")]
    NotUtf8 {
        /// Line of the byte.
        at: Place,
        /// Position of the byte in the uncompressed file, counted from 0.
        byte: usize,
    },
    /// A file holds no interactions.
    #[error("{file}: found no interactions, expected at least one line of values")]
    Empty {
        /// File in question.
        file: FileRef,
    },
    /// The first line is that of no known format.
    #[error(
        "{at}: found {found}, expected a header with `user_id:token` (RecBole), or user, item, rating and time, separated by \
         tabs or by `::` (MovieLens)"
    )]
    Format {
        /// First line that is not empty.
        at: Place,
        /// Its beginning.
        found: Found,
    },
    /// A header lacks a column.
    #[error("{at}: found no column `{expected}` in the header, expected it once")]
    MissingColumn {
        /// Line of the header.
        at: Place,
        /// Name and type of the column.
        expected: &'static str,
    },
    /// A header has a column twice.
    #[error("{at}: found the column `{found}` twice in the header, expected it once")]
    RepeatedColumn {
        /// Line of the header.
        at: Place,
        /// Name and type of the column.
        found: &'static str,
    },
    /// A line has another number of values than the format or the header.
    #[error("{at}: found {found} values, expected {expected}")]
    Width {
        /// Line in question.
        at: Place,
        /// Number of values found.
        found: usize,
        /// Number of values of the format.
        expected: usize,
    },
    /// The last line does not end, so the file may be cut within a number.
    #[error("{at}: found a last line without line end, expected one: the file may be cut")]
    Cut {
        /// Last line.
        at: Place,
    },
    /// A user or an item has no name.
    #[error("{at}: found no name of the {what}, expected one")]
    EmptyName {
        /// Line in question.
        at: Place,
        /// Name of the column's content: user or item.
        what: &'static str,
    },
    /// A rating or a time is not a finite number.
    #[error("{at}: found the {what} {found}, expected a finite number")]
    NotANumber {
        /// Line in question.
        at: Place,
        /// Name of the column's content: rating or time.
        what: &'static str,
        /// Text found.
        found: Found,
    },
    /// Two lines are of the same user, item and time.
    #[error(
        "{at}: found the user, item and time of line {first} again, expected each interaction once"
    )]
    Repeated {
        /// Second line.
        at: Place,
        /// First line, counted from 1.
        first: usize,
    },
    /// A split by time leaves fewer than two interactions on one side.
    #[error(
        "split by time at alpha {alpha}: found {n_old} old and {n_new} new interactions, expected at least 2 of each"
    )]
    TimeSplit {
        /// Growth ratio α.
        alpha: f64,
        /// Number of old interactions.
        n_old: usize,
        /// Number of new interactions.
        n_new: usize,
    },
    /// Old or new data have too few interactions to be a part of an increment.
    #[error("data set {data}: found {found} interactions, expected at least 2")]
    TooSmall {
        /// Name of the data set.
        data: Found,
        /// Number of its interactions.
        found: usize,
    },
    /// The name of a user or an item cannot be written.
    #[error(
        "data set {data}: found a tab in the name of the {what} {found}, expected none: tabs separate the columns"
    )]
    Tab {
        /// Name of the data set.
        data: Found,
        /// Name of the column's content: user or item.
        what: &'static str,
        /// Name of the user or the item.
        found: Found,
    },
}
