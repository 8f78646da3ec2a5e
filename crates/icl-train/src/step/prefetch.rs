//! Preparation of batches by a second thread while the first one trains.

use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread::Scope;
use std::time::Instant;

use burn::tensor::backend::Backend;
use icl_core::{Collate, SampleError, Samples, Seed, Views};
use rayon::prelude::*;

use crate::progress::step_report::Phase;
use crate::sampling::plan::{BatchPlan, StepPlan};
use crate::trainer::problem::Problem;

/// Maximum number of prepared steps that wait for the training thread.
const AHEAD: usize = 3;

/// Batch that is ready for the encoder: the first views of all samples, then the second views.
pub(crate) struct PreparedBatch<T> {
    pub(crate) batch: T,
    pub(crate) samples: Vec<usize>,
    pub(crate) n_old: usize,
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
    pub(crate) steps: Vec<StepPlan>,
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

/// Starts a thread in `scope` that prepares the requested steps in order. If `is_timed`, it waits for the
/// transfer of each batch to the device. The thread ends at a sample that cannot be read, or when the
/// receiver is dropped.
pub(crate) fn prefetch<'scope, B, S, V, C>(
    scope: &'scope Scope<'scope, '_>,
    problem: Problem<'scope, S, V, C>,
    seed: Seed,
    device: B::Device,
    is_timed: bool,
) -> Batches<C::Batch<B>>
where
    B: Backend,
    S: Samples,
    V: Views<Sample = S::Sample>,
    C: Collate<View = V::View>,
{
    let (requests, requested) = channel::<Request>();
    let (sender, prepared) = sync_channel(AHEAD);
    scope.spawn(move || {
        let mut maker = Maker {
            problem,
            seed,
            device,
            is_timed,
            slots: Vec::new(),
        };
        for request in requested {
            for step in &request.steps {
                let prepared = maker.prepare::<B>(request.epoch, step);
                let is_readable = prepared.is_ok();
                if sender.send(prepared).is_err() || !is_readable {
                    return;
                }
            }
        }
    });
    Batches { requests, prepared }
}

/// Maker of views and batches.
struct Maker<'a, S, V: Views, C, D> {
    problem: Problem<'a, S, V, C>,
    seed: Seed,
    device: D,
    /// Whether transfers are timed, which waits for the device.
    is_timed: bool,
    /// Views of the last batch, whose buffers the next batch reuses.
    slots: Vec<V::View>,
}

impl<S, V, C, D: Clone> Maker<'_, S, V, C, D>
where
    S: Samples,
    V: Views<Sample = S::Sample>,
{
    /// Prepares the batches of a step.
    fn prepare<B>(
        &mut self,
        epoch: usize,
        step: &StepPlan,
    ) -> Result<Prepared<C::Batch<B>>, SampleError>
    where
        B: Backend<Device = D>,
        C: Collate<View = V::View>,
    {
        let (mut views_s, mut collation_s) = (0.0, 0.0);
        let mut one = |plan: &BatchPlan| {
            let start = Instant::now();
            self.make_views(epoch, plan)?;
            views_s += start.elapsed().as_secs_f64();
            let phase = Phase::<B>::start(self.is_timed.then(|| self.device.clone()));
            let batch = self.problem.collate.collate::<B>(&self.slots, &self.device);
            collation_s += phase.end();
            Ok::<_, SampleError>(PreparedBatch {
                batch,
                samples: plan.samples.clone(),
                n_old: plan.n_old,
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

    /// Fills the slots with the first views of all samples, then the second views.
    fn make_views(&mut self, epoch: usize, plan: &BatchPlan) -> Result<(), SampleError> {
        let n_samples = plan.samples.len();
        let Problem { samples, views, .. } = self.problem;
        let seed = self.seed.at(epoch as u64);
        let mut first: Vec<Option<V::View>> = self.slots.drain(..).map(Some).collect();
        first.resize_with(2 * n_samples, || None);
        let second = first.split_off(n_samples);
        let make = |index: usize, slots: [Option<V::View>; 2]| {
            // Both views of a sample are made together, because the sample may have to be decoded.
            let sample = samples.sample(index)?;
            let view = |view: u64, slot: Option<V::View>| {
                // Each view has a separate generator, so that it does not depend on batch and thread.
                let mut rng = seed.at(index as u64).at(view).rng();
                match slot {
                    Some(mut slot) => {
                        views.view_into(&sample, &mut rng, &mut slot);
                        slot
                    }
                    None => views.view(&sample, &mut rng),
                }
            };
            let [first, second] = slots;
            Ok([view(0, first), view(1, second)])
        };
        let made: Vec<Result<[V::View; 2], SampleError>> = first
            .into_par_iter()
            .zip(second)
            .zip(&plan.samples)
            .map(|((first, second), &index)| make(index, [first, second]))
            .collect();
        let mut seconds = Vec::with_capacity(n_samples);
        for made in made {
            // Of several samples that cannot be read, the first one is always reported.
            let [first, second] = made?;
            self.slots.push(first);
            seconds.push(second);
        }
        self.slots.extend(seconds);
        Ok(())
    }
}
