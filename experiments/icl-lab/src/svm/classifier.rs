//! The support vector classifier.

use icl_eval::Matrix;
use libsvm_rs::predict::predict_values;
use libsvm_rs::train::svm_train;
use libsvm_rs::{SvmModel, SvmNode, SvmParameter, SvmProblem};

/// Training samples of C-support vector classifiers with the RBF kernel k(x, y) = exp(−γ‖x − y‖²), which are
/// equivalent to scikit-learn's `SVC(C=c)`.
///
/// As there, γ = 1 / (d · Var) with Var the variance of all entries of the training matrix (γ = 1 if Var
/// is 0), features are not scaled, the tolerance is 1e-3, and several classes are separated by one-vs-one
/// voting, with ties for the lowest class. The solver is that of libsvm (Chang and Lin, 2011; Fan, Chen and Lin,
/// 2005) with its shrinking, in Rust. It stops after 10⁷ iterations without an error.
///
/// ```
/// use icl_eval::Matrix;
/// use icl_lab::svm::SvmTraining;
///
/// let training = Matrix::try_new(vec![0.0, 1.0, 8.0, 9.0], 1)?;
/// let training = SvmTraining::new(&training, &[3, 3, 5, 5]);
/// let classifier = training.fit(1.0);
/// assert_eq!(classifier.predict(&Matrix::try_new(vec![0.5, 8.5], 1)?), [3, 5]);
/// # Ok::<(), icl_eval::EvalError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SvmTraining {
    /// Samples by class, with the places of their classes as labels: libsvm takes classes in the order in
    /// which they appear.
    problem: SvmProblem,
    /// Place of each sample of the problem in the training set.
    order: Vec<usize>,
    classes: Vec<usize>,
    gamma: f64,
}

/// A fitted support vector classifier.
#[derive(Debug, Clone)]
pub struct SvmClassifier<'a> {
    training: &'a SvmTraining,
    model: SvmModel,
}

impl SvmTraining {
    /// Takes the rows of `samples` with these labels.
    ///
    /// # Panics
    /// If there is not one label for each row, or no row.
    pub fn new(samples: &Matrix, labels: &[usize]) -> Self {
        assert_eq!(
            samples.n_rows(),
            labels.len(),
            "there must be one label (right) for each row (left)"
        );
        assert!(
            !labels.is_empty(),
            "expected at least one training sample, found none"
        );
        let mut classes = labels.to_vec();
        classes.sort_unstable();
        classes.dedup();
        let mut order: Vec<usize> = (0..labels.len()).collect();
        // Stable, so that the samples of a class keep their order, as in libsvm.
        order.sort_by_key(|&sample| labels[sample]);
        let place = |&sample: &usize| classes.partition_point(|class| *class < labels[sample]);
        Self {
            problem: SvmProblem {
                labels: order.iter().map(|sample| place(sample) as f64).collect(),
                instances: order
                    .iter()
                    .map(|&sample| nodes(samples.row(sample)))
                    .collect(),
            },
            gamma: scale_gamma(samples),
            order,
            classes,
        }
    }

    /// Fits a classifier with penalty `c`. If there is a single class, it is always predicted.
    pub fn fit(&self, c: f64) -> SvmClassifier<'_> {
        // The library prints lines to standard error for each fit unless this process-wide switch is set.
        libsvm_rs::set_quiet(true);
        let parameter = SvmParameter {
            gamma: self.gamma,
            c,
            ..SvmParameter::default()
        };
        SvmClassifier {
            training: self,
            model: svm_train(&self.problem, &parameter),
        }
    }
}

impl SvmClassifier<'_> {
    /// Returns the width γ of the kernel.
    pub fn gamma(&self) -> f64 {
        self.training.gamma
    }

    /// Returns yᵢαᵢ of each training sample, for each pair of classes (0, 1), (0, 2), …, (1, 2), …. It is
    /// positive for samples of the lower class and 0 for samples outside the pair.
    pub fn dual_coefficients(&self) -> Vec<Vec<f64>> {
        let (training, model) = (self.training, &self.model);
        let pairs = self.pairs().map(|(first, second)| {
            let mut coefficients = vec![0.0; training.order.len()];
            for (place, index) in model.sv_indices.iter().enumerate() {
                // libsvm counts samples from 1, and has a row for each other class.
                let sample = index - 1;
                let row = match training.problem.labels[sample] as usize {
                    class if class == first => second - 1,
                    class if class == second => first,
                    _ => continue,
                };
                coefficients[training.order[sample]] = model.sv_coef[row][place];
            }
            coefficients
        });
        pairs.collect()
    }

    /// Returns the decision value Σᵢ yᵢαᵢ k(xᵢ, x) − ρ of each row, for each pair of classes in the order
    /// of [`dual_coefficients`](Self::dual_coefficients). It is positive for the lower class;
    /// scikit-learn reports the negative of it if there are two classes.
    pub fn decision_values(&self, samples: &Matrix) -> Vec<Vec<f64>> {
        let decide = |row: &[f64]| {
            let mut values = vec![0.0; self.pairs().count()];
            predict_values(&self.model, &nodes(row), &mut values);
            values
        };
        samples.rows().map(decide).collect()
    }

    /// Predicts the class of each row: the one with most votes, the lowest of several.
    pub fn predict(&self, samples: &Matrix) -> Vec<usize> {
        let values = self.decision_values(samples);
        values.iter().map(|values| self.elected(values)).collect()
    }

    /// Returns the class that decision values elect. `libsvm-rs` itself elects the highest of several.
    fn elected(&self, values: &[f64]) -> usize {
        let classes = &self.training.classes;
        let mut votes = vec![0_usize; classes.len()];
        for ((first, second), value) in self.pairs().zip(values) {
            votes[if *value > 0.0 { first } else { second }] += 1;
        }
        let mut elected = 0;
        for class in 1..votes.len() {
            if votes[class] > votes[elected] {
                elected = class;
            }
        }
        classes[elected]
    }

    /// Returns the places of the classes of all pairs.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let n = self.training.classes.len();
        (0..n).flat_map(move |first| (first + 1..n).map(move |second| (first, second)))
    }
}

