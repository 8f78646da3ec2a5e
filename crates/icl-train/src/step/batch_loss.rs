//! The loss of a prepared batch.

use std::ops::Range;

use burn::tensor::Tensor;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{
    Draws, Encoder, Group, GrowthRatio, MixedBatch, Mode, PairEmbeddings, QueuedNoise, Seed,
    catalogue_nce_i, host_values,
};

use crate::method::loss::{Anchors, LossKind, LossSettings};
use crate::negatives::NegativesForm;
use crate::noise_queue::old_queue::OldQueue;
use crate::progress::cost::PassCounter;
use crate::progress::step_report::PhaseClock;
use crate::step::distillation::Teacher;
use crate::step::prefetch::PreparedBatch;
use crate::trainer::settings::TrainingSettings;

/// Returns the value of a loss `[1]`, in its own precision.
pub(crate) fn value_of<B: AutodiffBackend>(loss: Tensor<B, 1>) -> f64 {
    host_values(loss)[0]
}

/// Loss of a run, with everything that it needs beside an encoder and a batch.
pub(crate) struct BatchLoss<'a, M, B: AutodiffBackend> {
    pub(crate) loss: LossKind,
    pub(crate) alpha: GrowthRatio,
    pub(crate) settings: &'a TrainingSettings,
    /// Number of negatives K of the current step, the same for all of its losses: Theorem 1 needs that.
    pub(crate) negatives: f64,
    /// Teacher of the distillation term, which is not trained.
    pub(crate) teacher: Option<Teacher<M>>,
    /// Old noise of earlier steps, if the settings ask for a queue.
    pub(crate) queue: Option<OldQueue<B>>,
    /// Views that passed through an encoder since the last step.
    pub(crate) passes: PassCounter,
    pub(crate) clock: PhaseClock,
    /// Members that train the encoder together.
    pub(crate) group: &'a dyn Group,
}

