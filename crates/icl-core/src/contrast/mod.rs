//! Similarities of anchors to positives and to noise, as logarithms.

mod drawn;
mod exponentials;
mod host_product;
mod log_noise;
pub(crate) mod log_space;
mod one_pass;
mod ranks_among;
mod rivals;
pub(crate) mod similarity;
pub(crate) mod terms;
#[cfg(feature = "flex")]
mod unit_rows;

pub use drawn::{Draws, catalogue_log_noise};
pub use ranks_among::ranks_among;
pub use similarity::{cosine_similarity, normalize, paired_cosine_similarity};
pub use terms::Contrast;

pub(crate) use drawn::drawn_log_noise_in_batch;
pub(crate) use exponentials::LeftOut;
pub(crate) use log_noise::{log_noise, log_sum, log_sum_and_rivals};
pub(crate) use rivals::Rivals;
