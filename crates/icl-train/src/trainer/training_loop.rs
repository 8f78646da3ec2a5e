//! The loop over epochs and steps that trains an encoder by any method.

use std::time::Instant;

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Collate, Encoder, SampleError, Samples, Seed, Views};

use crate::checkpoint::identity::Identity;
use crate::checkpoint::saved::{restore, save};
use crate::error::TrainError;
use crate::evaluation::evaluator::{Evaluated, Risk};
use crate::evaluation::stopping::StoppedBy;
use crate::method::Method;
use crate::noise_queue::old_queue::OldQueue;
use crate::progress::cost::PassCounter;
use crate::progress::step_report::PhaseClock;
use crate::progress::{Callbacks, Outcome, Progress};
use crate::sampling::plan::{EpochPlan, Planner};
use crate::step::batch_loss::BatchLoss;
use crate::step::distillation::Teacher;
use crate::step::prefetch::{Batches, Request, prefetch};
use crate::step::run::Run;
use crate::trainer::problem::Problem;
use crate::trainer::settings::TrainingSettings;

/// Function that evaluates an encoder.
pub(super) type Evaluate<'a, M, R> = &'a dyn Fn(M) -> Result<Evaluated<M, R>, SampleError>;

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
        teacher: Option<Teacher<M>>,
        evaluate: Evaluate<'_, M::InnerModule, R>,
        callbacks: &mut Callbacks<'_>,
    ) -> Result<Outcome<M, B, R>, TrainError>
    where
        M: AutodiffModule<B> + Encoder<B, Batch = C::Batch<B>>,
        R: Risk,
    {
        let planner = Planner::new(
            self.method,
            self.problem.increment,
            self.settings,
            self.seed().child("order"),
        );
        let mut run = self.begin(encoder, teacher, &planner, callbacks.follows_steps());
        let identity = self.identity(run.start_digest());
        if let Some(path) = callbacks.checkpoint() {
            run = restore(run, path, &identity)?;
        }
        if run.counters.is_complete {
            let encoder = run.average.get().valid();
            let evaluated = evaluate(encoder).map_err(TrainError::Sample)?;
            return Ok(run.end(evaluated.encoder));
        }
        let encoder = self.epochs(&mut run, &planner, &identity, evaluate, callbacks)?;
        run.counters.is_complete = true;
        if let Some(path) = callbacks.checkpoint().map(ToOwned::to_owned) {
            save(&run, &path, &identity, callbacks)?;
        }
        Ok(run.end(encoder))
    }

    /// Returns the seed of the run's random stream.
    fn seed(&self) -> Seed {
        Seed::new(self.root_seed).child(self.stream)
    }

    /// Creates the state of a run before its first step.
    fn begin<M, R>(
        &self,
        encoder: M,
        teacher: Option<Teacher<M>>,
        planner: &Planner<'_>,
        is_timed: bool,
    ) -> Run<'_, M, B, R>
    where
        M: AutodiffModule<B> + Encoder<B>,
        R: Risk,
    {
        let (method, settings) = (self.method, self.settings);
        let loss = method.loss.expect("a method without a loss trains nothing");
        let batch_loss = BatchLoss {
            loss: loss.kind,
            alpha: self.problem.increment.growth_ratio(),
            settings,
            teacher,
            queue: settings
                .old_queue
                .filter(|_| loss.separates_noise())
                .map(OldQueue::new),
            passes: PassCounter::new(M::FORWARD_SHARE),
            clock: PhaseClock::new(is_timed),
        };
        let sampling = method.sampling;
        let n_old = self.problem.increment.old().len();
        let fraction = sampling.first_fraction(settings, n_old);
        let widest = sampling.widening_from().map_or(fraction, |_| 1.0);
        let n_steps = planner.epoch(0, widest).steps.len();
        let max_steps = settings.epochs as u64 * n_steps as u64;
        let seed = self.seed();
        Run::new(
            encoder,
            method,
            batch_loss,
            max_steps,
            fraction,
            self.root_seed,
            seed,
        )
    }

    /// Trains epoch by epoch and returns the encoder of the last evaluation.
    fn epochs<M, R>(
        &self,
        run: &mut Run<'_, M, B, R>,
        planner: &Planner<'_>,
        identity: &Identity,
        evaluate: Evaluate<'_, M::InnerModule, R>,
        callbacks: &mut Callbacks<'_>,
    ) -> Result<M::InnerModule, TrainError>
    where
        M: AutodiffModule<B> + Encoder<B, Batch = C::Batch<B>>,
        R: Risk,
    {
        std::thread::scope(|scope| {
            let batches = prefetch::<B, S, V, C>(
                scope,
                self.problem,
                self.seed().child("views"),
                self.device.clone(),
                callbacks.follows_steps(),
            );
            loop {
                let epoch = run.record.n_epochs();
                let plan = planner.epoch(epoch, run.counters.fraction());
                // An epoch that was interrupted after a checkpoint has been evaluated already.
                if run.counters.n_steps == 0 {
                    if let Some(encoder) = self.begin_epoch(run, &plan, &batches, evaluate)? {
                        return Ok(encoder);
                    }
                    callbacks.tell(Progress {
                        epoch,
                        n_epochs: self.settings.epochs,
                        risk: run.counters.risk.unwrap_or(f64::NAN),
                    });
                }
                // The evaluation may have widened the share of old data.
                let mut plan = planner.epoch(epoch, run.counters.fraction());
                plan.steps.drain(..run.counters.n_steps);
                self.epoch(run, plan, &batches, identity, callbacks)?;
                run.counters.end_epoch(&mut run.record);
            }
        })
    }

    /// Evaluates the encoder if an evaluation is due, and returns the evaluated encoder if the run ends
    /// before this epoch.
    fn begin_epoch<M, R>(
        &self,
        run: &mut Run<'_, M, B, R>,
        plan: &EpochPlan,
        batches: &Batches<M::Batch>,
        evaluate: Evaluate<'_, M::InnerModule, R>,
    ) -> Result<Option<M::InnerModule>, TrainError>
    where
        M: AutodiffModule<B> + Encoder<B>,
        R: Risk,
    {
        let epoch = run.record.n_epochs();
        let (stop, patience) = (self.settings.stop, self.settings.patience);
        let last_loss = run.record.epoch_losses.last();
        let n_worse = last_loss.map_or(0, |&loss| run.counters.losses.push(loss));
        let by_loss = stop
            .ends_by_loss(n_worse, patience)
            .then_some(StoppedBy::TrainingLoss);
        let at_end = (epoch == self.settings.epochs).then_some(StoppedBy::Epochs);
        let is_last = by_loss.is_some() || at_end.is_some();
        if !is_last && epoch != run.counters.next_evaluation {
            return Ok(None);
        }
        let new = self.problem.increment.new_data();
        let old_queue = run.queue_bias(plan, new, batches, self.seed())?;
        let (evaluated, risk) = run.evaluate(evaluate, old_queue)?;
        run.counters.next_evaluation = self.settings.next_evaluation(epoch, plan.steps.len());
        run.counters.add_risk(&risk);
        let n_worse = run.counters.risks.push(risk.all());
        let by_risk = stop
            .ends_by_risk(n_worse, patience)
            .then_some(StoppedBy::ExactRisk);
        run.record.stopped_by = by_loss.or(by_risk).or(at_end);
        Ok(run.record.stopped_by.map(|_| evaluated))
    }

    /// Takes the steps of the plan, and saves a checkpoint where one is due.
    fn epoch<M, R>(
        &self,
        run: &mut Run<'_, M, B, R>,
        plan: EpochPlan,
        batches: &Batches<M::Batch>,
        identity: &Identity,
        callbacks: &mut Callbacks<'_>,
    ) -> Result<(), TrainError>
    where
        M: AutodiffModule<B> + Encoder<B>,
        R: Risk,
    {
        let EpochPlan { steps, population } = plan;
        let n_steps = steps.len();
        let epoch = run.record.n_epochs();
        let seed = self.seed();
        batches.request(Request {
            epoch,
            population,
            steps,
        });
        for _ in 0..n_steps {
            let wait = Instant::now();
            let prepared = batches.next().map_err(TrainError::Sample)?;
            run.record.seconds.wait += wait.elapsed().as_secs_f64();
            let report = run.step(prepared, seed)?;
            callbacks.tell_step(report);
            let is_stopped = callbacks.is_stopped();
            let is_due = is_stopped || callbacks.is_save_due();
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

    /// Returns the facts that a checkpoint must share with this run. `start` is the checksum of the
    /// first encoder.
    fn identity(&self, start: u32) -> Identity {
        let run = [
            ("seed", self.root_seed.to_string()),
            ("stream", self.stream.to_owned()),
            ("method", self.method.to_string()),
        ];
        let facts = run
            .into_iter()
            .chain(self.problem.facts())
            .chain([("first encoder", format!("{start:08x}"))]);
        let facts = facts.map(|(name, value)| (name.to_owned(), value));
        Identity::new(facts.chain(self.settings.facts()))
    }
}
