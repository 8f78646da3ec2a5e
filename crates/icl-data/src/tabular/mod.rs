//! Tables: readers, schema, samples.

mod apply;
mod classes;
mod column;
mod dataset;
mod error;
mod increment;
mod join;
mod options;
mod read;
mod schema;
mod select;
mod statistics;
mod table;

pub use column::{ColumnKind, TableColumn};
pub use dataset::{TableCounts, TableRow, TabularDataset};
pub use error::{CellPlace, ColumnList, TablesError};
pub use options::{Header, Missing, TableOptions};
pub(crate) use read::read_table_bytes;
pub use read::{looks_like_table, read_table};
pub use schema::TableSchema;
pub use statistics::FeatureStatistics;
pub use table::RawTable;
