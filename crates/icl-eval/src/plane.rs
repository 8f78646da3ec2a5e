//! The map of embeddings in the plane.

use nalgebra::{DMatrix, SymmetricEigen};

use crate::Matrix;

/// The two principal components of a matrix: the plane on which its rows spread most.
///
/// Axes are eigenvectors of the covariance matrix `[d, d]`; of each, the loading with the largest
/// magnitude is positive (of several equal ones the first), so the same matrix always gives the same
/// picture. Equals scikit-learn's `PCA(2)` up to its choice of signs. Where variances are equal the
/// axes are any two of their space.
#[derive(Debug, Clone, PartialEq)]
pub struct PrincipalPlane {
    /// Where each row lies, relative to the mean of all. With a single column the second is 0.
    pub coordinates: Vec<[f64; 2]>,
    /// The two axes, unit vectors of the matrix' width; the second is 0 with a single column.
    pub axes: [Vec<f64>; 2],
    /// The share of the total variance along each axis; 0 where there is no variance.
    pub explained: [f64; 2],
}

impl PrincipalPlane {
    /// The principal plane of the rows of `matrix` `[n, d]`, in time n·d² + d³.
    pub fn of(matrix: &Matrix) -> Self {
        let (n, d) = (matrix.n_rows(), matrix.n_columns());
        let mut centered = DMatrix::from_row_slice(n, d, matrix.values());
        for mut column in centered.column_iter_mut() {
            let mean = column.sum() / n.max(1) as f64;
            column.add_scalar_mut(-mean);
        }
        let scatter = centered.transpose() * &centered;
        let total = scatter.trace();
        let eigen = SymmetricEigen::new(scatter);
        let mut order: Vec<usize> = (0..d).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
        let axis = |rank: usize| match order.get(rank) {
            Some(&column) => upright(eigen.eigenvectors.column(column).iter().copied().collect()),
            None => vec![0.0; d],
        };
        let explained = |rank: usize| match order.get(rank) {
            Some(&column) if total > 0.0 => eigen.eigenvalues[column].max(0.0) / total,
            _ => 0.0,
        };
        let axes = [axis(0), axis(1)];
        let project = |row: usize, axis: &[f64]| -> f64 {
            let values = centered.row(row);
            values
                .iter()
                .zip(axis)
                .map(|(x, loading)| x * loading)
                .sum()
        };
        Self {
            coordinates: (0..n)
                .map(|row| [project(row, &axes[0]), project(row, &axes[1])])
                .collect(),
            explained: [explained(0), explained(1)],
            axes,
        }
    }
}

/// The axis or its opposite, whichever has its largest loading above 0.
fn upright(mut axis: Vec<f64>) -> Vec<f64> {
    let mut largest = 0.0_f64;
    for &loading in &axis {
        if loading.abs() > largest.abs() {
            largest = loading;
        }
    }
    if largest < 0.0 {
        for loading in &mut axis {
            *loading = -*loading;
        }
    }
    axis
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_a_line_need_one_axis() {
        // Along (−3, 4)/5, whose largest loading is made positive.
        let values = [-2.0, -1.0, 0.0, 3.0].map(|t| [7.0 - 3.0 * t, 4.0 * t]);
        let matrix = Matrix::try_new(values.concat(), 2).unwrap();
        let plane = PrincipalPlane::of(&matrix);
        for (found, expected) in plane.coordinates.iter().zip([-10.0, -5.0, 0.0, 15.0]) {
            assert!((found[0] - expected).abs() < 1e-12);
            assert!(found[1].abs() < 1e-12);
        }
        assert!((plane.explained[0] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn degenerate_matrices_have_a_plane() {
        let column = PrincipalPlane::of(&Matrix::try_new(vec![1.0, 3.0], 1).unwrap());
        assert_eq!(column.coordinates, [[-1.0, 0.0], [1.0, 0.0]]);
        let point = PrincipalPlane::of(&Matrix::try_new(vec![1.0, 2.0, 3.0], 3).unwrap());
        assert_eq!(point.coordinates, [[0.0, 0.0]]);
        assert_eq!(point.explained, [0.0, 0.0]);
        let nothing = PrincipalPlane::of(&Matrix::try_new(Vec::new(), 3).unwrap());
        assert!(nothing.coordinates.is_empty());
    }
}
