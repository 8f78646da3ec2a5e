//! The RBF kernel k(x, y) = exp(−γ·‖x − y‖²) and its width γ.

use std::ops::Range;

use rayon::prelude::*;

use crate::Matrix;

/// Number of rows of a tile. The pieces of rows of two tiles fit in the second-level cache.
const TILE: usize = 32;
/// Number of columns of a piece, a multiple of [`SUMS`].
const PIECE: usize = 256;
/// Number of samples in a piece of a row of [`Gram`], which the vector registers of a processor hold at once.
pub(super) const LANES: usize = 16;
/// Number of sums that are added at once.
const SUMS: usize = 4;

/// Squared Euclidean distances of the rows of one matrix to those of another, in f64.
///
/// A nested cross-validation fits hundreds of subsets with different widths γ, but the same distances.
/// They are computed once, and the kernel of a fit costs only exponentials.
#[derive(Debug)]
pub(super) struct SquaredDistances {
    values: Vec<f64>,
    n_columns: usize,
}

impl SquaredDistances {
    /// Computes ‖xᵢ − xⱼ‖² of the rows of `matrix`: `[n, n]`.
    pub(super) fn within(matrix: &Matrix) -> Self {
        let n = matrix.n_rows();
        let mut values = vec![0.0; n * n];
        // The matrix is symmetric, so only tiles at and below the diagonal are computed.
        values
            .par_chunks_mut(TILE * n.max(1))
            .enumerate()
            .for_each(|(tile, rows)| {
                let first = tile * TILE;
                let those = first..(first + TILE).min(n);
                for other in (0..those.end).step_by(TILE) {
                    fill_tile(
                        (matrix, those.clone()),
                        (matrix, other..(other + TILE).min(n)),
                        rows,
                        n,
                    );
                }
            });
        for i in 0..n {
            for j in i + 1..n {
                values[i * n + j] = values[j * n + i];
            }
        }
        Self {
            values,
            n_columns: n,
        }
    }

    /// Computes ‖aᵢ − bⱼ‖² of the rows of `a` and of `b`: `[n_a, n_b]`.
    pub(super) fn between(a: &Matrix, b: &Matrix) -> Self {
        let n = b.n_rows();
        let mut values = vec![0.0; a.n_rows() * n];
        values
            .par_chunks_mut(TILE * n.max(1))
            .enumerate()
            .for_each(|(tile, rows)| {
                let first = tile * TILE;
                let those = first..(first + TILE).min(a.n_rows());
                for other in (0..n).step_by(TILE) {
                    fill_tile(
                        (a, those.clone()),
                        (b, other..(other + TILE).min(n)),
                        rows,
                        n,
                    );
                }
            });
        Self {
            values,
            n_columns: n,
        }
    }

    /// Returns the distances of one row.
    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.n_columns..][..self.n_columns]
    }
}

/// Writes ‖aᵢ − bⱼ‖² of some rows of two matrices into `values`, which has `width` columns and begins at
/// the first of the rows of `a` and at row 0 of `b`.
///
/// Rows are processed in pieces, so that wide rows are read from memory once for each tile, not once for
/// each pair.
fn fill_tile(
    (a, a_rows): (&Matrix, Range<usize>),
    (b, b_rows): (&Matrix, Range<usize>),
    values: &mut [f64],
    width: usize,
) {
    let mut sums = [[[0.0; SUMS]; TILE]; TILE];
    let d = a.n_columns();
    for first in (0..d).step_by(PIECE) {
        let piece = first..(first + PIECE).min(d);
        for (sums, i) in sums.iter_mut().zip(a_rows.clone()) {
            let x = &a.row(i)[piece.clone()];
            for (sums, j) in sums.iter_mut().zip(b_rows.clone()) {
                add_squared_differences(x, &b.row(j)[piece.clone()], sums);
            }
        }
    }
    let whole = d - d % SUMS;
    for (row, (sums, i)) in values.chunks_exact_mut(width).zip(sums.iter().zip(a_rows)) {
        for (sums, j) in sums.iter().zip(b_rows.clone()) {
            let rest = a.row(i)[whole..].iter().zip(&b.row(j)[whole..]);
            let rest: f64 = rest.map(|(x, y)| (x - y) * (x - y)).sum();
            row[j] = (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest;
        }
    }
}

/// Adds the squared differences to four interleaved sums that a processor adds at once. Entries that do
/// not fill all four are left out. With differences instead of ‖x‖² + ‖y‖² − 2x·y nothing cancels: the
/// distance of equal rows is 0.
fn add_squared_differences(x: &[f64], y: &[f64], sums: &mut [f64; SUMS]) {
    let mut total = *sums;
    let (x, _) = x.as_chunks::<SUMS>();
    let (y, _) = y.as_chunks::<SUMS>();
    for (x, y) in x.iter().zip(y) {
        for lane in 0..SUMS {
            let difference = x[lane] - y[lane];
            total[lane] += difference * difference;
        }
    }
    *sums = total;
}

/// Returns γ = 1 / (d · Var), scikit-learn's `gamma="scale"`, with Var the variance of all entries of
/// these rows of the matrix; 1 if Var is 0.
pub(super) fn scale_gamma(matrix: &Matrix, rows: &[usize]) -> f64 {
    let Some(&first) = rows.first() else {
        return 1.0;
    };
    // Relative to one of them, equal entries have a variance of exactly 0.
    let origin = matrix.row(first)[0];
    let entries = || {
        rows.iter()
            .flat_map(|&row| matrix.row(row))
            .map(|x| x - origin)
    };
    let n_entries = (rows.len() * matrix.n_columns()) as f64;
    let mean = entries().sum::<f64>() / n_entries;
    let variance = entries().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n_entries;
    if variance == 0.0 {
        1.0
    } else {
        1.0 / (matrix.n_columns() as f64 * variance)
    }
}

/// The kernel k(x, y) = exp(−γ·‖x − y‖²) on squared distances.
#[derive(Debug, Clone, Copy)]
pub(super) struct RbfKernel<'a> {
    pub(super) distances: &'a SquaredDistances,
    pub(super) gamma: f64,
}

