//! Shared pieces of the kernels on the default CPU backend.

pub(crate) mod columns;
pub(crate) mod floats;
pub(crate) mod memory;
