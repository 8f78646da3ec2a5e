//! What the kernels on the default CPU backend share.

pub(crate) mod floats;
pub(crate) mod lanes;
pub(crate) mod results;
pub(crate) mod scratch;
pub(crate) mod tiles;
