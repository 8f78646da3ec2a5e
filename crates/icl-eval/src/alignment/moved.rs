//! The samples that an update moved, beyond what a map explains.

use crate::Matrix;
use crate::neighbours::Directions;

/// Returns the cosine distance 1 − cos of each mapped old row to the new row of the same sample: what the map does not explain.
///
/// # Panics
/// If the shapes differ.
pub fn remaining_distances(mapped: &Matrix, new: &Matrix) -> Vec<f64> {
    assert_eq!(
        (mapped.n_rows(), mapped.n_columns()),
        (new.n_rows(), new.n_columns()),
        "mapped (left) and new rows (right) must have the same shape"
    );
    let (mapped, new) = (Directions::of(mapped), Directions::of(new));
    let rows = mapped.rows().zip(new.rows());
    rows.map(|(a, b)| 1.0 - a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>())
        .collect()
}

/// Returns the order in which to embed samples again: those with the largest distance first, equal ones by index.
pub fn moved_most_first(distances: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..distances.len()).collect();
    order.sort_by(|a, b| distances[*b].total_cmp(&distances[*a]).then(a.cmp(b)));
    order
}
