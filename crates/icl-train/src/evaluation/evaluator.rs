//! Evaluation of an encoder on fixed views: exact risk, embeddings and judgements.

use std::cell::Cell;

use burn::tensor::{Int, Tensor, TensorData, backend::Backend};
use icl_core::{
    Batches, Collate, Encoder, ExactRisk, HostRows, Increment, Judge, Mode, PanelRisk, SampleError,
    Samples, Seed, Side, Views, exact_nce_i, exact_risk, host_values, panel_nce_i, panel_risk,
};
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::sampling::pair_maker::PairMaker;
use crate::sampling::partners::Partners;
use crate::trainer::problem::Problem;

/// Maximum number of samples per encoder pass.
const CHUNK: usize = 128;

/// Risk in nats that a run follows: over X′, or over X alone before new data arrive.
pub(crate) trait Risk: Clone + Serialize + DeserializeOwned {
    /// Returns the risk over all data.
    fn all(&self) -> f64;

    /// Returns the risk over the old data.
    fn old(&self) -> f64;
}

/// Risk over the old data, which are all data.
impl Risk for f64 {
    fn all(&self) -> f64 {
        *self
    }

    fn old(&self) -> f64 {
        *self
    }
}

impl Risk for ExactRisk {
    fn all(&self) -> f64 {
        self.all
    }

    fn old(&self) -> f64 {
        self.old
    }
}

/// Encoder with re-estimated normalisation statistics, and its exact risk.
#[derive(Debug, Clone)]
pub struct Evaluated<M, R> {
    /// Encoder to which the risk belongs.
    pub encoder: M,
    /// Exact risk in nats: [`ExactRisk`] over X′, or one number over X.
    pub risk: R,
    /// Number of views that passed through the encoder, also for its statistics.
    pub n_views: u64,
}

/// Encoder with re-estimated normalisation statistics, its exact risk, and the judgement of a protocol on
/// its embeddings.
#[derive(Debug, Clone)]
pub struct Measured<M, T> {
    /// Encoder that was measured.
    pub encoder: M,
    /// Exact risk over X′.
    pub risk: ExactRisk,
    /// Judgement on the embeddings of all samples.
    pub judgement: T,
}

/// Evaluates encoders on one fixed pair of views of each sample, the same for every method and epoch.
///
/// Before each measurement the encoder's normalisation statistics are re-estimated over those views
/// ([`Encoder::recalibrated`]), so that the risk is a function of the parameters alone.
/// [`Trainer::evaluator`](crate::Trainer::evaluator) creates one.
#[derive(Debug)]
pub struct Evaluator<'a, B: Backend, S, V, C> {
    /// Data, views and collation.
    pub(crate) problem: Problem<'a, S, V, C>,
    /// Seed of the fixed views, one for each run.
    pub(crate) seed: Seed,
    /// Temperature τ.
    pub(crate) temperature: f64,
    /// Number of negatives K in the formulas.
    pub(crate) negatives: f64,
    /// Device of the evaluation.
    pub(crate) device: B::Device,
    /// Whether partners are drawn from the old data alone.
    pub(crate) has_old_partners: bool,
}

