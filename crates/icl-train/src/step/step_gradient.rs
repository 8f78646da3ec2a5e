//! The gradient of a plain step.

use burn::optim::GradientsParams;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Purpose, Seed, TrainableEncoder};

use crate::error::{TrainError, TrainErrorKind, not_finite};
use crate::step::batch_loss::{BatchLoss, PartOf, value_of};
use crate::step::contrastive::Anchors;
use crate::step::prefetch::PreparedBatch;

impl<M, B> BatchLoss<'_, M, B>
where
    M: TrainableEncoder<B>,
    B: AutodiffBackend,
{
    /// Computes the loss of a batch and its gradient (Eq. 10). `seed` decides the encoder's randomness.
    ///
    /// # Errors
    /// [`TrainError`] if the encoder does not return one row for each view, or a member has left.
    pub(crate) fn gradient(
        &self,
        encoder: &M,
        batch: &PreparedBatch<PartOf<M, B>>,
        seed: Seed,
    ) -> Result<(f64, GradientsParams), TrainError> {
        self.passes.begin(Purpose::Training);
        if !batch.is_whole {
            return self.sharded_gradient(encoder, batch, seed);
        }
        let loss = self.at(encoder, batch, Anchors::All, seed)?;
        let gradients = GradientsParams::from_grads(loss.backward(), encoder);
        Ok((value_of(loss), gradients))
    }
}

/// Facts about the current step, for error messages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    /// Index of the step in the run, counted from 0.
    pub(crate) index: u64,
    /// Number of epochs before that of the step.
    pub(crate) n_epochs: usize,
    /// Root seed of the run.
    pub(crate) root_seed: u64,
}

impl Step {
    /// Checks that a loss of the step has a gradient and is finite.
    pub(crate) fn check(
        self,
        what: &'static str,
        found: f64,
        gradients: &GradientsParams,
    ) -> Result<(), TrainError> {
        if gradients.is_empty() {
            let found = "no parameter on which the loss depends";
            let error = TrainError::new("the encoder", found, "at least one to train");
            return Err(error.with_kind(TrainErrorKind::Failed));
        }
        if found.is_finite() {
            return Ok(());
        }
        let at = (self.index + 1, self.n_epochs + 1);
        // The loop that knows the samples looks for the first one at fault.
        Err(not_finite(what, found, at, self.root_seed, None))
    }
}
