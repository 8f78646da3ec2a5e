//! Readers of tables.

mod assemble;
mod cells;
mod columnar;
mod delimited;
mod detect;
mod vectors;

pub(crate) use delimited::could_be_name;
pub use detect::{looks_like_table, read_table};
pub(crate) use detect::{read_table_bytes, read_texts};
pub use vectors::{VectorColumn, read_vectors};
