//! The data of a run and the views of its samples, which training and evaluation share.

#[cfg(feature = "dataset")]
pub(crate) mod pair_batcher;
pub(crate) mod pair_maker;
pub(crate) mod partners;
pub(crate) mod problem;
