//! Multinomial logistic regression with an L2 penalty.

use nalgebra::DMatrix;

use super::lbfgs::{Objective, Unfinished, minimise};
use crate::error::interrupted;
use crate::matrix::classes_of;
use crate::{EvalError, EvalErrorKind, Watch};

/// Exactness of a fit: the bound of its distance from the minimum, relative to the length of the weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Exactness {
    /// 3 %, enough for the choice of C, and about where scikit-learn stops.
    ToChoose,
    /// 10⁻⁵.
    Final,
}

impl Exactness {
    /// Returns the tolerances of the runs of the solver, each with a new approximation of the curvature.
    fn stages(self) -> &'static [f64] {
        match self {
            Self::ToChoose => &[3e-2],
            Self::Final => &[3e-2, 1e-5],
        }
    }
}

/// Upper bound of the rounding error of a gradient, relative to the length of the features.
const ROUNDING: f64 = 1e-12;

/// A training set with all quantities that are independent of the penalty.
pub(super) struct TrainingSet {
    /// Samples as rows, with a last column of ones, whose weights are the intercepts `[n, d + 1]`.
    features: DMatrix<f64>,
    /// Transpose of `features`, which is multiplied equally often.
    transposed: DMatrix<f64>,
    classes: Vec<usize>,
    /// Class of each sample, as its position in `classes`.
    targets: Vec<usize>,
    /// Root mean square length of a row of `features`.
    length: f64,
}

/// Weights and intercepts `[d + 1, k]` of the classes, ascending.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fitted {
    pub(super) parameters: DMatrix<f64>,
    pub(super) classes: Vec<usize>,
}

impl TrainingSet {
    /// Creates a training set of samples as columns `[d, n]`.
    pub(super) fn new(samples: &DMatrix<f64>, labels: &[usize]) -> Self {
        let (d, n) = samples.shape();
        let transposed = samples.clone().insert_row(d, 1.0);
        let features = transposed.transpose();
        let (classes, targets) = classes_of(labels);
        let length = (features.norm_squared() / n as f64).sqrt();
        Self {
            features,
            transposed,
            classes,
            targets,
            length,
        }
    }

    /// Fits the parameters with inverse strength `c` of the penalty, beginning at an earlier fit to the
    /// same samples or at zeros.
    ///
    /// # Errors
    /// - [`EvalErrorKind::NotConverged`] if the solver stopped before it converged;
    /// - [`EvalErrorKind::Interrupted`] if the watch says so.
    pub(super) fn solve(
        &self,
        c: f64,
        start: Option<Fitted>,
        exactness: Exactness,
        watch: &Watch<'_>,
    ) -> Result<Fitted, EvalError> {
        let (n, k) = (self.targets.len(), self.classes.len());
        // The weights of two classes are w/2 and −w/2. Twice their penalty is that of w in the logistic
        // regression with one weight vector.
        let multiple = if k == 2 { 2.0 } else { 1.0 };
        let lambda = multiple / (c * n as f64);
        let mut parameters = match start {
            Some(fitted) => fitted.parameters,
            None => DMatrix::zeros(self.features.ncols(), k),
        };
        for &tolerance in exactness.stages() {
            let objective = Penalty {
                set: self,
                lambda,
                tolerance,
                watch,
                curvature: self.curvature(&parameters).add_scalar(lambda),
            };
            parameters =
                minimise(&objective, parameters).map_err(|unfinished| match unfinished {
                    Unfinished::Interrupted => interrupted(),
                    Unfinished::Stopped(stopped) => EvalError::message(format_args!(
                        "logistic regression with C = {c}: stopped after {} iterations at a gradient of {}, expected \
                         at most {}",
                        stopped.n_iterations, stopped.gradient, stopped.tolerance
                    ))
                    .with_kind(EvalErrorKind::NotConverged),
                })?;
        }
        // A constant added to all intercepts has no effect; it is chosen so that their sum is 0.
        let mut intercepts = parameters.row_mut(self.features.ncols() - 1);
        let mean = intercepts.mean();
        intercepts.add_scalar_mut(-mean);
        Ok(Fitted {
            parameters,
            classes: self.classes.clone(),
        })
    }

