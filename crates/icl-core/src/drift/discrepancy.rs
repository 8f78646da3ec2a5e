//! The general two-sample test of old and new noise.

use rayon::prelude::*;

use super::directions::{Directions, dot};
use super::estimate::Jackknife;
use super::no_drift::p_value;
use super::relabelling::Relabellings;
use super::subset::drawn;
use super::terms::N_GROUPS;
use crate::Seed;

/// Most rows of each origin that are compared: the cost grows with the square of their number.
pub(super) const MOST: usize = 1000;
/// Number of rows whose similarities are in memory at once, on each thread.
const TILE: usize = 8;
/// Squared distance of directions up to which rows are equal, which single precision cannot tell apart.
const ROUNDING: f64 = 1e-12;

/// Maximum mean discrepancy (MMD) of the directions of old and new noise, with its permutation test (Gretton et al.,
/// 2012).
///
/// ```text
/// MMD² = mean of k(o, o′) + mean of k(n, n′) − 2 · mean of k(o, n)       all pairs, rows with themselves included
/// k(x, y) = exp(−‖x − y‖²/(2h²))       h² = median of ‖x − y‖² over pairs of different rows, old and new
/// ```
///
/// It needs no positives and sees any difference of the distributions, also one that costs the encoder nothing: it says
/// *that* old and new differ, not how much this matters. Lengths of rows do not count, as in the losses. Of more than
/// 1000 rows of one origin 1000 are drawn by the seed. Rows paired with themselves make MMD² larger the fewer rows
/// there are, by (1 − mean of k)/n for each origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Discrepancy {
    /// MMD², from 0 (equal) to 2.
    pub mmd2: f64,
    /// Standard error of MMD² by the draw of the rows, by the jackknife of [`Estimate`](super::Estimate); 0 if all are
    /// compared.
    pub standard_error: f64,
    /// Width h of the kernel; 1 if all rows are equal.
    pub bandwidth: f64,
    /// Number of old rows that were compared.
    pub n_old: usize,
    /// Number of new rows that were compared.
    pub n_new: usize,
    /// Number of relabellings B.
    pub n_relabellings: usize,
    /// The p-value: share of relabellings, the real labels counted as one of them, whose MMD² is at least that of the
    /// real labels.
    pub p_value: f64,
    /// The p-value after Holm's correction for all tests of the [`Drift`](super::Drift).
    pub p_adjusted: f64,
}

impl Discrepancy {
    /// Compares the first `n_old` rows of the noise with the others, at most `most` of either, by `n_relabellings`
    /// permutations.
    pub(super) fn of(
        noise: &Directions,
        n_old: usize,
        most: usize,
        n_relabellings: usize,
        seed: Seed,
    ) -> Self {
        let compared = |rows, name| {
            let mut rows = drawn(rows, most, seed.child(name));
            rows.sort_unstable();
            rows
        };
        let (old, new) = (compared(0..n_old, "old"), compared(n_old..noise.n(), "new"));
        let rows = old.iter().chain(&new).map(|row| noise.row(*row));
        let rows = Rows::of(rows.collect());
        let bandwidth_squared = rows.median_distance();
        let relabellings =
            Relabellings::draw(n_relabellings, rows.n(), old.len(), seed.child("null"));
        let is_old = |row: usize| row < old.len();
        let mut labels = vec![weights((0..rows.n()).map(|row| Some(is_old(row))))];
        labels.extend(
            (0..n_relabellings)
                .map(|at| weights((0..rows.n()).map(|row| Some(relabellings.is_old(at, row))))),
        );
        let parts = [(old.len(), n_old), (new.len(), noise.n() - n_old)];
        let left_out = parts.map(|(n, of)| (of - n) as f64 / of as f64);
        let drawn_parts = [0, 1].into_iter().filter(|part| left_out[*part] > 0.0);
        for part in drawn_parts.clone() {
            labels.extend((0..N_GROUPS).map(|group| {
                let is_kept = |row: usize| is_old(row) != (part == 0) || row % N_GROUPS != group;
                weights((0..rows.n()).map(|row| is_kept(row).then(|| is_old(row))))
            }));
        }
        let found = rows.discrepancies(&labels, bandwidth_squared);
        let (found, without) = found.split_at(1 + n_relabellings);
        let p_value = p_value(found[0], &found[1..]);
        let variances = drawn_parts
            .zip(without.chunks(N_GROUPS))
            .map(|(part, of)| Jackknife::of(&found[..1], of, left_out[part]).variance);
        Self {
            // A sum of squares, up to rounding.
            mmd2: found[0].max(0.0),
            standard_error: variances.sum::<f64>().sqrt(),
            bandwidth: bandwidth_squared.sqrt(),
            n_old: old.len(),
            n_new: new.len(),
            n_relabellings,
            p_value,
            p_adjusted: p_value,
        }
    }
}

