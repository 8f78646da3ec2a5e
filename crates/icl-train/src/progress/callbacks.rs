//! Callbacks of a training run: progress, steps, a request to stop, and checkpoints.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::progress::step_report::StepReport;

/// Maximum share of the time that writing checkpoints takes, as one part in this many.
const SHARE: u32 = 20;
/// Minimum time between two checkpoints.
const SOONEST: Duration = Duration::from_secs(1);

/// State of a run, passed to [`Callbacks::on_progress`] after each step and before each evaluation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Number of epochs trained.
    pub epoch: usize,
    /// Maximum number of epochs.
    pub n_epochs: usize,
    /// Number of steps done in the current epoch.
    pub step: usize,
    /// Number of steps in the current epoch.
    pub n_steps: usize,
    /// Whether an evaluation begins; the run reports nothing until it has ended.
    pub is_evaluating: bool,
    /// Exact risk at the last evaluation, in nats.
    pub risk: f64,
    /// Share of the budget that is spent, from 0; `None` without a budget.
    pub spent: Option<f64>,
}

/// Epoch of a run that has ended, passed to [`Callbacks::on_epoch`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpochReport {
    /// Number of epochs trained so far, this one included.
    pub epoch: usize,
    /// Maximum number of epochs.
    pub n_epochs: usize,
    /// Number of steps done so far.
    pub n_steps: u64,
    /// Mean training loss of the epoch, in nats.
    pub loss: f64,
    /// Mean learning rate of the epoch's steps.
    pub learning_rate: f64,
    /// Exact risk at the last evaluation, in nats: over validation samples where
    /// [`Trainer::validation`](crate::Trainer::validation) sets them, else over training samples. NaN before there is
    /// one.
    pub risk: f64,
    /// Cost that is charged to the method so far, in full passes.
    pub charged_passes: f64,
    /// Training time so far in seconds, without evaluations.
    pub train_s: f64,
}

/// Functions that a training run calls, and the file of its checkpoint. [`Callbacks::new`] has neither.
///
/// With a checkpoint, a run resumes from the file if it exists; the file must then be that of the same
/// run. While it trains, the run replaces the file at most once a second, and so rarely that writing
/// takes at most a twentieth of the time. The file remains when the run ends, so that the same call
/// returns the result again without training.
///
/// ```
/// use icl_train::Callbacks;
///
/// let mut epochs = 0;
/// let callbacks = Callbacks::new()
///     .on_progress(|progress| epochs = progress.epoch)
///     .with_checkpoint("run.checkpoint");
/// # drop(callbacks);
/// ```
pub struct Callbacks<'a> {
    progress: Box<dyn FnMut(Progress) + 'a>,
    steps: Option<Box<dyn FnMut(StepReport) + 'a>>,
    epochs: Box<dyn FnMut(EpochReport) + 'a>,
    should_end: Box<dyn FnMut(Progress) -> bool + 'a>,
    should_stop: Box<dyn Fn() -> bool + 'a>,
    checkpoint: Option<PathBuf>,
    next_save: Instant,
}

impl Default for Callbacks<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Callbacks<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Callbacks")
            .field("checkpoint", &self.checkpoint)
            .finish_non_exhaustive()
    }
}

impl<'a> Callbacks<'a> {
    /// Creates callbacks that do nothing, without a checkpoint.
    pub fn new() -> Self {
        Self {
            progress: Box::new(|_| ()),
            steps: None,
            epochs: Box::new(|_| ()),
            should_end: Box::new(|_| false),
            should_stop: Box::new(|| false),
            checkpoint: None,
            next_save: Instant::now() + SOONEST,
        }
    }

    /// Sets the function that is called after each step and before each evaluation.
    pub fn on_progress(mut self, progress: impl FnMut(Progress) + 'a) -> Self {
        self.progress = Box::new(progress);
        self
    }

    /// Sets the function that is called after each step of the optimizer.
    ///
    /// The phases of each step are then timed one by one. For that the run waits for the device after
    /// each phase, which makes steps slower; results do not change.
    pub fn on_step(mut self, steps: impl FnMut(StepReport) + 'a) -> Self {
        self.steps = Some(Box::new(steps));
        self
    }

    /// Sets the function that is called at the end of each epoch.
    pub fn on_epoch(mut self, epochs: impl FnMut(EpochReport) + 'a) -> Self {
        self.epochs = Box::new(epochs);
        self
    }

    /// Sets a stopping rule of the caller's own: the function decides after each step whether the run ends there. The
    /// run then ends as by a rule of its settings: after a last evaluation, with the encoder that the settings choose.
    /// The record holds [`StoppedBy::Caller`](crate::StoppedBy::Caller).
    pub fn end_when(mut self, should_end: impl FnMut(Progress) -> bool + 'a) -> Self {
        self.should_end = Box::new(should_end);
        self
    }

    /// Sets the function that decides after each step whether the run is interrupted there. The run then saves
    /// its checkpoint and ends with [`Interrupted`](crate::TrainErrorKind::Interrupted), without a result.
    pub fn stop_when(mut self, should_stop: impl Fn() -> bool + 'a) -> Self {
        self.should_stop = Box::new(should_stop);
        self
    }

    /// Sets the file of the checkpoint, from which the run resumes and to which it saves.
    pub fn with_checkpoint(mut self, path: impl Into<PathBuf>) -> Self {
        self.checkpoint = Some(path.into());
        self
    }

    /// Reports the progress of the run.
    pub(crate) fn tell(&mut self, progress: Progress) {
        (self.progress)(progress);
    }

    /// Reports an epoch.
    pub(crate) fn tell_epoch(&mut self, report: EpochReport) {
        (self.epochs)(report);
    }

    /// Returns whether the caller ends the run.
    pub(crate) fn is_ended(&mut self, progress: Progress) -> bool {
        (self.should_end)(progress)
    }

    /// Returns whether each step is reported.
    pub(crate) fn follows_steps(&self) -> bool {
        self.steps.is_some()
    }

    /// Reports a step.
    pub(crate) fn tell_step(&mut self, report: StepReport) {
        if let Some(steps) = &mut self.steps {
            steps(report);
        }
    }

    /// Returns whether the run is to be interrupted.
    pub(crate) fn is_stopped(&self) -> bool {
        (self.should_stop)()
    }

    /// Returns the file of the checkpoint.
    pub(crate) fn checkpoint(&self) -> Option<&Path> {
        self.checkpoint.as_deref()
    }

    /// Returns whether a checkpoint is due.
    pub(crate) fn is_save_due(&self) -> bool {
        self.checkpoint.is_some() && Instant::now() >= self.next_save
    }

    /// Schedules the next checkpoint after one that took this long.
    pub(crate) fn saved(&mut self, took: Duration) {
        self.next_save = Instant::now() + SOONEST.max(took * SHARE);
    }
}
