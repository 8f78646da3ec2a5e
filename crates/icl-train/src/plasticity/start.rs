//! The encoder from which a method starts.

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Collate, Encoder, Samples, Views};

use crate::error::TrainError;
use crate::method::Start;
use crate::plasticity::blend::blended;
use crate::step::copies::settle;
use crate::trainer::Trainer;

/// Encoder from which a method starts, and what it has cost.
#[derive(Debug, Clone)]
pub struct Started<M> {
    /// Encoder.
    pub encoder: M,
    /// Cost of the start in full passes, that of the panel of [`Start::ResetDormant`] and 0 for all others. The method is
    /// charged for it, see [`TrainingRecord::charge_start`](crate::TrainingRecord::charge_start).
    pub passes: f64,
}

impl<B, S, V, C> Trainer<'_, B, S, V, C>
where
    B: AutodiffBackend,
    S: Samples,
    V: Views<Sample = S::Sample>,
    C: Collate<View = V::View>,
{
    /// Returns the encoder from which a start begins, given the trained encoder θ₀. `fresh` creates an encoder of the same
    /// architecture with random parameters; it is called only if the start needs one. The panel of
    /// [`Start::ResetDormant`] has at most [`steering_panel`](field@crate::TrainingSettings::steering_panel) samples of
    /// the increment.
    ///
    /// # Errors
    /// The error of `fresh`; for [`Start::ResetDormant`] [`TrainError`] if a setting is out of its range, the increment refers
    /// to a sample that the data set does not contain, or a sample cannot be read, and [`TrainError::NoHiddenUnits`] if
    /// the encoder does not expose its hidden units.
    ///
    /// # Panics
    /// If the fresh encoder has another architecture.
    pub fn start<M, E>(
        &self,
        start: Start,
        trained: M,
        fresh: impl FnOnce() -> Result<M, E>,
    ) -> Result<Started<M>, E>
    where
        M: AutodiffModule<B> + Encoder<B, Batch = C::Batch<B>>,
        M::InnerModule: Encoder<B::InnerBackend, Batch = C::Batch<B::InnerBackend>>,
        E: From<TrainError>,
    {
        let free = |encoder| Started {
            encoder,
            passes: 0.0,
        };
        Ok(match start {
            Start::Trained => free(trained),
            Start::Scratch => free(fresh()?),
            Start::ShrinkPerturb { keep, fresh: share } => {
                let fresh = fresh()?;
                free(blended::<B, M>(trained, &fresh, (keep, share)))
            }
            Start::ResetDormant(threshold) => {
                let (dormant, passes) = self.dormant(&trained, threshold)?;
                let fresh = fresh()?;
                settle(&fresh);
                let encoder = trained.with_fresh_units(&fresh, &dormant);
                Started {
                    encoder: encoder.ok_or(TrainError::NoHiddenUnits)?,
                    passes,
                }
            }
        })
    }

    /// Returns the dormant hidden units over a panel of the increment, and the cost in full passes.
    fn dormant<M>(&self, encoder: &M, threshold: f64) -> Result<(Vec<Vec<bool>>, f64), TrainError>
    where
        M: AutodiffModule<B> + Encoder<B, Batch = C::Batch<B>>,
        M::InnerModule: Encoder<B::InnerBackend, Batch = C::Batch<B::InnerBackend>>,
    {
        self.settings.check()?;
        self.problem().check()?;
        let evaluator = self.steering_evaluator(self.increment);
        let (encoder, n_views) = evaluator
            .with_statistics(encoder.valid())
            .map_err(TrainError::of_evaluation)?;
        let samples = evaluator
            .panel(self.increment, self.settings.steering_panel)
            .all();
        let activity = evaluator.unit_activity(&encoder, &samples);
        let activity = activity.map_err(TrainError::of_evaluation)?;
        let dormant = activity
            .ok_or(TrainError::NoHiddenUnits)?
            .dormant(threshold);
        let n_views = n_views + samples.len() as u64;
        Ok((dormant, n_views as f64 * M::FORWARD_SHARE))
    }
}
