//! The support vector classifier.

use super::kernel::{RbfKernel, SquaredDistances, scale_gamma};
use super::one_vs_one::{Machine, OneVsOne};
use crate::matrix::assert_labelled;
use crate::watch::Work;
use crate::{EvalError, Matrix, Watch};

/// A C-support vector classifier with the RBF kernel k(x, y) = exp(−γ‖x − y‖²), equivalent to
/// scikit-learn's `SVC(C=c)`.
///
/// As there, γ = 1 / (d · Var) with Var the variance of all entries of the training matrix (γ = 1 if Var
/// is 0), features are not scaled, the tolerance is 1e-3, and several classes are separated by one-vs-one
/// voting, with ties for the lowest class.
///
/// The solver takes the steps of libsvm's (Chang and Lin, 2011; Fan, Chen and Lin, 2005), in the vector registers of the processor.
///
/// ```
/// use icl_eval::{Matrix, SvmClassifier};
///
/// let training = Matrix::try_new(vec![0.0, 1.0, 8.0, 9.0], 1)?;
/// let classifier = SvmClassifier::fit(training, &[3, 3, 5, 5], 1.0)?;
/// assert_eq!(classifier.predict(&Matrix::try_new(vec![0.5, 8.5], 1)?), [3, 5]);
/// # Ok::<(), icl_eval::EvalError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SvmClassifier {
    training: Matrix,
    gamma: f64,
    machine: Machine,
}

impl SvmClassifier {
    /// Fits a classifier with penalty `c` to the rows of `training`. If there is a single class, it is
    /// always predicted.
    ///
    /// # Errors
    /// [`EvalError::NotConverged`] if the solver needs more than 10⁷ iterations.
    ///
    /// # Panics
    /// If there is not one label for each row, or no row.
    pub fn fit(training: Matrix, labels: &[usize], c: f64) -> Result<Self, EvalError> {
        assert_labelled(&training, labels);
        assert!(
            !labels.is_empty(),
            "expected at least one training sample, found none"
        );
        let samples: Vec<usize> = (0..labels.len()).collect();
        let gamma = scale_gamma(&training, &samples);
        let distances = SquaredDistances::within(&training);
        let kernel = RbfKernel {
            distances: &distances,
            gamma,
        };
        let watch = Watch::new();
        let machines =
            OneVsOne::new(kernel, &samples, labels).solve(&[c], &Work::new(&watch, 1))?;
        let machine = machines.into_iter().next().expect("a machine for each C");
        Ok(Self {
            training,
            gamma,
            machine,
        })
    }

    /// Returns the width γ of the kernel.
    pub fn gamma(&self) -> f64 {
        self.gamma
    }

    /// Returns the classes, ascending.
    pub fn classes(&self) -> &[usize] {
        self.machine.classes()
    }

    /// Returns yᵢαᵢ of each training sample, for each pair of classes (0, 1), (0, 2), …, (1, 2), …. It is
    /// positive for samples of the lower class and 0 for samples outside the pair.
    pub fn dual_coefficients(&self) -> Vec<Vec<f64>> {
        let voters = self.machine.voters().iter();
        voters
            .map(|voter| {
                let mut coefficients = vec![0.0; self.training.n_rows()];
                for &(sample, coefficient) in &voter.support {
                    coefficients[sample] = coefficient;
                }
                coefficients
            })
            .collect()
    }

    /// Returns the decision value Σᵢ yᵢαᵢ k(xᵢ, x) − ρ of each row, for each pair of classes in the order
    /// of [`dual_coefficients`](Self::dual_coefficients). It is positive for the lower class;
    /// scikit-learn reports the negative of it if there are two classes.
    ///
    /// # Panics
    /// If the width of the rows is not that of the training rows.
    pub fn decision_values(&self, samples: &Matrix) -> Vec<Vec<f64>> {
        self.for_each_row(samples, |kernel| {
            let voters = self.machine.voters().iter();
            voters.map(|voter| voter.decide(kernel)).collect()
        })
    }

    /// Predicts the class of each row.
    ///
    /// # Panics
    /// If the width of the rows is not that of the training rows.
    pub fn predict(&self, samples: &Matrix) -> Vec<usize> {
        self.for_each_row(samples, |kernel| self.machine.predict(kernel))
    }

    /// Applies `answer` to each row, given its kernel values with all training samples.
    fn for_each_row<T>(&self, samples: &Matrix, answer: impl Fn(&[f64]) -> T) -> Vec<T> {
        assert_eq!(
            samples.n_columns(),
            self.training.n_columns(),
            "samples (left) must have the width of the training samples (right)"
        );
        let distances = SquaredDistances::between(samples, &self.training);
        let kernel = RbfKernel {
            distances: &distances,
            gamma: self.gamma,
        };
        let all: Vec<usize> = (0..self.training.n_rows()).collect();
        let mut values = Vec::with_capacity(all.len());
        (0..samples.n_rows())
            .map(|row| {
                kernel.fill(row, &all, &mut values);
                answer(&values)
            })
            .collect()
    }
}
