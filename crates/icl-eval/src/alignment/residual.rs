//! The residual part of a map: one hidden layer, fitted to what an affine map leaves.

use std::cell::RefCell;

use icl_core::Seed;
use nalgebra::DMatrix;
use rand::RngExt;
use rayon::prelude::*;

use super::map::HiddenLayer;
use super::procrustes::not_converged;
use crate::EvalError;
use crate::linear::lbfgs::{Objective, minimise};

/// Number of rows of which one is kept from the fit, to end it.
const ONE_OF: usize = 10;
/// Penalties of the squares of the weights, where the mean square of what is left to fit is 1. On embeddings of
/// digits (800 rows of width 128) 10⁻³ gains where less does not, on 1400 rows 3·10⁻⁴ gains most.
const DECAYS: [f64; 2] = [1e-3, 3e-4];
/// Maximum number of iterations.
const MAX_ITERATIONS: usize = 100;
/// Number of iterations without a gain on the kept rows that ends the fit. The first ones often undo the penalty of
/// the affine map, which costs the kept rows something before the bend is found.
const PATIENCE: usize = 40;
/// Number of rows of which the gradient is computed at once. Parts are added in order, so that threads change nothing.
const N_PART: usize = 256;

/// Fits `x ↦ tanh(x·W₁ + b₁)·W₂` to what a map leaves of the new rows:
///
/// ```text
/// min over W₁, b₁, W₂ of ½·mean((tanh(A·W₁ + 1·b₁ᵀ)·W₂ − L)²) + ½·λ·(‖W₁‖² + ‖W₂‖²)      A, L of mean square 1
/// ```
///
/// by L-BFGS without every tenth row, for two penalties λ. W₁ is drawn by the seed and W₂ starts at 0, where the map
/// is the affine one. The layer of the iteration that is nearest to the kept rows is returned; where none comes
/// nearer than the start, its W₂ is 0.
///
/// # Errors
/// [`EvalError`] if a weight is not finite.
pub(super) fn residual(
    old: &DMatrix<f64>,
    left: &DMatrix<f64>,
    d_hidden: usize,
    seed: Seed,
) -> Result<HiddenLayer, EvalError> {
    let (d_old, d_new) = (old.ncols(), left.ncols());
    let mean = old.row_mean();
    let mut scaled = old.clone();
    scaled.row_iter_mut().for_each(|mut row| row -= &mean);
    let [of_old, of_left] = [&scaled, left].map(|it| (it.norm_squared() / it.len() as f64).sqrt());
    scaled /= of_old;
    // Where the change is affine to the last digit, nothing is left to scale.
    let target = if of_left > 0.0 {
        left / of_left
    } else {
        left.clone()
    };
    let mut rng = seed.child("hidden").rng();
    // Uniform in ±√(3/d_old), so that x·W₁ has variance 1 where x has mean square 1.
    let spread = (3.0 / d_old as f64).sqrt();
    let start = DMatrix::from_fn(d_old + 1 + d_new, d_hidden, |row, _| {
        // The offset, too, so that the first units differ in more than their direction.
        let drawn = rng.random_range(-1.0..1.0);
        match row {
            row if row < d_old => spread * drawn,
            row if row == d_old => drawn,
            _ => 0.0,
        }
    });
    let (kept, fitted) = parts(old.nrows());
    let part = |rows: &[usize]| Pairs {
        old: scaled.select_rows(rows),
        left: target.select_rows(rows),
    };
    let mut training = Training {
        fitted: part(&fitted),
        kept: part(&kept),
        decay: 0.0,
        course: RefCell::new(Course {
            error: f64::INFINITY,
            at: start.clone(),
            n_iterations: 0,
            n_idle: 0,
        }),
    };
    for decay in DECAYS {
        training.decay = decay;
        let course = training.course.get_mut();
        (course.n_iterations, course.n_idle) = (0, 0);
        // Whatever the reason for its end, an error among them, `course` holds the best iteration.
        let _ = minimise(&training, start.clone());
    }
    let best = training.course.into_inner().at;
    let weights = best.rows(0, d_old) / of_old;
    let offset = best.row(d_old) - &mean * &weights;
    let output = best.rows(d_old + 1, d_new).transpose() * of_left;
    let is_finite = |of: &DMatrix<f64>| of.iter().all(|x| x.is_finite());
    if !is_finite(&weights) || !is_finite(&output) || !offset.iter().all(|x| x.is_finite()) {
        return Err(not_converged());
    }
    Ok(HiddenLayer::of(&weights, &offset, &output))
}

/// Returns the rows that are kept from the fit, and the fitted ones.
pub(super) fn parts(n_rows: usize) -> (Vec<usize>, Vec<usize>) {
    (0..n_rows).partition(|row| row.is_multiple_of(ONE_OF))
}

/// Rows, and what is left to fit of each.
struct Pairs {
    old: DMatrix<f64>,
    left: DMatrix<f64>,
}

