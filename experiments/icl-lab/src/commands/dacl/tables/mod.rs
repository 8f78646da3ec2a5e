//! Rows of the table of tables: reading and dividing the data, training, evaluation.

mod divided_table;
mod rows;
mod source;
mod supervised;

pub use divided_table::DividedTable;
pub use rows::TableRowWork;
pub use source::{TableSource, read_source};
