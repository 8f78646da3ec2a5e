//! The loss of a prepared batch.

use std::marker::PhantomData;

use burn::module::AutodiffModule;
use burn::tensor::Tensor;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Encoder, Group, Mode, PairEmbeddings, Seed, TrainableEncoder, host_values};

use crate::error::TrainError;
use crate::evaluation::shape::{checked, checked_rows};
use crate::progress::cost::PassCounter;
use crate::progress::step_report::PhaseClock;
use crate::step::contrastive::{Anchors, Contrastive};
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

/// Loss of a run's batches, with everything that it needs besides an encoder and a batch.
pub(crate) struct BatchLoss<'a, M: AutodiffModule<B>, B: AutodiffBackend> {
    pub(crate) contrastive: Contrastive,
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
    M: TrainableEncoder<B>,
{
    /// Computes the loss `[1]` in nats of a batch, the sum over all pairs of its samples, and measures the time. `seed` decides
    /// the encoder's randomness.
    ///
    /// # Errors
    /// [`TrainError`] if the encoder does not return one row for each view.
    pub(crate) fn at(
        &self,
        encoder: &M,
        batch: &PreparedBatch<PartOf<M, B>>,
        counted: Anchors,
        seed: Seed,
    ) -> Result<Tensor<B, 1>, TrainError> {
        let phase = self.clock.start::<B>(encoder);
        let (n, n_old) = (batch.n_samples, batch.n_old);
        let of_part = |part: usize| {
            let (views, seed) = (&batch.whole()[part], seed_of_part(seed, part));
            self.passes.count(2 * n);
            let pairs = self.embed(encoder, views, n, seed)?;
            let embeddings = [pairs.anchors.clone(), pairs.positives.clone()];
            let losses = self
                .contrastive
                .of_anchors(pairs, n_old, counted, 0..n, seed);
            let loss = self.contrastive.mean(losses, (n_old, n), counted);
            if self.teacher.is_some() {
                self.passes.count_teacher(2 * n);
            }
            Ok::<_, TrainError>(match self.distillation(views, embeddings)? {
                Some(term) => loss + term,
                None => loss,
            })
        };
        let mut loss = of_part(0)?;
        for part in 1..batch.n_parts {
            loss = loss + of_part(part)?;
        }
        self.clock.end_forward(phase);
        Ok(loss)
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
    /// [`TrainError`] if the encoder does not return one row for each view.
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
}

/// Returns the seed of the randomness of one pair of each sample.
pub(super) fn seed_of_part(seed: Seed, part: usize) -> Seed {
    // The first pair has the seed that a batch with one pair of each sample has.
    match part {
        0 => seed,
        _ => seed.child("part").at(part as u64),
    }
}
