//! The classifiers that evaluate features of a divided data set.

use crate::pages::dacl::DaclAccuracies;
use icl_cli::parts::Failure;
use icl_core::Seed;
use icl_eval::cross_validation::labels_of;
use icl_eval::{EvalError, EvalErrorKind, KnnProtocolConfig, KnnVotes, LinearClassifier, Matrix};

use crate::commands::dacl::row_split::RowSplit;
use crate::descent::DescentProbe;

/// Values of C of the converged classifier.
const GRID: [f64; 4] = [1e-3, 1e-2, 1e-1, 1.0];
/// Number of neighbours.
pub const N_NEIGHBOURS: usize = 5;
/// Epochs of the printed classifier.
const PRINTED_EPOCHS: usize = 200;
/// The same with many training rows.
const FEW_PRINTED_EPOCHS: usize = 50;
/// Number of training rows above which there are fewer epochs.
const MANY_ROWS: usize = 7000;

/// Labels and the division of the rows of a table, or of images.
#[derive(Debug, Clone, Copy)]
pub struct Classifiers<'a> {
    /// Class of each row.
    pub labels: &'a [usize],
    /// Rows by their use.
    pub split: &'a RowSplit,
    /// Learning rate of the printed classifier.
    pub printed_rate: f64,
}

impl Classifiers<'_> {
    /// Evaluates features, a row for each row of the table.
    ///
    /// # Errors
    /// If weights of the printed classifier are not finite, or a setting of a classifier is not valid.
    pub fn accuracies(&self, features: &Matrix, seed: Seed) -> Result<DaclAccuracies, Failure> {
        let Part(training, of_training) = self.part(features, &self.split.training);
        let Part(test, of_test) = self.part(features, &self.split.test);
        let chosen = self.choose(features)?;
        let converged = match chosen {
            Some((c, _)) => fitted(&training, &of_training, c)?
                .map(|classifier| share(&classifier.predict(&test), &of_test)),
            None => None,
        };
        let n_epochs = match training.n_rows() {
            n if n > MANY_ROWS => FEW_PRINTED_EPOCHS,
            _ => PRINTED_EPOCHS,
        };
        let probe = DescentProbe::dacl_tables(self.printed_rate, n_epochs, seed.child("printed"));
        let printed = match probe.accuracy(&training, &of_training, &test, &of_test) {
            Ok(accuracy) => Some(accuracy),
            // It diverged.
            Err(error) if error.kind() == EvalErrorKind::NotConverged => None,
            Err(error) => return Err(other(error)),
        };
        let neighbours = KnnProtocolConfig::default()
            .with_k(N_NEIGHBOURS)
            .with_votes(KnnVotes::Uniform)
            .try_init()
            .map_err(other)?
            .accuracy(&training, &of_training, &test, &of_test)
            .map_err(other)?;
        Ok(DaclAccuracies {
            printed,
            printed_best: None,
            converged,
            neighbours: Some(neighbours),
            own: None,
            validation: chosen.map(|(_, validation)| validation),
        })
    }

    /// Returns the C that is best on validation rows, the smallest of several, and its accuracy there;
    /// `None` if no classifier converges.
    ///
    /// # Errors
    /// If a setting of the classifier is not valid.
    pub fn choose(&self, features: &Matrix) -> Result<Option<(f64, f64)>, Failure> {
        let Part(fitting, of_fitting) = self.part(features, &self.split.fitting);
        let Part(validation, of_validation) = self.part(features, &self.split.validation);
        let mut best: Option<(f64, f64)> = None;
        for c in GRID {
            let Some(classifier) = fitted(&fitting, &of_fitting, c)? else {
                continue;
            };
            let accuracy = share(&classifier.predict(&validation), &of_validation);
            if best.is_none_or(|(_, best)| accuracy > best) {
                best = Some((c, accuracy));
            }
        }
        Ok(best)
    }

    /// Returns the accuracy of always predicting the most frequent class of the training rows.
    pub fn majority(&self) -> f64 {
        let n_classes = self.labels.iter().max().map_or(0, |most| most + 1);
        let mut counts = vec![0_usize; n_classes];
        for &row in &self.split.training {
            counts[self.labels[row]] += 1;
        }
        let most = counts.iter().max();
        let class = counts.iter().position(|count| Some(count) == most);
        let of_test = labels_of(self.labels, &self.split.test);
        share(&vec![class.unwrap_or(0); of_test.len()], &of_test)
    }

    fn part(&self, features: &Matrix, rows: &[usize]) -> Part {
        Part(features.select(rows), labels_of(self.labels, rows))
    }
}

/// Features of some rows with their labels.
struct Part(Matrix, Vec<usize>);

/// Fits a classifier; `None` if it does not converge.
fn fitted(
    features: &Matrix,
    labels: &[usize],
    c: f64,
) -> Result<Option<LinearClassifier>, Failure> {
    match LinearClassifier::fit(features, labels, c) {
        Ok(classifier) => Ok(Some(classifier)),
        Err(error) if error.kind() == EvalErrorKind::NotConverged => Ok(None),
        Err(error) => Err(other(error)),
    }
}

/// Returns the share of predictions that equal their labels.
pub fn share(predictions: &[usize], labels: &[usize]) -> f64 {
    let pairs = predictions.iter().zip(labels);
    pairs.filter(|(found, label)| found == label).count() as f64 / labels.len().max(1) as f64
}

fn other(error: EvalError) -> Failure {
    Failure::Other(error.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_that_tell_classes_apart_are_seen_by_all() {
        let labels: Vec<usize> = (0..120).map(|i| i % 3).collect();
        let values = labels.iter().enumerate().flat_map(|(i, label)| {
            let mut row = [0.1 * (i as f64 * 0.7).sin(); 3];
            row[*label] += 1.0;
            row
        });
        let features = Matrix::try_new(values.collect(), 3).unwrap();
        let split = RowSplit::new(
            (0..84).collect(),
            (84..120).collect(),
            &labels,
            Seed::new(1),
        );
        let classifiers = Classifiers {
            labels: &labels,
            split: &split,
            printed_rate: 0.1,
        };
        let of = classifiers.accuracies(&features, Seed::new(1)).unwrap();
        assert_eq!(
            (of.converged, of.neighbours, of.validation),
            (Some(1.0), Some(1.0), Some(1.0))
        );
        assert!(of.printed.is_some());
        assert_eq!(classifiers.majority(), 1.0 / 3.0);
    }
}
