//! The progress of a measurement, and the request to stop it.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::EvalError;
use crate::error::interrupted;

/// Functions that a measurement calls: one with its progress, and one that decides whether it stops.
/// [`Watch::new`] has neither.
///
/// Both are called from the threads that do the work, several times a second. A measurement that is stopped
/// ends with [`EvalErrorKind::Interrupted`](crate::EvalErrorKind::Interrupted) and has no result.
///
/// ```
/// use icl_core::Seed;
/// use icl_eval::{EvalError, EvalErrorKind, KnnProtocolConfig, Matrix, Protocol, Watch};
///
/// let embeddings = Matrix::try_new((0..40).map(f64::from).collect(), 2)?;
/// let labels: Vec<usize> = (0..20).map(|i| i % 2).collect();
/// let protocol = KnnProtocolConfig::default().try_init()?;
/// let watch = Watch::new().stop_when(|| true);
/// let stopped = protocol.evaluate_with(&embeddings, &labels, Seed::new(0), &watch);
/// assert_eq!(stopped.unwrap_err().kind(), EvalErrorKind::Interrupted);
/// # Ok::<(), EvalError>(())
/// ```
pub struct Watch<'a> {
    progress: Box<dyn Fn(f64) + Sync + 'a>,
    should_stop: Box<dyn Fn() -> bool + Sync + 'a>,
}

impl Default for Watch<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

impl<'a> Watch<'a> {
    /// Creates a watch that does nothing.
    pub fn new() -> Self {
        Self {
            progress: Box::new(|_| ()),
            should_stop: Box::new(|| false),
        }
    }

    /// Sets the function that is called with the share of the work that is done, from 0 to 1. Calls of several
    /// threads may overtake one another.
    pub fn on_progress(mut self, progress: impl Fn(f64) + Sync + 'a) -> Self {
        self.progress = Box::new(progress);
        self
    }

    /// Sets the function that decides whether the measurement stops.
    pub fn stop_when(mut self, should_stop: impl Fn() -> bool + Sync + 'a) -> Self {
        self.should_stop = Box::new(should_stop);
        self
    }

    /// Returns the watch of a part of the work, whose progress goes from `from` to `to` of the whole.
    pub(crate) fn part(&self, from: f64, to: f64) -> Watch<'_> {
        Watch::new()
            .on_progress(move |share| self.tell(from + share * (to - from)))
            .stop_when(|| self.is_stopped())
    }

    /// Reports the share of the work that is done.
    pub(crate) fn tell(&self, share: f64) {
        (self.progress)(share);
    }

    /// Returns whether the measurement is to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        (self.should_stop)()
    }

    /// Checks that the measurement is not to stop.
    ///
    /// # Errors
    /// [`EvalErrorKind::Interrupted`](crate::EvalErrorKind::Interrupted) if it is.
    pub fn check(&self) -> Result<(), EvalError> {
        if self.is_stopped() {
            Err(interrupted())
        } else {
            Ok(())
        }
    }
}

/// Units of work, such as fits, that are counted as they are done.
#[derive(Debug)]
pub struct Work<'a> {
    /// Watch that gets the progress.
    pub watch: &'a Watch<'a>,
    n_units: usize,
    n_done: AtomicUsize,
}

impl<'a> Work<'a> {
    /// Begins work of this many units.
    pub fn new(watch: &'a Watch<'a>, n_units: usize) -> Self {
        Self {
            watch,
            n_units,
            n_done: AtomicUsize::new(0),
        }
    }

    /// Counts a unit.
    pub fn advance(&self) {
        self.advance_by(1);
    }

    /// Counts several units.
    pub fn advance_by(&self, n: usize) {
        // Work may have more units than it was begun with, so that the share is limited to 1.
        let n_done = self.n_done.fetch_add(n, Ordering::Relaxed) + n;
        self.watch
            .tell((n_done as f64 / self.n_units as f64).min(1.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::sync::Mutex;

    #[test]
    fn a_part_reports_its_share_of_the_whole() {
        let shares = Mutex::new(Vec::new());
        let watch = Watch::new().on_progress(|share| shares.lock().unwrap().push(share));
        let part = watch.part(0.5, 1.0);
        let work = Work::new(&part, 2);
        work.advance();
        work.advance();
        assert_eq!(*shares.lock().unwrap(), [0.75, 1.0]);
    }

    #[test]
    fn a_part_stops_with_the_whole() {
        let watch = Watch::new().stop_when(|| true);
        assert_eq!(watch.part(0.0, 0.5).check(), Err(interrupted()));
        assert_eq!(Watch::new().check(), Ok(()));
    }
}
