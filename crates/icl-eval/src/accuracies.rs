//! Accuracies of an encoder's embeddings, with their floors.

use icl_core::{ByOrigin, HostRows, Increment, Seed};

use crate::cross_validation::Accuracy;
use crate::error::EvalError;
use crate::floors::{FloorFeatures, Floors};
use crate::matrix::Matrix;
use crate::protocol::Protocol;

/// A protocol with everything that it needs to measure the accuracies of encoders on one data set.
#[derive(Clone, Copy)]
pub struct Accuracies<'a> {
    protocol: &'a dyn Protocol,
    labels: &'a [usize],
    features: FloorFeatures<'a>,
    seed: Seed,
}

/// An accuracy and its floors, on all data, on the old and on the new data.
#[derive(Debug, Clone, PartialEq)]
pub struct AccuracyWithFloors {
    /// The accuracy of the encoder's embeddings; `None` where a part has a single class.
    pub accuracy: ByOrigin<Option<Accuracy>>,
    /// The floors by the same protocol on the same folds.
    pub floors: ByOrigin<Floors>,
}

impl<'a> Accuracies<'a> {
    /// Creates the accuracies on a data set with these labels, one for each sample. Folds are drawn from the
    /// seed.
    pub fn new(protocol: &'a dyn Protocol, labels: &'a [usize], seed: Seed) -> Self {
        Self {
            protocol,
            labels,
            features: FloorFeatures::default(),
            seed,
        }
    }

    /// Adds the floor of raw features: one row for each sample.
    pub fn with_raw(mut self, raw: &'a Matrix) -> Self {
        self.features.raw = Some(raw);
        self
    }

    /// Adds the floor of size features: one row for each sample.
    pub fn with_size(mut self, size: &'a Matrix) -> Self {
        self.features.size = Some(size);
        self
    }
}

impl std::fmt::Debug for Accuracies<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Accuracies")
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

impl Accuracies<'_> {
    /// Measures the accuracy of the embeddings of an encoder with its floors, among them that of the untrained encoder: an
    /// accuracy means nothing without them. Both lists hold a row for each sample of the data set.
    ///
    /// # Errors
    /// [`EvalError`] of the protocol, such as for a value that is not finite.
    pub fn measure(
        &self,
        increment: &Increment,
        (embeddings, width): HostRows,
        (untrained, untrained_width): HostRows,
    ) -> Result<AccuracyWithFloors, EvalError> {
        let embeddings = Matrix::try_new(embeddings, width)?;
        let untrained = Matrix::try_new(untrained, untrained_width)?;
        let features = FloorFeatures {
            untrained: Some(&untrained),
            ..self.features
        };
        let (protocol, labels, seed) = (self.protocol, self.labels, self.seed);
        Ok(AccuracyWithFloors {
            accuracy: protocol.evaluate_parts(&embeddings, labels, increment, seed)?,
            floors: Floors::evaluate(protocol, features, labels, increment, seed)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KnnProtocolConfig;

    /// The class is the first coordinate of the embeddings, and nothing of the untrained ones.
    #[test]
    fn an_accuracy_comes_with_its_floors() {
        let labels: Vec<usize> = (0..40).map(|i| i % 2).collect();
        let telling: Vec<f64> = labels.iter().map(|&label| label as f64).collect();
        let raw = Matrix::try_new(telling.clone(), 1).unwrap();
        let protocol = KnnProtocolConfig::default().try_init().unwrap();
        let increment = Increment::try_new((0..20).collect(), (20..40).collect()).unwrap();
        let accuracies = Accuracies::new(&protocol, &labels, Seed::new(3))
            .with_raw(&raw)
            .with_size(&raw);
        let signed = telling.iter().flat_map(|x| [2.0 * x - 1.0, 0.5]).collect();
        let measured = accuracies
            .measure(&increment, (signed, 2), (vec![1.0; 40], 1))
            .unwrap();
        let mean = |accuracy: &Option<Accuracy>| accuracy.as_ref().map(|accuracy| accuracy.mean);
        assert_eq!(mean(&measured.accuracy.all), Some(1.0));
        assert_eq!(mean(&measured.accuracy.new), Some(1.0));
        assert_eq!(measured.floors.all.majority, 0.5);
        assert_eq!(measured.floors.all.size, measured.floors.all.raw);
        assert!(mean(&measured.floors.all.untrained) < Some(0.8));
        let alone = protocol
            .evaluate_parts(&raw, &labels, &increment, Seed::new(3))
            .unwrap();
        assert_eq!(measured.floors.all.raw, alone.all);
        let broken = accuracies.measure(&increment, (vec![f64::NAN; 40], 1), (vec![1.0; 40], 1));
        assert!(broken.is_err());
    }
}
