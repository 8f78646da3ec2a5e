//! Similarities of anchors to positives and to noise, as logarithms.

mod drawn;
pub(crate) mod log_space;
mod ranks_among;
pub(crate) mod similarity;
pub(crate) mod terms;

pub use drawn::{Draws, catalogue_log_noise};
pub use ranks_among::ranks_among;
pub use similarity::{cosine_similarity, normalize, paired_cosine_similarity};
pub use terms::Contrast;

pub(crate) use drawn::drawn_log_noise_in_batch;
pub(crate) use ranks_among::ranks_of;
