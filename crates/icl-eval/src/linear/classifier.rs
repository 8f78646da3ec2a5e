//! The linear classifier.

use nalgebra::DMatrix;

use super::softmax::{Exactness, Fitted, TrainingSet};
use super::standard::Standard;
use crate::cross_validation::{Tunable, share_right};
use crate::matrix::{check_count, check_width, labels_of};
use crate::principal_axes::PrincipalAxes;
use crate::watch::Work;
use crate::{EvalError, Matrix, Watch};

/// Multinomial logistic regression with an L2 penalty on standardised features, equivalent to
/// scikit-learn's `make_pipeline(StandardScaler(), LogisticRegression(C=c))`:
///
/// ```text
/// minimise  C · Σᵢ −log softmax(W·xᵢ + b)_yᵢ + ½‖W‖²
/// ```
///
/// Features have mean 0 and variance 1 over the training rows (constant features are 0) and intercepts b
/// have no penalty. For two classes it is the logistic regression with a single weight vector.
///
/// The solver is a limited-memory BFGS method written for this problem. It works along the principal
/// axes of the training rows, which does not change the penalty, leaves no more features than rows, and
/// brings the curvature close to its diagonal. It stops where the gradient is at most
/// 10⁻⁵·min(λ, 0.1)·‖W‖ long, with λ the curvature of the penalty. W is then exact to 10⁻⁵ of its
/// length, or, under nearly no penalty, as far as rounding allows.
///
/// ```
/// use icl_eval::{LinearClassifier, Matrix};
///
/// let training = Matrix::try_new(vec![0.0, 1.0, 2.0, 3.0], 1)?;
/// let classifier = LinearClassifier::fit(&training, &[3, 3, 8, 8], 1.0)?;
/// assert_eq!(classifier.predict(&Matrix::try_new(vec![-1.0, 9.0], 1)?), [3, 8]);
/// # Ok::<(), icl_eval::EvalError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LinearClassifier {
    standard: Standard,
    fitted: Fitted,
}

impl LinearClassifier {
    /// Fits a classifier to the rows of `training`, with inverse strength `c` > 0 of the penalty. If
    /// there is a single class, it is always predicted.
    ///
    /// # Errors
    /// - [`EvalErrorKind::Invalid`](crate::EvalErrorKind::Invalid) if there is not one label for each row, or no row;
    /// - [`EvalErrorKind::NotConverged`](crate::EvalErrorKind::NotConverged) if the solver needs more than 2000
    ///   iterations or rounding prevents progress before it reaches its tolerance.
    pub fn fit(training: &Matrix, labels: &[usize], c: f64) -> Result<Self, EvalError> {
        Reduced::of(training, labels)?.fit(c, &Watch::new())
    }

    /// Returns the classes, ascending.
    pub fn classes(&self) -> &[usize] {
        &self.fitted.classes
    }

    /// Returns the weights of the standardised features, for each class in the order of
    /// [`classes`](Self::classes). For two classes the weights of one are the negative of the other's,
    /// and those of the second minus those of the first are scikit-learn's `coef_`.
    pub fn weights(&self) -> Vec<Vec<f64>> {
        let d = self.fitted.parameters.nrows() - 1;
        let columns = self.fitted.parameters.column_iter();
        columns
            .map(|column| column.rows(0, d).iter().copied().collect())
            .collect()
    }

    /// Returns the intercept of each class; the sum of all is 0.
    pub fn intercepts(&self) -> Vec<f64> {
        let d = self.fitted.parameters.nrows() - 1;
        self.fitted.parameters.row(d).iter().copied().collect()
    }

    /// Predicts the class of each row: the one with the largest logit, the lowest of several.
    ///
    /// # Panics
    /// If the width of the rows is not that of the training rows.
    pub fn predict(&self, samples: &Matrix) -> Vec<usize> {
        assert_eq!(
            samples.n_columns(),
            self.fitted.parameters.nrows() - 1,
            "samples (left) must have the width of the training samples (right)"
        );
        self.fitted.predict(&self.standard.apply(samples))
    }
}

/// Standardised training rows in the coordinates of their principal axes, which are no more than the
/// rows.
pub(super) struct Reduced<'a> {
    standard: Standard,
    axes: PrincipalAxes,
    /// Coordinates with samples as columns `[r, n]`.
    coordinates: DMatrix<f64>,
    labels: &'a [usize],
}

impl<'a> Reduced<'a> {
    /// Reduces the rows of `training`, at least one.
    pub(super) fn of(training: &Matrix, labels: &'a [usize]) -> Result<Self, EvalError> {
        check_count("labels", labels.len(), training)?;
        check_width("training samples", training, training.n_columns())?;
        let standard = Standard::of(training);
        let axes = PrincipalAxes::of(standard.apply(training));
        Ok(Self {
            coordinates: axes.coordinates(),
            standard,
            axes,
            labels,
        })
    }

    /// Fits the classifier to all rows.
    pub(super) fn fit(self, c: f64, watch: &Watch<'_>) -> Result<LinearClassifier, EvalError> {
        let set = TrainingSet::new(&self.coordinates, self.labels);
        let fitted = set.solve(c, None, Exactness::Final, watch)?;
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

impl Tunable for Reduced<'_> {
    fn labels(&self) -> &[usize] {
        self.labels
    }

    fn accuracies(
        &self,
        training: &[usize],
        test: &[usize],
        grid: &[f64],
        work: &Work<'_>,
    ) -> Result<Vec<f64>, EvalError> {
        let samples = self.coordinates.select_columns(training);
        let set = TrainingSet::new(&samples, &labels_of(self.labels, training));
        let tested = self.coordinates.select_columns(test);
        let labels = labels_of(self.labels, test);
        let mut accuracies = Vec::with_capacity(grid.len());
        // Each fit begins at the last, which is close to it.
        let mut last = None;
        for &c in grid {
            let fitted = set.solve(c, last, Exactness::ToChoose, work.watch)?;
            work.advance();
            accuracies.push(share_right(&fitted.predict(&tested), &labels));
            last = Some(fitted);
        }
        Ok(accuracies)
    }
}
