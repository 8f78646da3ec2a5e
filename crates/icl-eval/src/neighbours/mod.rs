//! Nearest neighbours by cosine similarity: as a classifier, and as a measure of change.

mod directions;
mod few_labels;
mod kept;
mod knn;

pub(crate) use directions::{Directions, nearest_first, neighbour};
pub use few_labels::{FewLabels, FewLabelsConfig};
pub use kept::{NeighboursKept, NeighboursKeptConfig};
pub use knn::{KnnProtocol, KnnProtocolConfig, KnnVotes};
