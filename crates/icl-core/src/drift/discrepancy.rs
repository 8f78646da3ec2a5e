//! The general two-sample test of old and new noise.

use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::directions::{Directions, dot};
use super::no_drift::p_value;
use super::relabelling::Relabellings;
use crate::Seed;

/// Most rows of each origin that are compared: the cost grows with the square of their number.
const MOST: usize = 1000;
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
/// 1000 rows of one origin 1000 are drawn by the seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Discrepancy {
    /// MMD², from 0 (equal) to 2.
    pub mmd2: f64,
    /// Width h of the kernel; 1 if all rows are equal.
    pub bandwidth: f64,
    /// Number of old rows that were compared.
    pub n_old: usize,
    /// Number of new rows that were compared.
    pub n_new: usize,
    /// Number of relabellings B.
    pub n_relabellings: usize,
    /// Share of relabellings, the rows as they are counted as one, whose MMD² is at least theirs.
    pub p_value: f64,
    /// The p-value by Holm's correction for all tests of the [`Drift`](super::Drift).
    pub p_adjusted: f64,
}

impl Discrepancy {
    /// Compares the first `n_old` rows of the noise with the others, by `n_relabellings` permutations.
    pub(super) fn of(noise: &Directions, n_old: usize, n_relabellings: usize, seed: Seed) -> Self {
        let old = drawn((0..n_old).collect(), seed.child("old"));
        let new = drawn((n_old..noise.n()).collect(), seed.child("new"));
        let rows = old.iter().chain(&new).map(|row| noise.row(*row));
        let rows = Rows::of(rows.collect());
        let bandwidth_squared = rows.median_distance();
        let relabellings =
            Relabellings::draw(n_relabellings, rows.n(), old.len(), seed.child("null"));
        let mut labels = vec![weights((0..rows.n()).map(|row| row < old.len()))];
        labels.extend(
            (0..n_relabellings)
                .map(|at| weights((0..rows.n()).map(|row| relabellings.is_old(at, row)))),
        );
        let found = rows.discrepancies(&labels, bandwidth_squared);
        let p_value = p_value(found[0], &found[1..]);
        Self {
            // A sum of squares, up to rounding.
            mmd2: found[0].max(0.0),
            bandwidth: bandwidth_squared.sqrt(),
            n_old: old.len(),
            n_new: new.len(),
            n_relabellings,
            p_value,
            p_adjusted: p_value,
        }
    }
}

/// Returns the rows in their order, or as many as are compared at most.
fn drawn(mut rows: Vec<usize>, seed: Seed) -> Vec<usize> {
    if rows.len() > MOST {
        rows.shuffle(&mut seed.rng());
        rows.truncate(MOST);
        rows.sort_unstable();
    }
    rows
}

/// Returns 1/n for each of n old rows and −1/m for each of m new ones: MMD² is the quadratic form of the kernel with
/// them.
fn weights(is_old: impl Iterator<Item = bool> + Clone) -> Vec<f64> {
    let n_old = is_old.clone().filter(|it| *it).count() as f64;
    let n_new = is_old.clone().count() as f64 - n_old;
    let weight = |is_old| if is_old { 1.0 / n_old } else { -1.0 / n_new };
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
