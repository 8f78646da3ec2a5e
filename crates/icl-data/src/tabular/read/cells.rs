//! Cells of a column, which become a column of numbers or of text when all are read.

use std::collections::HashMap;

use crate::error::DataError;
use crate::place::{FileRef, Found};
use crate::tabular::error::TablesError;
use crate::tabular::options::Missing;
use crate::tabular::place::CellPlace;
use crate::tabular::table::{MISSING_CODE, RawColumn, RawValues};

/// Share of numbers among the values of a column from which a text among them is an error.
const MOSTLY_NUMBERS: f64 = 0.9;
/// Largest number of different values of a column that holds numbers and texts.
const MAX_MIXED: usize = 20;

/// Returns `true` if a cell stands for a missing value.
pub(super) fn is_missing(text: &str) -> bool {
    const NAMES: [&str; 5] = ["na", "n/a", "nan", "null", "?"];
    text.is_empty() || NAMES.iter().any(|name| text.eq_ignore_ascii_case(name))
}

/// Returns the number that a cell holds, which may be infinite; `None` for text and missing values.
pub(super) fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| !value.is_nan())
}

/// Different texts, numbered in the order of their first occurrence.
#[derive(Debug, Default)]
pub(super) struct Texts {
    codes: HashMap<String, u32>,
}

impl Texts {
    /// Returns the code of a text.
    pub(super) fn code(&mut self, text: &str) -> u32 {
        match self.codes.get(text) {
            Some(&code) => code,
            None => {
                let code = self.codes.len() as u32;
                self.codes.insert(text.to_owned(), code);
                code
            }
        }
    }

    /// Returns the texts in the order of their codes.
    pub(super) fn into_names(self) -> Vec<String> {
        let mut names: Vec<(u32, String)> = self
            .codes
            .into_iter()
            .map(|(name, code)| (code, name))
            .collect();
        names.sort_unstable();
        names.into_iter().map(|(_, name)| name).collect()
    }
}

/// Origin of the cells of a table: its file and the name of what its rows are counted in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin<'a> {
    pub(super) file: &'a FileRef,
    pub(super) unit: &'static str,
    pub(super) missing: Missing,
}

impl Origin<'_> {
    pub(super) fn cell(&self, number: usize, column: &str) -> CellPlace {
        CellPlace::new(self.file, self.unit, number, column)
    }
}

/// Cells of one column, in the order of the rows.
#[derive(Debug)]
pub(super) struct Cells {
    name: String,
    /// NaN where a value is missing or text.
    numbers: Vec<f32>,
    /// Index of each row whose value is text, with the code of the text.
    texts: Vec<(u32, u32)>,
    names: Texts,
    /// Line or row of the first text.
    first_text: Option<usize>,
    n_missing: usize,
}

impl Cells {
    pub(super) fn new(name: String) -> Self {
        Self {
            name,
            numbers: Vec::new(),
            texts: Vec::new(),
            names: Texts::default(),
            first_text: None,
            n_missing: 0,
        }
    }

    /// Adds the cell of line or row `at`.
    ///
    /// # Errors
    /// [`TablesError::Infinite`] and, where missing values are errors, [`TablesError::MissingValue`].
    pub(super) fn push(
        &mut self,
        origin: &Origin<'_>,
        at: usize,
        text: &str,
    ) -> Result<(), DataError> {
        let place = || origin.cell(at, &self.name);
        let found = Found::new;
        match number(text) {
            Some(value) if (value as f32).is_finite() => self.numbers.push(value as f32),
            Some(_) => {
                let (at, found) = (place(), found(text));
                return Err(TablesError::Infinite { at, found }.into());
            }
            None if is_missing(text) && origin.missing == Missing::Error => {
                let (at, found) = (place(), found(text));
                return Err(TablesError::MissingValue { at, found }.into());
            }
            None if is_missing(text) => {
                self.n_missing += 1;
                self.numbers.push(f32::NAN);
            }
            None => {
                self.first_text.get_or_insert(at);
                let row = self.numbers.len() as u32;
                self.texts.push((row, self.names.code(text)));
                self.numbers.push(f32::NAN);
            }
        }
        Ok(())
    }

    /// Makes the column of these cells: of numbers if no cell is text.
    ///
    /// # Errors
    /// [`TablesError::NotANumber`] for the first text if at least 90 % of the values are numbers, or
    /// if at least half are and there are more than 20 different values.
    pub(super) fn finish(self, origin: &Origin<'_>) -> Result<RawColumn, DataError> {
        let Some(first_text) = self.first_text else {
            let values = RawValues::Numbers(self.numbers);
            return Ok(RawColumn {
                name: self.name,
                values,
            });
        };
        let mut codes = vec![MISSING_CODE; self.numbers.len()];
        for &(row, code) in &self.texts {
            codes[row as usize] = code;
        }
        let first_name = self.texts[0].1 as usize;
        let n_texts = self.texts.len();
        let mut names = self.names;
        for (code, value) in codes.iter_mut().zip(&self.numbers) {
            if !value.is_nan() {
                *code = names.code(&value.to_string());
            }
        }
        let texts = names.into_names();
        let n_numbers = self.numbers.len() - n_texts - self.n_missing;
        let share = n_numbers as f64 / (n_numbers + n_texts) as f64;
        if share >= MOSTLY_NUMBERS || share >= 0.5 && texts.len() > MAX_MIXED {
            return Err(TablesError::NotANumber {
                at: origin.cell(first_text, &self.name),
                found: Found::new(&texts[first_name]),
            }
            .into());
        }
        Ok(RawColumn {
            name: self.name,
            values: RawValues::Texts { codes, texts },
        })
    }
}

/// Classes of the rows, in their order.
#[derive(Debug)]
pub(super) struct Targets {
    name: String,
    codes: Vec<u32>,
    names: Texts,
}

impl Targets {
    pub(super) fn new(name: String) -> Self {
        Self {
            name,
            codes: Vec::new(),
            names: Texts::default(),
        }
    }

    /// Adds the class of line or row `at`. Whole numbers are equal however they are written.
    ///
    /// # Errors
    /// [`TablesError::MissingClass`] and [`TablesError::TargetFraction`].
    pub(super) fn push(
        &mut self,
        origin: &Origin<'_>,
        at: usize,
        text: &str,
    ) -> Result<(), DataError> {
        let place = || origin.cell(at, &self.name);
        let found = || Found::new(text);
        if is_missing(text) {
            let (at, found) = (place(), found());
            return Err(TablesError::MissingClass { at, found }.into());
        }
        let code = match (text.parse::<i64>(), number(text)) {
            (Ok(whole), _) => self.names.code(&whole.to_string()),
            // Beyond 2^53 whole numbers run together.
            (_, Some(value)) if value.fract() == 0.0 && value.abs() < (1_u64 << 53) as f64 => {
                self.names.code(&(value as i64).to_string())
            }
            (_, Some(_)) => {
                let (at, found) = (place(), found());
                return Err(TablesError::TargetFraction { at, found }.into());
            }
            (_, None) => self.names.code(text),
        };
        self.codes.push(code);
        Ok(())
    }

    /// Returns the name of the column, the code of each row, and the name of each code.
    pub(super) fn finish(self) -> (String, Vec<u32>, Vec<String>) {
        (self.name, self.codes, self.names.into_names())
    }
}
