//! Sums of columns, part by part.

/// Two sums of each column over the rows of a part.
pub(super) struct Totals([Vec<f64>; 2]);

impl Totals {
    pub(super) fn new(width: usize) -> Self {
        Self([vec![0.0; width], vec![0.0; width]])
    }

    #[inline(always)]
    pub(super) fn set<const L: usize>(&mut self, first: usize, mut sums: ColumnSums<L>) {
        sums.end_block();
        for (totals, sums) in self.0.iter_mut().zip(sums.totals) {
            totals[first..first + L].copy_from_slice(&sums);
        }
    }
}

/// The means over `n` rows of each column's two sums, added up in the order of the parts.
pub(super) fn means(parts: &[Totals], n: usize) -> impl Iterator<Item = [f64; 2]> {
    let width = parts.first().map_or(0, |part| part.0[0].len());
    (0..width).map(move |column| {
        [0, 1].map(|which| {
            let sums = parts.iter().map(|part| part.0[which][column]);
            sums.sum::<f64>() / n as f64
        })
    })
}

/// Two sums of each of `L` columns. Sums over a few rows stay in single precision, which is fast;
/// their totals in double precision lose nothing.
pub(super) struct ColumnSums<const L: usize> {
    n_rows: usize,
    sums: [[f32; L]; 2],
    totals: [[f64; L]; 2],
}

impl<const L: usize> Default for ColumnSums<L> {
    fn default() -> Self {
        Self {
            n_rows: 0,
            sums: [[0.0; L]; 2],
            totals: [[0.0; L]; 2],
        }
    }
}

impl<const L: usize> ColumnSums<L> {
    /// Rows whose sums stay in single precision.
    const BLOCK: usize = 64;

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
}
