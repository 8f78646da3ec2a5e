//! The loop over epochs and steps that trains an encoder by any method.

use std::marker::PhantomData;
use std::time::Instant;

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Collate, Encoder, Group, Samples, Seed, Views, beside_kernels};

use crate::checkpoint::saved::{restore, save};
use crate::devices::shards::Shards;
use crate::error::TrainError;
use crate::evaluation::evaluated::{Evaluate, FirstBad, Risk};
use crate::evaluation::stopping::StoppedBy;
use crate::identity::Identity;
use crate::method::Method;
use crate::negatives::NegativesForm;
use crate::progress::cost::PassCounter;
use crate::progress::step_report::PhaseClock;
use crate::progress::{Callbacks, Outcome, Progress};
use crate::sampling::plan::{EpochPlan, Planner};
use crate::settings::TrainingSettings;
use crate::step::batch_loss::{BatchLoss, PartOf};
use crate::step::contrastive::Contrastive;
use crate::step::distillation::Teacher;
use crate::step::prefetch::{Batches, Request, prefetch};
use crate::step::run::Run;
use crate::views::problem::Problem;

/// The evaluations of a run.
pub(super) struct Evaluations<'a, M, R> {
    /// Evaluation of an encoder during the run, on the panel that steers it.
    pub(super) steer: Evaluate<'a, M, R>,
    /// Evaluation of the result.
    pub(super) measure: Evaluate<'a, M, R>,
    /// Search for the first bad sample.
    pub(super) first_bad: FirstBad<'a, M>,
}

/// Everything that a training run needs beside its encoder.
pub(super) struct TrainingLoop<'a, B: AutodiffBackend, S, V, C> {
    pub(super) problem: Problem<'a, S, V, C>,
    pub(super) settings: &'a TrainingSettings,
    pub(super) method: &'a Method,
    /// Root seed of the run.
    pub(super) root_seed: u64,
    /// Name of the run's random stream.
    pub(super) stream: &'static str,
    pub(super) device: B::Device,
    /// Members that train the encoder together.
    pub(super) group: &'a dyn Group,
}

