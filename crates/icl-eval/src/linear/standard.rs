//! Standardised features.

use nalgebra::DMatrix;

use crate::Matrix;

/// Mean and standard deviation of each feature over some rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Standard {
    means: Vec<f64>,
    deviations: Vec<f64>,
}

impl Standard {
    /// Estimates mean and deviation from the rows of `matrix`, at least one. A feature that is constant
    /// up to rounding gets the deviation 1, as in scikit-learn's `StandardScaler`.
    pub(super) fn of(matrix: &Matrix) -> Self {
        let (n, d) = (matrix.n_rows() as f64, matrix.n_columns());
        let origin = matrix.row(0);
        // Sums relative to the first row: a constant feature then has a variance of exactly 0.
        let mut shifts = vec![0.0; d];
        for row in matrix.rows() {
            for ((shift, x), origin) in shifts.iter_mut().zip(row).zip(origin) {
                *shift += (x - origin) / n;
            }
        }
        let means: Vec<f64> = origin.iter().zip(shifts).map(|(o, s)| o + s).collect();
        let mut variances = vec![0.0; d];
        for row in matrix.rows() {
            for ((variance, x), mean) in variances.iter_mut().zip(row).zip(&means) {
                *variance += (x - mean) * (x - mean) / n;
            }
        }
        let deviations = variances.iter().zip(&means).map(|(variance, mean)| {
            // The largest sum of the rounding errors of n numbers of this size.
            let rounding = n * f64::EPSILON * mean.abs();
            let deviation = variance.sqrt();
            if deviation <= rounding || deviation == 0.0 {
                1.0
            } else {
                deviation
            }
        });
        Self {
            deviations: deviations.collect(),
            means,
        }
    }

    /// Returns (x − mean) / deviation of each row, as columns `[d, n]`.
    pub(super) fn apply(&self, matrix: &Matrix) -> DMatrix<f64> {
        let values = matrix.rows().flat_map(|row| {
            let features = row.iter().zip(&self.means).zip(&self.deviations);
            features.map(|((x, mean), deviation)| (x - mean) / deviation)
        });
        DMatrix::from_iterator(matrix.n_columns(), matrix.n_rows(), values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_get_mean_0_and_variance_1() {
        // The last feature is 0.1 three times, whose mean rounds.
        let matrix = Matrix::try_new(vec![1.0, 0.1, 3.0, 0.1, 8.0, 0.1], 2).unwrap();
        let standard = Standard::of(&matrix);
        let found = standard.apply(&matrix);
        // Mean 4, variance (9 + 1 + 16)/3.
        let deviation = (26.0_f64 / 3.0).sqrt();
        for (found, expected) in found.row(0).iter().zip([-3.0, -1.0, 4.0]) {
            assert!((found - expected / deviation).abs() < 1e-15);
        }
        assert!(found.row(1).iter().all(|x| *x == 0.0));
        // Rows of a test are moved by the same.
        let test = Matrix::try_new(vec![4.0, 1.1], 2).unwrap();
        let test = standard.apply(&test);
        assert!(test[0].abs() < 1e-15);
        assert_eq!(test[1], 1.0);
    }
}
