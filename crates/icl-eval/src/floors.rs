//! The floors, at or below which an accuracy says nothing.
//!
//! On graphs the number of nodes alone, or an encoder that was never trained, often classifies as
//! well as a trained one. An accuracy that does not stand above its floors says nothing about the
//! training, so it is never shown without them.

use icl_core::{Increment, Seed};
use serde::{Deserialize, Serialize};

use crate::parts::{assert_labelled, labels_of};
use crate::{Accuracy, EvalError, Matrix, Parts, Protocol};

/// The matrices of the floors, one row a sample of the data set; `None` where a kind of data has no
/// such features. They go into the protocol as they are, exactly as embeddings do.
#[derive(Debug, Clone, Copy, Default)]
pub struct FloorFeatures<'a> {
    /// Size features: for a graph its number of nodes and its number of edges.
    pub size: Option<&'a Matrix>,
    /// The raw features without any encoder: for a graph its node features, pooled.
    pub raw: Option<&'a Matrix>,
    /// The embeddings of the encoder before any training.
    pub untrained: Option<&'a Matrix>,
}

/// The accuracies that a trained encoder has to beat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Floors {
    /// The share of the most frequent class: the accuracy of always answering it.
    pub majority: f64,
    /// By size features alone.
    pub size: Option<Accuracy>,
    /// By raw features.
    pub raw: Option<Accuracy>,
    /// By the untrained encoder's embeddings.
    pub untrained: Option<Accuracy>,
}

impl Floors {
    /// The floors on X′, on X and on ΔX, by the protocol of the accuracy they stand beside. With the seed of
    /// [`Protocol::evaluate_parts`] they are measured on the same folds as the accuracy they stand
    /// beside. A floor is `None` where it has no matrix or the part has a single class.
    ///
    /// # Errors
    /// What the protocol's fits may say.
    ///
    /// # Panics
    /// If a matrix has not one row for each label, or the increment names a row that does not exist.
    pub fn evaluate(
        protocol: &dyn Protocol,
        features: FloorFeatures<'_>,
        labels: &[usize],
        increment: &Increment,
        seed: Seed,
    ) -> Result<Parts<Self>, EvalError> {
        for matrix in [features.size, features.raw, features.untrained]
            .into_iter()
            .flatten()
        {
            assert_labelled(matrix, labels);
        }
        Parts::try_measure(increment, |rows| {
            let labels = labels_of(labels, rows);
            let accuracy = |matrix: Option<&Matrix>| match matrix {
                Some(matrix) => protocol.evaluate(&matrix.select(rows), &labels, seed),
                None => Ok(None),
            };
            Ok(Self {
                majority: majority(&labels),
                size: accuracy(features.size)?,
                raw: accuracy(features.raw)?,
                untrained: accuracy(features.untrained)?,
            })
        })
    }
}

/// The share of the most frequent label.
fn majority(labels: &[usize]) -> f64 {
    let mut sorted = labels.to_vec();
    sorted.sort_unstable();
    let most = sorted.chunk_by(|a, b| a == b).map(<[_]>::len).max();
    most.unwrap_or(0) as f64 / labels.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SvmProtocolConfig;

    #[test]
    fn each_floor_has_its_own_features_and_part() {
        // The class is the sample's parity, except that all new samples are even.
        let labels: Vec<usize> = (0..40).map(|i| if i < 30 { i % 2 } else { 0 }).collect();
        let telling: Vec<f64> = labels.iter().map(|&label| label as f64).collect();
        let telling = Matrix::try_new(telling, 1).unwrap();
        let silent = Matrix::try_new(vec![1.0; 40], 1).unwrap();
        let protocol = SvmProtocolConfig::default().try_init().unwrap();
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
