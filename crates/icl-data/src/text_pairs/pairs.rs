//! Reader of pairs of texts.

use std::path::Path;
use std::sync::Arc;

use icl_core::{GrowthRatio, Increment, Seed};

use crate::content::{ContentHash, contents};
use crate::error::DataError;
use crate::increments::{increment_of_parts, n_equal};
use crate::split::Split;
use crate::tabular::{Header, TableNote, read_texts};

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

/// Pairs of texts that belong together, such as titles and bodies of news. Clones share the texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPairs {
    name: String,
    columns: [String; 2],
    pairs: Arc<[[String; 2]]>,
    note: Option<TableNote>,
}

impl TextPairs {
    /// Returns the name of the data set, from its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the name of the data set, which messages and the names of written files use.
    #[must_use]
    pub fn with_name(self, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..self
        }
    }

    /// Returns the names of the columns of the first and of the second texts; without a header, their numbers.
    pub fn columns(&self) -> &[String; 2] {
        &self.columns
    }

    /// Returns the decision of the reader that the user may not have meant, if there is one.
    pub fn note(&self) -> Option<&TableNote> {
        self.note.as_ref()
    }

    /// Returns the pairs, in the order of the file, to the byte as it has them. Blanks around a text do not count.
    pub fn pairs(&self) -> &[[String; 2]] {
        &self.pairs
    }

    /// Returns a checksum of the texts, as 8 hexadecimal digits.
    pub fn checksum(&self) -> String {
        let mut sum = crc32fast::Hasher::new();
        for text in self.pairs.iter().flatten().map(|text| text.trim()) {
            sum.update(&(text.len() as u64).to_le_bytes());
            sum.update(text.as_bytes());
        }
        format!("{:08x}", sum.finalize())
    }

    /// Returns the [hash of the content](ContentHash) of each pair: of both texts, without blanks around them.
    pub fn contents(&self) -> Vec<u64> {
        contents(self.pairs.len(), |index| {
            let texts = self.pairs[index].iter().map(|text| text.trim().as_bytes());
            texts.fold(ContentHash::new(), ContentHash::text).finish()
        })
    }

    /// Returns the number of new pairs of an increment whose texts are those of an old one.
    ///
    /// # Panics
    /// If an index of the increment is not below the number of pairs.
    pub fn n_equal(&self, increment: &Increment) -> usize {
        n_equal(increment, |index| {
            self.pairs[index].each_ref().map(|text| text.trim())
        })
    }

    /// Splits the pairs into old and new ones; see [`Split::increment`]. For [`Split::Size`], all pairs are equal.
    ///
    /// # Errors
    /// [`DataError`]
    /// - if either part would have fewer than two pairs;
    /// - if it is another split: pairs have neither classes nor times.
    pub fn increment(
        &self,
        split: Split,
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<Increment, DataError> {
        match split {
            Split::Random | Split::Size => split.increment(&vec![0; self.pairs.len()], alpha, seed),
            split => Err(split.unfit("pairs of texts")),
        }
    }

    /// Joins two data sets of pairs: those of `old`, then those of `new`, and the increment of both. The columns are
    /// those of `old`, and the name is `OLD+NEW`.
    ///
    /// # Errors
    /// [`DataError`] if one of them has fewer than two pairs.
    pub fn join(old: &Self, new: &Self) -> Result<(Self, Increment), DataError> {
        let parts = [old, new].map(|part| (part.name(), part.pairs.len()));
        Ok((old.append(new), increment_of_parts(parts, "rows")?))
    }

    /// Appends other pairs, however few, as [`join`](Self::join) does.
    #[must_use]
    pub fn append(&self, new: &Self) -> Self {
        Self {
            name: format!("{}+{}", self.name, new.name),
            columns: self.columns.clone(),
            pairs: self.pairs.iter().chain(&*new.pairs).cloned().collect(),
            note: None,
        }
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
/// A [`DataError`] that names the file, the line and the column, what was found and what was expected, if the file is
/// unreadable or malformed, holds more than 2 GiB, unpacks to more than 64 MiB and to more than 200 times its size, or
/// has more than 65 536 columns, if a column is not there, or if a text is empty.
pub fn read_text_pairs(
    path: impl AsRef<Path>,
    options: &TextPairOptions,
) -> Result<TextPairs, DataError> {
    let columns = [&options.first, &options.second].map(String::as_str);
    let read = read_texts(path.as_ref(), columns, options.header)?;
    Ok(TextPairs {
        name: read.name,
        columns: read.columns,
        pairs: read.rows.into(),
        note: read.note,
    })
}
