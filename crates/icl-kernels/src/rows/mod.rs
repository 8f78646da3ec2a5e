//! Operators on rows of numbers, such as embeddings: their directions, and the exponentials of the products of
//! all pairs of rows.

mod exponentials;
#[cfg(feature = "flex")]
mod host_product;
mod log_sum_exp;
mod normalize;
#[cfg(feature = "flex")]
mod one_pass;
mod rivals;
#[cfg(feature = "flex")]
mod unit_rows;

pub use exponentials::{LeftOut, NEVER};
pub use log_sum_exp::{constant, log_sum_exp, log_sum_exp_and_rivals};
pub use normalize::normalize;
pub use rivals::Rivals;
