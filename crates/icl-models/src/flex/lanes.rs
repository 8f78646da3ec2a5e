//! Columns that are worked on together, in the vector registers of the processor that is found.

use pulp::Arch;

/// Columns that are worked on at once.
pub(crate) const LANES: usize = 16;

/// Runs `kernel`, which must be inlined, compiled for the vector instructions that are found.
pub(crate) fn vectorised<R>(kernel: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(kernel)
}

/// `L` values from `first` on.
#[inline(always)]
pub(crate) fn lanes<const L: usize>(values: &[f32], first: usize) -> &[f32; L] {
    values[first..]
        .first_chunk()
        .expect("columns within the row")
}

/// `L` values from `first` on, to be written.
#[inline(always)]
pub(crate) fn lanes_mut<const L: usize>(values: &mut [f32], first: usize) -> &mut [f32; L] {
    values[first..]
        .first_chunk_mut()
        .expect("columns within the row")
}
