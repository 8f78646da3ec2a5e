//! Readers of tables.

mod assemble;
mod cells;
mod columnar;
mod delimited;
mod detect;
mod first_line;
mod index;
mod lines;
mod parquet_file;
mod parquet_text;
mod targets;
mod vectors;

pub use delimited::TextTable;
pub use detect::{looks_like_table, read_table, read_text_table};
pub(crate) use detect::{read_table_bytes, read_texts};
pub(crate) use first_line::{FirstLine, could_be_name};
pub use parquet_file::is_decoding;
pub use vectors::{VectorColumn, read_vectors};
