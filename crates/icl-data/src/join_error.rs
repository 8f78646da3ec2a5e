//! Errors of joining old data and new data, read from two places, into one data set.

use crate::graph::FeatureLayout;
use crate::place::Found;

/// Reason why two data sets of graphs cannot be joined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// The node features of the two data sets have different columns.
    #[error(
        "data sets {old} and {new}: found node features of widths {} and {} ({old_layout}; {new_layout}), expected the same columns in both",
        old_layout.width(), new_layout.width()
    )]
    Features {
        /// Name of the old data set.
        old: Found,
        /// Name of the new data set.
        new: Found,
        /// Columns of the old data set.
        old_layout: FeatureLayout,
        /// Columns of the new data set.
        new_layout: FeatureLayout,
    },
    /// The new data have a node label for which the old data have no column.
    #[error(
        "data sets {old} and {new}: found node label {label} only in the second (node features of widths {d_old} and {d_new}), expected node labels of the first"
    )]
    NodeLabel {
        /// Name of the old data set.
        old: Found,
        /// Name of the new data set.
        new: Found,
        /// Width of the node features of the old data set.
        d_old: usize,
        /// Width of the node features of the new data set.
        d_new: usize,
        /// Unknown node label.
        label: i64,
    },
    /// One of the data sets has too few graphs to be a part of an increment.
    #[error("data set {name}: found {found} graph, expected at least 2")]
    TooSmall {
        /// Name of the data set.
        name: Found,
        /// Number of its graphs.
        found: usize,
    },
}

/// Reason why two data sets of images cannot be joined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JoinImagesError {
    /// One data set is grey and the other is in colour.
    #[error(
        "data sets {old} and {new}: found images of {n_old} and {n_new} channels, expected the same number in both"
    )]
    Channels {
        /// Name of the old data set.
        old: Found,
        /// Name of the new data set.
        new: Found,
        /// Number of channels of the old data set.
        n_old: usize,
        /// Number of channels of the new data set.
        n_new: usize,
    },
    /// One of the data sets has too few images to be a part of an increment.
    #[error("data set {name}: found {found} images, expected at least 2")]
    TooSmall {
        /// Name of the data set.
        name: Found,
        /// Number of its images.
        found: usize,
    },
}
