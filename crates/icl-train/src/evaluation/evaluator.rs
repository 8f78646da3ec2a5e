//! The exact risk of an encoder on fixed views, and its embeddings.

use burn::tensor::{Tensor, backend::Backend};
use icl_core::{
    Batches, Collate, Encoder, ExactRisk, HostRows, Judge, Mode, SampleError, Samples, Seed, Views,
    exact_nce_i, exact_risk, host_values,
};
use rayon::prelude::*;

use crate::problem::Problem;

/// The most samples that go through the encoder at once.
const CHUNK: usize = 128;

/// An encoder with re-estimated statistics, and its exact risk.
#[derive(Debug, Clone)]
pub struct Evaluated<M, R> {
    /// The encoder whose risk this is: the one to keep.
    pub encoder: M,
    /// The risk.
    pub risk: R,
}

/// An encoder with re-estimated statistics, its exact risk, and what a protocol says of its embeddings.
#[derive(Debug, Clone)]
pub struct Measured<M, T> {
    /// The encoder that was measured.
    pub encoder: M,
    /// Its exact risk over X′.
    pub risk: ExactRisk,
    /// The judgement on its embeddings.
    pub judgement: T,
}

/// Evaluates encoders on one pair of views of each sample, the same for every method and epoch.
///
/// Before it measures it re-estimates the encoder's normalisation statistics over those views, so
/// that the risk is a function of the parameters alone.
#[derive(Debug)]
pub struct Evaluator<'a, B: Backend, S, V, C> {
    /// The data.
    pub(crate) problem: Problem<'a, S, V, C>,
    /// Where the fixed views come from; one seed a run.
    pub(crate) seed: Seed,
    /// τ.
    pub(crate) temperature: f64,
    /// K.
    pub(crate) negatives: f64,
    /// Where to evaluate.
    pub(crate) device: B::Device,
}

impl<B, S, V, C> Evaluator<'_, B, S, V, C>
where
    B: Backend,
    S: Samples,
    V: Views<Sample = S::Sample>,
    C: Collate<View = V::View>,
{
    /// The exact risk over X′, split into old and new.
    ///
    /// # Errors
    /// If a sample cannot be read.
    pub fn evaluate<M>(&self, encoder: M) -> Result<Evaluated<M, ExactRisk>, SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        let (encoder, [anchors, positives]) =
            self.views_of(encoder, &self.problem.increment.all())?;
        let n_old = self.problem.increment.old().len();
        let risk = exact_risk(anchors, positives, n_old, self.temperature, self.negatives);
        Ok(Evaluated { encoder, risk })
    }

    /// The exact risk over the old data alone, as before the new data came.
    ///
    /// # Errors
    /// If a sample cannot be read.
    pub fn evaluate_old<M>(&self, encoder: M) -> Result<Evaluated<M, f64>, SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        let (encoder, [anchors, positives]) =
            self.views_of(encoder, self.problem.increment.old())?;
        let risk = exact_nce_i(anchors, positives, self.temperature, self.negatives);
        Ok(Evaluated { encoder, risk })
    }

    /// Embeddings `[n, d]` of the samples' plain views, with the statistics that the encoder has.
    ///
    /// # Errors
    /// If a sample cannot be read.
    pub fn embed<M>(&self, encoder: &M, samples: &[usize]) -> Result<Tensor<B, 2>, SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        let chunks = samples.chunks(CHUNK).map(|chunk| {
            let batch = self.batch(chunk, |_, sample| self.problem.views.plain(sample))?;
            Ok(encoder.embed(batch))
        });
        let chunks: Vec<Tensor<B, 2>> = chunks.collect::<Result<_, SampleError>>()?;
        Ok(Tensor::cat(chunks, 0))
    }

    /// Returns the same embeddings as numbers on the host, and their width.
    ///
    /// # Errors
    /// If a sample cannot be read.
    pub fn embed_to_host<M>(&self, encoder: &M, samples: &[usize]) -> Result<HostRows, SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        let embeddings = self.embed(encoder, samples)?;
        let [_, width] = embeddings.dims();
        Ok((host_values(embeddings), width))
    }

    /// Measures an encoder: its exact risk, and a judgement on its embeddings beside those of the
    /// encoder before any training. The statistics of both are re-estimated first.
    ///
    /// # Errors
    /// If a sample cannot be read, or the judge cannot judge.
    pub fn measure<M, J>(
        &self,
        judge: &J,
        encoder: M,
        untrained: M,
    ) -> Result<Measured<M, J::Judgement>, SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
        J: Judge,
    {
        let samples: Vec<usize> = (0..self.problem.samples.n_samples()).collect();
        let untrained = self.evaluate(untrained)?.encoder;
        let untrained = self.embed_to_host(&untrained, &samples)?;
        let Evaluated { encoder, risk } = self.evaluate(encoder)?;
        let embeddings = self.embed_to_host(&encoder, &samples)?;
        let judgement = judge.judge(self.problem.increment, embeddings, untrained)?;
        Ok(Measured {
            encoder,
            risk,
            judgement,
        })
    }

    /// The encoder, recalibrated over both fixed views of the samples, and its embeddings of the
    /// first and of the second views.
    fn views_of<M>(
        &self,
        encoder: M,
        samples: &[usize],
    ) -> Result<(M, [Tensor<B, 2>; 2]), SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        // Nearly equal ones: a last one of few samples would have statistics of its own.
        let n_chunks = samples.len().div_ceil(CHUNK).max(1);
        let n = samples.len();
        let chunk = |at: usize| &samples[at * n / n_chunks..(at + 1) * n / n_chunks];
        let chunks: Vec<&[usize]> = (0..n_chunks).map(chunk).collect();
        let batch = |chunk: usize, view: u64| {
            self.batch(chunks[chunk], |index, sample| {
                let mut rng = self.seed.at(index as u64).at(view).rng();
                self.problem.views.view(sample, &mut rng)
            })
        };
        let both = Batches::new(2 * chunks.len(), |at| batch(at / 2, at as u64 % 2));
        let encoder = encoder.recalibrated(&both)?;
        let embed = |view| {
            let parts = (0..chunks.len())
                .map(|chunk| Ok(encoder.encode(batch(chunk, view)?, Mode::Evaluation)));
            let parts: Vec<Tensor<B, 2>> = parts.collect::<Result<_, SampleError>>()?;
            Ok::<_, SampleError>(Tensor::cat(parts, 0))
        };
        let embeddings = [embed(0)?, embed(1)?];
        Ok((encoder, embeddings))
    }

    /// The batch of one view of each sample; `view` gets the sample's index and the sample.
    fn batch(
        &self,
        samples: &[usize],
        view: impl Fn(usize, &S::Sample) -> V::View + Sync,
    ) -> Result<C::Batch<B>, SampleError> {
        let Problem {
            samples: data,
            collate,
            ..
        } = self.problem;
        let make = |&index: &usize| Ok(view(index, &*data.sample(index)?));
        let views: Vec<Result<V::View, SampleError>> = samples.par_iter().map(make).collect();
        let views: Vec<V::View> = views.into_iter().collect::<Result<_, _>>()?;
        Ok(collate.collate::<B>(&views, &self.device))
    }
}
