//! The principal axes of the rows of a matrix, computed from the smaller of its two Gram matrices.

use nalgebra::{DMatrix, SymmetricEigen};

/// Number of columns of a matrix that are multiplied at a time by their transpose, which is copied for that.
const BLOCK: usize = 1024;

/// The thin singular value decomposition X = U·Σ·Vᵀ of a centred matrix `[n, d]`, without the axes along
/// which the rows vary by no more than rounding.
///
/// It is computed from the eigenvectors of XᵀX `[d, d]` or of XXᵀ `[n, n]`, whichever is smaller, in time
/// n·d·m + m³ with m = min(n, d). Raw features that are much wider than there are samples therefore cost
/// no more than their products.
pub(crate) struct PrincipalAxes {
    /// Xᵀ, with samples as columns.
    samples: DMatrix<f64>,
    /// V if d ≤ n, else U·Σ⁻¹, with axes as columns.
    basis: DMatrix<f64>,
    /// Σ², descending.
    scatter: Vec<f64>,
}

impl PrincipalAxes {
    /// Decomposes a centred matrix, given as its transpose `[d, n]`.
    pub(crate) fn of(samples: DMatrix<f64>) -> Self {
        let is_wide = samples.nrows() > samples.ncols();
        let gram = if is_wide {
            inner_products(&samples)
        } else {
            outer_products(&samples)
        };
        let size = gram.nrows();
        if size == 0 {
            // An empty matrix has no axes, and the eigenvalue solver does not accept it.
            return Self {
                basis: DMatrix::zeros(samples.ncols(), 0),
                samples,
                scatter: Vec::new(),
            };
        }
        let eigen = SymmetricEigen::new(gram);
        let mut order: Vec<usize> = (0..size).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
        let greatest = order.first().map_or(0.0, |&first| eigen.eigenvalues[first]);
        // The rounding error of the eigenvalues of a matrix of this size.
        let rounding = greatest * f64::EPSILON * size as f64;
        order.retain(|&column| eigen.eigenvalues[column] > rounding);
        let scatter: Vec<f64> = order.iter().map(|&at| eigen.eigenvalues[at]).collect();
        let mut basis = eigen.eigenvectors.select_columns(&order);
        if is_wide {
            for (mut column, scatter) in basis.column_iter_mut().zip(&scatter) {
                column /= scatter.sqrt();
            }
        }
        Self {
            samples,
            basis,
            scatter,
        }
    }

    /// Returns Xᵀ `[d, n]`.
    pub(crate) fn samples(&self) -> &DMatrix<f64> {
        &self.samples
    }

    /// Returns the sum of squares along each axis, descending.
    pub(crate) fn scatter(&self) -> &[f64] {
        &self.scatter
    }

    /// Returns the coordinates of the samples along the axes, (X·V)ᵀ `[r, n]`.
    pub(crate) fn coordinates(&self) -> DMatrix<f64> {
        if self.is_wide() {
            // X·V = U·Σ = U·Σ⁻¹·Σ².
            let mut coordinates = self.basis.transpose();
            for (mut row, scatter) in coordinates.row_iter_mut().zip(&self.scatter) {
                row *= *scatter;
            }
            coordinates
        } else {
            self.basis.transpose() * &self.samples
        }
    }

    /// Converts combinations W `[r, k]` of the axes to combinations of the features, V·W `[d, k]`.
    pub(crate) fn combine(&self, weights: &DMatrix<f64>) -> DMatrix<f64> {
        let combined = &self.basis * weights;
        if self.is_wide() {
            // V = Xᵀ·U·Σ⁻¹.
            &self.samples * combined
        } else {
            combined
        }
    }

    fn is_wide(&self) -> bool {
        self.samples.nrows() > self.samples.ncols()
    }
}

/// Returns M·Mᵀ.
fn outer_products(matrix: &DMatrix<f64>) -> DMatrix<f64> {
    let mut products = DMatrix::zeros(matrix.nrows(), matrix.nrows());
    for first in (0..matrix.ncols()).step_by(BLOCK) {
        let block = matrix.columns(first, BLOCK.min(matrix.ncols() - first));
        products.gemm(1.0, &block, &block.transpose(), 1.0);
    }
    products
}

/// Returns Mᵀ·M.
fn inner_products(matrix: &DMatrix<f64>) -> DMatrix<f64> {
    let mut products = DMatrix::zeros(matrix.ncols(), matrix.ncols());
    for first in (0..matrix.nrows()).step_by(BLOCK) {
        let block = matrix.rows(first, BLOCK.min(matrix.nrows() - first));
        products.gemm(1.0, &block.transpose(), &block, 1.0);
    }
    products
}

#[cfg(test)]
mod tests {
    use super::*;

    use icl_core::Seed;
    use rand::RngExt;

    /// Samples by columns, centred.
    fn samples(d: usize, n: usize) -> DMatrix<f64> {
        let mut rng = Seed::new(9).rng();
        let mut samples = DMatrix::from_fn(d, n, |_, _| rng.random_range(-1.0..1.0));
        let mean = samples.column_mean();
        for mut column in samples.column_iter_mut() {
            column -= &mean;
        }
        samples
    }

    #[test]
    fn either_gram_matrix_gives_a_singular_value_decomposition() {
        // Both more than a block long.
        for (d, n) in [(5, 1100), (1100, 5), (6, 6), (1, 4)] {
            let samples = samples(d, n);
            let axes = PrincipalAxes::of(samples.clone());
            // Centred samples have one direction fewer than there are samples.
            let rank = d.min(n - 1);
            assert_eq!(axes.scatter().len(), rank);
            let v = axes.combine(&DMatrix::identity(rank, rank));
            let unit = v.transpose() * &v;
            assert!((unit - DMatrix::identity(rank, rank)).amax() < 1e-12);
            let coordinates = axes.coordinates();
            assert!((v.transpose() * &samples - &coordinates).amax() < 1e-12);
            assert!((&v * &coordinates - &samples).amax() < 1e-12);
            let squares = &coordinates * coordinates.transpose();
            for i in 0..rank {
                let scatter = axes.scatter()[i];
                assert!((squares[(i, i)] - scatter).abs() < 1e-10 * scatter);
            }
            assert!(axes.scatter().is_sorted_by(|a, b| a >= b));
        }
    }

    #[test]
    fn what_does_not_spread_has_no_axis() {
        for (d, n) in [(3, 7), (7, 3), (3, 0), (4, 1)] {
            let axes = PrincipalAxes::of(DMatrix::zeros(d, n));
            assert!(axes.scatter().is_empty());
            assert_eq!(axes.coordinates().shape(), (0, n));
            assert_eq!(axes.combine(&DMatrix::zeros(0, 2)), DMatrix::zeros(d, 2));
        }
    }
}
