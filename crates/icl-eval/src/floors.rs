//! Floors: the accuracies that need no training.
//!
//! The number of nodes of a graph alone, or an encoder that was never trained, often classifies as well
//! as a trained one. An accuracy that is not above its floors says nothing about the training, so
//! accuracies are never shown without them.

use icl_core::{ByOrigin, Increment, Seed};
use serde::{Deserialize, Serialize};

use crate::matrix::{check_count, check_rows, labels_of};
use crate::protocol::over_parts;
use crate::{Accuracy, EvalError, Matrix, Protocol, Watch};

/// Features of the floors, one row for each sample of the data set; `None` if a kind of data has no
/// such features.
///
/// The protocol receives them unchanged, exactly as it receives embeddings.
#[derive(Debug, Clone, Copy, Default)]
pub struct FloorFeatures<'a> {
    /// Size features: for a graph its number of nodes and its number of edges.
    pub size: Option<&'a Matrix>,
    /// Raw features without any encoder: for a graph its pooled node features.
    pub raw: Option<&'a Matrix>,
    /// Embeddings of the encoder before any training.
    pub untrained: Option<&'a Matrix>,
}

/// Accuracies that a trained encoder has to exceed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Floors {
    /// Share of the most frequent class: the accuracy of always predicting it.
    pub majority: f64,
    /// Accuracy by size features alone.
    pub size: Option<Accuracy>,
    /// Accuracy by raw features.
    pub raw: Option<Accuracy>,
    /// Accuracy by the embeddings of the untrained encoder.
    pub untrained: Option<Accuracy>,
}

impl Floors {
    /// Measures the floors of `protocol` on X′, on X and on ΔX, unwatched, as
    /// [`evaluate_with`](Self::evaluate_with) does.
    ///
    /// # Errors
    /// Those of [`evaluate_with`](Self::evaluate_with).
    pub fn evaluate(
        protocol: &dyn Protocol,
        features: FloorFeatures<'_>,
        labels: &[usize],
        increment: &Increment,
        seed: Seed,
    ) -> Result<ByOrigin<Self>, EvalError> {
        Self::evaluate_with(protocol, features, labels, increment, seed, &Watch::new())
    }

    /// Measures the floors of `protocol` on X′, on X and on ΔX. `watch` gets the progress and may stop it.
    ///
    /// With the seed given to [`Protocol::evaluate_parts`], the folds are those of the accuracies that
    /// it returns. A floor is `None` if it has no features or the part has a single class.
    ///
    /// # Errors
    /// - [`EvalErrorKind::Invalid`](crate::EvalErrorKind::Invalid) if a matrix does not have one row for each label;
    /// - [`EvalErrorKind::Invalid`](crate::EvalErrorKind::Invalid) if an index of the increment is not below the
    ///   number of labels;
    /// - [`EvalErrorKind::Interrupted`](crate::EvalErrorKind::Interrupted) if the watch stops it;
    /// - the errors of the fits of the protocol.
    pub fn evaluate_with(
        protocol: &dyn Protocol,
        features: FloorFeatures<'_>,
        labels: &[usize],
        increment: &Increment,
        seed: Seed,
        watch: &Watch<'_>,
    ) -> Result<ByOrigin<Self>, EvalError> {
        for matrix in [features.size, features.raw, features.untrained]
            .into_iter()
            .flatten()
        {
            check_count("labels", labels.len(), matrix)?;
        }
        check_rows("increment", &increment.all(), labels.len())?;
        over_parts(increment, watch, |rows, watch| {
            let labels = labels_of(labels, rows);
            let accuracy = |place: usize, matrix: Option<&Matrix>| match matrix {
                Some(matrix) => {
                    let [from, to] = [place, place + 1].map(|place| place as f64 / 3.0);
                    let watch = watch.part(from, to);
                    protocol.evaluate_with(&matrix.select(rows), &labels, seed, &watch)
                }
                None => Ok(None),
            };
            Ok(Self {
                majority: majority(&labels),
                size: accuracy(0, features.size)?,
                raw: accuracy(1, features.raw)?,
                untrained: accuracy(2, features.untrained)?,
            })
        })
    }
}

/// Returns the share of the most frequent label.
fn majority(labels: &[usize]) -> f64 {
    let mut sorted = labels.to_vec();
    sorted.sort_unstable();
    let most = sorted.chunk_by(|a, b| a == b).map(<[_]>::len).max();
    most.unwrap_or(0) as f64 / labels.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LinearProbeConfig;

    #[test]
    fn each_floor_has_its_own_features_and_part() {
        // The class is the sample's parity, except that all new samples are even.
        let labels: Vec<usize> = (0..40).map(|i| if i < 30 { i % 2 } else { 0 }).collect();
        let telling: Vec<f64> = labels.iter().map(|&label| label as f64).collect();
        let telling = Matrix::try_new(telling, 1).unwrap();
        let silent = Matrix::try_new(vec![1.0; 40], 1).unwrap();
        let protocol = LinearProbeConfig::default().try_init().unwrap();
        let increment = Increment::try_new((0..30).collect(), (30..40).collect()).unwrap();
        let features = FloorFeatures {
            size: Some(&telling),
            raw: None,
            untrained: Some(&silent),
        };
        let seed = Seed::new(2);
        let floors = Floors::evaluate(&protocol, features, &labels, &increment, seed).unwrap();
        assert_eq!(floors.all.majority, 25.0 / 40.0);
        assert_eq!(floors.old.majority, 0.5);
        assert_eq!(floors.new.majority, 1.0);
        assert_eq!(floors.all.size.map(|accuracy| accuracy.mean), Some(1.0));
        assert_eq!(floors.all.raw, None);
        assert_eq!(
            floors.all.untrained.map(|accuracy| accuracy.mean),
            Some(25.0 / 40.0)
        );
        // One class only: nothing to measure.
        assert_eq!(floors.new.size, None);
    }
}
