//! Measurements on the fixed pairs of views of held-out samples.

use burn::tensor::{Tensor, backend::Backend};
use icl_core::{
    Collate, Encoder, HeldOutRisk, HostRows, Increment, Samples, Views, held_out_nce_i,
    held_out_risk_with_losses, host_values,
};

use super::evaluator::Evaluator;
use crate::error::{TrainError, TrainErrorKind};

/// Name of the held-out risk in errors.
const HELD_OUT_RISK: &str = "the held-out risk";

impl<B, S, V, C> Evaluator<'_, B, S, V, C>
where
    B: Backend,
    S: Samples,
    V: Views<Sample = S::Sample>,
{
    /// Computes the risk of an encoder over held-out samples, which it was not trained on, on one fixed pair
    /// of views of each. Normalisation statistics are those of the encoder, so that it learns nothing from held-out
    /// samples. Partners of views, if they have any, are held-out samples, too.
    ///
    /// # Errors
    /// [`TrainError`], also if none of them is new.
    pub fn held_out_risk<M>(
        &self,
        encoder: &M,
        held_out: &Increment,
    ) -> Result<HeldOutRisk, TrainError>
    where
        M: Encoder<B>,
        C: Collate<B, V::View, M::Batch>,
    {
        let risk = self.held_out_risk_with_losses(encoder, held_out)?;
        Ok(risk.0)
    }

    /// Computes the same risk, and the loss of each held-out sample, the old ones first. Losses of two encoders by the
    /// same evaluator have the same samples and views: [`Verdict`](crate::Verdict) compares them pair by pair.
    ///
    /// # Errors
    /// As [`held_out_risk`](Self::held_out_risk).
    pub fn held_out_risk_with_losses<M>(
        &self,
        encoder: &M,
        held_out: &Increment,
    ) -> Result<(HeldOutRisk, Vec<f64>), TrainError>
    where
        M: Encoder<B>,
        C: Collate<B, V::View, M::Batch>,
    {
        let n_old = held_out.old().len();
        if held_out.new_data().is_empty() {
            let place = "the new held-out samples";
            let error = TrainError::new(place, "0 samples", "at least 2");
            return Err(error.with_kind(TrainErrorKind::Failed));
        }
        let embeddings = self.held_out_embeddings(encoder, held_out, &held_out.all())?;
        let [anchors, positives] = embeddings;
        let (temperature, negatives) = (self.temperature, self.negatives);
        let risk = held_out_risk_with_losses(
            self.group,
            anchors,
            positives,
            (n_old, held_out.old_weight()),
            temperature,
            negatives,
        )?;
        let found = risk.0.mean.all;
        self.check_finite((HELD_OUT_RISK, found), encoder, &held_out.all())?;
        Ok(risk)
    }

    /// Computes the same risk before any new data arrive, over the old held-out samples.
    ///
    /// # Errors
    /// [`TrainError`].
    pub fn held_out_risk_old<M>(
        &self,
        encoder: &M,
        held_out: &Increment,
    ) -> Result<HeldOutRisk<Option<f64>>, TrainError>
    where
        M: Encoder<B>,
        C: Collate<B, V::View, M::Batch>,
    {
        let [anchors, positives] = self.held_out_embeddings(encoder, held_out, held_out.old())?;
        let (temperature, negatives) = (self.temperature, self.negatives);
        let risk = held_out_nce_i(self.group, anchors, positives, temperature, negatives)?;
        let found = risk.mean.all.unwrap_or_default();
        self.check_finite((HELD_OUT_RISK, found), encoder, held_out.old())?;
        Ok(risk)
    }

    /// Computes the embeddings of the fixed views of some held-out samples.
    fn held_out_embeddings<M>(
        &self,
        encoder: &M,
        held_out: &Increment,
        samples: &[usize],
    ) -> Result<[Tensor<B, 2>; 2], TrainError>
    where
        M: Encoder<B>,
        C: Collate<B, V::View, M::Batch>,
    {
        self.check_formula()?;
        self.check_samples("the held-out samples", &held_out.all())?;
        let population = match samples.len() > held_out.old().len() {
            true => held_out.all_counted(self.max_samples),
            // Among old samples alone all count the same.
            false => samples.to_vec(),
        };
        self.fixed_views(samples, &population, held_out)?
            .embeddings(encoder)
    }

    /// Computes the embeddings of the fixed pair of views of some old samples, in their order, on the host: the anchors and
    /// their positives, with the statistics that the encoder has. They are the rows from which losses are computed: in an
    /// encoder with a projection head the projections.
    ///
    /// # Errors
    /// [`TrainError`], also if a view needs partners and there is no other sample.
    pub fn pairs_to_host<M>(
        &self,
        encoder: &M,
        increment: &Increment,
    ) -> Result<[HostRows; 2], TrainError>
    where
        M: Encoder<B>,
        C: Collate<B, V::View, M::Batch>,
    {
        let pairs = self.held_out_embeddings(encoder, increment, increment.old())?;
        Ok(pairs.map(|rows| {
            let [_, width] = rows.dims();
            (host_values(rows), width)
        }))
    }
}
