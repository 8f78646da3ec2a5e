//! Views and collation, made by a second thread while the first one trains.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Scope;
use std::time::Instant;

use burn::tensor::backend::Backend;
use icl_core::{Collate, SampleError, Samples, Seed, Views};

use crate::plan::{EpochPlan, StepPlan};
use crate::{Objective, Problem, TrainingSettings};

/// How many batches may wait ahead of the steps.
const AHEAD: usize = 3;

/// A batch that is ready for the encoder: the first views of all samples, then the second ones.
pub(crate) struct Prepared<T> {
    pub(crate) epoch: usize,
    pub(crate) batch: T,
    pub(crate) n_samples: usize,
    pub(crate) n_old: usize,
    pub(crate) views_s: f64,
    pub(crate) collation_s: f64,
}

/// Starts a thread in `scope` that prepares all steps of a run in order. It ends with the run's
/// last step, at a sample that cannot be read, or when the receiver is dropped.
pub(crate) fn prefetch<'scope, B, S, V, C>(
    scope: &'scope Scope<'scope, '_>,
    problem: Problem<'scope, S, V, C>,
    objective: Objective,
    settings: &TrainingSettings,
    seed: Seed,
    device: B::Device,
) -> Receiver<Result<Prepared<C::Batch>, SampleError>>
where
    B: Backend,
    S: Samples,
    V: Views<Sample = S::Sample>,
    C: Collate<B, View = V::View>,
{
    let (sender, receiver) = sync_channel(AHEAD);
    let (n_epochs, batch_size) = (settings.epochs, settings.batch_size);
    scope.spawn(move || {
        let mut maker = Maker {
            problem,
            seed: seed.child("views"),
            device,
            slots: Vec::new(),
        };
        for epoch in 0..n_epochs {
            let order = seed.child("order");
            let plan = EpochPlan::new(objective, problem.increment, batch_size, order, epoch);
            if !maker.send_epoch::<B>(epoch, &plan, &sender) {
                return;
            }
        }
    });
    receiver
}

struct Maker<'a, S, V: Views, C, D> {
    problem: Problem<'a, S, V, C>,
    seed: Seed,
    device: D,
    /// Views of the last batch, whose buffers the next one uses again.
    slots: Vec<V::View>,
}

impl<S, V, C, D> Maker<'_, S, V, C, D>
where
    S: Samples,
    V: Views<Sample = S::Sample>,
{
    /// Sends the batches of one epoch; says whether the receiver still wants more.
    fn send_epoch<B>(
        &mut self,
        epoch: usize,
        plan: &EpochPlan,
        sender: &SyncSender<Result<Prepared<C::Batch>, SampleError>>,
    ) -> bool
    where
        B: Backend<Device = D>,
        C: Collate<B, View = V::View>,
    {
        for step in &plan.steps {
            let prepared = self.prepare::<B>(epoch, step);
            let is_readable = prepared.is_ok();
            if sender.send(prepared).is_err() || !is_readable {
                return false;
            }
        }
        true
    }

    fn prepare<B>(
        &mut self,
        epoch: usize,
        step: &StepPlan,
    ) -> Result<Prepared<C::Batch>, SampleError>
    where
        B: Backend<Device = D>,
        C: Collate<B, View = V::View>,
    {
        let start = Instant::now();
        let n_samples = step.samples.len();
        self.slots.truncate(2 * n_samples);
        for view in 0..2 {
            for (position, &index) in step.samples.iter().enumerate() {
                let sample = self.problem.samples.sample(index)?;
                // Each view has a generator of its own, whatever batch it is made for.
                let seed = self.seed.at(epoch as u64).at(index as u64).at(view as u64);
                let mut rng = seed.rng();
                match self.slots.get_mut(view * n_samples + position) {
                    Some(slot) => self.problem.views.view_into(&sample, &mut rng, slot),
                    None => self.slots.push(self.problem.views.view(&sample, &mut rng)),
                }
            }
        }
        let views_s = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let batch = self.problem.collate.collate(&self.slots, &self.device);
        Ok(Prepared {
            epoch,
            batch,
            n_samples,
            n_old: step.n_old,
            views_s,
            collation_s: start.elapsed().as_secs_f64(),
        })
    }
}
