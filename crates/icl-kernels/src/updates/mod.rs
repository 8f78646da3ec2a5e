//! Updates of parameters, each in one pass over memory where a backend allows it.

mod adam;
mod corrected;
mod lerp;
#[cfg(feature = "tch")]
mod libtorch;

pub use adam::OnePassAdam;
pub use lerp::lerp;
