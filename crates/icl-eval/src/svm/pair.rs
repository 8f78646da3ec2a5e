//! The dual problem of a support vector machine with two classes.

use libsvm_rs::qmatrix::QMatrix;
use libsvm_rs::solver::{Solver, SolverVariant};

use crate::EvalError;

/// Tolerance of the solver: the violation of the optimality conditions at which it stops.
const TOLERANCE: f64 = 1e-3;

/// The soft-margin problem of two classes in its dual form, without the penalty C:
///
/// ```text
/// minimise  ½ αᵀQα − Σᵢ αᵢ   over 0 ≤ αᵢ ≤ C with Σᵢ yᵢαᵢ = 0,   Qᵢⱼ = yᵢyⱼ k(xᵢ, xⱼ)
/// ```
#[derive(Debug)]
pub(super) struct PairProblem {
    /// Class y of each sample: +1 for the first class, −1 for the second.
    signs: Vec<i8>,
    /// Matrix Q `[n, n]`, in single precision as in libsvm.
    q: Vec<f32>,
    /// Diagonal of Q, in double precision as in libsvm.
    diagonal: Vec<f64>,
}

/// The decision function f(x) = Σᵢ yᵢαᵢ k(xᵢ, x) − ρ of two classes, positive for the first.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PairSolution {
    /// Coefficient yᵢαᵢ of each sample of the problem.
    pub(super) coefficients: Vec<f64>,
    /// Offset ρ.
    pub(super) rho: f64,
}

impl PairProblem {
    /// Creates the problem of samples with these signs; `kernel` returns k(xᵢ, xⱼ) for i and j.
    pub(super) fn new(signs: Vec<i8>, kernel: impl Fn(usize, usize) -> f32) -> Self {
        let n = signs.len();
        let mut q = Vec::with_capacity(n * n);
        for i in 0..n {
            q.extend((0..n).map(|j| f32::from(signs[i] * signs[j]) * kernel(i, j)));
        }
        let diagonal = (0..n).map(|i| f64::from(q[i * n + i])).collect();
        Self { signs, q, diagonal }
    }

    /// Solves the problem for one penalty by sequential minimal optimisation with second-order
    /// working sets (Fan, Chen and Lin, 2005), from α = 0 as libsvm does.
    ///
    /// # Errors
    /// [`EvalError::NotConverged`] if the solver stopped at its limit of 10⁷ iterations, which it does not
    /// report itself.
    pub(super) fn solve(&self, c: f64) -> Result<PairSolution, EvalError> {
        // The library prints a line to stderr for each fit unless this process-wide switch is set.
        libsvm_rs::set_quiet(true);
        let n = self.signs.len();
        let mut alpha = vec![0.0; n];
        let solution = Solver::solve(
            SolverVariant::Standard,
            n,
            Box::new(Rows(self)),
            &vec![-1.0; n],
            &self.signs,
            &mut alpha,
            c,
            c,
            TOLERANCE,
            false,
        );
        let violation = self.violation(&alpha, c);
        // Twice the tolerance of the solver allows for the rounding of its running gradient.
        let tolerance = 2.0 * TOLERANCE;
        if violation <= tolerance {
            let signed = alpha.iter().zip(&self.signs);
            Ok(PairSolution {
                coefficients: signed.map(|(alpha, &y)| alpha * f64::from(y)).collect(),
                rho: solution.rho,
            })
        } else {
            Err(EvalError::NotConverged {
                c,
                violation,
                tolerance,
            })
        }
    }

    /// Returns the violation of the optimality conditions by α: max over I_up of −yᵢgᵢ minus min over
    /// I_low of −yᵢgᵢ, with g = Qα − 1 (Fan, Chen and Lin, 2005, section 2). It is NaN if α or g is.
    fn violation(&self, alpha: &[f64], c: f64) -> f64 {
        let n = alpha.len();
        let mut gradient = vec![-1.0; n];
        for (row, &alpha) in self.q.chunks_exact(n).zip(alpha) {
            if alpha > 0.0 {
                for (g, &q) in gradient.iter_mut().zip(row) {
                    *g += alpha * f64::from(q);
                }
            }
        }
        let (mut up, mut low) = (f64::NEG_INFINITY, f64::INFINITY);
        for ((g, &alpha), &sign) in gradient.iter().zip(alpha).zip(&self.signs) {
            if g.is_nan() || alpha.is_nan() {
                return f64::NAN;
            }
            let (may_grow, may_shrink) = (alpha < c, alpha > 0.0);
            let (in_up, in_low) = if sign > 0 {
                (may_grow, may_shrink)
            } else {
                (may_shrink, may_grow)
            };
            let value = -f64::from(sign) * g;
            if in_up {
                up = up.max(value);
            }
            if in_low {
                low = low.min(value);
            }
        }
        up - low
    }
}

/// The matrix Q, as the solver accesses it.
struct Rows<'a>(&'a PairProblem);

impl QMatrix for Rows<'_> {
    fn get_q(&mut self, i: usize, len: usize) -> &[f32] {
        &self.0.q[i * self.0.signs.len()..][..len]
    }

    fn get_qd(&self) -> &[f64] {
        &self.0.diagonal
    }

    fn swap_index(&mut self, _: usize, _: usize) {
        unreachable!("the solver rearranges samples only when it shrinks, which is switched off");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(x: &[f64], signs: &[i8], gamma: f64) -> PairProblem {
        PairProblem::new(signs.to_vec(), |i, j| {
            (-gamma * (x[i] - x[j]).powi(2)).exp() as f32
        })
    }

    #[test]
    fn two_samples_have_a_closed_form() {
        // With one sample a class α₁ = α₂ = α, and the objective α²(1 − k) − 2α is least at
        // α = 1 / (1 − k) or at C. The kernel is symmetric, so ρ = 0.
        let k = (-1.0_f64).exp();
        for (c, alpha) in [(10.0, 1.0 / (1.0 - k)), (0.5, 0.5)] {
            let solution = problem(&[0.0, 1.0], &[1, -1], 1.0).solve(c).unwrap();
            // Single precision of Q.
            assert!((solution.coefficients[0] - alpha).abs() < 1e-6);
            assert_eq!(solution.coefficients[1], -solution.coefficients[0]);
            assert!(solution.rho.abs() < 1e-6);
        }
    }

    #[test]
    fn the_violation_of_zero_is_two() {
        // At α = 0 every gradient is −1: the pair of any two samples of both classes violates by 2.
        let problem = problem(&[0.0, 1.0, 3.0], &[1, -1, -1], 0.5);
        assert_eq!(problem.violation(&[0.0; 3], 1.0), 2.0);
    }

    #[test]
    fn contradictions_at_a_high_penalty_converge() {
        // Both classes lie on the same ten points, so that no machine tells them apart.
        let x: Vec<f64> = (0..60).map(|i| f64::from(i % 10)).collect();
        let signs: Vec<i8> = (0..60).map(|i| if i % 3 == 0 { 1 } else { -1 }).collect();
        let solution = problem(&x, &signs, 0.1).solve(1e3).unwrap();
        assert!(solution.coefficients.iter().sum::<f64>().abs() < 1e-6);
    }

    #[test]
    fn a_kernel_that_is_no_number_is_an_error() {
        let problem = PairProblem::new(vec![1, -1], |_, _| f32::NAN);
        // Every comparison with NaN is false, so that the solver stops at once and says nothing.
        assert!(matches!(
            problem.solve(1.0),
            Err(EvalError::NotConverged { .. })
        ));
        assert!(problem.violation(&[1.0; 2], 1.0).is_nan());
    }
}