impl<B, S, V, C> Evaluator<'_, B, S, V, C>
where
    B: Backend,
    S: Samples,
    V: Views<Sample = S::Sample>,
    C: Collate<View = V::View>,
{
    /// Draws the partners of views from the old data X alone. By default they come from all samples over
    /// which a risk is computed: views of old samples may then hold shares of new ones, so that f⁺ of an
    /// old anchor changes when data arrive. The difference of the two risks is what this contributes.
    #[must_use]
    pub fn with_old_partners(self) -> Self {
        Self {
            has_old_partners: true,
            ..self
        }
    }

    /// Computes the exact risk of an encoder over X′, also over its old and its new part.
    ///
    /// # Errors
    /// [`SampleError`] if a sample cannot be read.
    pub fn evaluate<M>(&self, encoder: M) -> Result<Evaluated<M, ExactRisk>, SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        let (encoder, [anchors, positives], n_views) =
            self.views_of(encoder, &self.problem.increment.all())?;
        let n_old = self.problem.increment.old().len();
        let risk = exact_risk(anchors, positives, n_old, self.temperature, self.negatives);
        Ok(Evaluated {
            encoder,
            risk,
            n_views,
        })
    }

    /// Computes the exact risk of an encoder over the old data X alone.
    ///
    /// # Errors
    /// [`SampleError`] if a sample cannot be read.
    pub fn evaluate_old<M>(&self, encoder: M) -> Result<Evaluated<M, f64>, SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        let (encoder, [anchors, positives], n_views) =
            self.views_of(encoder, self.problem.increment.old())?;
        let risk = exact_nce_i(anchors, positives, self.temperature, self.negatives);
        Ok(Evaluated {
            encoder,
            risk,
            n_views,
        })
    }

    /// Computes the embeddings `[n, d]` of the samples' plain views ([`Views::plain`]), with the
    /// normalisation statistics that the encoder has.
    ///
    /// # Errors
    /// [`SampleError`] if a sample cannot be read.
    pub fn embed<M>(&self, encoder: &M, samples: &[usize]) -> Result<Tensor<B, 2>, SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        let chunks = samples.chunks(CHUNK).map(|chunk| {
            let batch = self.batch(chunk, |_, sample| Ok(self.problem.views.plain(sample)))?;
            Ok(encoder.embed(batch))
        });
        let chunks: Vec<Tensor<B, 2>> = chunks.collect::<Result<_, SampleError>>()?;
        Ok(Tensor::cat(chunks, 0))
    }

    /// Computes the embeddings of [`embed`](Self::embed) and returns them as numbers in host memory, row
    /// by row, with their width d.
    ///
    /// # Errors
    /// [`SampleError`] if a sample cannot be read.
    pub fn embed_to_host<M>(&self, encoder: &M, samples: &[usize]) -> Result<HostRows, SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        let embeddings = self.embed(encoder, samples)?;
        let [_, width] = embeddings.dims();
        Ok((host_values(embeddings), width))
    }

    /// Measures an encoder: its exact risk, and the judgement of a protocol on the embeddings of all
    /// samples. `untrained` is the encoder before any training, whose embeddings give the judgement a
    /// floor. The normalisation statistics of both are re-estimated first.
    ///
    /// # Errors
    /// If a sample cannot be read, or the judge returns an error.
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
        let Evaluated { encoder, risk, .. } = self.evaluate(encoder)?;
        let embeddings = self.embed_to_host(&encoder, &samples)?;
        let judgement = judge.judge(self.problem.increment, embeddings, untrained)?;
        Ok(Measured {
            encoder,
            risk,
            judgement,
        })
    }

    /// Computes the risk of an encoder over a panel of samples that it was not trained on, on one fixed pair
    /// of views of each, with the normalisation statistics that the encoder has: nothing of the panel enters
    /// the encoder. Partners of views, if they have any, come from the panel.
    ///
    /// # Errors
    /// [`SampleError`] if a sample cannot be read.
    ///
    /// # Panics
    /// If the panel has no new samples.
    pub fn panel_risk<M>(&self, encoder: &M, panel: &Increment) -> Result<PanelRisk, SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        let views = self.fixed_views(&panel.all(), panel);
        let [anchors, positives] = views.embeddings(encoder)?;
        let n_old = panel.old().len();
        Ok(panel_risk(
            anchors,
            positives,
            n_old,
            self.temperature,
            self.negatives,
        ))
    }

    /// Computes the same risk before any new data arrive, over the old samples of a panel.
    ///
    /// # Errors
    /// [`SampleError`] if a sample cannot be read.
    pub fn panel_risk_old<M>(
        &self,
        encoder: &M,
        panel: &Increment,
    ) -> Result<PanelRisk<Option<f64>>, SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        let views = self.fixed_views(panel.old(), panel);
        let [anchors, positives] = views.embeddings(encoder)?;
        Ok(panel_nce_i(
            anchors,
            positives,
            self.temperature,
            self.negatives,
        ))
    }

    /// Re-estimates the statistics of an encoder over both fixed views of the samples, and computes its
    /// embeddings of the first and of the second views, in the order of the samples; also the number of
    /// views that passed through it.
    fn views_of<M>(
        &self,
        encoder: M,
        samples: &[usize],
    ) -> Result<(M, [Tensor<B, 2>; 2], u64), SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        let views = self.fixed_views(samples, self.problem.increment);
        let both = Batches::new(2 * views.n_chunks(), |at| {
            views.batch(at / 2, Side::BOTH[at % 2])
        });
        let encoder = encoder.recalibrated(&both)?;
        drop(both);
        let embeddings = views.embeddings(&encoder)?;
        Ok((encoder, embeddings, views.n_views.get()))
    }

    /// Returns the fixed views of some samples of an increment.
    fn fixed_views<'e>(
        &'e self,
        samples: &[usize],
        increment: &Increment,
    ) -> FixedViews<'e, B, S, V, C> {
        let order = self.problem.views.mixes_in_batch().then(|| {
            let mut order: Vec<usize> = (0..samples.len()).collect();
            order.shuffle(&mut self.seed.child("order").rng());
            order
        });
        let mut population = match self.has_old_partners {
            true => increment.old().to_vec(),
            false => samples.to_vec(),
        };
        population.sort_unstable();
        FixedViews {
            evaluator: self,
            samples: match &order {
                None => samples.to_vec(),
                Some(order) => order.iter().map(|&at| samples[at]).collect(),
            },
            order,
            population,
            n_views: Cell::new(0),
        }
    }

    /// Collates one view of each sample into a batch. `view` is called with a sample's index and the
    /// sample.
    fn batch(
        &self,
        samples: &[usize],
        view: impl Fn(usize, &S::Sample) -> Result<V::View, SampleError> + Sync,
    ) -> Result<C::Batch<B>, SampleError> {
        let Problem {
            samples: data,
            collate,
            ..
        } = self.problem;
        let make = |&index: &usize| view(index, &*data.sample(index)?);
        let views: Vec<Result<V::View, SampleError>> = samples.par_iter().map(make).collect();
        let views: Vec<V::View> = views.into_iter().collect::<Result<_, _>>()?;
        Ok(collate.collate::<B>(&views, &self.device))
    }
}

