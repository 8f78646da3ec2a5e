//! Measures of a stream of experiences: what each update forgot, and what it gained for data to come.

mod matrix;
mod measures;

pub use matrix::{Better, TransferMatrix};
pub use measures::{TRANSFER_FORMULAS, Transfer, TransferFormula};
