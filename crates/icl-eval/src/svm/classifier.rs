//! One support vector machine, fitted and asked.

use super::one_vs_one::{Machine, TrainingSet};
use super::{RbfKernel, SquaredDistances, scale_gamma};
use crate::parts::assert_labelled;
use crate::{EvalError, Matrix};

/// A C-support vector classifier with the RBF kernel k(x, y) = exp(−γ‖x − y‖²), equal to
/// scikit-learn's `SVC(C=c)`: γ = 1 / (d · Var) with Var the variance of all entries of the training
/// matrix (1 where that is 0), features as they are, tolerance 1e-3, several classes by one-vs-one
/// voting with ties for the lowest class.
///
/// The solver is that of libsvm (Chang and Lin, 2011; Fan, Chen and Lin, 2005) without shrinking,
/// which saves time only on larger data.
#[derive(Debug, Clone, PartialEq)]
pub struct SvmClassifier {
    training: Matrix,
    gamma: f64,
    machine: Machine,
}

impl SvmClassifier {
    /// Fits a machine with penalty `c` to the rows of `training`. With a single class it answers
    /// that class.
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
            "expected at least one sample to fit, found none"
        );
        let samples: Vec<usize> = (0..labels.len()).collect();
        let gamma = scale_gamma(&training, &samples);
        let distances = SquaredDistances::within(&training);
        let kernel = RbfKernel {
            distances: &distances,
            gamma,
        };
        let machine = TrainingSet::new(kernel, &samples, labels).solve(c)?;
        Ok(Self {
            training,
            gamma,
            machine,
        })
    }

    /// γ of the kernel.
    pub fn gamma(&self) -> f64 {
        self.gamma
    }

    /// The classes, ascending.
    pub fn classes(&self) -> &[usize] {
        self.machine.classes()
    }

    /// yᵢαᵢ of each training sample, for each pair of classes (0, 1), (0, 2), …, (1, 2), …:
    /// positive for samples of the lower class, 0 outside the pair.
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

    /// The decision value Σᵢ yᵢαᵢ k(xᵢ, x) − ρ of each row, for each pair of classes in the order of
    /// [`dual_coefficients`](Self::dual_coefficients): positive for the lower class. (Of two classes
    /// scikit-learn reports the negative.)
    ///
    /// # Panics
    /// If the rows are not as wide as those of the training.
    pub fn decision_values(&self, samples: &Matrix) -> Vec<Vec<f64>> {
        self.for_each_row(samples, |kernel| {
            let voters = self.machine.voters().iter();
            voters.map(|voter| voter.decide(kernel)).collect()
        })
    }

    /// The class of each row.
    ///
    /// # Panics
    /// If the rows are not as wide as those of the training.
    pub fn predict(&self, samples: &Matrix) -> Vec<usize> {
        self.for_each_row(samples, |kernel| self.machine.predict(kernel))
    }

    /// `answer` for each row, given k of it with every training sample.
    fn for_each_row<T>(&self, samples: &Matrix, answer: impl Fn(&[f64]) -> T) -> Vec<T> {
        assert_eq!(
            samples.n_columns(),
            self.training.n_columns(),
            "expected samples as wide as those of the training (right), found the width on the left"
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
