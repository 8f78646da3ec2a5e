//! Columns of a table as they were read.

use std::borrow::Cow;
use std::fmt::Write;

use super::exact::difference;
use super::fields::Fields;
use super::note::TableNote;
use super::number_forms::plain_form;
use super::values::{is_missing, is_word, number};
use crate::content::ContentHash;
use crate::error::DataError;
use crate::place::Found;

/// Share of numbers from which a column is likely meant to hold numbers.
pub(super) const MOSTLY_NUMBERS: f64 = 0.9;

/// A column as it was read.
#[derive(Debug, Clone)]
pub(super) struct RawColumn {
    pub(super) name: String,
    /// Text of the name in the file, where it differs from the name: with blanks, or empty.
    pub(super) heading: Option<String>,
    pub(super) fields: Fields,
    pub(super) contents: Contents,
    /// Whether the column numbers the rows, see [`RawTable::index_columns`](super::table::RawTable::index_columns).
    pub(super) is_index: bool,
}

/// Kind of the values of a column, by all of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Contents {
    Numbers,
    /// Texts, some of which may look like a missing value, such as `NA` for Namibia.
    Texts,
    /// Texts and numbers, which are names.
    Mixed,
}

/// Value of a field.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value<'a> {
    Missing,
    Number(f64),
    Text(Cow<'a, str>),
}

impl RawColumn {
    /// Creates a column that does not number the rows.
    pub(super) fn new(name: String, fields: Fields, contents: Contents) -> Self {
        Self {
            name,
            heading: None,
            fields,
            contents,
            is_index: false,
        }
    }

    /// Creates a column of numbers, NaN where a value is missing.
    pub(super) fn of_numbers(name: String, values: &[f32]) -> Self {
        let mut fields = Fields::default();
        let mut text = String::new();
        for value in values {
            text.clear();
            if !value.is_nan() {
                // Writing to a string does not fail.
                let _ = write!(text, "{value}");
            }
            fields.push(&text);
        }
        Self::new(name, fields, Contents::Numbers)
    }

    /// Returns the column with other rows.
    pub(super) fn with_fields(&self, fields: Fields) -> Self {
        let (name, heading) = (self.name.clone(), self.heading.clone());
        Self {
            name,
            heading,
            fields,
            ..*self
        }
    }

    /// Returns the text of the name in the file.
    pub(super) fn heading(&self) -> &str {
        self.heading.as_ref().unwrap_or(&self.name)
    }

    /// Returns the value of a row. Blanks around it do not count.
    pub(super) fn value(&self, row: usize) -> Value<'_> {
        if self.contents == Contents::Numbers {
            let number = self.fields.number(row);
            return number.map_or(Value::Missing, Value::Number);
        }
        let text = self.fields.trimmed(row);
        let is_word = || self.contents == Contents::Mixed && is_word(&text);
        match is_missing(&text) || is_word() {
            true => Value::Missing,
            false => Value::Text(text),
        }
    }

    pub(super) fn values(&self) -> impl Iterator<Item = Value<'_>> {
        (0..self.fields.len()).map(|row| self.value(row))
    }

    /// Returns the number of a row in double precision; NaN if it is missing or text.
    pub(super) fn precise(&self, row: usize) -> f64 {
        match self.value(row) {
            Value::Number(number) => number,
            Value::Missing | Value::Text(_) => f64::NAN,
        }
    }

    /// Returns the number of a row minus an offset, in single precision; NaN if it is missing or text.
    pub(super) fn number(&self, row: usize, offset: Option<f64>) -> f32 {
        let number = self.precise(row);
        match offset {
            Some(offset) if !number.is_nan() => {
                let difference = difference(&self.fields.trimmed(row), offset);
                difference.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32
            }
            _ => number as f32,
        }
    }

    /// Adds the value of a row to its content. What it is depends on this field alone, not on those of other rows,
    /// which may make texts of numbers when they arrive.
    pub(super) fn add_content(&self, row: usize, sum: ContentHash) -> ContentHash {
        let name = self.name.as_bytes();
        if let Some(number) = self.fields.number(row) {
            return sum.text(name).tag(b'n').number(number);
        }
        let text = self.fields.trimmed(row);
        match is_missing(&text) || is_word(&text) {
            true => sum,
            false => sum.text(name).tag(b't').text(text.as_bytes()),
        }
    }

    /// Returns a note if the texts are numbers in another notation, but for few of them.
    pub(super) fn number_form(&self) -> Option<TableNote> {
        if self.contents == Contents::Numbers {
            return None;
        }
        let (mut n, mut n_numbers, mut first) = (0_u32, 0_u32, None);
        for value in self.values() {
            let Value::Text(text) = value else {
                continue;
            };
            n += 1;
            if number(&text).is_some() {
                n_numbers += 1;
            } else if let Some(form) = plain_form(&text) {
                n_numbers += 1;
                first.get_or_insert((text, form));
            }
        }
        let (text, form) =
            first.filter(|_| f64::from(n_numbers) >= MOSTLY_NUMBERS * f64::from(n))?;
        Some(TableNote::NumberForm {
            column: Found::new(&self.name),
            found: Found::new(&text),
            expected: Found::new(&form),
        })
    }

    /// Checks that the column of the table `data` holds numbers.
    ///
    /// # Errors
    /// [`DataError`] if it holds text.
    pub(super) fn check_numbers(&self, data: &str) -> Result<(), DataError> {
        match self.contents {
            Contents::Numbers => Ok(()),
            Contents::Texts | Contents::Mixed => Err(DataError::new(
                format!("{}, column {}", Found::new(data), Found::new(&self.name)),
                "text",
                "numbers",
            )),
        }
    }
}
