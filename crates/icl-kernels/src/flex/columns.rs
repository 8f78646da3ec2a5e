//! Passes over columns, several at once in the vector registers of the processor at hand.

use pulp::Arch;

/// Number of columns that are worked on at once: one vector of AVX-512, two of AVX.
pub(crate) const LANES: usize = 16;

/// Runs `kernel`, which must be inlined, compiled for the vector instructions of this processor.
pub(crate) fn vectorised<R>(kernel: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(kernel)
}

/// Returns `L` values from `first` on.
#[inline(always)]
pub(crate) fn lanes<const L: usize>(values: &[f32], first: usize) -> &[f32; L] {
    values[first..]
        .first_chunk()
        .expect("columns within the row")
}

/// Returns `L` values from `first` on, to be written.
#[inline(always)]
pub(crate) fn lanes_mut<const L: usize>(values: &mut [f32], first: usize) -> &mut [f32; L] {
    values[first..]
        .first_chunk_mut()
        .expect("columns within the row")
}

/// Work that is done a few columns at a time.
pub(crate) trait ColumnPass {
    /// Does the work on `L` columns from `first` on.
    fn columns<const L: usize>(&mut self, first: usize);
}

/// Runs `pass` over `width` columns: `WIDE` at a time, the rest [`LANES`] at a time, the rest of
/// those one by one.
pub(crate) fn over_columns<const WIDE: usize>(pass: &mut impl ColumnPass, width: usize) {
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

/// Two sums of each of `L` columns. Sums over a few rows are in single precision, which is fast, and
/// their totals in double precision.
pub(crate) struct ColumnSums<const L: usize> {
    n_rows: usize,
    sums: [[f32; L]; 2],
    totals: [[f64; L]; 2],
}

impl<const L: usize> ColumnSums<L> {
    /// Number of rows that are summed in single precision.
    const BLOCK: usize = 64;

    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self {
            n_rows: 0,
            sums: [[0.0; L]; 2],
            totals: [[0.0; L]; 2],
        }
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, first: &[f32; L], second: &[f32; L]) {
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
    pub(crate) fn totals(mut self) -> [[f64; L]; 2] {
        self.end_block();
        self.totals
    }
}
