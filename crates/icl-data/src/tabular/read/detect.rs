//! Detection of the format of a table at a path.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::columnar::read_parquet;
use super::delimited::{TextColumns, TextTable, read_delimited, read_text_columns, read_text_rows};
use crate::disk::{read_unpacked, unpacked};
use crate::error::{DataError, unreadable};
use crate::place::FileRef;
use crate::tabular::options::{Header, TableOptions};
use crate::tabular::table::RawTable;

/// Format of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// Text; `None` for a separator that is to be detected.
    Delimited(Option<u8>),
    Parquet,
}

/// Names of the files that are read.
const FORMATS: &str = "a file `NAME.csv` or `NAME.tsv`, plain or with `.gz`, or `NAME.parquet`";

/// Endings of the names of tables, before `.gz` if they are compressed.
const ENDINGS: [(&str, Format); 4] = [
    (".csv", Format::Delimited(None)),
    (".tsv", Format::Delimited(Some(b'\t'))),
    (".tab", Format::Delimited(Some(b'\t'))),
    (".parquet", Format::Parquet),
];

/// Reads a table from a file `NAME.csv` or `NAME.tsv`, plain or compressed by gzip (`.gz`), or
/// `NAME.parquet`.
///
/// A text table is UTF-8 with one row a line; values are separated by commas (in a `.csv` file without
/// any on its first line: by semicolons or tabs) and may be quoted as RFC 4180 says. Lines may end in
/// CRLF, empty lines are skipped, blanks around a value do not count.
///
/// A Parquet table is packed by Snappy, gzip or Zstandard or not at all, and its values are those of a text table:
/// a text `12` is a number, a boolean is 0 or 1, a date or a timestamp of any unit is a text in the order of time.
///
/// A column holds **numbers** if no value of it is text. A column of **text** holds the names of
/// categories; without any number in it, `NA`, `NaN`, `null` and `Inf` are names, too. In between, the first text is an
/// error if at least 90 % of the values are numbers, or at least half of them with more than 20 different values; else
/// the numbers, too, are names. Values are kept as they are written.
///
/// ```no_run
/// use icl_data::{TableOptions, read_table};
///
/// let options = TableOptions {
///     target: Some("class".into()),
///     ..TableOptions::default()
/// };
/// let letters = read_table("LetterRecognition.csv.gz", &options)?;
/// println!("{} rows of {} classes", letters.n_rows(), letters.class_names().len());
/// # Ok::<(), icl_data::DataError>(())
/// ```
///
/// # Errors
/// A [`DataError`] that names the file, the line and the column, what was found and what was expected, if the file is
/// unreadable or malformed, holds more than 2 GiB, unpacks to more than 64 MiB and to more than 200 times its size, or
/// has more than 65 536 columns or 2^28 values, or if a Parquet file would take more than 64 MiB and 20 times its size
/// in memory.
pub fn read_table(path: impl AsRef<Path>, options: &TableOptions) -> Result<RawTable, DataError> {
    let (file, name, format) = located(path.as_ref())?;
    match format {
        Format::Delimited(separator) => {
            let bytes = read_unpacked(&file)?.into_owned();
            read_delimited(&file, name, bytes, separator, options)
        }
        Format::Parquet => read_parquet(&file, name, options),
    }
}

/// Reads two columns of a text table as texts; see [`read_text_columns`].
pub(crate) fn read_texts(
    path: &Path,
    columns: [&str; 2],
    header: Header,
) -> Result<TextColumns, DataError> {
    let (file, name, separator) = located_text(path)?;
    let bytes = read_unpacked(&file)?.into_owned();
    read_text_columns(&file, name, bytes, separator, columns, header)
}

/// Reads a file `NAME.csv` or `NAME.tsv`, plain or with `.gz`, whose first line holds the names of its columns, as
/// texts. Its format is that of [`read_table`].
///
/// # Errors
/// A [`DataError`] that names the file and the line if it is unreadable or malformed, has two columns of one name, or
/// no row.
pub fn read_text_table(path: impl AsRef<Path>) -> Result<TextTable, DataError> {
    let (file, _, separator) = located_text(path.as_ref())?;
    read_text_rows(&file, read_unpacked(&file)?.into_owned(), separator)
}

/// Returns the file of a text table, which must exist, its name without endings, and its separator, if that is known.
fn located_text(path: &Path) -> Result<(FileRef, String, Option<u8>), DataError> {
    let (file, name, format) = located(path)?;
    match format {
        Format::Delimited(separator) => Ok((file, name, separator)),
        Format::Parquet => Err(DataError::new(
            path.display(),
            "a Parquet file",
            "a text file `NAME.csv` or `NAME.tsv`, plain or with `.gz`",
        )),
    }
}

/// Returns the file of a table, which must exist, its name without endings, and its format.
fn located(path: &Path) -> Result<(FileRef, String, Format), DataError> {
    let named = format_of(path);
    let file = FileRef::on_disk(path);
    match fs::metadata(file.path()) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(DataError::new(
                path.display(),
                "no such file",
                format!("a table: {FORMATS}"),
            ));
        }
        Err(source) => return Err(unreadable(file, source)),
        Ok(_) => {}
    }
    match named {
        Some((name, format)) => Ok((file, name, format)),
        None => Err(DataError::new(
            path.display(),
            "a name with another ending",
            FORMATS,
        )),
    }
}

/// Reads a text table in memory, compressed or not. Error messages call it by `name`.
pub(crate) fn read_table_bytes(
    name: &str,
    bytes: &[u8],
    options: &TableOptions,
) -> Result<RawTable, DataError> {
    let file = FileRef::on_disk(Path::new(&format!("embedded {name}")));
    read_delimited(
        &file,
        name.to_owned(),
        unpacked(bytes, &file)?.into_owned(),
        None,
        options,
    )
}

/// Returns `true` if `path` is for [`read_table`], by its name only; a folder never is.
pub fn looks_like_table(path: impl AsRef<Path>) -> bool {
    let path = path.as_ref();
    format_of(path).is_some() && !path.is_dir()
}

/// Returns the name of a table without its endings, and its format.
fn format_of(path: &Path) -> Option<(String, Format)> {
    let name = path.file_name()?.to_str()?;
    let plain = name.strip_suffix(".gz").unwrap_or(name);
    let of = |(ending, format): &(&str, Format)| {
        let start = plain.len().checked_sub(ending.len())?;
        let is_named = plain.get(start..)?.eq_ignore_ascii_case(ending);
        (is_named && start > 0 && !name.starts_with('.'))
            .then(|| (plain[..start].to_owned(), *format))
    };
    ENDINGS.iter().find_map(of)
}