/// Returns 1/n for each of n old rows, −1/m for each of m new ones, and 0 for rows that are neither: MMD² is the
/// quadratic form of the kernel with them.
fn weights(is_old: impl Iterator<Item = Option<bool>> + Clone) -> Vec<f64> {
    let n_of = |origin: bool| is_old.clone().filter(|it| *it == Some(origin)).count() as f64;
    let (n_old, n_new) = (n_of(true), n_of(false));
    let weight = |is_old| match is_old {
        Some(true) => 1.0 / n_old,
        Some(false) => -1.0 / n_new,
        None => 0.0,
    };
    is_old.map(weight).collect()
}

/// Rows that are compared, with their squared lengths.
struct Rows<'a> {
    rows: Vec<&'a [f64]>,
    squares: Vec<f64>,
}

impl<'a> Rows<'a> {
    fn of(rows: Vec<&'a [f64]>) -> Self {
        let squares = rows.iter().map(|row| dot(row, row)).collect();
        Self { rows, squares }
    }

    fn n(&self) -> usize {
        self.rows.len()
    }

    /// Returns ‖x − y‖² of two rows; 0 for equal ones.
    fn distance(&self, a: usize, b: usize) -> f64 {
        (self.squares[a] + self.squares[b] - 2.0 * dot(self.rows[a], self.rows[b])).max(0.0)
    }

    /// Returns the median of ‖x − y‖² over pairs of different rows, the upper one of two; 1 if all are equal.
    fn median_distance(&self) -> f64 {
        let of_row = |a: usize| (a + 1..self.n()).map(move |b| self.distance(a, b));
        let mut distances: Vec<f64> = (0..self.n())
            .into_par_iter()
            .flat_map_iter(of_row)
            .filter(|it| *it > ROUNDING)
            .collect();
        // Without the pairs of equal rows: where most rows are equal, the median of all pairs would be 0.
        if distances.is_empty() {
            return 1.0;
        }
        let middle = distances.len() / 2;
        *distances.select_nth_unstable_by(middle, f64::total_cmp).1
    }

    /// Returns Σᵢⱼ wᵢ·wⱼ·k(i, j) for each vector of weights.
    fn discrepancies(&self, labels: &[Vec<f64>], bandwidth_squared: f64) -> Vec<f64> {
        let starts: Vec<usize> = (0..self.n()).step_by(TILE).collect();
        let tiles: Vec<Vec<f64>> = starts
            .into_par_iter()
            .map(|start| {
                let n_lanes = TILE.min(self.n() - start);
                let mut kernel = vec![[0.0; TILE]; self.n()];
                for (row, values) in kernel.iter_mut().enumerate() {
                    for (lane, value) in values[..n_lanes].iter_mut().enumerate() {
                        *value =
                            (-self.distance(start + lane, row) / (2.0 * bandwidth_squared)).exp();
                    }
                }
                let form = |weights: &Vec<f64>| {
                    let mut sums = [0.0; TILE];
                    for (weight, values) in weights.iter().zip(&kernel) {
                        sums.iter_mut()
                            .zip(values)
                            .for_each(|(sum, k)| *sum += weight * k);
                    }
                    let of_tile = weights[start..start + n_lanes].iter().zip(sums);
                    of_tile.map(|(weight, sum)| weight * sum).sum::<f64>()
                };
                labels.iter().map(form).collect()
            })
            .collect();
        // In the order of the tiles, so that the number of threads changes no bit.
        let mut sums = vec![0.0; labels.len()];
        for tile in tiles {
            sums.iter_mut().zip(tile).for_each(|(sum, of)| *sum += of);
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;

    /// The spread over 300 draws is known to 4 %.
    #[test]
    fn the_standard_error_is_the_spread_over_draws() {
        let mut rng = Seed::new(5).rng();
        let mut row = |first: f64| {
            [
                first + rng.random_range(-1.0..1.0),
                rng.random_range(-1.0..1.0),
            ]
        };
        let rows: Vec<[f64; 2]> = (0..500)
            .map(|at| row(if at < 300 { 0.0 } else { 0.7 }))
            .collect();
        let noise = Directions::of(rows.as_flattened(), 2);
        let found = |most, seed| Discrepancy::of(&noise, 300, most, 39, Seed::new(seed));
        assert_eq!(found(300, 0).standard_error, 0.0);
        let n = 300;
        let draws: Vec<Discrepancy> = (0..n).map(|seed| found(64, seed)).collect();
        let mean = |of: &dyn Fn(&Discrepancy) -> f64| draws.iter().map(of).sum::<f64>() / n as f64;
        let centre = mean(&|it| it.mmd2);
        let spread = mean(&|it| (it.mmd2 - centre).powi(2)).sqrt();
        let error = mean(&|it| it.standard_error.powi(2)).sqrt();
        assert!((0.88..1.2).contains(&(error / spread)), "{error} {spread}");
    }
}
