//! The loop over epochs and steps, which trains an encoder by any method.

use std::path::Path;
use std::time::Instant;

use burn::tensor::backend::AutodiffBackend;
use icl_core::{TrainableEncoder, beside_kernels};

use crate::checkpoint::file::other_run;
use crate::devices::replicas::is_close;
use crate::devices::shards::Shards;
use crate::error::{TrainError, TrainErrorKind, of_sample, unreadable};
use crate::evaluation::evaluated::{Evaluate, Evaluations, FirstBad};
use crate::evaluation::stopping::StoppedBy;
use crate::progress::{Callbacks, EpochReport, Progress};
use crate::sampling::plan::EpochPlan;
use crate::step::batch_loss::PartOf;
use crate::step::prefetch::{Batches, Request};
use crate::step::run::Run;
use crate::step::saved::SavedRisk;

impl<M, B, R> Run<'_, M, B, R>
where
    M: TrainableEncoder<B>,
    B: AutodiffBackend,
    R: SavedRisk,
{
    /// Trains epoch by epoch until a stopping rule, the budget or the last epoch ends the run. Evaluates the encoder
    /// and saves a checkpoint where that is due.
    ///
    /// # Errors
    /// [`TrainError`].
    pub(crate) fn epochs(
        &mut self,
        batches: &Batches<PartOf<M, B>>,
        evaluations: &Evaluations<'_, M::InnerModule, R>,
        callbacks: &mut Callbacks<'_>,
    ) -> Result<(), TrainError> {
        let group = self.loss.group;
        while let Some(EpochPlan { steps, population }) =
            self.begin_epoch(evaluations.monitor, callbacks)?
        {
            // Steps of an epoch that was interrupted have been taken before.
            let n_left = steps.len();
            let n_steps = self.counters.n_steps + n_left;
            batches.request(Request {
                epoch: self.record.n_epochs(),
                population,
                steps,
                shards: Shards::new(group, self.settings.n_shards(group.size())),
            });
            for _ in 0..n_left {
                let has_ended = self.ends_within_epoch(n_steps, evaluations.monitor, callbacks);
                let first_bad = evaluations.first_bad;
                if has_ended.map_err(|error| self.with_sample(error, first_bad))? {
                    break;
                }
                let wait = Instant::now();
                let prepared = batches.next().map_err(unreadable)?;
                self.record.seconds.wait += wait.elapsed().as_secs_f64();
                let step = || self.step(prepared);
                // Members of a group wait for each other within a step.
                let report = match group.is_alone() {
                    true => beside_kernels::<B, _>(step),
                    false => step(),
                };
                let report = report.map_err(|error| self.with_sample(error, first_bad))?;
                callbacks.tell(self.progress(n_steps, false));
                callbacks.tell_step(report);
                self.save_or_stop(callbacks)?;
            }
            if self.record.stopped_by.is_some() {
                return Ok(());
            }
            self.end_epoch(callbacks);
        }
        Ok(())
    }

    /// Ends the epoch in which the run has ended, if it has not ended between two. Its state is saved before: a larger
    /// budget continues within the epoch.
    pub(crate) fn end_last_epoch(&mut self, callbacks: &mut Callbacks<'_>) {
        if self.counters.n_steps > 0 {
            self.end_epoch(callbacks);
        }
    }

    fn end_epoch(&mut self, callbacks: &mut Callbacks<'_>) {
        self.counters.end_epoch(&mut self.record);
        callbacks.tell_epoch(self.epoch_report());
    }

    /// Begins an epoch: evaluates the encoder if that is due or the run ends here. Returns the steps that are left of
    /// the epoch, or `None` at the end of the run.
    fn begin_epoch(
        &mut self,
        evaluate: Evaluate<'_, M::InnerModule, R>,
        callbacks: &mut Callbacks<'_>,
    ) -> Result<Option<EpochPlan>, TrainError> {
        if self.record.stopped_by.is_some() {
            return Ok(None);
        }
        let epoch = self.record.n_epochs();
        // An epoch that was interrupted after a checkpoint has begun already.
        if self.counters.n_steps > 0 {
            let mut plan = self.planner.epoch(epoch, self.counters.fraction());
            plan.steps.drain(..self.counters.n_steps);
            return Ok(Some(plan));
        }
        // The last epoch's loss belongs to the share that it had.
        let by_loss = self.ends_by_loss();
        let sampler = &self.planner.sampler;
        let share = match self.share_of_budget() {
            Some(spent) => sampler.share_within(spent),
            None => sampler.share(self.epochs_of_cost()),
        };
        self.counters.widen(share);
        let plan = self.planner.epoch(epoch, self.counters.fraction());
        let is_last = epoch >= self.settings.epochs;
        let by_end = by_loss
            .or(is_last.then_some(StoppedBy::Epochs))
            .or(self.ends_by_budget())
            .or(self.ends_by_caller(plan.steps.len(), callbacks)?);
        if by_end.is_some() || self.is_evaluation_due() {
            callbacks.tell(self.progress(plan.steps.len(), true));
            let by_risk = self.evaluate(evaluate)?;
            // The evaluation itself may leave too little for a step and the evaluation after it.
            let by_end = by_end.or(self.ends_by_budget());
            self.record.stopped_by = by_loss.or(by_risk).or(by_end);
        }
        Ok(self.record.stopped_by.is_none().then_some(plan))
    }

    /// Evaluates the encoder between two steps of an epoch if that is due or the budget is spent. Returns whether the
    /// run ends here.
    fn ends_within_epoch(
        &mut self,
        n_steps: usize,
        evaluate: Evaluate<'_, M::InnerModule, R>,
        callbacks: &mut Callbacks<'_>,
    ) -> Result<bool, TrainError> {
        // Before the first step of an epoch, an evaluation has been made where one was due.
        if self.counters.n_steps == 0 {
            return Ok(false);
        }
        let by_end = self.ends_by_budget();
        let by_end = by_end.or(self.ends_by_caller(n_steps, callbacks)?);
        if by_end.is_some() || self.is_evaluation_due() {
            callbacks.tell(self.progress(n_steps, true));
            let by_risk = self.evaluate(evaluate)?;
            self.record.stopped_by = by_risk.or(by_end).or(self.ends_by_budget());
        }
        Ok(self.record.stopped_by.is_some())
    }

    /// Saves a checkpoint after a step if one is due, and ends the run if the callbacks stop it.
    fn save_or_stop(&self, callbacks: &mut Callbacks<'_>) -> Result<(), TrainError> {
        let group = self.loss.group;
        // All members save and stop at the same step, or none does.
        let is_stopped = group.any(callbacks.is_stopped())?;
        if is_stopped || group.any(callbacks.is_save_due())? {
            self.save(callbacks)?;
        }
        match is_stopped {
            true => {
                let step = self.record.n_steps;
                let error = TrainError::message(format!("stopped after step {step}"));
                Err(error.with_kind(TrainErrorKind::Interrupted { step }))
            }
            false => Ok(()),
        }
    }

    /// Returns the state of the run in an epoch of `n_steps` steps.
    pub(crate) fn progress(&self, n_steps: usize, is_evaluating: bool) -> Progress {
        Progress {
            epoch: self.record.n_epochs(),
            n_epochs: self.settings.epochs,
            step: self.counters.n_steps,
            n_steps,
            is_evaluating,
            risk: self.counters.last.map_or(f64::NAN, |last| last.risk),
            spent: self.share_of_budget(),
        }
    }

    /// Returns the cost of the training so far, in epochs over all data.
    fn epochs_of_cost(&self) -> f64 {
        self.record.cost.training / (2 * self.planner.sampler.n_samples()) as f64
    }

    /// Adds the loss of the last epoch, and returns the reason for which the run ends by it, if it does.
    fn ends_by_loss(&mut self) -> Option<StoppedBy> {
        let n = self.record.n_epochs();
        let n_worse = match self.record.epoch_losses.last() {
            // A finished run that continues with more epochs has compared its last loss already.
            Some(&loss) if self.counters.n_losses < n => self.counters.losses.push(loss),
            _ => 0,
        };
        self.counters.n_losses = n;
        let (stop, patience) = (self.settings.stop, self.settings.patience);
        let ends = stop.ends_by_loss(n_worse, patience);
        ends.then_some(StoppedBy::TrainingLoss)
    }

    /// Returns the budget as the reason for which the run ends, if it has taken a step and its cost reaches the budget.
    fn ends_by_budget(&self) -> Option<StoppedBy> {
        (self.record.n_steps > 0 && self.is_spent()).then_some(StoppedBy::Budget)
    }

    /// Returns the caller as the reason for which the run ends, if it has taken a step and the callbacks of a member
    /// say so.
    fn ends_by_caller(
        &self,
        n_steps: usize,
        callbacks: &mut Callbacks<'_>,
    ) -> Result<Option<StoppedBy>, TrainError> {
        if self.record.n_steps == 0 {
            return Ok(None);
        }
        // All members end at the same step, or none does.
        let is_ended = callbacks.is_ended(self.progress(n_steps, false));
        let is_ended = self.loss.group.any(is_ended)?;
        Ok(is_ended.then_some(StoppedBy::Caller))
    }

    /// Returns the report of the epoch that has ended.
    fn epoch_report(&self) -> EpochReport {
        let record = &self.record;
        let last = |of: &[f64]| of.last().copied().unwrap_or(f64::NAN);
        EpochReport {
            epoch: record.n_epochs(),
            n_epochs: self.settings.epochs,
            n_steps: record.n_steps,
            loss: last(&record.epoch_losses),
            learning_rate: last(&record.learning_rates),
            risk: self.counters.last.map_or(f64::NAN, |last| last.risk),
            charged_passes: record.cost.charged(),
            train_s: record.seconds.training(),
        }
    }

    /// Returns whether an evaluation is due.
    fn is_evaluation_due(&self) -> bool {
        let Some(last) = self.counters.last else {
            return true;
        };
        let record = &self.record;
        match self.settings.evaluate_every {
            Some(n) => {
                self.counters.n_steps == 0 && record.n_epochs() >= last.epoch.saturating_add(n)
            }
            None => {
                let charged = record.cost.charged();
                let since = (record.n_steps - last.n_steps, charged - last.charged);
                let evaluations = (record.evaluations.len() + 1) as f64 * last.cost;
                let training = charged - record.cost.monitoring;
                self.settings
                    .is_evaluation_due(since, charged, (evaluations, training))
            }
        }
    }

    /// Checks that the first encoder has the risk on these samples and views that a restored run began with.
    ///
    /// # Errors
    /// [`TrainErrorKind::Checkpoint`] if it has not.
    pub(crate) fn check_first_risk(
        &self,
        path: &Path,
        evaluate: Evaluate<'_, M::InnerModule, R>,
    ) -> Result<(), TrainError> {
        let Some(first) = self.record.evaluations.first() else {
            return Ok(());
        };
        let expected = evaluate(self.start.valid(), (0, 0))?.risk;
        let of = |risk: &R| [risk.all(), risk.balanced()];
        let pairs = of(&first.risk).into_iter().zip(of(&expected));
        match pairs
            .into_iter()
            .find(|&(found, expected)| !is_close(found, expected))
        {
            None => Ok(()),
            Some((found, expected)) => {
                let field = "risk of the first encoder on its samples and views";
                Err(other_run(path, field, found, expected))
            }
        }
    }

    /// Adds the first sample at fault to the error of a loss that is not finite.
    fn with_sample(
        &self,
        error: TrainError,
        first_bad: FirstBad<'_, M::InnerModule>,
    ) -> TrainError {
        let TrainErrorKind::NonFinite { step, sample: None } = error.kind() else {
            return error;
        };
        let plan = self
            .planner
            .epoch(self.record.n_epochs(), self.counters.fraction());
        let planned = plan.steps.get(self.counters.n_steps);
        let batches = planned.map(|step| step.support.iter().chain([&step.batch]));
        let samples = batches.into_iter().flatten().flat_map(|it| &it.samples);
        let samples: Vec<usize> = samples.copied().collect();
        // The first encoder was finite: parameters that are not would be at fault for all samples.
        let found = first_bad(&self.start.valid(), &samples);
        of_sample(error, step, found.ok().flatten())
    }
}
