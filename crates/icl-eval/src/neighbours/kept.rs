//! The share of nearest neighbours that two embeddings of the same samples have in common.

use rayon::prelude::*;

use super::directions::{Directions, nearest_first, neighbour};
use crate::error::{check_enough, check_k};
use crate::matrix::check_count;
use crate::{EvalError, Matrix};

/// Settings of [`NeighboursKept`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeighboursKeptConfig {
    k: usize,
}

impl Default for NeighboursKeptConfig {
    /// Returns the settings k = 10.
    fn default() -> Self {
        Self { k: 10 }
    }
}

impl NeighboursKeptConfig {
    /// Sets the number of neighbours k of each sample.
    pub fn with_k(self, k: usize) -> Self {
        Self { k }
    }

    /// Creates the measure.
    ///
    /// # Errors
    /// [`EvalError`] if k is 0.
    pub fn try_init(self) -> Result<NeighboursKept, EvalError> {
        check_k(self.k)?;
        Ok(NeighboursKept { k: self.k })
    }
}

/// Measure of the neighbourhoods of one embedding that another one keeps: the share of the k nearest
/// neighbours that is the same in both, as a mean over samples.
///
/// ```text
/// 1/n · Σᵢ |N_k(i; before) ∩ N_k(i; after)| / k
/// ```
///
/// N_k(i) are the k samples other than i with the greatest cosine similarity to i; of equally similar
/// ones those with the lower index are nearer. A row of zeros has similarity 0 to every row. The measure
/// depends on directions alone: it is 1 for an embedding and itself, also if its rows are scaled, and 1
/// up to rounding for a rotated embedding. The mean for two independent embeddings is k/(n − 1).
///
/// The time is n²·d, on rayon's threads; the result does not depend on their number.
///
/// ```
/// use icl_eval::{Matrix, NeighboursKeptConfig};
///
/// // Four samples on a quarter of a circle, of which the last moves away from the third.
/// let at = |degrees: [f64; 4]| {
///     let points = degrees.map(f64::to_radians).map(|a| [a.cos(), a.sin()]);
///     Matrix::try_new(points.concat(), 2)
/// };
/// let kept = NeighboursKeptConfig::default().with_k(1).try_init()?;
/// let share = kept.share(&at([0.0, 10.0, 80.0, 90.0])?, &at([0.0, 10.0, 80.0, 25.0])?)?;
/// // It is still the nearest of the third, but its own nearest is now the second.
/// assert_eq!(share, 0.75);
/// # Ok::<(), icl_eval::EvalError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeighboursKept {
    k: usize,
}

impl NeighboursKept {
    /// Returns k, the number of neighbours of each sample.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Returns the share of neighbours that is kept, from 0 to 1. Row i of both matrices is the same
    /// sample; the widths may differ.
    ///
    /// # Errors
    /// - [`EvalErrorKind::Invalid`](crate::EvalErrorKind::Invalid) if the matrices differ in their number of rows;
    /// - [`EvalErrorKind::TooFew`](crate::EvalErrorKind::TooFew) if there are not more than k samples.
    pub fn share(&self, before: &Matrix, after: &Matrix) -> Result<f64, EvalError> {
        let n = before.n_rows();
        check_count("rows after", after.n_rows(), before)?;
        check_enough(n, self.k)?;
        let (before, after) = (Directions::of(before), Directions::of(after));
        let n_kept: usize = (0..n)
            .into_par_iter()
            .map(|row| {
                let mut is_near = vec![false; n];
                for other in nearest(&before, row, self.k) {
                    is_near[other] = true;
                }
                let after = nearest(&after, row, self.k).into_iter();
                after.filter(|&other| is_near[other]).count()
            })
            .sum();
        Ok(n_kept as f64 / (n * self.k) as f64)
    }
}

