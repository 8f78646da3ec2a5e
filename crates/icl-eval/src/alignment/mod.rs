//! Alignment of the embeddings of two encoders of the same samples.

mod affine;
mod fit;
mod map;
mod moved;
mod procrustes;
mod recall;

pub use fit::{AlignmentForm, AlignmentSettings};
pub use map::AlignmentMap;
pub use moved::{moved_most_first, remaining_distances};
pub use recall::{CrossVersionRecall, cross_version_recall};