impl<B, S, V, C> TrainingLoop<'_, B, S, V, C>
where
    B: AutodiffBackend,
    S: Samples,
    V: Views<Sample = S::Sample>,
    C: Collate<View = V::View>,
{
    /// Trains an encoder until a stopping rule or the last epoch ends the run, from the checkpoint of
    /// the callbacks if there is one.
    ///
    /// # Errors
    /// [`TrainError`].
    ///
    /// # Panics
    /// If the method has no loss.
    pub(super) fn run<M, R>(
        &self,
        encoder: M,
        teacher: Option<Teacher<M::InnerModule>>,
        identity: Identity,
        evaluations: &Evaluations<'_, M::InnerModule, R>,
        callbacks: &mut Callbacks<'_>,
    ) -> Result<Outcome<M, B, R>, TrainError>
    where
        M: AutodiffModule<B> + Encoder<B, Batch = C::Batch<B>>,
        M::InnerModule: Encoder<B::InnerBackend, Batch = C::Batch<B::InnerBackend>>,
        R: Risk,
    {
        self.method.check_shards(self.shards().n_shards())?;
        let planner = Planner::new(
            self.method,
            self.problem.increment,
            self.settings,
            self.seed().child("order"),
        );
        let mut run = self.begin(encoder, teacher, &planner, callbacks.follows_steps())?;
        if let Some(path) = callbacks.checkpoint() {
            run = restore(run, path, &identity, &planner)?;
            self.check_first_risk(&run, path, evaluations.steer)?;
        }
        if !run.counters.is_complete {
            self.epochs(&mut run, &planner, &identity, evaluations, callbacks)?;
            run.complete();
            if let Some(path) = callbacks.checkpoint().map(ToOwned::to_owned) {
                save(&run, &path, &identity, callbacks)?;
            }
        }
        callbacks.tell(self.progress(&run, 0, true));
        run.end(evaluations.measure)
    }

    /// Returns the state of a run in an epoch of `n_steps` steps.
    fn progress<M, R>(
        &self,
        run: &Run<'_, M, B, R>,
        n_steps: usize,
        is_evaluating: bool,
    ) -> Progress
    where
        M: AutodiffModule<B>,
    {
        Progress {
            epoch: run.record.n_epochs(),
            n_epochs: self.settings.epochs,
            step: run.counters.n_steps,
            n_steps,
            is_evaluating,
            risk: run.counters.last.map_or(f64::NAN, |last| last.risk),
        }
    }

    /// Returns the division of batches among the members.
    pub(super) fn shards(&self) -> Shards {
        Shards::new(self.group, self.settings.n_shards(self.group.size()))
    }

    /// Returns the seed of the run's random stream.
    fn seed(&self) -> Seed {
        Seed::new(self.root_seed).child(self.stream)
    }

    /// Creates the state of a run before its first step.
    fn begin<M, R>(
        &self,
        encoder: M,
        teacher: Option<Teacher<M::InnerModule>>,
        planner: &Planner<'_>,
        is_timed: bool,
    ) -> Result<Run<'_, M, B, R>, TrainError>
    where
        M: AutodiffModule<B, InnerModule: Encoder<B::InnerBackend>> + Encoder<B>,
        R: Risk,
    {
        let (method, settings) = (self.method, self.settings);
        let loss = method.loss.expect("a method without a loss trains nothing");
        let of_statistics = teacher.as_ref().map_or(0, |teacher| teacher.n_views);
        let batch_loss = BatchLoss {
            contrastive: Contrastive {
                kind: loss.kind,
                temperature: settings.temperature,
                negatives: settings.negatives,
                is_drawn: settings.step_negatives.form == NegativesForm::Drawn,
                noise_set: settings.noise_set,
                alpha: self.problem.increment.growth_ratio(),
            },
            teacher,
            passes: PassCounter::new(M::FORWARD_SHARE),
            clock: PhaseClock::new(is_timed),
            group: self.group,
            backend: PhantomData,
        };
        let sampling = method.sampling;
        let fraction = sampling.first_fraction(settings, self.problem.increment);
        let widest = if sampling.is_widening() {
            1.0
        } else {
            fraction
        };
        let n_steps = planner.epoch(0, widest).steps.len();
        let max_steps = (settings.epochs as u64).saturating_mul(n_steps as u64);
        let seed = self.seed();
        let mut run = Run::new(
            encoder,
            method,
            settings,
            batch_loss,
            max_steps,
            fraction,
            self.root_seed,
            seed,
        )?;
        run.record.cost.teacher = of_statistics as f64 * M::FORWARD_SHARE;
        Ok(run)
    }

    /// Trains epoch by epoch until the run ends.
    fn epochs<M, R>(
        &self,
        run: &mut Run<'_, M, B, R>,
        planner: &Planner<'_>,
        identity: &Identity,
        evaluations: &Evaluations<'_, M::InnerModule, R>,
        callbacks: &mut Callbacks<'_>,
    ) -> Result<(), TrainError>
    where
        M: AutodiffModule<B> + Encoder<B, Batch = C::Batch<B>>,
        M::InnerModule: Encoder<B::InnerBackend, Batch = C::Batch<B::InnerBackend>>,
        R: Risk,
    {
        let evaluate = evaluations.steer;
        std::thread::scope(|scope| {
            let batches = prefetch::<B, S, V, C>(
                scope,
                self.problem,
                self.seed().child("views"),
                self.device.clone(),
                run.loss.teacher.is_some(),
                callbacks.follows_steps(),
            )
            .map_err(TrainError::Thread)?;
            while run.record.stopped_by.is_none() {
                let epoch = run.record.n_epochs();
                // An epoch that was interrupted after a checkpoint has begun already.
                if run.counters.n_steps == 0 {
                    // The last epoch's loss belongs to the share that it had.
                    let by_loss = self.ends_by_loss(run);
                    run.counters.widen(self.epochs_of_cost(run));
                    let plan = planner.epoch(epoch, run.counters.fraction());
                    self.begin_epoch(run, by_loss, plan.steps.len(), (evaluate, callbacks))?;
                    if run.record.stopped_by.is_some() {
                        break;
                    }
                }
                let mut plan = planner.epoch(epoch, run.counters.fraction());
                plan.steps.drain(..run.counters.n_steps);
                self.epoch(run, plan, &batches, identity, (evaluate, callbacks))
                    .map_err(|error| self.with_sample(error, run, planner, evaluations))?;
                run.counters.end_epoch(&mut run.record);
            }
            Ok(())
        })
    }

    /// Returns the cost of the training so far, in epochs over all data.
    fn epochs_of_cost<M, R>(&self, run: &Run<'_, M, B, R>) -> f64
    where
        M: AutodiffModule<B>,
    {
        let increment = self.problem.increment;
        let n = increment.old().len() + increment.new_data().len();
        run.record.cost.training / (2 * n) as f64
    }

    /// Adds the loss of the last epoch, and returns the reason for which the run ends by it, if it does.
    fn ends_by_loss<M, R>(&self, run: &mut Run<'_, M, B, R>) -> Option<StoppedBy>
    where
        M: AutodiffModule<B>,
    {
        let last_loss = run.record.epoch_losses.last();
        let n_worse = last_loss.map_or(0, |&loss| run.counters.losses.push(loss));
        let ends = self
            .settings
            .stop
            .ends_by_loss(n_worse, self.settings.patience);
        ends.then_some(StoppedBy::TrainingLoss)
    }

    /// Returns the budget as the reason for which the run ends, if it has taken a step and its cost reaches the budget.
    fn ends_by_budget<M, R>(&self, run: &Run<'_, M, B, R>) -> Option<StoppedBy>
    where
        M: AutodiffModule<B>,
    {
        let is_spent = run.record.n_steps > 0 && self.settings.is_spent(run.record.cost.charged());
        is_spent.then_some(StoppedBy::Budget)
    }

    /// Evaluates the encoder before an epoch if an evaluation is due or the run ends here.
    fn begin_epoch<M, R>(
        &self,
        run: &mut Run<'_, M, B, R>,
        by_loss: Option<StoppedBy>,
        n_steps: usize,
        (evaluate, callbacks): (Evaluate<'_, M::InnerModule, R>, &mut Callbacks<'_>),
    ) -> Result<(), TrainError>
    where
        M: AutodiffModule<B, InnerModule: Encoder<B::InnerBackend>> + Encoder<B>,
        R: Risk,
    {
        let is_last = run.record.n_epochs() == self.settings.epochs;
        let by_end = by_loss
            .or(is_last.then_some(StoppedBy::Epochs))
            .or(self.ends_by_budget(run));
        if by_end.is_none() && !self.is_evaluation_due(run) {
            return Ok(());
        }
        callbacks.tell(self.progress(run, n_steps, true));
        let by_risk = run.evaluate(evaluate)?;
        run.record.stopped_by = by_loss.or(by_risk).or(by_end);
        Ok(())
    }

    /// Returns whether an evaluation is due.
    fn is_evaluation_due<M, R>(&self, run: &Run<'_, M, B, R>) -> bool
    where
        M: AutodiffModule<B>,
    {
        let Some(last) = run.counters.last else {
            return true;
        };
        let record = &run.record;
        match self.settings.evaluate_every {
            Some(n) => {
                run.counters.n_steps == 0 && record.n_epochs() >= last.epoch.saturating_add(n)
            }
            None => {
                let charged = record.cost.charged();
                let since = (record.n_steps - last.n_steps, charged - last.charged);
                let evaluations = (record.evaluations.len() + 1) as f64 * last.cost;
                let training = charged - record.cost.steering;
                self.settings
                    .is_evaluation_due(since, charged, (evaluations, training))
            }
        }
    }

    /// Takes the steps of the plan until the run ends, evaluates the encoder where that is due, and saves a
    /// checkpoint where one is due.
    fn epoch<M, R>(
        &self,
        run: &mut Run<'_, M, B, R>,
        plan: EpochPlan,
        batches: &Batches<PartOf<M, B>>,
        identity: &Identity,
        (evaluate, callbacks): (Evaluate<'_, M::InnerModule, R>, &mut Callbacks<'_>),
    ) -> Result<(), TrainError>
    where
        M: AutodiffModule<B, InnerModule: Encoder<B::InnerBackend, Batch: Send>>
            + Encoder<B, Batch: Send>,
        R: Risk,
    {
        let EpochPlan { steps, population } = plan;
        // Steps of an epoch that was interrupted have been taken before.
        let n_left = steps.len();
        let n_steps = run.counters.n_steps + n_left;
        let epoch = run.record.n_epochs();
        let seed = self.seed();
        batches.request(Request {
            epoch,
            population,
            steps,
            shards: self.shards(),
        });
        for _ in 0..n_left {
            // Before the first step of an epoch, an evaluation has been made where one was due.
            let is_within = run.counters.n_steps > 0;
            let by_budget = self.ends_by_budget(run).filter(|_| is_within);
            if by_budget.is_some() || is_within && self.is_evaluation_due(run) {
                callbacks.tell(self.progress(run, n_steps, true));
                run.record.stopped_by = run.evaluate(evaluate)?.or(by_budget);
                if run.record.stopped_by.is_some() {
                    return Ok(());
                }
            }
            let wait = Instant::now();
            let prepared = batches.next().map_err(TrainError::Sample)?;
            run.record.seconds.wait += wait.elapsed().as_secs_f64();
            let step = || run.step(prepared, seed);
            // Members of a group wait for each other within a step.
            let report = match self.group.is_alone() {
                true => beside_kernels::<B, _>(step),
                false => step(),
            }?;
            callbacks.tell(self.progress(run, n_steps, false));
            callbacks.tell_step(report);
            // All members save and stop at the same step, or none does.
            let is_stopped = self.group.any(callbacks.is_stopped())?;
            let is_due = is_stopped || self.group.any(callbacks.is_save_due())?;
            if let Some(path) = callbacks
                .checkpoint()
                .filter(|_| is_due)
                .map(ToOwned::to_owned)
            {
                save(run, &path, identity, callbacks)?;
            }
            if is_stopped {
                let step = run.record.n_steps;
                return Err(TrainError::Interrupted { step });
            }
        }
        Ok(())
    }
}
