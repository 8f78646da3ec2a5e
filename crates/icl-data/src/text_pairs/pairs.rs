//! Reader of pairs of texts.

use std::path::Path;

use crate::error::DataError;
use crate::tabular::{Header, read_texts};

/// Settings of [`read_text_pairs`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPairOptions {
    /// Column of the first text of a pair, the anchor: its name, or its number counted from 1.
    pub first: String,
    /// Column of the second text of a pair, the positive: its name, or its number counted from 1.
    pub second: String,
    /// First line of the file.
    pub header: Header,
}

impl TextPairOptions {
    /// Creates settings of these columns, whose names are detected.
    pub fn new(first: impl Into<String>, second: impl Into<String>) -> Self {
        Self {
            first: first.into(),
            second: second.into(),
            header: Header::Auto,
        }
    }
}

/// Pairs of texts that belong together, such as titles and bodies of news.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPairs {
    name: String,
    pairs: Vec<[String; 2]>,
}

impl TextPairs {
    /// Returns the name of the data set, taken from its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the pairs, in the order of the file.
    pub fn pairs(&self) -> &[[String; 2]] {
        &self.pairs
    }
}

/// Reads pairs of texts from two columns of a file `NAME.csv` or `NAME.tsv`, plain or compressed by gzip (`.gz`).
///
/// The file is a text table as [`read_table`](crate::read_table) describes it. Equal texts may be in several pairs.
///
/// ```no_run
/// use icl_data::{TextPairOptions, read_text_pairs};
///
/// let options = TextPairOptions::new("title", "description");
/// let news = read_text_pairs("ag-news.csv.gz", &options)?;
/// println!("{} pairs", news.pairs().len());
/// # Ok::<(), icl_data::DataError>(())
/// ```
///
/// # Errors
/// - [`DataError::Unreadable`], [`DataError::TooLarge`] (more than 2 GiB; or unpacked to more than 64 MiB and to more than
///   200 times the size of the file) and [`DataError::TooMany`] (more than 65 536 columns);
/// - [`DataError::Tables`] with a [`TablesError`](crate::TablesError) that names the file, the line and the column, what was
///   found and what was expected, in all other cases: among them a column that is not there, and an empty text.
pub fn read_text_pairs(
    path: impl AsRef<Path>,
    options: &TextPairOptions,
) -> Result<TextPairs, DataError> {
    let columns = [&options.first, &options.second].map(String::as_str);
    let read = read_texts(path.as_ref(), columns, options.header)?;
    Ok(TextPairs {
        name: read.name,
        pairs: read.rows,
    })
}
