//! The fixed pairs of views on which encoders are evaluated.

use std::cell::Cell;
use std::ops::Range;

use burn::tensor::{Int, Tensor, TensorData, backend::Backend};
use icl_core::{Batches, Collate, Encoder, Group, Mode, SampleError, Samples, Seed, Side, Views};
use rayon::prelude::*;

use crate::devices::floats::gathered_rows;
use crate::error::{TrainError, unreadable};
use crate::evaluation::shape::{checked_rows, stacked};
use crate::views::pair_maker::PairMaker;
use crate::views::partners::Partners;
use crate::views::problem::Problem;

/// Maximum number of samples per encoder pass.
pub(crate) const CHUNK: usize = 128;

/// Collates one view of each sample into a batch. `view` is called with a sample's index and the sample.
pub(crate) fn collated<B, S, V, C, T>(
    problem: Problem<'_, S, V, C>,
    device: &B::Device,
    samples: &[usize],
    view: impl Fn(usize, &S::Sample) -> Result<V::View, SampleError> + Sync,
) -> Result<T, SampleError>
where
    B: Backend,
    S: Samples,
    V: Views<Sample = S::Sample>,
    C: Collate<B, V::View, T>,
{
    let make = |&index: &usize| view(index, &*problem.samples.sample(index)?);
    let views: Vec<Result<V::View, SampleError>> = samples.par_iter().map(make).collect();
    let views: Vec<V::View> = views.into_iter().collect::<Result<_, _>>()?;
    Ok(problem.collate.collate(&views, device))
}

/// The fixed pairs of views of some samples, in chunks.
pub(super) struct FixedViews<'e, B: Backend, S, V, C> {
    problem: Problem<'e, S, V, C>,
    seed: Seed,
    device: &'e B::Device,
    /// Members that evaluate together.
    group: &'e dyn Group,
    /// Samples in the order of the chunks.
    samples: Vec<usize>,
    /// Places of these samples in the order of the result, if it is another one.
    order: Option<Vec<usize>>,
    /// Samples among which partners are drawn, in ascending order.
    population: Vec<usize>,
    /// Number of views that were made so far.
    n_views: Cell<u64>,
}

impl<'e, B, S, V, C> FixedViews<'e, B, S, V, C>
where
    B: Backend,
    S: Samples,
    V: Views<Sample = S::Sample>,
{
    /// Creates the views of `samples`, chunked in `order` if there is one, with partners from `population`.
    pub(super) fn new(
        (problem, seed, device, group): (Problem<'e, S, V, C>, Seed, &'e B::Device, &'e dyn Group),
        samples: &[usize],
        order: Option<Vec<usize>>,
        population: &[usize],
    ) -> Self {
        let mut population = population.to_vec();
        population.sort_unstable();
        Self {
            problem,
            seed,
            device,
            group,
            samples: match &order {
                None => samples.to_vec(),
                Some(order) => order.iter().map(|&at| samples[at]).collect(),
            },
            order,
            population,
            n_views: Cell::new(0),
        }
    }

    /// Returns the number of views that were made so far.
    pub(super) fn n_views(&self) -> u64 {
        self.n_views.get()
    }

    /// Returns the number of chunks.
    fn n_chunks(&self) -> usize {
        self.samples.len().div_ceil(CHUNK).max(1)
    }

    /// Returns the places of a chunk's samples.
    fn places(&self, chunk: usize) -> Range<usize> {
        let (n, n_chunks) = (self.samples.len(), self.n_chunks());
        chunk * n / n_chunks..(chunk + 1) * n / n_chunks
    }

    /// Counts views, those that other members make for all included.
    fn count(&self, n_views: usize) {
        self.n_views.set(self.n_views.get() + n_views as u64);
    }

    /// Returns one view of each sample of a chunk. Chunks are of nearly equal size: a last chunk of few
    /// samples would have deviating statistics.
    fn batch<T>(&self, chunk: usize, side: Side) -> Result<T, SampleError>
    where
        C: Collate<B, V::View, T>,
    {
        let samples = &self.samples[self.places(chunk)];
        let maker = PairMaker {
            views: self.problem.views,
            partners: Partners::new(self.problem.samples, &self.population),
            seed: self.seed,
        };
        collated::<B, _, _, _, T>(self.problem, self.device, samples, |index, sample| {
            maker.make((index, 0), sample, (0, side), None)
        })
    }

    /// Re-estimates the statistics of an encoder over both views of each sample. The members of a group share the chunks.
    pub(super) fn recalibrated<M>(&self, encoder: M) -> Result<M, TrainError>
    where
        M: Encoder<B>,
        C: Collate<B, V::View, M::Batch>,
    {
        // An encoder may go through the views several times. The first member makes the first of them each time.
        let n_passes = Cell::new(0.0);
        let both = Batches::new(2 * self.n_chunks(), |at| {
            if at == 0 && self.group.rank() == 0 {
                n_passes.set(n_passes.get() + 1.0);
            }
            self.batch(at / 2, Side::BOTH[at % 2])
        });
        let recalibrated = encoder.recalibrated(&both.shared_by(self.group));
        let encoder = recalibrated.map_err(unreadable)?;
        let mut n_passes = [n_passes.get()];
        self.group.sum_f64(&mut n_passes)?;
        self.count(2 * self.samples.len() * n_passes[0] as usize);
        Ok(encoder)
    }

    /// Computes the embeddings of the first and of the second views, in the order of the result. The members of a group share
    /// the chunks, and all have all embeddings.
    ///
    /// # Errors
    /// [`TrainError`] if a sample cannot be read, the encoder does not return one row for each view, or a member has left.
    pub(super) fn embeddings<M>(&self, encoder: &M) -> Result<[Tensor<B, 2>; 2], TrainError>
    where
        M: Encoder<B>,
        C: Collate<B, V::View, M::Batch>,
    {
        let embed = |side| {
            let own = self.chunks_of(self.group.rank());
            let own = own.map(|at| {
                let batch = self.batch(at, side).map_err(unreadable)?;
                let rows = encoder.encode(batch, Mode::Evaluation);
                checked_rows::<M, B>("encode", rows, self.places(at).len())
            });
            let own: Vec<Tensor<B, 2>> = own.collect::<Result<_, TrainError>>()?;
            self.count(self.samples.len());
            let own = (!own.is_empty()).then(|| stacked::<M, B>("encode", own));
            let embeddings = self.gathered(own.transpose()?)?;
            Ok::<_, TrainError>(match &self.order {
                None => embeddings,
                Some(order) => in_first_order(embeddings, order),
            })
        };
        Ok([embed(Side::First)?, embed(Side::Second)?])
    }

    /// Returns the chunks of a member.
    fn chunks_of(&self, rank: usize) -> impl Iterator<Item = usize> + use<B, S, V, C> {
        (rank..self.n_chunks()).step_by(self.group.size())
    }

    /// Returns the embeddings of all chunks, of which this member has its own.
    fn gathered(&self, own: Option<Tensor<B, 2>>) -> Result<Tensor<B, 2>, TrainError> {
        if let Some(own) = own.as_ref().filter(|_| self.group.is_alone()) {
            return Ok(own.clone());
        }
        let places = |rank| {
            let chunks = self.chunks_of(rank);
            chunks.flat_map(|chunk| self.places(chunk)).collect()
        };
        let places: Vec<Vec<usize>> = (0..self.group.size()).map(places).collect();
        Ok(gathered_rows(self.group, own, &places, self.device)?)
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
