//! Tables: readers, schema, samples, views.

mod apply;
mod classes;
mod column;
mod dataset;
mod error;
mod increment;
mod join;
mod options;
mod outliers;
mod place;
mod read;
mod schema;
mod select;
mod statistics;
mod stored_schema;
mod table;
mod vector_fault;
mod views;
mod write;
mod write_vectors;

pub use column::{ColumnKind, TableColumn};
pub use dataset::{TableCounts, TableRow, TabularDataset};
pub use error::TablesError;
pub use options::{Header, Missing, TableOptions};
pub use place::{CellPlace, ColumnList};
pub use read::{VectorColumn, looks_like_table, read_table, read_vectors};
pub(crate) use read::{could_be_name, read_table_bytes, read_texts};
pub use schema::TableSchema;
pub use statistics::FeatureStatistics;
pub use table::RawTable;
pub use vector_fault::VectorFault;
pub use views::{NoiseKind, TableViews, TableViewsConfig, TableViewsError};
pub use write_vectors::vectors_as_parquet;
