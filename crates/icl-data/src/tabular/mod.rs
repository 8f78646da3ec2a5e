//! Tables: readers, schema, samples, views.

mod apply;
mod classes;
mod column;
mod dataset;
mod date_forms;
mod decimal;
mod error;
mod exact;
mod fields;
mod increment;
mod join;
mod note;
mod number_forms;
mod options;
mod order;
mod outliers;
mod raw_column;
mod read;
mod schema;
mod select;
mod statistics;
mod stored_schema;
mod table;
mod values;
mod views;
mod write;
mod write_vectors;

pub use column::{ColumnKind, TableColumn};
pub use dataset::{TableCounts, TableRow, TabularDataset};
pub use note::TableNote;
pub use options::{Header, Missing, TableOptions};
pub use read::{
    TextTable, VectorColumn, is_decoding, looks_like_table, read_table, read_text_table,
    read_vectors,
};
pub(crate) use read::{could_be_name, read_table_bytes, read_texts};
pub use schema::TableSchema;
pub use statistics::FeatureStatistics;
pub use table::RawTable;
pub use views::{NoiseKind, TableViews, TableViewsConfig};
pub use write_vectors::{TextColumn, vectors_as_csv, vectors_as_parquet};