impl Pairs {
    /// Returns half the mean square of the error and its gradient at parameters `[d_old + 1 + d_new, d_hidden]`: W₁,
    /// b₁ and W₂ᵀ, one above the other.
    fn loss(&self, at: &DMatrix<f64>) -> (f64, DMatrix<f64>) {
        let (d_old, d_new, d_hidden) = (self.old.ncols(), self.left.ncols(), at.ncols());
        let (weights, offset) = (at.rows(0, d_old), at.row(d_old));
        let output = at.rows(d_old + 1, d_new);
        let n = self.old.nrows();
        let starts: Vec<usize> = (0..n).step_by(N_PART).collect();
        let parts: Vec<(f64, DMatrix<f64>)> = starts
            .into_par_iter()
            .map(|start| {
                let n_part = N_PART.min(n - start);
                let old = self.old.rows(start, n_part);
                let mut hidden = old * weights;
                hidden.row_iter_mut().for_each(|mut row| row += offset);
                hidden.apply(|x| *x = x.tanh());
                let error = &hidden * output.transpose() - self.left.rows(start, n_part);
                let mut back = &error * output;
                back.zip_apply(&hidden, |x, tanh| *x *= 1.0 - tanh * tanh);
                let mut gradient = DMatrix::zeros(at.nrows(), d_hidden);
                gradient
                    .rows_mut(0, d_old)
                    .copy_from(&(old.transpose() * &back));
                gradient.row_mut(d_old).copy_from(&back.row_sum());
                let of_output = error.transpose() * &hidden;
                gradient.rows_mut(d_old + 1, d_new).copy_from(&of_output);
                (error.norm_squared(), gradient)
            })
            .collect();
        let zero = (0.0, DMatrix::zeros(at.nrows(), d_hidden));
        let (squares, gradient) = parts.into_iter().fold(zero, |(sum, mut total), part| {
            total += part.1;
            (sum + part.0, total)
        });
        let n_values = (n * d_new) as f64;
        (0.5 * squares / n_values, gradient / n_values)
    }

    /// Returns the mean square of the error.
    fn error(&self, at: &DMatrix<f64>) -> f64 {
        2.0 * self.loss(at).0
    }
}

/// The fit of a layer, with the best of its iterations.
struct Training {
    fitted: Pairs,
    kept: Pairs,
    decay: f64,
    course: RefCell<Course>,
}

struct Course {
    error: f64,
    at: DMatrix<f64>,
    n_iterations: usize,
    /// Iterations since the last gain.
    n_idle: usize,
}

impl Objective for Training {
    fn evaluate(&self, at: &DMatrix<f64>) -> (f64, DMatrix<f64>) {
        let (loss, mut gradient) = self.fitted.loss(at);
        let d_old = self.fitted.old.ncols();
        let mut squares = 0.0;
        for (row, of_row) in at.row_iter().enumerate().filter(|(row, _)| *row != d_old) {
            squares += of_row.norm_squared();
            let mut penalised = gradient.row_mut(row);
            penalised.zip_apply(&of_row, |g, w| *g += self.decay * w);
        }
        (loss + 0.5 * self.decay * squares, gradient)
    }

    fn precondition(&self, _: &mut DMatrix<f64>) {}

    fn tolerance(&self, _: &DMatrix<f64>) -> f64 {
        1e-9
    }

    fn is_interrupted(&self, at: &DMatrix<f64>) -> bool {
        let mut course = self.course.borrow_mut();
        let error = self.kept.error(at);
        if error < course.error {
            course.error = error;
            course.at.copy_from(at);
            course.n_idle = 0;
        }
        course.n_iterations += 1;
        course.n_idle += 1;
        course.n_iterations > MAX_ITERATIONS || course.n_idle > PATIENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(n: usize, d: usize, seed: u64) -> DMatrix<f64> {
        let mut rng = Seed::new(seed).rng();
        DMatrix::from_fn(n, d, |_, _| rng.random_range(-1.0..1.0))
    }

    /// More rows than one part, penalty and offset included.
    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        let (d_old, d_new, d_hidden) = (3, 2, 4);
        let pairs = |n, seed| Pairs {
            old: drawn(n, d_old, seed),
            left: drawn(n, d_new, seed + 1),
        };
        let training = Training {
            fitted: pairs(N_PART + 7, 1),
            kept: pairs(2, 3),
            decay: 0.02,
            course: RefCell::new(Course {
                error: f64::INFINITY,
                at: DMatrix::zeros(1, 1),
                n_iterations: 0,
                n_idle: 0,
            }),
        };
        let at = drawn(d_old + 1 + d_new, d_hidden, 5);
        let (value, gradient) = training.evaluate(&at);
        // The value by a plain loop.
        let (old, left) = (&training.fitted.old, &training.fitted.left);
        let mut expected = 0.0;
        for row in 0..old.nrows() {
            for column in 0..d_new {
                let mut found = -left[(row, column)];
                for unit in 0..d_hidden {
                    let sum: f64 = (0..d_old)
                        .map(|at_| old[(row, at_)] * at[(at_, unit)])
                        .sum();
                    found += (sum + at[(d_old, unit)]).tanh() * at[(d_old + 1 + column, unit)];
                }
                expected += 0.5 * found * found / (old.nrows() * d_new) as f64;
            }
        }
        let of_weights = at.norm_squared() - at.row(d_old).norm_squared();
        assert!((value - expected - 0.5 * training.decay * of_weights).abs() < 1e-14);
        for entry in 0..at.len() {
            let step = 1e-5;
            let moved = |by: f64| {
                let mut at = at.clone();
                at[entry] += by;
                training.evaluate(&at).0
            };
            let slope = (moved(step) - moved(-step)) / (2.0 * step);
            assert!((slope - gradient[entry]).abs() < 1e-9, "{entry}");
        }
    }

    /// Where nothing is left, or only noise, the layer adds nothing.
    #[test]
    fn a_layer_without_a_gain_is_zero() {
        let old = drawn(40, 5, 1);
        let layer = residual(&old, &DMatrix::zeros(40, 3), 8, Seed::new(0)).unwrap();
        assert!(layer.output().iter().all(|x| *x == 0.0));
    }

    #[test]
    fn a_seed_gives_one_layer() {
        let (old, left) = (drawn(600, 3, 1), drawn(600, 2, 2));
        let fit = |seed| residual(&old, &left.map(f64::sin), 6, Seed::new(seed)).unwrap();
        assert_eq!(fit(4), fit(4));
        assert_ne!(fit(4), fit(5));
    }
}
