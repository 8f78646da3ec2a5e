//! The matrix of a stream: one measure of each encoder on the held-out data of each experience.

use std::fmt::Display;

use serde::{Deserialize, Serialize};

use crate::EvalError;

/// Direction in which a measure is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// Lower values are better: a risk.
    Lower,
    /// Higher values are better: an accuracy.
    Higher,
}

impl Better {
    /// Returns by how much `value` is better than `reference`; negative if it is worse.
    pub fn gain(self, value: f64, reference: f64) -> f64 {
        match self {
            Self::Lower => reference - value,
            Self::Higher => value - reference,
        }
    }
}

/// Matrix R of a stream of T experiences `[T, T]`: R\[i\]\[j\] is a measure of the encoder after experience i on held-out
/// data of experience j. A cell that was not measured is `None`, or beyond the end of its row.
///
/// Experiences count from 1 in formulas and from 0 in the arguments.
///
/// Sources: the matrix, backward and forward transfer are those of GEM (Lopez-Paz and Ranzato, 2017, Eq. 2 to 4).
#[derive(Debug, Clone, PartialEq)]
pub struct TransferMatrix {
    better: Better,
    rows: Vec<Vec<Option<f64>>>,
    untrained: Option<Vec<Option<f64>>>,
}

impl TransferMatrix {
    /// Creates a matrix from its rows, in the order of the experiences.
    ///
    /// # Errors
    /// [`EvalError`] if there is no row, or one has more cells than there are rows.
    pub fn try_new(better: Better, rows: Vec<Vec<Option<f64>>>) -> Result<Self, EvalError> {
        let expected = rows.len();
        match rows.iter().find(|row| row.len() > expected) {
            None if expected > 0 => Ok(Self {
                better,
                rows,
                untrained: None,
            }),
            wrong => Err(wrong_row(
                wrong.map_or(0, Vec::len),
                format_args!("at most {}", expected.max(1)),
            )),
        }
    }

    /// Adds the measure b of an untrained encoder on held-out data of each experience `[T]`, the reference of forward
    /// transfer.
    ///
    /// # Errors
    /// [`EvalError`] if there are not T values.
    pub fn with_untrained(self, untrained: Vec<Option<f64>>) -> Result<Self, EvalError> {
        let (found, expected) = (untrained.len(), self.n_experiences());
        match found == expected {
            true => Ok(Self {
                untrained: Some(untrained),
                ..self
            }),
            false => Err(wrong_row(found, expected)),
        }
    }

    /// Returns the direction in which the measure is better.
    pub fn better(&self) -> Better {
        self.better
    }

    /// Returns the number of experiences T.
    pub fn n_experiences(&self) -> usize {
        self.rows.len()
    }

    /// Returns the rows, one for the encoder after each experience.
    pub fn into_rows(self) -> Vec<Vec<Option<f64>>> {
        self.rows
    }

    /// Returns the measure of the encoder after experience `after` on held-out data of experience `on`; `None` if it was not
    /// measured.
    ///
    /// # Panics
    /// If there is no experience `after`.
    pub fn cell(&self, after: usize, on: usize) -> Option<f64> {
        self.rows[after].get(on).copied().flatten()
    }

    /// Returns the measure of an untrained encoder on held-out data of an experience; `None` if it was not measured.
    pub fn untrained(&self, on: usize) -> Option<f64> {
        self.untrained.as_ref()?.get(on).copied().flatten()
    }
}
/// Returns the error of a row with another number of values than there are experiences.
fn wrong_row(found: usize, expected: impl Display) -> EvalError {
    EvalError::new(
        "matrix of a stream",
        format_args!("{found} values in a row"),
        format_args!("{expected}, one for each experience"),
    )
}
