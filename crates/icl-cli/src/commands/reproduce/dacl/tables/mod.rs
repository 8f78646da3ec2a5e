//! Rows of the table of tables: reading and dividing the data, training, judgement.

mod classifiers;
mod divided_table;
mod row_split;
mod rows;
mod source;
mod supervised;

pub use classifiers::N_NEIGHBOURS;
pub use divided_table::DividedTable;
pub use rows::TableRowWork;
pub use source::{TableSource, read_source};
