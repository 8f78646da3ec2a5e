//! How somebody follows a training run, stops it, and lets it go on.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::{Progress, StepReport};

/// Checkpoints may take this share of the time.
const SHARE: u32 = 20;
/// But there is none sooner than this after the last.
const SOONEST: Duration = Duration::from_secs(1);

/// What happens beside a training run. [`Callbacks::new`] does nothing.
///
/// With a checkpoint the run goes on from the file if there is one, whose run must have been the same;
/// it writes the file again and again, at most once a second and so rarely that writing takes no more
/// than a twentieth of the time, and leaves it in place when it ends, so that training again returns the result at once.
pub struct Callbacks<'a> {
    progress: Box<dyn FnMut(Progress) + 'a>,
    steps: Option<Box<dyn FnMut(StepReport) + 'a>>,
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
    /// Nothing happens.
    pub fn new() -> Self {
        Self {
            progress: Box::new(|_| ()),
            steps: None,
            should_stop: Box::new(|| false),
            checkpoint: None,
            next_save: Instant::now() + SOONEST,
        }
    }

    /// Is told where the run stands before the first epoch and after each.
    pub fn on_progress(mut self, progress: impl FnMut(Progress) + 'a) -> Self {
        self.progress = Box::new(progress);
        self
    }

    /// Is told of every step. The phases of each are then measured one by one, for which the program
    /// waits for the device between them: steps are slower than those that nobody follows.
    pub fn on_step(mut self, steps: impl FnMut(StepReport) + 'a) -> Self {
        self.steps = Some(Box::new(steps));
        self
    }

    /// Is asked after every step whether to stop there. The run then saves its checkpoint and ends
    /// with [`TrainError::Interrupted`](crate::TrainError::Interrupted).
    pub fn stop_when(mut self, should_stop: impl Fn() -> bool + 'a) -> Self {
        self.should_stop = Box::new(should_stop);
        self
    }

    /// The file to go on from, and to save to.
    pub fn with_checkpoint(mut self, path: impl Into<PathBuf>) -> Self {
        self.checkpoint = Some(path.into());
        self
    }

    pub(crate) fn tell(&mut self, progress: Progress) {
        (self.progress)(progress);
    }

    /// Whether somebody is told of steps.
    pub(crate) fn follows_steps(&self) -> bool {
        self.steps.is_some()
    }

    pub(crate) fn tell_step(&mut self, report: StepReport) {
        if let Some(steps) = &mut self.steps {
            steps(report);
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        (self.should_stop)()
    }

    pub(crate) fn checkpoint(&self) -> Option<&Path> {
        self.checkpoint.as_deref()
    }

    /// Whether it is time to save.
    pub(crate) fn is_save_due(&self) -> bool {
        self.checkpoint.is_some() && Instant::now() >= self.next_save
    }

    /// The run has saved its state, which took this long.
    pub(crate) fn saved(&mut self, took: Duration) {
        self.next_save = Instant::now() + SOONEST.max(took * SHARE);
    }
}
