//! Graphs: samples, readers, views, collation.

mod adjacency;
mod collate;
mod dataset;
mod features;
mod join;
mod restandardize;
mod sample;
mod schema;
mod select;
mod standardize;
mod tu;
mod views;

pub use collate::GraphCollate;
pub use dataset::{GraphCounts, GraphDataset};
pub use features::FeatureLayout;
pub use sample::Graph;
pub use schema::GraphSchema;
pub use tu::read_tu;
pub(crate) use tu::{is_edge_list, read_tu_bytes, tables_md5};
pub use views::{GraphView, GraphViews, GraphViewsConfig, ViewKind};
