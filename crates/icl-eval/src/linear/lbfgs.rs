//! Minimisation of a smooth function by the limited-memory BFGS method.

use std::collections::VecDeque;

use nalgebra::DMatrix;

/// Number of steps from which the curvature is approximated.
const MEMORY: usize = 20;
/// Maximum number of iterations.
const MAX_ITERATIONS: usize = 2000;
/// Maximum number of evaluations in one line search.
const MAX_TRIALS: usize = 60;

/// A smooth function of a matrix. Only if it is convex, the minimum that is found is the global one.
pub(crate) trait Objective {
    /// Returns the value and the gradient.
    fn evaluate(&self, at: &DMatrix<f64>) -> (f64, DMatrix<f64>);

    /// Multiplies a direction, in place, by a cheap, positive definite approximation of the inverse
    /// curvature, which is the same at every point.
    fn precondition(&self, direction: &mut DMatrix<f64>);

    /// Returns the length of the gradient that is accepted as 0.
    fn tolerance(&self, at: &DMatrix<f64>) -> f64;

    /// Returns whether the solver is to stop at this iterate. It is called once for each, before the next step.
    fn is_interrupted(&self, _: &DMatrix<f64>) -> bool {
        false
    }
}

/// State of a solver that stopped before it converged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stopped {
    pub(crate) n_iterations: usize,
    pub(crate) gradient: f64,
    pub(crate) tolerance: f64,
}

/// Reason for which a solver has no minimum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Unfinished {
    /// Stopped before it converged.
    Stopped(Stopped),
    /// Interrupted by a request.
    Interrupted,
}

/// A step and the change of the gradient along it.
struct Correction {
    step: DMatrix<f64>,
    change: DMatrix<f64>,
    product: f64,
}

/// Minimises a function by the limited-memory BFGS method (Nocedal, 1980) with a preconditioned first
/// approximation.
///
/// The line search looks for the weak Wolfe conditions by bisection (Lewis and Overton, 2013), which
/// always ends on a smooth function that is bounded below.
///
/// # Errors
/// [`Unfinished::Stopped`] after 2000 iterations, or if rounding prevents any further progress;
/// [`Unfinished::Interrupted`] if the objective says so.
pub(crate) fn minimise(
    objective: &impl Objective,
    start: DMatrix<f64>,
) -> Result<DMatrix<f64>, Unfinished> {
    let mut at = start;
    let (mut value, mut gradient) = objective.evaluate(&at);
    let mut memory: VecDeque<Correction> = VecDeque::with_capacity(MEMORY);
    for n_iterations in 0.. {
        let stopped = Stopped {
            n_iterations,
            gradient: gradient.norm(),
            tolerance: objective.tolerance(&at),
        };
        if stopped.gradient <= stopped.tolerance {
            return Ok(at);
        }
        if n_iterations == MAX_ITERATIONS {
            return Err(Unfinished::Stopped(stopped));
        }
        if objective.is_interrupted(&at) {
            return Err(Unfinished::Interrupted);
        }
        let direction = descent(objective, &memory, &gradient);
        let Some(found) = search(objective, &at, value, &gradient, &direction) else {
            return Err(Unfinished::Stopped(stopped));
        };
        let (next, next_value, next_gradient) = found;
        let step = &next - &at;
        let change = &next_gradient - &gradient;
        let product = step.dot(&change);
        if memory.len() == MEMORY {
            memory.pop_front();
        }
        // Above 0, as the update needs it: the line search lets the slope grow along the step.
        memory.push_back(Correction {
            step,
            change,
            product,
        });
        (at, value, gradient) = (next, next_value, next_gradient);
    }
    unreachable!("the loop ends at the last iteration")
}

