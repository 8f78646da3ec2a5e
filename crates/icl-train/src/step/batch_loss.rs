//! The loss of a prepared batch.

use std::marker::PhantomData;
use std::ops::Range;

use burn::module::AutodiffModule;
use burn::tensor::Tensor;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{
    Draws, Encoder, Group, GrowthRatio, Mode, PairEmbeddings, Seed, catalogue_nce_i, host_values,
};

use crate::error::TrainError;
use crate::evaluation::shape::{checked, checked_rows};
use crate::method::loss::{Anchors, EmbeddedBatch, LossKind, LossSettings};
use crate::negatives::NegativesForm;
use crate::progress::cost::PassCounter;
use crate::progress::step_report::PhaseClock;
use crate::settings::TrainingSettings;
use crate::step::distillation::Teacher;
use crate::step::prefetch::{Part, PreparedBatch};

/// Returns the value of a loss `[1]`, in its own precision.
pub(crate) fn value_of<B: AutodiffBackend>(loss: Tensor<B, 1>) -> f64 {
    host_values(loss)[0]
}

/// Batch of an encoder, and the same for its teacher.
pub(crate) type PartOf<M, B> = Part<
    <M as Encoder<B>>::Batch,
    <<M as AutodiffModule<B>>::InnerModule as Encoder<<B as AutodiffBackend>::InnerBackend>>::Batch,
>;

/// Loss of a run, with everything that it needs beside an encoder and a batch.
pub(crate) struct BatchLoss<'a, M: AutodiffModule<B>, B: AutodiffBackend> {
    pub(crate) loss: LossKind,
    pub(crate) alpha: GrowthRatio,
    pub(crate) settings: &'a TrainingSettings,
    /// Number of negatives K of the current step, the same for all of its losses: Theorem 1 needs that.
    pub(crate) negatives: f64,
    /// Teacher of the distillation term, which is not trained.
    pub(crate) teacher: Option<Teacher<M::InnerModule>>,
    /// Views that passed through an encoder since the last step.
    pub(crate) passes: PassCounter,
    pub(crate) clock: PhaseClock,
    /// Members that train the encoder together.
    pub(crate) group: &'a dyn Group,
    pub(crate) backend: PhantomData<B>,
}

impl<M, B> BatchLoss<'_, M, B>
where
    B: AutodiffBackend,
    M: AutodiffModule<B, InnerModule: Encoder<B::InnerBackend>> + Encoder<B>,
{
    /// Computes the loss `[1]` in nats of a batch, the sum over all pairs of its samples, and measures the time. `seed` decides
    /// the encoder's randomness.
    ///
    /// # Errors
    /// [`TrainError::Shape`] if the encoder does not return one row for each view.
    pub(crate) fn at(
        &self,
        encoder: &M,
        batch: &PreparedBatch<PartOf<M, B>>,
        counted: Anchors,
        seed: Seed,
    ) -> Result<Tensor<B, 1>, TrainError> {
        let phase = self.clock.start::<B>(encoder);
        let mut loss = self.of_part(encoder, batch, 0, counted, seed)?;
        for part in 1..batch.n_parts {
            let seed = seed.child("part").at(part as u64);
            loss = loss + self.of_part(encoder, batch, part, counted, seed)?;
        }
        self.clock.end_forward(phase);
        Ok(loss)
    }

    /// Computes the loss of one pair of each sample.
    fn of_part(
        &self,
        encoder: &M,
        batch: &PreparedBatch<PartOf<M, B>>,
        part: usize,
        counted: Anchors,
        seed: Seed,
    ) -> Result<Tensor<B, 1>, TrainError> {
        let part = &batch.whole()[part];
        self.passes.count(2 * batch.n_samples);
        let pairs = self.embed(encoder, part, batch.n_samples, seed)?;
        let (anchors, positives) = (pairs.anchors.clone(), pairs.positives.clone());
        let loss = match pairs.catalogue {
            Some(_) => self.over_catalogue(pairs, seed),
            None => {
                let settings = self.loss_settings(seed);
                let pairs = embedded(pairs, batch.n_old);
                self.loss.of_batch(pairs, counted, settings)
            }
        };
        if self.teacher.is_some() {
            self.passes.count_teacher(2 * batch.n_samples);
        }
        match self.distillation(part, [anchors, positives])? {
            Some(term) => Ok(loss + term),
            None => Ok(loss),
        }
    }

    /// Computes the distillation term of embedded pairs, if there is a teacher.
    pub(super) fn distillation(
        &self,
        part: &PartOf<M, B>,
        [anchors, positives]: [Tensor<B, 2>; 2],
    ) -> Result<Option<Tensor<B, 1>>, TrainError> {
        let Some((teacher, views)) = self.teacher.as_ref().zip(part.for_teacher.clone()) else {
            return Ok(None);
        };
        let embeddings = Tensor::cat(vec![anchors, positives], 0);
        teacher.term(views, embeddings).map(Some)
    }

    /// Embeds the pairs of `n` samples in training mode. `seed` decides the encoder's randomness.
    ///
    /// # Errors
    /// [`TrainError::Shape`] if the encoder does not return one row for each view.
    pub(super) fn embed(
        &self,
        encoder: &M,
        part: &PartOf<M, B>,
        n: usize,
        seed: Seed,
    ) -> Result<PairEmbeddings<B>, TrainError> {
        // The encoder draws from `Mode::Training`; Burn's own layers draw from the backend's generator.
        // The same seed gives the same draws again, whatever was computed in between.
        if let Some(device) = encoder.devices().first() {
            B::seed(device, seed.child("backend").value());
        }
        let mut rng = seed.rng();
        let (views, mode) = (part.views.clone(), Mode::Training(&mut rng));
        if !encoder.has_catalogue() {
            let rows = checked_rows::<M, B>("encode", encoder.encode(views, mode), 2 * n)?;
            return Ok(PairEmbeddings::of_halves(rows));
        }
        let pairs = encoder.encode_pairs(views, mode);
        let anchors = checked_rows::<M, B>("encode_pairs", pairs.anchors, n)?;
        let positives = checked::<M, B>("encode_pairs", pairs.positives, anchors.dims())?;
        Ok(PairEmbeddings {
            anchors,
            positives,
            catalogue: pairs.catalogue,
        })
    }

    /// Computes NCE-I with the noise of the pairs' catalogue. The trainer has checked that no other loss has one.
    pub(super) fn over_catalogue(&self, pairs: PairEmbeddings<B>, seed: Seed) -> Tensor<B, 1> {
        let n = pairs.anchors.dims()[0];
        let draws = self.draws(seed);
        let draws = draws.map(|seed| Draws::new(self.negatives, n, seed));
        let temperature = self.settings.temperature;
        catalogue_nce_i(pairs, temperature, self.negatives, draws.as_ref()).mean()
    }

    /// Computes the part of the loss of a batch that the anchors of some `rows` have. All noise comes from the batch.
    pub(super) fn of_rows(
        &self,
        pairs: PairEmbeddings<B>,
        n_old: usize,
        rows: Range<usize>,
        seed: Seed,
    ) -> Tensor<B, 1> {
        let settings = self.loss_settings(seed);
        self.loss.of_rows(embedded(pairs, n_old), rows, settings)
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

/// Returns the embeddings of a batch whose first `n_old` samples are old.
fn embedded<B: AutodiffBackend>(pairs: PairEmbeddings<B>, n_old: usize) -> EmbeddedBatch<B> {
    EmbeddedBatch {
        anchors: pairs.anchors,
        positives: pairs.positives,
        n_old,
    }
}
