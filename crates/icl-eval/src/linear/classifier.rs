//! One linear classifier, fitted and asked.

use nalgebra::DMatrix;

use super::softmax::{Exactness, Fitted, TrainingSet};
use super::standard::Standard;
use crate::accuracy::share_right;
use crate::nested::Penalised;
use crate::parts::{assert_labelled, labels_of};
use crate::principal_axes::PrincipalAxes;
use crate::{EvalError, Matrix};

/// Multinomial logistic regression with an L2 penalty on standardised features, equal to
/// scikit-learn's `make_pipeline(StandardScaler(), LogisticRegression(C=c))`:
///
/// ```text
/// minimise  C · Σᵢ −log softmax(W·xᵢ + b)_yᵢ + ½‖W‖²
/// ```
///
/// Features have mean 0 and variance 1 over the training rows (constant ones are 0), intercepts b
/// have no penalty, and of two classes it is the logistic regression with a single weight vector.
///
/// The solver is a limited-memory BFGS method of our own, because what makes it fast is particular to
/// the problem: it works along the principal axes of the training rows, which changes nothing of the
/// penalty and leaves no more features than rows, and there the curvature is close to its diagonal. It
/// stops where the gradient is no longer than 10⁻⁵·min(λ, 0.1)·‖W‖, λ being the curvature of the penalty, so
/// that W is known to 10⁻⁵ of its length (or, under nearly no penalty, as far as rounding allows).
#[derive(Debug, Clone, PartialEq)]
pub struct LinearClassifier {
    standard: Standard,
    fitted: Fitted,
}

impl LinearClassifier {
    /// Fits the classifier with inverse strength `c` of the penalty, above 0, to the rows of
    /// `training`. With a single class it answers that class.
    ///
    /// # Errors
    /// [`EvalError::ProbeNotConverged`] if the solver needs more than 2000 iterations.
    ///
    /// # Panics
    /// If there is not one label for each row, or no row.
    pub fn fit(training: &Matrix, labels: &[usize], c: f64) -> Result<Self, EvalError> {
        Reduced::of(training, labels).fit(c)
    }

    /// The classes, ascending.
    pub fn classes(&self) -> &[usize] {
        &self.fitted.classes
    }

    /// The weight of each standardised feature, for each class in the order of
    /// [`classes`](Self::classes). Of two classes the first's are the negative of the second's, and
    /// the difference of both is scikit-learn's `coef_`.
    pub fn weights(&self) -> Vec<Vec<f64>> {
        let d = self.fitted.parameters.nrows() - 1;
        let columns = self.fitted.parameters.column_iter();
        columns
            .map(|column| column.rows(0, d).iter().copied().collect())
            .collect()
    }

    /// The intercept of each class; their sum is 0.
    pub fn intercepts(&self) -> Vec<f64> {
        let d = self.fitted.parameters.nrows() - 1;
        self.fitted.parameters.row(d).iter().copied().collect()
    }

    /// The class of each row: that of the largest logit, of several the lowest.
    ///
    /// # Panics
    /// If the rows are not as wide as those of the training.
    pub fn predict(&self, samples: &Matrix) -> Vec<usize> {
        assert_eq!(
            samples.n_columns(),
            self.fitted.parameters.nrows() - 1,
            "expected samples as wide as those of the training (right), found the width on the left"
        );
        self.fitted.predict(&self.standard.apply(samples))
    }
}

/// Standardised training rows along their principal axes, of which there are no more than rows.
pub(super) struct Reduced<'a> {
    standard: Standard,
    axes: PrincipalAxes,
    /// A sample a column `[r, n]`.
    coordinates: DMatrix<f64>,
    labels: &'a [usize],
}

impl<'a> Reduced<'a> {
    /// Of the rows of `training`, at least one.
    #[track_caller]
    pub(super) fn of(training: &Matrix, labels: &'a [usize]) -> Self {
        assert_labelled(training, labels);
        assert!(
            !labels.is_empty(),
            "expected at least one sample to fit, found none"
        );
        let standard = Standard::of(training);
        let axes = PrincipalAxes::of(standard.apply(training));
        Self {
            coordinates: axes.coordinates(),
            standard,
            axes,
            labels,
        }
    }

    /// The classifier of all rows.
    pub(super) fn fit(self, c: f64) -> Result<LinearClassifier, EvalError> {
        let fitted =
            TrainingSet::new(&self.coordinates, self.labels).solve(c, None, Exactness::Final)?;
        let r = self.coordinates.nrows();
        let weights = self
            .axes
            .combine(&fitted.parameters.rows(0, r).into_owned());
        let d = weights.nrows();
        let mut parameters = weights.insert_row(d, 0.0);
        parameters.set_row(d, &fitted.parameters.row(r));
        Ok(LinearClassifier {
            standard: self.standard,
            fitted: Fitted {
                parameters,
                classes: fitted.classes,
            },
        })
    }
}

impl Penalised for Reduced<'_> {
    fn labels(&self) -> &[usize] {
        self.labels
    }

    fn accuracies(
        &self,
        training: &[usize],
        test: &[usize],
        grid: &[f64],
    ) -> Result<Vec<f64>, EvalError> {
        let samples = self.coordinates.select_columns(training);
        let set = TrainingSet::new(&samples, &labels_of(self.labels, training));
        let tested = self.coordinates.select_columns(test);
        let labels = labels_of(self.labels, test);
        let mut accuracies = Vec::with_capacity(grid.len());
        // Each from the last, which is close to it.
        let mut last = None;
        for &c in grid {
            let fitted = set.solve(c, last, Exactness::ToChoose)?;
            accuracies.push(share_right(&fitted.predict(&tested), &labels));
            last = Some(fitted);
        }
        Ok(accuracies)
    }
}