/// Returns minus the gradient times the approximate inverse curvature, by the two loops of Nocedal
/// (1980).
fn descent(
    objective: &impl Objective,
    memory: &VecDeque<Correction>,
    gradient: &DMatrix<f64>,
) -> DMatrix<f64> {
    let mut direction = -gradient;
    let mut weights = Vec::with_capacity(memory.len());
    for correction in memory.iter().rev() {
        let weight = correction.step.dot(&direction) / correction.product;
        direction.zip_apply(&correction.change, |d, y| *d -= weight * y);
        weights.push(weight);
    }
    objective.precondition(&mut direction);
    if let Some(last) = memory.back() {
        // The first approximation, scaled to the curvature along the last step.
        let mut conditioned = last.change.clone();
        objective.precondition(&mut conditioned);
        direction *= last.product / last.change.dot(&conditioned);
    }
    for (correction, weight) in memory.iter().zip(weights.into_iter().rev()) {
        let rest = weight - correction.change.dot(&direction) / correction.product;
        direction.zip_apply(&correction.step, |d, s| *d += rest * s);
    }
    direction
}

/// Searches along a direction for a point at which the function has decreased by at least 10⁻⁴ of the
/// decrease that the slope predicts, and the slope has risen to at least nine tenths of its value (both
/// are negative). Returns the point with its value and gradient.
fn search(
    objective: &impl Objective,
    at: &DMatrix<f64>,
    value: f64,
    gradient: &DMatrix<f64>,
    direction: &DMatrix<f64>,
) -> Option<(DMatrix<f64>, f64, DMatrix<f64>)> {
    let slope = gradient.dot(direction);
    // Close to the minimum the decrease is below the rounding of the value.
    let rounding = 1e-12 * value.abs();
    let (mut low, mut high, mut length) = (0.0, f64::INFINITY, 1.0);
    for _ in 0..MAX_TRIALS {
        let mut trial = at.clone();
        trial.zip_apply(direction, |x, d| *x += length * d);
        let (trial_value, trial_gradient) = objective.evaluate(&trial);
        let falls = trial_value <= value + 1e-4 * length * slope + rounding;
        if !falls {
            high = length;
        } else if trial_gradient.dot(direction) < 0.9 * slope {
            low = length;
        } else {
            return Some((trial, trial_value, trial_gradient));
        }
        length = if high.is_finite() {
            0.5 * (low + high)
        } else {
            2.0 * low
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Σ cᵢ(√(1 + (xᵢ − i)²) − 1), with curvatures cᵢ from 1 to 100.
    struct Bowls;

    const SCALES: [f64; 4] = [1.0, 5.0, 20.0, 100.0];

    impl Objective for Bowls {
        fn evaluate(&self, at: &DMatrix<f64>) -> (f64, DMatrix<f64>) {
            let mut value = 0.0;
            let gradient = DMatrix::from_fn(4, 1, |i, _| {
                let x = at[i] - i as f64;
                value += SCALES[i] * (x.hypot(1.0) - 1.0);
                SCALES[i] * x / x.hypot(1.0)
            });
            (value, gradient)
        }

        fn precondition(&self, _: &mut DMatrix<f64>) {}

        fn tolerance(&self, _: &DMatrix<f64>) -> f64 {
            1e-9
        }
    }

    #[test]
    fn the_minimum_is_found() {
        let start = DMatrix::from_column_slice(4, 1, &[30.0, -5.0, 9.0, 2.0]);
        let found = minimise(&Bowls, start).unwrap();
        for i in 0..4 {
            assert!((found[i] - i as f64).abs() < 1e-9, "{found}");
        }
    }

    /// x, which has no minimum.
    struct Slope;

    impl Objective for Slope {
        fn evaluate(&self, at: &DMatrix<f64>) -> (f64, DMatrix<f64>) {
            (at[0], DMatrix::from_element(1, 1, 1.0))
        }

        fn precondition(&self, _: &mut DMatrix<f64>) {}

        fn tolerance(&self, _: &DMatrix<f64>) -> f64 {
            0.5
        }
    }

    #[test]
    fn without_a_minimum_it_stops() {
        let expected = Stopped {
            n_iterations: 0,
            gradient: 1.0,
            tolerance: 0.5,
        };
        assert_eq!(
            minimise(&Slope, DMatrix::zeros(1, 1)),
            Err(Unfinished::Stopped(expected))
        );
    }
}
