//! The loss of a prepared batch at an encoder.

use std::cell::Cell;

use burn::tensor::Tensor;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Encoder, GrowthRatio, Mode, Seed};

use crate::objective::{Anchors, distance};
use crate::prefetch::PreparedBatch;
use crate::step_report::PhaseClock;
use crate::{Objective, TrainingSettings};

/// The objective of a run with all that it needs beside an encoder and a batch.
pub(crate) struct BatchLoss<'a, M> {
    pub(crate) objective: Objective,
    pub(crate) alpha: GrowthRatio,
    pub(crate) settings: &'a TrainingSettings,
    /// The first encoder, whose embeddings distillation keeps near; it is not trained.
    pub(crate) teacher: Option<M>,
    /// Views that have gone through an encoder.
    pub(crate) sample_passes: Cell<u64>,
    pub(crate) clock: PhaseClock,
}

impl<M> BatchLoss<'_, M> {
    /// The loss `[1]` in nats. `seed` is that of the encoder's randomness.
    pub(crate) fn at<B>(
        &self,
        encoder: &M,
        batch: &PreparedBatch<M::Batch>,
        counted: Anchors,
        seed: Seed,
    ) -> Tensor<B, 1>
    where
        B: AutodiffBackend,
        M: Encoder<B>,
    {
        let phase = self.clock.start::<B>(encoder);
        let loss = self.forward::<B>(encoder, batch, counted, seed);
        self.clock.end_forward(phase);
        loss
    }

    fn forward<B>(
        &self,
        encoder: &M,
        batch: &PreparedBatch<M::Batch>,
        counted: Anchors,
        seed: Seed,
    ) -> Tensor<B, 1>
    where
        B: AutodiffBackend,
        M: Encoder<B>,
    {
        let n = batch.n_samples;
        self.count(n);
        // The encoder draws from a generator of its own; this is for layers that do not. The same
        // seed gives the same draws again, whatever was computed in between.
        if let Some(device) = encoder.devices().first() {
            B::seed(device, seed.child("backend").value());
        }
        let mut rng = seed.rng();
        let embeddings = encoder.encode(batch.batch.clone(), Mode::Training(&mut rng));
        let anchors = embeddings.clone().narrow(0, 0, n);
        let positives = embeddings.clone().narrow(0, n, n);
        let loss = self.objective.loss(
            anchors,
            positives,
            batch.n_old,
            counted,
            self.alpha,
            self.settings,
        );
        let Some(teacher) = &self.teacher else {
            return loss;
        };
        self.count(n);
        let targets = teacher
            .encode(batch.batch.clone(), Mode::Evaluation)
            .detach();
        let distance = distance(embeddings, targets, self.settings.distillation_distance);
        loss + distance * self.settings.distillation_weight
    }

    fn count(&self, n_samples: usize) {
        self.sample_passes
            .set(self.sample_passes.get() + 2 * n_samples as u64);
    }
}
