//! Alignment of the embeddings of two encoders of the same samples.

mod affine;
mod comparison;
mod fit;
mod map;
mod moved;
mod procrustes;
mod recall;
mod residual;

pub use comparison::FormComparison;
pub use fit::{AlignmentForm, AlignmentSettings};
pub use map::{AlignmentMap, HiddenLayer};
pub use moved::{moved_most_first, remaining_distances};
pub use recall::{CrossVersionRecall, cross_version_recall};
