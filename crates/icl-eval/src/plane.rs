//! A map of embeddings in the plane.

use nalgebra::DMatrix;

use crate::Matrix;
use crate::principal_axes::PrincipalAxes;

/// The first two principal components of a matrix: the plane in which its rows vary most.
///
/// The axes are eigenvectors of the covariance matrix `[d, d]`, computed from the products of the rows
/// `[n, n]` if n < d. The loading with the largest magnitude of each axis is positive (the first of
/// several equal ones), so that the same matrix always gives the same map. The result equals that of
/// scikit-learn's `PCA(2)` up to its choice of signs. If variances are equal, the axes are an arbitrary
/// basis of their space.
#[derive(Debug, Clone, PartialEq)]
pub struct PrincipalPlane {
    /// Coordinates of each row relative to the mean of all rows. The second ones are 0 if all rows lie
    /// on a line.
    pub coordinates: Vec<[f64; 2]>,
    /// The two axes, unit vectors of the width of the matrix. An axis along which the rows vary by no
    /// more than rounding is 0: the second if all rows lie on a line, both if all rows are equal.
    pub axes: [Vec<f64>; 2],
    /// Share of the total variance along each axis; 0 if there is no variance.
    pub explained: [f64; 2],
}

impl PrincipalPlane {
    /// Computes the principal plane of the rows of `matrix` `[n, d]`. The time is n·d·m + m³ with
    /// m = min(n, d).
    pub fn of(matrix: &Matrix) -> Self {
        let (n, d) = (matrix.n_rows(), matrix.n_columns());
        // Samples are the columns.
        let mut centered = DMatrix::from_column_slice(d, n, matrix.values());
        for mut feature in centered.row_iter_mut() {
            let mean = feature.sum() / n.max(1) as f64;
            feature.add_scalar_mut(-mean);
        }
        let total = centered.norm_squared();
        let axes = PrincipalAxes::of(centered);
        let rank = axes.scatter().len();
        let loadings = axes.combine(&DMatrix::identity(rank, rank.min(2)));
        let axis = |rank: usize| match loadings.column_iter().nth(rank) {
            Some(axis) => upright(axis.iter().copied().collect()),
            None => vec![0.0; d],
        };
        let explained = |rank: usize| match axes.scatter().get(rank) {
            Some(scatter) => scatter / total,
            None => 0.0,
        };
        let project = |row: usize, axis: &[f64]| -> f64 {
            let values = axes.samples().column(row);
            values
                .iter()
                .zip(axis)
                .map(|(x, loading)| x * loading)
                .sum()
        };
        let plane = [axis(0), axis(1)];
        Self {
            coordinates: (0..n)
                .map(|row| [project(row, &plane[0]), project(row, &plane[1])])
                .collect(),
            explained: [explained(0), explained(1)],
            axes: plane,
        }
    }
}

/// Returns the axis or its opposite, whichever has its largest loading above 0.
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
    fn a_column_of_zeros_more_changes_nothing() {
        // Ten rows of width 6, then of width 20: the smaller Gram matrix is another one.
        let values: Vec<f64> = (0..60).map(|i| f64::from(i * i % 17) - 8.0).collect();
        let narrow = Matrix::try_new(values, 6).unwrap();
        let padded = narrow.rows().flat_map(|row| [row, &[0.0; 14]].concat());
        let wide = Matrix::try_new(padded.collect(), 20).unwrap();
        let (narrow, wide) = (PrincipalPlane::of(&narrow), PrincipalPlane::of(&wide));
        for i in 0..2 {
            assert!((narrow.explained[i] - wide.explained[i]).abs() < 1e-13);
            for (a, b) in narrow.axes[i].iter().zip(&wide.axes[i]) {
                assert!((a - b).abs() < 1e-12);
            }
            assert!(wide.axes[i][6..].iter().all(|loading| *loading == 0.0));
        }
        let coordinates = narrow.coordinates.as_flattened().iter();
        for (a, b) in coordinates.zip(wide.coordinates.as_flattened()) {
            assert!((a - b).abs() < 1e-11);
        }
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