/// Returns a row as libsvm takes it: its entries that are not 0, counted from 1.
fn nodes(row: &[f64]) -> Vec<SvmNode> {
    let entries = (1..).zip(row).filter(|(_, value)| **value != 0.0);
    entries
        .map(|(index, &value)| SvmNode { index, value })
        .collect()
}

/// Returns γ = 1 / (d · Var), scikit-learn's `gamma="scale"`, with Var the variance of all entries of the
/// matrix; 1 if Var is 0.
fn scale_gamma(matrix: &Matrix) -> f64 {
    // Relative to one of them, equal entries have a variance of exactly 0.
    let origin = matrix.row(0)[0];
    let entries = || matrix.rows().flatten().map(|x| x - origin);
    let n_entries = (matrix.n_rows() * matrix.n_columns()) as f64;
    let mean = entries().sum::<f64>() / n_entries;
    let variance = entries().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n_entries;
    if variance == 0.0 {
        1.0
    } else {
        1.0 / (matrix.n_columns() as f64 * variance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(x: &[f64]) -> Matrix {
        Matrix::try_new(x.to_vec(), 1).unwrap()
    }

    #[test]
    fn two_samples_have_a_closed_form() {
        // With one sample a class α₁ = α₂ = α, and the objective α²(1 − k) − 2α is least at
        // α = 1 / (1 − k) or at C. The kernel is symmetric, so ρ = 0. The variance is 1/4, and γ = 4.
        let k = (-4.0_f64).exp();
        let training = SvmTraining::new(&line(&[0.0, 1.0]), &[2, 7]);
        for (c, alpha) in [(10.0, 1.0 / (1.0 - k)), (0.5, 0.5)] {
            let classifier = training.fit(c);
            assert_eq!(classifier.gamma(), 4.0);
            let coefficients = classifier.dual_coefficients().concat();
            // Single precision of the kernel.
            assert!((coefficients[0] - alpha).abs() < 1e-6);
            assert_eq!(coefficients[1], -coefficients[0]);
            let middle = classifier.decision_values(&line(&[0.5])).concat();
            assert!(middle[0].abs() < 1e-6);
        }
    }

    #[test]
    fn a_tie_goes_to_the_lowest_class() {
        let training = SvmTraining::new(&line(&[0.0, 1.0, 2.0]), &[3, 5, 8]);
        let classifier = training.fit(1.0);
        // 3 beats 5, 5 beats 8, 8 beats 3; then a decision of 0 is for the second class.
        assert_eq!(classifier.elected(&[1.0, -1.0, 1.0]), 3);
        assert_eq!(classifier.elected(&[0.0, -1.0, 1.0]), 5);
    }

    #[test]
    fn the_order_of_the_samples_does_not_count() {
        let labels = [8, 3, 5, 8, 5, 3];
        let x = line(&[9.0, 0.5, 5.0, 8.0, 4.0, 1.0]);
        let training = SvmTraining::new(&x, &labels);
        let classifier = training.fit(10.0);
        assert_eq!(classifier.predict(&x), labels);
        let coefficients = classifier.dual_coefficients();
        // The pair of the classes 3 and 8 leaves out those of 5.
        assert_eq!([coefficients[1][2], coefficients[1][4]], [0.0, 0.0]);
        assert!(coefficients[1][1] > 0.0 && coefficients[1][0] < 0.0);
    }

    #[test]
    fn a_single_class_is_always_elected() {
        let x = line(&[0.0, 1.0]);
        assert_eq!(SvmTraining::new(&x, &[4, 4]).fit(1.0).predict(&x), [4, 4]);
    }

    #[test]
    fn contradictions_at_a_high_penalty_end() {
        // Both classes lie on the same ten points, so that no machine tells them apart.
        let x: Vec<f64> = (0..60).map(|i| f64::from(i % 10)).collect();
        let labels: Vec<usize> = (0..60).map(|i| usize::from(i >= 20)).collect();
        let training = SvmTraining::new(&line(&x), &labels);
        let coefficients = training.fit(1e3).dual_coefficients().concat();
        assert!(coefficients.iter().sum::<f64>().abs() < 1e-6);
    }

    #[test]
    fn gamma_is_scaled_by_the_entries() {
        let matrix = Matrix::try_new(vec![1.0, 3.0, 5.0, 7.0], 2).unwrap();
        // Variance 5, two features.
        assert_eq!(scale_gamma(&matrix), 0.1);
        let equal = Matrix::try_new(vec![0.1; 21], 3).unwrap();
        assert_eq!(scale_gamma(&equal), 1.0);
    }
}
