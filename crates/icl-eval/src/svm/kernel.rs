//! The RBF kernel k(x, y) = exp(−γ·‖x − y‖²) and its width γ.

use crate::Matrix;

/// Squared Euclidean distances of the rows of one matrix to those of another, in f64.
///
/// A nested cross-validation refits on hundreds of subsets with other widths γ, but the distances
/// stay: they are computed once, and a fit's kernel costs only exponentials.
#[derive(Debug)]
pub(crate) struct SquaredDistances {
    values: Vec<f64>,
    n_columns: usize,
}

impl SquaredDistances {
    /// ‖xᵢ − xⱼ‖² of the rows of `matrix`, `[n, n]`.
    pub(crate) fn within(matrix: &Matrix) -> Self {
        let n = matrix.n_rows();
        let mut values = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..i {
                let distance = squared_distance(matrix.row(i), matrix.row(j));
                values[i * n + j] = distance;
                values[j * n + i] = distance;
            }
        }
        Self {
            values,
            n_columns: n,
        }
    }

    /// ‖aᵢ − bⱼ‖² of the rows of `a` and of `b`, `[n_a, n_b]`.
    pub(crate) fn between(a: &Matrix, b: &Matrix) -> Self {
        Self {
            values: a
                .rows()
                .flat_map(|x| b.rows().map(|y| squared_distance(x, y)))
                .collect(),
            n_columns: b.n_rows(),
        }
    }

    /// Distances of row `row`.
    pub(crate) fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.n_columns..][..self.n_columns]
    }
}

/// The sum of squared differences, in four interleaved sums that a processor can add at once. With
/// differences rather than ‖x‖² + ‖y‖² − 2x·y nothing cancels: equal rows are at distance 0.
fn squared_distance(x: &[f64], y: &[f64]) -> f64 {
    let (x_blocks, x_rest) = x.as_chunks::<4>();
    let (y_blocks, y_rest) = y.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (x, y) in x_blocks.iter().zip(y_blocks) {
        for lane in 0..4 {
            let difference = x[lane] - y[lane];
            sums[lane] += difference * difference;
        }
    }
    let rest: f64 = x_rest
        .iter()
        .zip(y_rest)
        .map(|(x, y)| (x - y) * (x - y))
        .sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// scikit-learn's `gamma="scale"`: γ = 1 / (d · Var), where Var is the variance of all entries of
/// these rows of the matrix taken together; 1 where Var is 0.
pub(crate) fn scale_gamma(matrix: &Matrix, rows: &[usize]) -> f64 {
    let Some(&first) = rows.first() else {
        return 1.0;
    };
    // Measured from one of them, entries that are all equal have a variance of exactly 0.
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

/// The kernel of some rows of a distance matrix with some of its columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RbfKernel<'a> {
    pub(crate) distances: &'a SquaredDistances,
    pub(crate) gamma: f64,
}

impl RbfKernel<'_> {
    /// k of row `row` with each of `columns`, into `values`.
    pub(crate) fn fill(&self, row: usize, columns: &[usize], values: &mut Vec<f64>) {
        let distances = self.distances.row(row);
        values.clear();
        values.extend(
            columns
                .iter()
                .map(|&column| (-self.gamma * distances[column]).exp()),
        );
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
