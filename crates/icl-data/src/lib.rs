//! Data sets, readers, views, splits and collation.
//!
//! | room | what is in it |
//! |---|---|
//! | [`Graph`], [`GraphDataset`] | samples and data sets |
//! | [`read_tu`], [`embedded`] | where they come from: the TU file format, the program itself |
//! | [`GraphViewsConfig`], [`GraphViews`], [`GraphView`] | augmentations that make positive pairs |
//! | [`GraphCollate`] | a list of views becomes a batch |
//! | [`Split`] | which samples are old and which are new |
//! | [`DataError`], [`JoinError`] | what is wrong, in which file and line |

pub mod embedded;
mod error;
mod graph;
mod place;
mod split;

pub use error::DataError;
pub use graph::{
    FeatureLayout, Graph, GraphCollate, GraphCounts, GraphDataset, GraphView, GraphViews,
    GraphViewsConfig, JoinError, ViewKind, read_tu,
};
pub use place::{FileRef, Found, Place};
pub use split::Split;
