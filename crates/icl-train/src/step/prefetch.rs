//! Preparation of batches by a second thread while the first one trains.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread::Scope;
use std::time::Instant;

use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::{Collate, SampleError, Samples, Seed, Side, Views, in_pool_of_kernels};
use rayon::prelude::*;

use crate::devices::shards::Shards;
use crate::progress::step_report::Phase;
use crate::sampling::BatchPlan;
use crate::sampling::plan::StepPlan;
use crate::views::pair_maker::PairMaker;
use crate::views::partners::Partners;
use crate::views::problem::Problem;

/// Maximum number of prepared steps that wait for the training thread.
const AHEAD: usize = 3;

/// Batch of which the shards of this member are ready for the encoder.
pub(crate) struct PreparedBatch<T> {
    pub(crate) shards: Vec<PreparedShard<T>>,
    /// Number of pairs of each sample.
    pub(crate) n_parts: usize,
    pub(crate) n_samples: usize,
    /// Number of old samples, which are the first, if batches separate old samples from new.
    pub(crate) n_old: usize,
    /// Whether the batch is one shard.
    pub(crate) is_whole: bool,
    /// Whether a member has more than one shard.
    pub(crate) is_chunked: bool,
    /// Places of the samples that each member has, shard by shard.
    pub(crate) places_of_members: Vec<Vec<usize>>,
}

/// Shard of a batch that is ready for the encoder.
pub(crate) struct PreparedShard<T> {
    /// Index of the shard, below the number of shards of all members.
    pub(crate) index: usize,
    /// Places of its samples in the batch.
    pub(crate) places: Vec<usize>,
    /// Views of each pair of a sample.
    pub(crate) parts: Vec<T>,
}

/// Views of one pair of each sample of a shard: the first views of all samples, then the second views.
pub(crate) struct Part<T, I> {
    /// For the encoder that is trained.
    pub(crate) views: T,
    /// The same views on the backend without gradients, for a teacher.
    pub(crate) for_teacher: Option<I>,
}

impl<T> PreparedBatch<T> {
    /// Returns the views of each pair of a batch that is one shard.
    ///
    /// # Panics
    /// If it is not.
    pub(crate) fn whole(&self) -> &[T] {
        assert!(self.is_whole, "a batch of one shard");
        &self.shards[0].parts
    }
}

/// Prepared batches of one step.
pub(crate) struct Prepared<T> {
    pub(crate) support: Vec<PreparedBatch<T>>,
    pub(crate) batch: PreparedBatch<T>,
    pub(crate) views_s: f64,
    pub(crate) collation_s: f64,
}

/// Request to prepare steps of an epoch.
pub(crate) struct Request {
    pub(crate) epoch: usize,
    /// Samples from which partners are drawn, in ascending order.
    pub(crate) population: Arc<[usize]>,
    pub(crate) steps: Vec<StepPlan>,
    pub(crate) shards: Shards,
}

/// Channels of the training thread to the thread that prepares batches.
pub(crate) struct Batches<T> {
    requests: Sender<Request>,
    prepared: Receiver<Result<Prepared<T>, SampleError>>,
}

impl<T> Batches<T> {
    /// Requests the steps of an epoch.
    pub(crate) fn request(&self, request: Request) {
        // The other thread ends early only after a sample that cannot be read, and the next step
        // receives that error.
        let _ = self.requests.send(request);
    }

    /// Returns the next requested step.
    ///
    /// # Errors
    /// [`SampleError`] if a sample cannot be read.
    ///
    /// # Panics
    /// If the thread has ended, which it does only after an error.
    pub(crate) fn next(&self) -> Result<Prepared<T>, SampleError> {
        self.prepared
            .recv()
            .expect("the thread that prepares batches answers every request")
    }
}

/// Starts a thread in `scope` that prepares the requested steps in order, for a teacher, too, if `has_teacher`. If `is_timed`, it
/// waits for the transfer of each batch to the device. The thread ends at a sample that cannot be read, or when the
/// receiver is dropped.
///
/// # Errors
/// If the system refuses the thread.
pub(crate) fn prefetch<'scope, B, S, V, C, T, I>(
    scope: &'scope Scope<'scope, '_>,
    problem: Problem<'scope, S, V, C>,
    seed: Seed,
    device: B::Device,
    has_teacher: bool,
    is_timed: bool,
) -> std::io::Result<Batches<Part<T, I>>>
where
    B: AutodiffBackend,
    S: Samples,
    V: Views<Sample = S::Sample>,
    C: Collate<B, V::View, T> + Collate<B::InnerBackend, V::View, I>,
    T: Send + 'scope,
    I: Send + 'scope,
{
    let (requests, requested) = channel::<Request>();
    let (sender, prepared) = sync_channel(AHEAD);
    std::thread::Builder::new().spawn_scoped(scope, move || {
        let mut maker = Maker {
            problem,
            seed,
            device,
            has_teacher,
            is_timed,
            slots: Vec::new(),
        };
        for request in requested {
            for step in &request.steps {
                let prepared = maker.prepare::<B, T, I>(&request, step);
                let is_readable = prepared.is_ok();
                if sender.send(prepared).is_err() || !is_readable {
                    return;
                }
            }
        }
    })?;
    Ok(Batches { requests, prepared })
}

