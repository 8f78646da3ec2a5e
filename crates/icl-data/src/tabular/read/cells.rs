//! Fields of a column, whose meaning is decided when all are read.

use std::collections::HashSet;

use super::index::{is_index_name, numbers_rows};
use crate::error::DataError;
use crate::place::{FileRef, Found};
use crate::tabular::fields::Fields;
use crate::tabular::number_forms::plain_form;
use crate::tabular::options::Missing;
use crate::tabular::raw_column::{Contents, MOSTLY_NUMBERS, RawColumn};
use crate::tabular::values::{is_missing, is_word, number};

/// Largest number of different values of a column that holds numbers and texts.
const MAX_MIXED: usize = 20;

/// Origin of the fields of a table: its file and the name of what its rows are counted in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin<'a> {
    pub(super) file: &'a FileRef,
    pub(super) unit: &'static str,
    pub(super) missing: Missing,
    /// Whether the first row may be a line of names that was not known as such.
    pub(super) first_is_guess: bool,
}

/// Error in a table, and the line or row where it is: of several, the first one is reported.
pub(super) type Fault = (usize, DataError);

/// First field of a kind: its line or row in the file, and its row in the column.
pub(super) type First = Option<(usize, usize)>;

/// Fields of one column, in the order of the rows.
#[derive(Debug)]
pub(super) struct Cells {
    pub(super) name: String,
    pub(super) heading: Option<String>,
    pub(super) fields: Fields,
    n_numbers: usize,
    n_texts: usize,
    pub(super) text: First,
    pub(super) missing: First,
    /// Word that may be a missing value or a text.
    pub(super) word: First,
    /// Number that is infinite in single precision, or a text.
    infinite: First,
}

impl Cells {
    pub(super) fn new(name: String, heading: Option<String>) -> Self {
        Self {
            name,
            heading,
            fields: Fields::default(),
            n_numbers: 0,
            n_texts: 0,
            text: None,
            missing: None,
            word: None,
            infinite: None,
        }
    }

    /// Adds the field of line or row `at`.
    pub(super) fn push(&mut self, at: usize, field: &str) {
        let place = (at, self.fields.len());
        let text = field.trim();
        match number(text) {
            Some(value) if (value as f32).is_finite() => self.n_numbers += 1,
            Some(_) => {
                self.infinite.get_or_insert(place);
            }
            None if is_missing(text) => {
                self.missing.get_or_insert(place);
            }
            None if is_word(text) => {
                self.word.get_or_insert(place);
            }
            None => {
                self.n_texts += 1;
                self.text.get_or_insert(place);
            }
        }
        self.fields.push(field);
    }

    fn contents(&self) -> Contents {
        match (self.text, self.n_numbers) {
            (None, _) => Contents::Numbers,
            (Some(_), 0) => Contents::Texts,
            (Some(_), _) => Contents::Mixed,
        }
    }

    /// Returns the error of a field.
    pub(super) fn fault(
        &self,
        first: First,
        origin: &Origin<'_>,
        error: impl Fn(String, Found) -> DataError,
    ) -> Option<Fault> {
        let (at, row) = first?;
        let found = Found::new(&self.fields.trimmed(row));
        Some((
            at,
            error(origin.file.cell(origin.unit, at, &self.name), found),
        ))
    }

    /// Makes the column of these fields: of numbers if none of them is text. `is_first` is that of the first column.
    ///
    /// # Errors
    /// [`DataError`] at the first of these fields:
    /// - a text, if at least 90 % of the values are numbers, or if at least half are and there are more than 20
    ///   different values;
    /// - in a column of numbers, one that is infinite in single precision;
    /// - a missing value, where these are errors.
    pub(super) fn finish(self, origin: &Origin<'_>, is_first: bool) -> Result<RawColumn, Fault> {
        let contents = self.contents();
        let is_number = contents == Contents::Numbers;
        let is_error = origin.missing == Missing::Error;
        let text = self.text.filter(|_| self.is_mostly_numbers());
        let infinite = self.infinite.filter(|_| is_number);
        let missing = self.missing.filter(|_| is_error);
        let word = self
            .word
            .filter(|_| is_error && contents != Contents::Texts);
        let not_a_number = |at, found| {
            let hint = self
                .text
                .map_or(String::new(), |(_, row)| self.hint(origin, row));
            DataError::new(
                at,
                found,
                format!("a number, as in most rows of this column{hint}"),
            )
        };
        let missing_value = |at, found| {
            DataError::new(
                at,
                format!("{found}, a missing value"),
                "a value (or `--missing mean`)",
            )
        };
        first_fault([
            self.fault(text, origin, not_a_number),
            self.fault(infinite, origin, |at, found| {
                DataError::new(at, found, "a finite number of at most 3.4e38")
            }),
            self.fault(missing, origin, missing_value),
            self.fault(word, origin, missing_value),
        ])?;
        let is_index = is_index_name(&self.name)
            || is_number
                && numbers_rows(&self.name, self.heading.as_deref(), is_first, &self.fields);
        Ok(RawColumn {
            name: self.name,
            heading: self.heading,
            fields: self.fields,
            contents,
            is_index,
        })
    }

    /// Makes a column that names the rows, whatever its fields are.
    pub(super) fn finish_ids(self) -> RawColumn {
        let contents = self.contents();
        RawColumn {
            name: self.name,
            heading: self.heading,
            fields: self.fields,
            contents,
            is_index: true,
        }
    }

    /// Returns what could make a text a number, or a name, as the end of an error message.
    fn hint(&self, origin: &Origin<'_>, row: usize) -> String {
        match plain_form(&self.fields.get(row)) {
            Some(form) => format!(" (written as {form}, it is one)"),
            None if row == 0 && origin.first_is_guess => {
                " (or `--header yes`, if the first line holds names)".to_owned()
            }
            None => String::new(),
        }
    }

    /// Returns `true` if the texts among the numbers are more likely slips than names.
    fn is_mostly_numbers(&self) -> bool {
        let share = self.n_numbers as f64 / (self.n_numbers + self.n_texts) as f64;
        let has_many_values = || {
            let mut values = HashSet::new();
            let texts = (0..self.fields.len()).map(|row| self.fields.trimmed(row));
            texts
                .filter(|text| !is_missing(text) && !is_word(text))
                .any(|text| {
                    values.insert(text);
                    values.len() > MAX_MIXED
                })
        };
        share >= MOSTLY_NUMBERS || share >= 0.5 && has_many_values()
    }
}

/// Returns the error of the first line or row, if there is one.
///
/// # Errors
/// With it.
pub(super) fn first_fault(faults: impl IntoIterator<Item = Option<Fault>>) -> Result<(), Fault> {
    let first = faults.into_iter().flatten().min_by_key(|(at, _)| *at);
    first.map_or(Ok(()), Err)
}
