//! The classes of the rows.

use std::collections::HashMap;

use super::cells::{Cells, Fault, First, Origin, first_fault};
use crate::error::DataError;
use crate::tabular::raw_column::{Contents, RawColumn};
use crate::tabular::values::number;

/// Classes of the rows, in their order.
#[derive(Debug)]
pub(super) struct Targets {
    cells: Cells,
    /// Number that is not whole.
    fraction: First,
}

impl Targets {
    pub(super) fn new(name: String, heading: Option<String>) -> Self {
        Self {
            cells: Cells::new(name, heading),
            fraction: None,
        }
    }

    /// Adds the class of line or row `at`.
    pub(super) fn push(&mut self, at: usize, field: &str) {
        if class_name(field.trim()).is_none() {
            self.fraction.get_or_insert((at, self.cells.fields.len()));
        }
        self.cells.push(at, field);
    }

    /// Makes the column of these fields, the code of each row, and the name of each code.
    ///
    /// # Errors
    /// The error of the first class that is missing or, where no class is a text, has a fraction.
    pub(super) fn finish(
        self,
        origin: &Origin<'_>,
    ) -> Result<(RawColumn, Vec<u32>, Vec<String>), Fault> {
        let Self { cells, fraction } = self;
        let is_text = cells.text.is_some();
        let [word, fraction] = [cells.word, fraction].map(|first| first.filter(|_| !is_text));
        let missing_class = |at, found| {
            DataError::new(
                at,
                format!("{found}, a missing value"),
                "the class of the row",
            )
        };
        first_fault([
            cells.fault(cells.missing, origin, missing_class),
            cells.fault(word, origin, missing_class),
            cells.fault(fraction, origin, |at, found| {
                DataError::new(
                    at,
                    format!("{found} as target"),
                    "a class: a name or a whole number",
                )
            }),
        ])?;
        let mut names: Vec<String> = Vec::new();
        let mut known = HashMap::new();
        let mut code = |field: &str| {
            let name = class_name(field.trim()).unwrap_or_else(|| field.trim().to_owned());
            *known.entry(name).or_insert_with_key(|name| {
                names.push(name.clone());
                names.len() as u32 - 1
            })
        };
        let codes = cells.fields.iter().map(|field| code(&field)).collect();
        let column = RawColumn {
            heading: cells.heading,
            ..RawColumn::new(cells.name, cells.fields, Contents::Texts)
        };
        Ok((column, codes, names))
    }
}

/// Returns the name of a class; `None` for a number that is not whole. Whole numbers are one class however they are
/// written, unless they have leading zeros, as codes do.
fn class_name(text: &str) -> Option<String> {
    let digits = text.trim_start_matches(['+', '-']);
    let is_code = digits.len() > 1 && digits.starts_with('0');
    match (text.parse::<i128>(), number(text)) {
        (Ok(_), _) if is_code => Some(text.to_owned()),
        (Ok(whole), _) => Some(whole.to_string()),
        // From 2^53 on, double precision does not tell neighbouring whole numbers apart.
        (_, Some(value)) => {
            let is_whole = value.fract() == 0.0 && value.abs() < (1_u64 << 53) as f64;
            is_whole.then(|| (value as i64).to_string())
        }
        (_, None) => Some(text.to_owned()),
    }
}
