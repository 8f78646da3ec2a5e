//! Rows of the table of graphs: training and evaluation by cross-validation.

mod cross_validation;
mod rows;

pub use rows::GraphRowWork;
