//! Readers of tables.

mod assemble;
mod cells;
mod delimited;
mod detect;

pub(crate) use detect::read_table_bytes;
pub use detect::{looks_like_table, read_table};
