//! Passes over the channels of images, a few channels and some rows at a time.

use rayon::prelude::*;

use crate::flex::lanes::{LANES, vectorised};

/// Columns that are worked on at once where there are as many.
const WIDE: usize = 4 * LANES;

/// Work that is done a few columns at a time.
pub(super) trait Columns {
    /// The work on `L` columns from `first` on.
    fn columns<const L: usize>(&mut self, first: usize);
}

pub(super) fn over_columns(pass: &mut impl Columns, width: usize) {
    vectorised(
        #[inline(always)]
        || {
            let (n_wide, n_lanes) = (width / WIDE * WIDE, width / LANES * LANES);
            for first in (0..n_wide).step_by(WIDE) {
                pass.columns::<WIDE>(first);
            }
            for first in (n_wide..n_lanes).step_by(LANES) {
                pass.columns::<LANES>(first);
            }
            for first in n_lanes..width {
                pass.columns::<1>(first);
            }
        },
    );
}

/// Numbers in the rows that one thread works on.
pub(super) fn length_at_once(width: usize) -> usize {
    (16_384 / width).max(1) * width
}

/// The sums that `part` makes of the rows from `start` to `end`, both counted in numbers, added in
/// order.
pub(super) fn totals(
    length: usize,
    width: usize,
    part: impl Fn(std::ops::Range<usize>) -> [Vec<f64>; 2] + Sync,
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

/// Two sums of each of `L` columns. Sums over a few rows stay in single precision, which is fast;
/// their totals in double precision lose nothing.
pub(super) struct ColumnSums<const L: usize> {
    n_rows: usize,
    sums: [[f32; L]; 2],
    totals: [[f64; L]; 2],
}

impl<const L: usize> ColumnSums<L> {
    /// Rows whose sums stay in single precision.
    const BLOCK: usize = 64;

    #[inline(always)]
    pub(super) fn new() -> Self {
        Self {
            n_rows: 0,
            sums: [[0.0; L]; 2],
            totals: [[0.0; L]; 2],
        }
    }

    #[inline(always)]
    pub(super) fn add(&mut self, first: &[f32; L], second: &[f32; L]) {
        for lane in 0..L {
            self.sums[0][lane] += first[lane];
            self.sums[1][lane] += second[lane];
        }
        self.n_rows += 1;
        if self.n_rows == Self::BLOCK {
            self.end_block();
        }
    }

    #[inline(always)]
    fn end_block(&mut self) {
        for (total, sum) in self.totals.iter_mut().zip(&mut self.sums) {
            for lane in 0..L {
                total[lane] += f64::from(sum[lane]);
            }
            *sum = [0.0; L];
        }
        self.n_rows = 0;
    }

    #[inline(always)]
    pub(super) fn totals(mut self) -> [[f64; L]; 2] {
        self.end_block();
        self.totals
    }
}