impl<M, B> BatchLoss<'_, M, B>
where
    B: AutodiffBackend,
    M: Encoder<B>,
{
    /// Computes the loss `[1]` in nats of a batch for a training step, and collects the embeddings of its
    /// old samples for the queue. `seed` decides the encoder's randomness.
    pub(crate) fn of_step(
        &self,
        encoder: &M,
        batch: &PreparedBatch<M::Batch>,
        counted: Anchors,
        seed: Seed,
    ) -> Tensor<B, 1> {
        let (loss, positives) = self.forward(encoder, batch, counted, seed);
        if let Some(queue) = self.queue.as_ref().filter(|_| batch.n_old > 0) {
            let second_views = positives.narrow(0, 0, batch.n_old);
            queue.put_by(second_views, &batch.samples[..batch.n_old]);
        }
        loss
    }

    /// Computes the same loss for a comparison, without collecting embeddings for the queue.
    pub(crate) fn at(
        &self,
        encoder: &M,
        batch: &PreparedBatch<M::Batch>,
        counted: Anchors,
        seed: Seed,
    ) -> Tensor<B, 1> {
        self.forward(encoder, batch, counted, seed).0
    }

    /// Computes the sum of the losses of all pairs and the embeddings `[n, d]` of the second views of the first
    /// pair, and measures the time.
    fn forward(
        &self,
        encoder: &M,
        batch: &PreparedBatch<M::Batch>,
        counted: Anchors,
        seed: Seed,
    ) -> (Tensor<B, 1>, Tensor<B, 2>) {
        let phase = self.clock.start::<B>(encoder);
        let (mut loss, positives) = self.of_part(encoder, batch, 0, counted, seed);
        for part in 1..batch.n_parts {
            let seed = seed.child("part").at(part as u64);
            loss = loss + self.of_part(encoder, batch, part, counted, seed).0;
        }
        self.clock.end_forward(phase);
        (loss, positives)
    }

    /// Computes the loss of one pair of each sample and the embeddings `[n, d]` of their second views.
    fn of_part(
        &self,
        encoder: &M,
        batch: &PreparedBatch<M::Batch>,
        part: usize,
        counted: Anchors,
        seed: Seed,
    ) -> (Tensor<B, 1>, Tensor<B, 2>) {
        let n = batch.samples.len();
        let views = &batch.whole()[part];
        self.passes.count(2 * n);
        let pairs = self.embed(encoder, views, seed);
        let (anchors, positives) = (pairs.anchors.clone(), pairs.positives.clone());
        let loss = match pairs.catalogue {
            Some(_) => self.over_catalogue(pairs, seed),
            None => self.in_batch(pairs, batch, part, counted, seed),
        };
        let Some(teacher) = &self.teacher else {
            return (loss, positives);
        };
        self.passes.count_teacher(2 * n);
        let embeddings = Tensor::cat(vec![anchors, positives.clone()], 0);
        (loss + teacher.term(views.clone(), embeddings), positives)
    }

    /// Embeds pairs in training mode. `seed` decides the encoder's randomness.
    pub(super) fn embed(&self, encoder: &M, views: &M::Batch, seed: Seed) -> PairEmbeddings<B> {
        // The encoder draws from `Mode::Training`; Burn's own layers draw from the backend's generator.
        // The same seed gives the same draws again, whatever was computed in between.
        if let Some(device) = encoder.devices().first() {
            B::seed(device, seed.child("backend").value());
        }
        let mut rng = seed.rng();
        encoder.encode_pairs(views.clone(), Mode::Training(&mut rng))
    }

    /// Computes NCE-I with the noise of the pairs' catalogue. The trainer has checked that no other loss has one.
    pub(super) fn over_catalogue(&self, pairs: PairEmbeddings<B>, seed: Seed) -> Tensor<B, 1> {
        let n = pairs.anchors.dims()[0];
        let draws = self.draws(seed);
        let draws = draws.map(|seed| Draws::new(self.negatives, n, seed));
        let temperature = self.settings.temperature;
        catalogue_nce_i(pairs, temperature, self.negatives, draws.as_ref()).mean()
    }

    /// Computes the loss with the noise of the batch, and of the queue.
    fn in_batch(
        &self,
        pairs: PairEmbeddings<B>,
        batch: &PreparedBatch<M::Batch>,
        part: usize,
        counted: Anchors,
        seed: Seed,
    ) -> Tensor<B, 1> {
        let (queue, settings) = (self.queue_of(part), self.loss_settings(seed));
        self.loss
            .of_batch(mixed(pairs, batch), queue, counted, settings)
    }

    /// Computes the part of the same loss of all anchors that those of some `rows` of the batch have.
    pub(super) fn of_rows(
        &self,
        pairs: PairEmbeddings<B>,
        batch: &PreparedBatch<M::Batch>,
        part: usize,
        rows: Range<usize>,
        seed: Seed,
    ) -> Tensor<B, 1> {
        let (queue, settings) = (self.queue_of(part), self.loss_settings(seed));
        self.loss
            .of_rows(mixed(pairs, batch), queue, rows, settings)
    }

    /// Returns the old noise that a part has from the queue, which holds views of the first pair.
    fn queue_of(&self, part: usize) -> Option<&QueuedNoise<B>> {
        let queue = self.queue.as_ref().filter(|_| part == 0);
        queue.and_then(OldQueue::entries)
    }

    fn loss_settings(&self, seed: Seed) -> LossSettings {
        LossSettings {
            temperature: self.settings.temperature,
            negatives: self.negatives,
            draws: self.draws(seed),
            noise_set: self.settings.noise_set,
            alpha: self.alpha,
        }
    }

    /// Returns the seed of the noise that anchors draw, if they do.
    fn draws(&self, seed: Seed) -> Option<Seed> {
        let is_drawn = self.settings.step_negatives.form == NegativesForm::Drawn;
        is_drawn.then(|| seed.child("negatives"))
    }
}

/// Returns the embeddings of a batch, with its samples.
fn mixed<B: AutodiffBackend, T>(
    pairs: PairEmbeddings<B>,
    batch: &PreparedBatch<T>,
) -> MixedBatch<'_, B> {
    MixedBatch {
        anchors: pairs.anchors,
        positives: pairs.positives,
        samples: &batch.samples,
        n_old: batch.n_old,
    }
}
