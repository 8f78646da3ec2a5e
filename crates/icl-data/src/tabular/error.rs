//! Errors in tables.

use std::io;
use std::path::PathBuf;

use parquet::errors::ParquetError;

use super::place::{CellPlace, ColumnList};
use super::vector_fault::VectorFault;
use crate::place::{ClassList, FileRef, Found, Place};

/// Names of the files that are read.
const FORMATS: &str = "a file `NAME.csv` or `NAME.tsv`, plain or with `.gz`, or `NAME.parquet`";

/// Rejected table, or a rejected use of one.
///
/// Every message about a file names the file, the line and the column where there are any, what was
/// found and what was expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TablesError {
    /// No file exists at the path.
    #[error(
        "{}: found no such file, expected a table: {}",
        path.display(),
        FORMATS
    )]
    NoSuchPath {
        /// Path as it was given.
        path: PathBuf,
    },
    /// The path does not have the name of a table, or is a folder.
    #[error("{}: found no table by its name, expected {}", path.display(), FORMATS)]
    NotATable {
        /// Path as it was given.
        path: PathBuf,
    },
    /// A table that is to hold texts is no text file.
    #[error("{}: found a Parquet file, expected a text file `NAME.csv` or `NAME.tsv`, plain or with `.gz`", path.display())]
    NotText {
        /// Path as it was given.
        path: PathBuf,
    },
    /// A gzip-compressed file is cut or damaged.
    #[error("{file}: found a cut or damaged gzip file, expected an intact one")]
    Gzip {
        /// Compressed file.
        file: FileRef,
        /// Error of the decoder.
        source: io::Error,
    },
    /// A Parquet file is cut, damaged or packed by an unsupported codec.
    #[error(
        "{file}: found a Parquet file that cannot be read, expected an intact one, packed by Snappy, gzip or Zstandard or not packed"
    )]
    Parquet {
        /// File in question.
        file: FileRef,
        /// Error of the decoder.
        source: ParquetError,
    },
    /// The values of a Parquet file take more memory than those of a file of its size may.
    #[error(
        "{file}: found values that take more than {limit} bytes of memory, expected at most that many: 64 MiB and 20 times the file"
    )]
    Unpacked {
        /// File in question.
        file: FileRef,
        /// Largest number of bytes.
        limit: u64,
    },
    /// A value of a Parquet file is a group, a list or no text.
    #[error(
        "{at}: found a nested value or bytes that are no text, expected a number or a text (a column can be excluded)"
    )]
    Nested {
        /// Cell in question.
        at: CellPlace,
    },
    /// A row of a column of vectors is no vector like the others.
    #[error("{at}: {fault}")]
    Vector {
        /// Cell in question.
        at: CellPlace,
        /// Content that was found and expected.
        fault: VectorFault,
    },
    /// A file is not UTF-8 text.
    #[error("{at}: found byte {byte} that is not UTF-8, expected text")]
    NotUtf8 {
        /// Line of the byte.
        at: Place,
        /// Position of the byte in the uncompressed file, counted from 0.
        byte: usize,
    },
    /// A text file holds nothing, or a table without columns.
    #[error("{file}: found an empty table, expected rows of values")]
    Empty {
        /// File in question.
        file: FileRef,
    },
    /// A table holds a header and no rows.
    #[error("{file}: found a header and no rows, expected at least one row")]
    HeaderOnly {
        /// File in question.
        file: FileRef,
    },
    /// A quoted value does not end.
    #[error("{at}: found a quote that is never closed, expected a second one after the value")]
    OpenQuote {
        /// Line on which the quote opens.
        at: Place,
    },
    /// A row has another number of values than the first.
    #[error("{at}: found {found} values, expected {expected}, as on the first line")]
    Width {
        /// First line of the row.
        at: Place,
        /// Number of values found.
        found: usize,
        /// Number of values of the first line.
        expected: usize,
    },
    /// Two columns have the same name.
    #[error(
        "{file}: found columns {first} and {second} with the name {name}, expected different names"
    )]
    RepeatedColumn {
        /// File in question.
        file: FileRef,
        /// Name of both columns.
        name: Found,
        /// First of them, counted from 1.
        first: usize,
        /// Second of them, counted from 1.
        second: usize,
    },
    /// A setting names a column that does not exist.
    #[error("{data}: found no column {found}, expected one of {known}, or a number from 1")]
    UnknownColumn {
        /// Name of the data set.
        data: Found,
        /// Rejected name.
        found: Found,
        /// Names of the columns.
        known: ClassList,
    },
    /// A cell of a column of numbers is text.
    #[error("{at}: found {found}, expected a number, as in most rows of this column{hint}")]
    NotANumber {
        /// Cell in question.
        at: CellPlace,
        /// Text of the cell.
        found: Found,
        /// Hint at a change that would make it a number, in brackets; may be empty.
        hint: Box<str>,
    },
    /// A number is infinite or does not fit in 32 bits.
    #[error("{at}: found {found}, expected a finite number of at most 3.4e38")]
    Infinite {
        /// Cell in question.
        at: CellPlace,
        /// Text of the cell.
        found: Found,
    },
    /// A value is missing, and missing values are errors.
    #[error("{at}: found {found}, a missing value, expected a value (or `--missing mean`)")]
    MissingValue {
        /// Cell in question.
        at: CellPlace,
        /// Text of the cell.
        found: Found,
    },
    /// A text of a pair of texts is missing.
    #[error("{at}: found nothing, expected a text")]
    NoText {
        /// Cell in question.
        at: CellPlace,
    },
    /// The class of a row is missing.
    #[error("{at}: found {found}, a missing value, expected the class of the row")]
    MissingClass {
        /// Cell in question.
        at: CellPlace,
        /// Text of the cell.
        found: Found,
    },
    /// The target is a number with a fraction.
    #[error("{at}: found {found} as target, expected a class: a name or a whole number")]
    TargetFraction {
        /// Cell in question.
        at: CellPlace,
        /// Text of the cell.
        found: Found,
    },
    /// A column of text has too many different values to be categories.
    #[error(
        "{data}, column {column}: found {found} different texts, expected at most {limit} categories, or numbers (a column can be excluded)"
    )]
    Categories {
        /// Name of the data set.
        data: Found,
        /// Column in question.
        column: Found,
        /// Number of different texts.
        found: usize,
        /// Largest supported number of categories.
        limit: usize,
    },
    /// A table has no column that could be a feature.
    #[error("{data}: found no feature among the columns, expected at least one that is {expected}")]
    NoFeatures {
        /// Name of the data set.
        data: Found,
        /// Property of a feature.
        expected: &'static str,
    },
    /// A table does not have the columns of a schema, or of another table.
    #[error(
        "{data}: found other columns (missing: {missing}; surplus: {surplus}), expected those of {expected}"
    )]
    Columns {
        /// Name of the table in question.
        data: Found,
        /// Name of the table whose columns are expected.
        expected: Found,
        /// Names of the missing columns.
        missing: ColumnList,
        /// Names of the surplus columns.
        surplus: ColumnList,
    },
    /// A column holds text in one table and numbers in another.
    #[error("{data}, column {column}: found {found}, expected {expected}")]
    ColumnType {
        /// Name of the table in question.
        data: Found,
        /// Column in question.
        column: Found,
        /// Type of its values.
        found: &'static str,
        /// Type of its values in the old data.
        expected: &'static str,
    },
    /// Rows cannot be ordered by a column, whose texts are no dates of ISO 8601.
    #[error(
        "{data}, column {column}: found {found}, a date whose text is not in the order of time, expected its form {expected}"
    )]
    NotInOrder {
        /// Name of the data set.
        data: Found,
        /// Column in question.
        column: Found,
        /// First date in another form.
        found: Found,
        /// The date in the form of ISO 8601.
        expected: Found,
    },
    /// A split by classes is used on a table without any.
    #[error("{data}: found no classes for split {split}, expected a target column")]
    NoTarget {
        /// Name of the data set.
        data: Found,
        /// Text of the split.
        split: Found,
    },
    /// The limit on the number of rows is too small.
    #[error("limit: found {found} rows, expected at least {expected}")]
    Limit {
        /// Requested number.
        found: usize,
        /// Smallest accepted number.
        expected: usize,
    },
    /// Images whose pixels are to be columns differ in size.
    #[error(
        "data set {data}, image {index}: found {} x {} pixels of {} channels, expected {} x {} of {}, the size of \
         the first image: pixels become columns",
        found[0], found[1], found[2], expected[0], expected[1], expected[2]
    )]
    Sizes {
        /// Name of the data set.
        data: Found,
        /// Index of the first image of another size.
        index: usize,
        /// Its height, width and number of channels.
        found: [usize; 3],
        /// Sides and channels of the first image.
        expected: [usize; 3],
    },
    /// A setting has no such value.
    #[error("{setting}: found {found}, expected {expected}")]
    UnknownSetting {
        /// Name of the setting.
        setting: &'static str,
        /// Rejected value.
        found: Found,
        /// Accepted values.
        expected: &'static str,
    },
    /// A table has too few rows to be a part of an increment.
    #[error("data set {data}: found {found} rows, expected at least 2")]
    TooSmall {
        /// Name of the data set.
        data: Found,
        /// Number of its rows.
        found: usize,
    },
}
