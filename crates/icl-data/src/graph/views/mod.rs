//! Graph augmentations: node dropping, attribute masking, subgraph.

mod graph_views;
mod kind;
mod nodes;
mod view;

pub use graph_views::{GraphViews, GraphViewsConfig};
pub use kind::ViewKind;
pub use view::GraphView;

#[cfg(test)]
mod tests;