    /// Returns exp(z_ic) / Σ_c exp(z_ic) of each sample `[n, k]`, and log Σ_c exp(z_ic) − z_i,yᵢ summed
    /// over the samples, with z = X·W + 1·bᵀ.
    fn softmax(&self, at: &DMatrix<f64>) -> (DMatrix<f64>, f64) {
        let mut logits = &self.features * at;
        let mut loss = 0.0;
        for (mut row, &target) in logits.row_iter_mut().zip(&self.targets) {
            // Relative to the greatest logit, so that no exponential overflows.
            let greatest = row.max();
            let own = row[target];
            row.apply(|z| *z = (*z - greatest).exp());
            let sum = row.sum();
            row /= sum;
            loss += greatest - own + sum.ln();
        }
        (logits, loss)
    }

    /// Returns the diagonal of the second derivative of the mean loss, Σᵢ x_ij² · p_ic(1 − p_ic) / n.
    fn curvature(&self, at: &DMatrix<f64>) -> DMatrix<f64> {
        let (mut shares, _) = self.softmax(at);
        shares.apply(|p| *p *= (1.0 - *p) / self.targets.len() as f64);
        self.transposed.map(|x| x * x) * shares
    }
}

impl Fitted {
    /// Predicts the class of each sample, given as columns `[d, m]`: the one with the largest logit, the
    /// lowest of several.
    pub(super) fn predict(&self, samples: &DMatrix<f64>) -> Vec<usize> {
        let (d, k) = (samples.nrows(), self.classes.len());
        let weights = self.parameters.rows(0, d).transpose();
        let mut logits = weights * samples;
        for mut column in logits.column_iter_mut() {
            for class in 0..k {
                column[class] += self.parameters[(d, class)];
            }
        }
        let elected = logits.column_iter().map(|column| {
            let mut elected = 0;
            for class in 1..k {
                if column[class] > column[elected] {
                    elected = class;
                }
            }
            self.classes[elected]
        });
        elected.collect()
    }
}

/// The function that a fit minimises, of the weights W and the intercepts b:
///
/// ```text
/// 1/n · Σᵢ (log Σ_c exp(z_ic) − z_i,yᵢ) + λ/2 · ‖W‖²   with z = X·W + 1·bᵀ
/// ```
struct Penalty<'a> {
    set: &'a TrainingSet,
    lambda: f64,
    /// Bound of the distance from the minimum that a fit has to reach, relative to ‖W‖.
    tolerance: f64,
    watch: &'a Watch<'a>,
    /// Diagonal of the second derivative at the point where the solver began `[d + 1, k]`.
    curvature: DMatrix<f64>,
}

impl Penalty<'_> {
    /// Returns the number of features; row d of the parameters contains the intercepts.
    fn d(&self) -> usize {
        self.set.features.ncols() - 1
    }
}