/// Maker of views and batches.
struct Maker<'a, S, V: Views, C, D> {
    problem: Problem<'a, S, V, C>,
    seed: Seed,
    device: D,
    /// Whether views are collated for a teacher, too.
    has_teacher: bool,
    /// Whether transfers are timed, which waits for the device.
    is_timed: bool,
    /// Views of each part of the last batch, whose buffers the next batch reuses.
    slots: Vec<Vec<V::View>>,
}

impl<S, V, C, D: Clone> Maker<'_, S, V, C, D>
where
    S: Samples,
    V: Views<Sample = S::Sample>,
{
    /// Prepares the batches of a step.
    fn prepare<B, T, I>(
        &mut self,
        request: &Request,
        step: &StepPlan,
    ) -> Result<Prepared<Part<T, I>>, SampleError>
    where
        B: AutodiffBackend<Device = D>,
        C: Collate<B, V::View, T> + Collate<B::InnerBackend, V::View, I>,
    {
        let (mut views_s, mut collation_s) = (0.0, 0.0);
        let shards = request.shards;
        let mut one = |plan: &BatchPlan| {
            let n = plan.samples.len();
            let of_shard = |index| {
                let places: Vec<usize> = shards.places(index, n).collect();
                let start = Instant::now();
                self.make_views::<B>(request, plan, &places)?;
                views_s += start.elapsed().as_secs_f64();
                let phase = Phase::<B>::start(self.is_timed.then(|| self.device.clone()));
                let collated = |views: &Vec<V::View>| {
                    let Problem { collate, .. } = self.problem;
                    let for_teacher =
                        || Collate::<B::InnerBackend, _, I>::collate(collate, views, &self.device);
                    Part {
                        views: Collate::<B, _, T>::collate(collate, views, &self.device),
                        for_teacher: self.has_teacher.then(for_teacher),
                    }
                };
                let parts = self.slots.iter().map(collated).collect();
                collation_s += phase.end();
                Ok::<_, SampleError>(PreparedShard {
                    index,
                    places,
                    parts,
                })
            };
            Ok::<_, SampleError>(PreparedBatch {
                shards: shards.own(n).map(of_shard).collect::<Result<_, _>>()?,
                n_parts: self.problem.views.n_pairs(),
                n_samples: n,
                n_old: plan.n_old,
                is_whole: shards.n_shards() == 1,
                is_chunked: shards.is_chunked(),
                places_of_members: shards.places_of_members(n),
            })
        };
        let support = step
            .support
            .iter()
            .map(&mut one)
            .collect::<Result<_, _>>()?;
        let batch = one(&step.batch)?;
        Ok(Prepared {
            support,
            batch,
            views_s,
            collation_s,
        })
    }

    /// Fills the slots of each part with the first views of the samples at some places of a batch, then the second views.
    fn make_views<B: Backend>(
        &mut self,
        request: &Request,
        plan: &BatchPlan,
        places: &[usize],
    ) -> Result<(), SampleError> {
        let n_samples = places.len();
        let Problem { samples, views, .. } = self.problem;
        let n_parts = views.n_pairs();
        let maker = PairMaker {
            views,
            partners: Partners::new(samples, &request.population),
            seed: self.seed.at(request.epoch as u64),
        };
        // The slots of a sample: the first and the second view of each part.
        let mut slots: Vec<Vec<Option<V::View>>> = (0..n_samples).map(|_| Vec::new()).collect();
        self.slots.resize_with(n_parts, Vec::new);
        for part in &mut self.slots {
            let mut views = part.drain(..).map(Some);
            for _ in Side::BOTH {
                for slots in &mut slots {
                    slots.push(views.next().flatten());
                }
            }
        }
        let make = |(slots, &at): (Vec<Option<V::View>>, &usize)| {
            let (index, repetition) = (plan.samples[at], plan.repetitions[at]);
            // All views of a sample are made together, because the sample may have to be decoded.
            let sample = samples.sample(index)?;
            let places = (0..n_parts).flat_map(|part| Side::BOTH.map(|side| (part, side)));
            let views = places
                .zip(slots)
                .map(|(place, slot)| maker.make((index, repetition), &sample, place, slot));
            views.collect()
        };
        let slots = slots.into_par_iter().zip(places.par_iter());
        let made: Vec<Result<Vec<V::View>, SampleError>> =
            in_pool_of_kernels::<B, _>(|| slots.map(make).collect());
        let mut seconds: Vec<Vec<V::View>> = (0..n_parts).map(|_| Vec::new()).collect();
        for made in made {
            // Of several samples that cannot be read, the first one is always reported.
            let mut made = made?.into_iter();
            for (first, second) in self.slots.iter_mut().zip(&mut seconds) {
                first.extend(made.next());
                second.extend(made.next());
            }
        }
        for (first, second) in self.slots.iter_mut().zip(seconds) {
            first.extend(second);
        }
        Ok(())
    }
}
