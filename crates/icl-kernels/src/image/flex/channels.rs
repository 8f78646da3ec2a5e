//! Passes over the channels of images, a few channels and some rows at a time.

use std::ops::Range;

use rayon::prelude::*;

use crate::flex::columns::{ColumnPass, LANES, over_columns};

/// Maximum number of channels that are worked on at once.
const WIDE: usize = 4 * LANES;

/// Runs `pass` over `width` channels.
pub(super) fn over_channels(pass: &mut impl ColumnPass, width: usize) {
    over_columns::<WIDE>(pass, width);
}

/// Number of values in the rows that one thread works on. It depends on the width only, so that sums of parts do not
/// depend on the number of threads.
pub(super) fn length_at_once(width: usize) -> usize {
    (16_384 / width).max(1) * width
}

/// Adds the sums that `part` returns for ranges of rows, in the order of the ranges. Ranges count
/// values; there are `length` in all.
pub(super) fn totals(
    length: usize,
    width: usize,
    part: impl Fn(Range<usize>) -> [Vec<f64>; 2] + Sync,
) -> [Vec<f64>; 2] {
    let at_once = length_at_once(width);
    let parts: Vec<_> = (0..length.div_ceil(at_once))
        .into_par_iter()
        .map(|at| part(at * at_once..((at + 1) * at_once).min(length)))
        .collect();
    let mut totals = [vec![0.0; width], vec![0.0; width]];
    for sums in parts {
        for (total, sums) in totals.iter_mut().zip(sums) {
            for (total, sum) in total.iter_mut().zip(sums) {
                *total += sum;
            }
        }
    }
    totals
}

/// Applies ReLU, which keeps NaN.
#[inline(always)]
pub(super) fn rectify(x: f32) -> f32 {
    if x < 0.0 { 0.0 } else { x }
}