/// The fixed pairs of views of some samples, in chunks.
struct FixedViews<'e, B: Backend, S, V, C> {
    evaluator: &'e Evaluator<'e, B, S, V, C>,
    /// Samples in the order of the chunks.
    samples: Vec<usize>,
    /// Places of these samples in the order of the result, if it is another one.
    order: Option<Vec<usize>>,
    /// Samples among which partners are drawn, in ascending order.
    population: Vec<usize>,
    /// Number of views that were made so far.
    n_views: Cell<u64>,
}

impl<B, S, V, C> FixedViews<'_, B, S, V, C>
where
    B: Backend,
    S: Samples,
    V: Views<Sample = S::Sample>,
    C: Collate<View = V::View>,
{
    fn n_chunks(&self) -> usize {
        self.samples.len().div_ceil(CHUNK).max(1)
    }

    /// Returns one view of each sample of a chunk. Chunks are of nearly equal size: a last chunk of few
    /// samples would have deviating statistics.
    fn batch(&self, chunk: usize, side: Side) -> Result<C::Batch<B>, SampleError> {
        let (n, n_chunks) = (self.samples.len(), self.n_chunks());
        let samples = &self.samples[chunk * n / n_chunks..(chunk + 1) * n / n_chunks];
        self.n_views.set(self.n_views.get() + samples.len() as u64);
        let problem = &self.evaluator.problem;
        let maker = PairMaker {
            views: problem.views,
            partners: Partners::new(problem.samples, &self.population),
            seed: self.evaluator.seed,
        };
        self.evaluator.batch(samples, |index, sample| {
            maker.make((index, 0), sample, (0, side), None)
        })
    }

    /// Computes the embeddings of the first and of the second views, in the order of the result.
    fn embeddings<M>(&self, encoder: &M) -> Result<[Tensor<B, 2>; 2], SampleError>
    where
        M: Encoder<B, Batch = C::Batch<B>>,
    {
        let embed = |side| {
            let parts = (0..self.n_chunks())
                .map(|chunk| Ok(encoder.encode(self.batch(chunk, side)?, Mode::Evaluation)));
            let parts: Vec<Tensor<B, 2>> = parts.collect::<Result<_, SampleError>>()?;
            let embeddings = Tensor::cat(parts, 0);
            Ok::<_, SampleError>(match &self.order {
                None => embeddings,
                Some(order) => in_first_order(embeddings, order),
            })
        };
        Ok([embed(Side::First)?, embed(Side::Second)?])
    }
}

/// Returns rows in the order that they had before row `order[i]` moved to place i.
fn in_first_order<B: Backend>(rows: Tensor<B, 2>, order: &[usize]) -> Tensor<B, 2> {
    let mut places = vec![0_i64; order.len()];
    for (place, &at) in order.iter().enumerate() {
        places[at] = place as i64;
    }
    let places = TensorData::new(places, [order.len()]);
    let places = Tensor::<B, 1, Int>::from_data(places, &rows.device());
    rows.select(0, places)
}