/// Returns the k nearest neighbours of a row, in any order; k is below the number of rows.
fn nearest(directions: &Directions, row: usize, k: usize) -> Vec<usize> {
    let own = directions.row(row);
    let rows = directions.rows().enumerate();
    let mut others: Vec<_> = rows
        .filter(|&(index, _)| index != row)
        .map(|(index, other)| {
            let products = own.iter().zip(other).map(|(a, b)| a * b);
            neighbour(products.sum(), index)
        })
        .collect();
    others.select_nth_unstable_by(k - 1, nearest_first);
    others.into_iter().take(k).map(|(_, index)| index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    use icl_core::Seed;
    use rand::RngExt;

    fn kept(k: usize) -> NeighboursKept {
        NeighboursKeptConfig::default()
            .with_k(k)
            .try_init()
            .unwrap()
    }

    fn matrix(values: &[f64], width: usize) -> Matrix {
        Matrix::try_new(values.to_vec(), width).unwrap()
    }

    fn random(n: usize, width: usize, stream: u64) -> Matrix {
        let mut rng = Seed::new(5).at(stream).rng();
        let values: Vec<f64> = (0..n * width)
            .map(|_| rng.random_range(-1.0..1.0))
            .collect();
        matrix(&values, width)
    }

    #[test]
    fn an_embedding_keeps_its_own_neighbours() {
        let x = random(60, 3, 0);
        for k in [1, 7, 59] {
            assert_eq!(kept(k).share(&x, &x), Ok(1.0));
        }
        // Scaled row by row by powers of two, which is exact.
        let rows = x.rows().enumerate();
        let scaled =
            rows.flat_map(|(i, row)| row.iter().map(move |x| x * 2f64.powi(i as i32 - 30)));
        let scaled = matrix(&scaled.collect::<Vec<_>>(), 3);
        assert_eq!(kept(7).share(&x, &scaled), Ok(1.0));
    }

    #[test]
    fn a_rotation_keeps_all_neighbours() {
        let x = random(80, 3, 1);
        let (a, b) = (0.6_f64, 0.8_f64);
        let turned = x.rows().flat_map(|row| {
            let [x, y, z] = [row[0], row[1], row[2]];
            let (x, y) = (a * x - b * y, b * x + a * y);
            [x, a * y - b * z, b * y + a * z]
        });
        let turned = matrix(&turned.collect::<Vec<_>>(), 3);
        assert_eq!(kept(10).share(&x, &turned), Ok(1.0));
        // All others are neighbours, whatever the embedding.
        assert_eq!(kept(79).share(&x, &random(80, 2, 2)), Ok(1.0));
    }

    #[test]
    fn of_equally_near_samples_the_first_count() {
        // All are equal: the neighbours of 0 are 1 and 2, those of all others begin with 0.
        let equal = Directions::of(&matrix(&[3.0; 8], 2));
        let two_nearest = |row| {
            let mut rows = nearest(&equal, row, 2);
            rows.sort_unstable();
            rows
        };
        let expected = [[1, 2], [0, 2], [0, 1], [0, 1]];
        assert_eq!([0, 1, 2, 3].map(two_nearest), expected);
        // Zeros are as far from everything as what is orthogonal, in either sign.
        let zeros = Directions::of(&matrix(&[0.0, 0.0, 1.0, 0.0, 0.0, -1.0, 0.0, 1.0], 2));
        assert_eq!(nearest(&zeros, 1, 1), [0]);
        assert_eq!(nearest(&zeros, 0, 1), [1]);
    }

    #[test]
    fn neighbours_are_counted_by_hand() {
        // On a circle in degrees: pairs before, other pairs after.
        let at = |degrees: [f64; 4]| {
            let points = degrees.map(f64::to_radians).map(|a| [a.cos(), a.sin()]);
            matrix(&points.concat(), 2)
        };
        let before = at([0.0, 10.0, 90.0, 105.0]);
        let after = at([0.0, 95.0, 5.0, 92.0]);
        assert_eq!(kept(1).share(&before, &after), Ok(0.0));
        // Of two neighbours each: 0 {1, 2} and {2, 3}; 1 {0, 2} and {3, 2}; 2 {3, 1} and {0, 3};
        // 3 {2, 1} and {1, 2}.
        assert_eq!(kept(2).share(&before, &after), Ok(5.0 / 8.0));
    }

    #[test]
    fn k_must_leave_room() {
        let config = NeighboursKeptConfig::default().with_k(0);
        assert_eq!(config.try_init().unwrap_err().place(), "neighbours (k)");
        assert_eq!(NeighboursKeptConfig::default().try_init().unwrap().k(), 10);
        let x = random(5, 2, 3);
        let error = kept(5).share(&x, &x).unwrap_err();
        assert_eq!(
            error.to_string(),
            "neighbours: found 5 samples, expected more than k = 5"
        );
    }

    #[test]
    fn samples_must_be_the_same() {
        let error = kept(1).share(&random(5, 2, 3), &random(6, 2, 3));
        assert_eq!(
            error.unwrap_err().to_string(),
            "rows after: found 6, expected 5, one for each row"
        );
    }
}
