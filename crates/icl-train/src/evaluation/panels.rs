//! Measurements on the fixed pairs of views of a panel: samples beside the training data.

use burn::tensor::{Tensor, backend::Backend};
use icl_core::{
    Collate, Encoder, HostRows, Increment, PanelRisk, Samples, Views, host_values, panel_nce_i,
    panel_risk,
};

use super::evaluator::Evaluator;
use crate::error::{TrainError, TrainErrorKind};

/// Name of the risk of a panel in errors.
const PANEL_RISK: &str = "the risk of the panel";

impl<B, S, V, C> Evaluator<'_, B, S, V, C>
where
    B: Backend,
    S: Samples,
    V: Views<Sample = S::Sample>,
    C: Collate<View = V::View>,
{
    /// Computes the risk of an encoder over a panel of samples that it was not trained on, on one fixed pair
    /// of views of each, with the normalisation statistics that the encoder has: nothing of the panel enters
    /// the encoder. Partners of views, if they have any, come from the panel.
    ///
    /// # Errors
    /// [`TrainError`], also if the panel has no new samples.
    pub fn panel_risk<M>(&self, encoder: &M, panel: &Increment) -> Result<PanelRisk, TrainError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        let n_old = panel.old().len();
        if panel.new_data().is_empty() {
            let place = "the new samples of the panel";
            let error = TrainError::new(place, "0 samples", "at least 2");
            return Err(error.with_kind(TrainErrorKind::Failed));
        }
        let embeddings = self.panel_embeddings(encoder, panel, &panel.all())?;
        let [anchors, positives] = embeddings;
        let (temperature, negatives) = (self.temperature, self.negatives);
        let risk = panel_risk(
            self.group,
            anchors,
            positives,
            n_old,
            temperature,
            negatives,
        )?;
        self.check_finite((PANEL_RISK, risk.mean.all), encoder, &panel.all())?;
        Ok(risk)
    }

    /// Computes the same risk before any new data arrive, over the old samples of a panel.
    ///
    /// # Errors
    /// [`TrainError`].
    pub fn panel_risk_old<M>(
        &self,
        encoder: &M,
        panel: &Increment,
    ) -> Result<PanelRisk<Option<f64>>, TrainError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        let [anchors, positives] = self.panel_embeddings(encoder, panel, panel.old())?;
        let (temperature, negatives) = (self.temperature, self.negatives);
        let risk = panel_nce_i(self.group, anchors, positives, temperature, negatives)?;
        let found = risk.mean.all.unwrap_or_default();
        self.check_finite((PANEL_RISK, found), encoder, panel.old())?;
        Ok(risk)
    }

    /// Computes the embeddings of the fixed views of some samples of a panel.
    fn panel_embeddings<M>(
        &self,
        encoder: &M,
        panel: &Increment,
        samples: &[usize],
    ) -> Result<[Tensor<B, 2>; 2], TrainError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        self.check_formula()?;
        self.check_samples("the panel", &panel.all())?;
        self.fixed_views(samples, panel)?.embeddings(encoder)
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
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        let pairs = self.panel_embeddings(encoder, increment, increment.old())?;
        Ok(pairs.map(|rows| {
            let [_, width] = rows.dims();
            (host_values(rows), width)
        }))
    }
}
