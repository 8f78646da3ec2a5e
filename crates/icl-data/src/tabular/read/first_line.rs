//! The first line of a text table: names of the columns, or values.

use std::collections::HashSet;

use csv::StringRecord;

use crate::tabular::note::TableNote;
use crate::tabular::values::{is_missing, is_word, number};

/// Number of rows that decide whether the first line holds names.
const MAX_SEEN_ROWS: usize = 1000;

/// Decision about the first line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FirstLine {
    pub(crate) is_header: bool,
    /// Whether it could hold the other as well.
    is_guess: bool,
}

impl FirstLine {
    pub(super) const KNOWN_NAMES: Self = Self::known(true);
    pub(super) const KNOWN_VALUES: Self = Self::known(false);

    const fn known(is_header: bool) -> Self {
        Self {
            is_header,
            is_guess: false,
        }
    }

    /// Decides whether the first row holds the names of the columns, see [`Header::Auto`](crate::Header::Auto).
    pub(crate) fn detect(first: &StringRecord, below: impl Iterator<Item = StringRecord>) -> Self {
        let could_be_names =
            first.iter().all(could_be_name) && !first.iter().all(|name| name.trim().is_empty());
        if !could_be_names {
            let mut seen = HashSet::new();
            let are_distinct = first.iter().map(str::trim).all(|name| seen.insert(name));
            return Self {
                is_header: false,
                // Columns have different names: a line in which a value is repeated cannot hold them.
                is_guess: are_distinct,
            };
        }
        let mut recurs = false;
        let mut is_numeric = vec![false; first.len()];
        let mut is_text = vec![false; first.len()];
        for row in below.take(MAX_SEEN_ROWS) {
            for (column, (cell, name)) in row.iter().zip(first).enumerate() {
                let cell = cell.trim();
                if number(cell).is_some() {
                    is_numeric[column] = true;
                } else if !is_missing(cell) && !is_word(cell) {
                    is_text[column] = true;
                    recurs |= cell == name.trim();
                }
            }
        }
        let columns = is_numeric.into_iter().zip(is_text);
        let is_over_numbers = columns.into_iter().any(|column| column == (true, false));
        Self {
            is_header: is_over_numbers || !recurs,
            is_guess: !is_over_numbers,
        }
    }

    /// Returns a note if the line could hold the other as well.
    pub(super) fn note(self) -> Option<TableNote> {
        let is_header = self.is_header;
        self.is_guess.then_some(TableNote::FirstLine { is_header })
    }
}

/// Returns `true` if a value of the first line can be the name of a column: neither a number nor missing,
/// but it may be empty.
pub(crate) fn could_be_name(text: &str) -> bool {
    let text = text.trim();
    number(text).is_none() && (text.is_empty() || !is_missing(text) && !is_word(text))
}
