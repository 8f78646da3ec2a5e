//! Distillation: the distance to the embeddings of the encoder at the start of a run.

use burn::tensor::Tensor;
use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::{Encoder, Mode, paired_cosine_similarity};

use crate::error::TrainError;
use crate::evaluation::shape::checked;
use crate::method::Distance;

/// Encoder at the start of a run, and the distillation term that keeps embeddings near its own. The teacher
/// is not trained.
#[derive(Debug)]
pub(crate) struct Teacher<M> {
    /// Encoder on the backend without gradients: only there are Burn's own layers in evaluation mode.
    pub(crate) encoder: M,
    /// Number of views over which its statistics were re-estimated.
    pub(crate) n_views: u64,
    /// Weight of the term.
    pub(crate) weight: f64,
    /// Distance between embeddings.
    pub(crate) distance: Distance,
}

impl<M> Teacher<M> {
    /// Computes the distillation term `[1]` of a batch: the weighted mean distance between the rows of
    /// `embeddings` `[n, d]` and the teacher's embeddings of the same views.
    ///
    /// # Errors
    /// [`TrainError`] if the teacher does not return one row for each view.
    pub(crate) fn term<B: AutodiffBackend>(
        &self,
        batch: M::Batch,
        embeddings: Tensor<B, 2>,
    ) -> Result<Tensor<B, 1>, TrainError>
    where
        M: Encoder<B::InnerBackend>,
    {
        let targets = self.encoder.encode(batch, Mode::Evaluation);
        let targets = checked::<M, _>("encode", targets, embeddings.dims())?;
        let targets = Tensor::from_inner(targets);
        Ok(mean_distance(embeddings, targets, self.distance) * self.weight)
    }
}

/// Computes the mean distance `[1]` between the rows of two sets of embeddings `[n, d]`.
fn mean_distance<B: Backend>(
    embeddings: Tensor<B, 2>,
    targets: Tensor<B, 2>,
    distance: Distance,
) -> Tensor<B, 1> {
    match distance {
        Distance::Cosine => -paired_cosine_similarity(embeddings, targets).mean() + 1.0,
        Distance::MeanSquared => (embeddings - targets).powi_scalar(2).mean(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::TensorData;
    use icl_core::Seed;
    use icl_core::testing::{TestBackend, assert_close, to_vec};
    use rand::RngExt;

    fn draw(n: usize, d: usize, seed: u64) -> Tensor<TestBackend, 2> {
        let mut rng = Seed::new(seed).rng();
        let values: Vec<f64> = (0..n * d).map(|_| rng.random::<f64>() - 0.5).collect();
        Tensor::from_data(TensorData::new(values, [n, d]), &Default::default())
    }

    #[test]
    fn distances_are_those_of_their_formulas() {
        let (a, b) = (draw(5, 3, 1), draw(5, 3, 2));
        let rows = |x: &Tensor<TestBackend, 2>| -> Vec<Vec<f64>> {
            to_vec(x).chunks(3).map(<[f64]>::to_vec).collect()
        };
        let (left, right) = (rows(&a), rows(&b));
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let pairs = || left.iter().zip(&right);
        let cosine = pairs()
            .map(|(x, y)| 1.0 - dot(x, y) / (dot(x, x) * dot(y, y)).sqrt())
            .sum::<f64>()
            / 5.0;
        let squared = pairs()
            .flat_map(|(x, y)| x.iter().zip(y).map(|(x, y)| (x - y).powi(2)))
            .sum::<f64>()
            / 15.0;
        let found = |kind| to_vec(&mean_distance(a.clone(), b.clone(), kind));
        assert_close(&found(Distance::Cosine), &[cosine], 1e-5);
        assert_close(&found(Distance::MeanSquared), &[squared], 1e-5);
    }
}
