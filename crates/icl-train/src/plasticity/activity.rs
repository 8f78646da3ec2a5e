//! The activity of hidden units, and which of them are dormant.

use burn::tensor::backend::Backend;
use icl_core::{Collate, Encoder, SampleError, Samples, Views, host_values};

use crate::evaluation::evaluator::Evaluator;
use crate::evaluation::fixed_views::{CHUNK, collated};

/// Mean |activation| of the hidden units of an encoder over a panel of samples, layer by layer.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitActivity(Vec<Vec<f64>>);

impl UnitActivity {
    /// Returns the mean |activation| of each unit, layer by layer as in
    /// [`Encoder::hidden_activations`](icl_core::Encoder::hidden_activations).
    pub fn layers(&self) -> &[Vec<f64>] {
        &self.0
    }

    /// Returns whether each unit is dormant: its activity is at most `threshold` times the mean over its layer (Sokar et
    /// al., 2023). In a layer without any activity all units are.
    ///
    /// ```text
    /// unit i is dormant if  mean |a_i| ≤ T·(1/H)·Σ_j mean |a_j|        over the H units of the layer
    /// ```
    pub fn dormant(&self, threshold: f64) -> Vec<Vec<bool>> {
        let of_layer = |layer: &Vec<f64>| {
            let mean = layer.iter().sum::<f64>() / layer.len() as f64;
            let is_dormant = |activity: &f64| *activity <= threshold * mean;
            layer.iter().map(is_dormant).collect()
        };
        self.0.iter().map(of_layer).collect()
    }

    /// Returns the share of dormant units among all hidden units; 0 without hidden units.
    pub fn dormant_share(&self, threshold: f64) -> f64 {
        let dormant = self.dormant(threshold).concat();
        let n_dormant = dormant.iter().filter(|is_dormant| **is_dormant).count();
        n_dormant as f64 / dormant.len().max(1) as f64
    }
}

impl<B, S, V, C> Evaluator<'_, B, S, V, C>
where
    B: Backend,
    S: Samples,
    V: Views<Sample = S::Sample>,
    C: Collate<View = V::View>,
{
    /// Computes the activity of an encoder's hidden units over the plain views of some samples, with the normalisation
    /// statistics that the encoder has. `None` for an encoder that does not expose its units
    /// ([`Encoder::hidden_activations`](icl_core::Encoder::hidden_activations)), or without samples.
    ///
    /// # Errors
    /// [`SampleError`] if a sample cannot be read.
    pub fn unit_activity<M>(
        &self,
        encoder: &M,
        samples: &[usize],
    ) -> Result<Option<UnitActivity>, SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        // Sum of |activation| of each unit, and the number of rows in it.
        let mut sums: Vec<(Vec<f64>, usize)> = Vec::new();
        for chunk in samples.chunks(CHUNK) {
            let plain = |_, sample: &S::Sample| Ok(self.problem.views.plain(sample));
            let batch = collated::<B, _, _, _>(self.problem, &self.device, chunk, plain)?;
            let Some(layers) = encoder.hidden_activations(batch) else {
                return Ok(None);
            };
            for (at, activations) in layers.into_iter().enumerate() {
                let [n_rows, n_units] = activations.dims();
                if at == sums.len() {
                    sums.push((vec![0.0; n_units], 0));
                }
                let (sums, n) = &mut sums[at];
                let of_chunk = host_values(activations.abs().sum_dim(0));
                for (sum, value) in sums.iter_mut().zip(of_chunk) {
                    *sum += value;
                }
                *n += n_rows;
            }
        }
        let mean = |(sums, n): (Vec<f64>, usize)| {
            let means = sums.into_iter().map(|sum| sum / n as f64);
            means.collect()
        };
        let layers: Vec<Vec<f64>> = sums.into_iter().map(mean).collect();
        Ok((!samples.is_empty()).then_some(UnitActivity(layers)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_dormant_beside_its_own_layer() {
        let activity = UnitActivity(vec![
            vec![1.0, 0.0, 3.0, 0.011],
            vec![0.0, 0.0],
            vec![0.001, 0.001, 0.001],
        ]);
        let dormant = activity.dormant(0.01);
        let expected = [
            vec![false, true, false, false],
            vec![true, true],
            vec![false; 3],
        ];
        assert_eq!(dormant, expected);
        assert_eq!(activity.dormant_share(0.01), 3.0 / 9.0);
        // 0.011 is a little more than 0.01 of the mean 1.00275.
        assert_eq!(activity.dormant(0.011)[0], [false, true, false, true]);
        assert_eq!(activity.dormant(0.0)[0], [false, true, false, false]);
        assert_eq!(UnitActivity(Vec::new()).dormant_share(0.5), 0.0);
    }
}