impl Objective for Penalty<'_> {
    fn evaluate(&self, at: &DMatrix<f64>) -> (f64, DMatrix<f64>) {
        let (mut residuals, loss) = self.set.softmax(at);
        for (sample, &target) in self.set.targets.iter().enumerate() {
            residuals[(sample, target)] -= 1.0;
        }
        let n = self.set.targets.len() as f64;
        let mut gradient = &self.set.transposed * residuals;
        gradient /= n;
        let weights = at.rows(0, self.d());
        let mut penalised = gradient.rows_mut(0, self.d());
        penalised.zip_apply(&weights, |g, w| *g += self.lambda * w);
        let value = loss / n + 0.5 * self.lambda * weights.norm_squared();
        (value, gradient)
    }

    fn is_interrupted(&self, _: &DMatrix<f64>) -> bool {
        self.watch.is_stopped()
    }

    /// Divides by the diagonal of the curvature, which is nearly diagonal along principal axes.
    fn precondition(&self, direction: &mut DMatrix<f64>) {
        direction.component_div_assign(&self.curvature);
    }

    /// Returns the length of the gradient at which the distance from the minimum is within the bound.
    ///
    /// The function is strongly convex in W with constant λ: at a gradient g, the minimum is at most
    /// ‖g‖/λ away. The intercepts have no penalty but a curvature of about 0.1, which limits the tolerance
    /// if λ is larger. Under nearly no penalty, or if W is nearly 0, the tolerance is the rounding error
    /// of the gradient.
    fn tolerance(&self, at: &DMatrix<f64>) -> f64 {
        let wanted = self.tolerance * self.lambda.min(0.1) * at.rows(0, self.d()).norm();
        wanted.max(ROUNDING * self.set.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use icl_core::Seed;
    use rand::RngExt;

    fn set(n: usize, d: usize, k: usize) -> TrainingSet {
        let mut rng = Seed::new(3).rng();
        let samples = DMatrix::from_fn(d, n, |_, _| rng.random_range(-1.0..1.0));
        let labels: Vec<usize> = (0..n).map(|i| 10 * (i % k)).collect();
        TrainingSet::new(&samples, &labels)
    }

    fn penalty<'a>(set: &'a TrainingSet, watch: &'a Watch<'a>, lambda: f64) -> Penalty<'a> {
        Penalty {
            set,
            lambda,
            tolerance: 1e-5,
            watch,
            curvature: DMatrix::from_element(set.features.ncols(), set.classes.len(), 1.0),
        }
    }

    #[test]
    fn derivatives_are_those_of_finite_differences() {
        let set = set(17, 3, 4);
        let watch = Watch::new();
        let penalty = penalty(&set, &watch, 0.3);
        let at = DMatrix::from_fn(4, 4, |i, j| ((3 * i + 5 * j) % 7) as f64 / 3.0 - 1.0);
        let (_, gradient) = penalty.evaluate(&at);
        for place in 0..16 {
            let value = |shift: f64| {
                let mut at = at.clone();
                at[place] += shift;
                penalty.evaluate(&at).0
            };
            let expected = (value(1e-5) - value(-1e-5)) / 2e-5;
            assert!((gradient[place] - expected).abs() < 1e-9);
            // The diagonal of the second derivative, without the penalty's part.
            let slope = |shift: f64| {
                let mut at = at.clone();
                at[place] += shift;
                penalty.evaluate(&at).1[place]
            };
            let weight = if place % 4 == 3 { 0.0 } else { 0.3 };
            let expected = (slope(1e-5) - slope(-1e-5)) / 2e-5 - weight;
            assert!((set.curvature(&at)[place] - expected).abs() < 1e-9);
        }
    }

    #[test]
    fn without_features_intercepts_are_the_frequencies() {
        // softmax(b) is the share of each class, the sum of b stays 0.
        let labels = [0, 0, 0, 0, 1, 1, 2, 2];
        let fitted = TrainingSet::new(&DMatrix::zeros(1, 8), &labels)
            .solve(1.0, None, Exactness::Final, &Watch::new())
            .unwrap();
        let third = 2.0_f64.ln() / 3.0;
        for (found, expected) in fitted.parameters.row(1).iter().zip([2.0, -1.0, -1.0]) {
            assert!((found - expected * third).abs() < 1e-11);
        }
        assert_eq!(fitted.parameters.row(0).amax(), 0.0);
    }

    #[test]
    fn the_minimum_does_not_depend_on_the_start() {
        let set = set(60, 5, 3);
        let cold = set
            .solve(10.0, None, Exactness::Final, &Watch::new())
            .unwrap();
        let warm = {
            let start = set
                .solve(0.01, None, Exactness::ToChoose, &Watch::new())
                .unwrap();
            set.solve(10.0, Some(start), Exactness::Final, &Watch::new())
        };
        let distance = (&cold.parameters - warm.unwrap().parameters).norm();
        assert!(distance <= 2e-5 * cold.parameters.norm());
    }

    #[test]
    fn huge_logits_stay_finite() {
        let set = set(9, 2, 3);
        let watch = Watch::new();
        let penalty = penalty(&set, &watch, 1.0);
        let (value, gradient) = penalty.evaluate(&DMatrix::from_element(3, 3, 1e6));
        assert!(value.is_finite() && gradient.iter().all(|g| g.is_finite()));
        let apart = DMatrix::from_fn(3, 3, |_, class| 1e6 * class as f64);
        assert!(penalty.evaluate(&apart).0.is_finite());
    }

    #[test]
    fn a_single_class_is_always_answered() {
        let fitted = TrainingSet::new(&DMatrix::from_element(2, 3, 1.5), &[7, 7, 7])
            .solve(1.0, None, Exactness::Final, &Watch::new())
            .unwrap();
        assert_eq!(fitted.predict(&DMatrix::from_element(2, 2, -9.0)), [7, 7]);
    }
}