impl RbfKernel<'_> {
    /// Returns the kernel of row `row` with column `column`.
    pub(super) fn between(&self, row: usize, column: usize) -> f64 {
        (-self.gamma * self.distances.row(row)[column]).exp()
    }

    /// Replaces `values` by the kernel of row `row` with each of `columns`.
    pub(super) fn fill(&self, row: usize, columns: &[usize], values: &mut Vec<f64>) {
        let distances = self.distances.row(row);
        values.clear();
        values.extend(
            columns
                .iter()
                .map(|&column| (-self.gamma * distances[column]).exp()),
        );
    }
}

/// Kernel matrix `[n, n]` of the samples of a fit with itself, in single precision as in libsvm, in rows of whole
/// [`LANES`]. All penalties C share it.
#[derive(Debug)]
pub(super) struct Gram {
    values: Vec<[f32; LANES]>,
    n: usize,
}

impl Gram {
    /// Computes the matrix of a symmetric function k(i, j) with k(i, i) = 1.
    pub(super) fn of(n: usize, kernel: impl Fn(usize, usize) -> f64) -> Self {
        let n_lanes = n.div_ceil(LANES);
        let mut gram = Self {
            values: vec![[0.0; LANES]; n * n_lanes],
            n,
        };
        // Tile by tile, because a column of a large matrix leaves the cache before the next is written.
        for rows in (0..n).step_by(TILE) {
            for columns in (0..=rows).step_by(TILE) {
                for i in rows..(rows + TILE).min(n) {
                    for j in columns..(columns + TILE).min(i) {
                        let value = kernel(i, j) as f32;
                        gram.values[i * n_lanes + j / LANES][j % LANES] = value;
                        gram.values[j * n_lanes + i / LANES][i % LANES] = value;
                    }
                }
            }
        }
        for i in 0..n {
            gram.values[i * n_lanes + i / LANES][i % LANES] = 1.0;
        }
        gram
    }

    /// Returns the number of samples.
    pub(super) fn n(&self) -> usize {
        self.n
    }

    /// Returns one row.
    pub(super) fn row(&self, row: usize) -> &[[f32; LANES]] {
        let n_lanes = self.n.div_ceil(LANES);
        &self.values[row * n_lanes..][..n_lanes]
    }

    /// Returns one entry.
    pub(super) fn entry(&self, row: usize, column: usize) -> f32 {
        self.row(row)[column / LANES][column % LANES]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_a_plain_loop() {
        let values: Vec<f64> = (0..35).map(|i| f64::from(i * i % 11) - 4.5).collect();
        let matrix = Matrix::try_new(values, 7).unwrap();
        let within = SquaredDistances::within(&matrix);
        let between = SquaredDistances::between(&matrix.select(&[3, 1]), &matrix);
        for i in 0..5 {
            for j in 0..5 {
                let mut expected = 0.0;
                for k in 0..7 {
                    expected += (matrix.row(i)[k] - matrix.row(j)[k]).powi(2);
                }
                // Halves square to quarters: every sum is exact.
                assert_eq!(within.row(i)[j], expected);
            }
        }
        assert_eq!(between.row(0), within.row(3));
        assert_eq!(between.row(1), within.row(1));
    }

    #[test]
    fn tiles_and_pieces_leave_no_gaps() {
        // More than two tiles and two pieces, neither whole.
        let values: Vec<f64> = (0..70 * 517).map(|i| f64::from(i * i % 13) - 6.0).collect();
        let matrix = Matrix::try_new(values, 517).unwrap();
        let within = SquaredDistances::within(&matrix);
        let between = SquaredDistances::between(&matrix.select(&[69, 0, 33]), &matrix);
        for i in 0..70 {
            for j in 0..70 {
                let pairs = matrix.row(i).iter().zip(matrix.row(j));
                // Whole numbers: every sum is exact.
                let expected: f64 = pairs.map(|(x, y)| (x - y).powi(2)).sum();
                assert_eq!(within.row(i)[j], expected);
            }
        }
        assert_eq!(between.row(0), within.row(69));
        assert_eq!(between.row(2), within.row(33));
    }

    #[test]
    fn gamma_is_scaled_by_the_rows_of_the_fit() {
        let matrix = Matrix::try_new(vec![1.0, 3.0, 5.0, 7.0, 100.0, -100.0], 2).unwrap();
        // Entries 1, 3, 5, 7: variance 5, two features.
        assert_eq!(scale_gamma(&matrix, &[0, 1]), 0.1);
    }

    #[test]
    fn equal_entries_give_gamma_1() {
        let matrix = Matrix::try_new(vec![0.1; 21], 3).unwrap();
        assert_eq!(scale_gamma(&matrix, &[0, 1, 2, 3, 4, 5, 6]), 1.0);
    }
}
