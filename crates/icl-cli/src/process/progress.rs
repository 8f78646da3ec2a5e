//! The progress of training runs and measurements: a bar with the remaining time on a terminal, plain lines elsewhere.

use std::cell::{Cell, RefCell};
use std::io::IsTerminal;
use std::time::Duration;

use icl_core::{legible, one_line};
use icl_train::{Progress, TrainingRecord};
use indicatif::{ProgressBar, ProgressStyle};

use crate::process::group::is_silent;
use crate::process::terminal::tell;

/// Number of steps of the bar of a measurement, and of an epoch.
const SHARES: u64 = 1000;
/// Time between two drawings of a bar that does not move.
const TICK: Duration = Duration::from_millis(500);

/// Returns the notes at the end of a training run's line: idle inner loops, and warnings; empty for most runs.
pub fn notes<R>(record: &TrainingRecord<R>) -> String {
    let inert = icl_train::inert_move(&record.support_moves)
        .map(|found| format!("; the inner loop moves θ by {found:.1e} of its length only"));
    let warnings = record.warnings.iter().map(|it| format!("; warning: {it}"));
    inert.into_iter().chain(warnings).collect()
}

/// Returns what the line of a training run says at its end: epochs, seconds, the exact risk in nats, and notes.
pub fn ended<R>(record: &TrainingRecord<R>, risk: f64) -> String {
    format!(
        "{} epochs, {:.2} s, exact risk {risk:.4} nats{}",
        record.n_epochs(),
        record.seconds.training(),
        notes(record),
    )
}

/// Display of the progress of all training runs together.
pub struct Display {
    bar: ProgressBar,
    is_terminal: bool,
    n_runs: u64,
    n_epochs: u64,
    /// Epochs of the runs that have ended, each counted with its maximum.
    done: Cell<u64>,
    /// Name of the current training run.
    what: RefCell<String>,
}

impl Display {
    /// Creates the display of `n_runs` training runs of at most `n_epochs` epochs each.
    pub fn new(n_runs: u64, n_epochs: u64) -> Self {
        let is_terminal = std::io::stderr().is_terminal() && !is_silent();
        let bar = if is_terminal {
            let bar = ProgressBar::new(n_runs.saturating_mul(n_epochs).saturating_mul(SHARES));
            bar.enable_steady_tick(TICK);
            bar
        } else {
            ProgressBar::hidden()
        };
        let style = ProgressStyle::with_template(
            "{wide_bar} {percent:>3} %  {elapsed} elapsed, {eta} left  {msg}",
        );
        if let Ok(style) = style {
            bar.set_style(style);
        }
        Self {
            bar,
            is_terminal,
            n_runs,
            n_epochs,
            done: Cell::new(0),
            what: RefCell::new(String::new()),
        }
    }

    /// Names the training run that begins.
    pub fn begin(&self, what: &str) {
        let what = one_line(what);
        self.what.borrow_mut().clone_from(&what);
        self.bar.set_message(what);
    }

    /// Shows the progress of the training run.
    pub fn advance(&self, progress: &Progress) {
        let epochs = self.done.get().saturating_add(progress.epoch as u64);
        let steps = progress.step as u64 * SHARES / progress.n_steps.max(1) as u64;
        let by_epochs = epochs.saturating_mul(SHARES).saturating_add(steps);
        // The end of a run with a budget is known long before its last epoch.
        let by_budget = progress.spent.map(|spent| {
            let done =
                (self.done.get() as f64 + spent.min(1.0) * self.n_epochs as f64) * SHARES as f64;
            done as u64
        });
        self.bar.set_position(by_budget.unwrap_or(by_epochs));
        let what = self.what.borrow();
        self.bar.set_message(match progress.is_evaluating {
            true => format!("{what}: evaluation"),
            false => format!(
                "{what}: step {} of {} in epoch {}",
                progress.step,
                progress.n_steps,
                progress.epoch + 1
            ),
        });
    }

    /// Shows the end of the training run, perhaps before its last epoch, in a line.
    pub fn end(&self, line: &str) {
        self.done.set(self.done.get().saturating_add(self.n_epochs));
        self.bar
            .set_position(self.done.get().saturating_mul(SHARES));
        self.line(line);
    }

    /// Shows the progress of a measurement in the place of the training runs, until it is dropped.
    pub fn measure(&self, what: &str) -> Measuring<'_> {
        self.bar.reset();
        self.bar.set_length(SHARES);
        self.begin(what);
        Measuring { display: self }
    }

    /// Shows a line above the bar.
    pub fn line(&self, line: &str) {
        if self.is_terminal {
            self.bar.println(legible(line));
        } else {
            tell(line);
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Bar of a measurement.
pub struct Measuring<'a> {
    display: &'a Display,
}

impl Measuring<'_> {
    /// Returns the bar, to which threads tell the share that is done.
    pub fn bar(&self) -> MeasuringBar<'_> {
        MeasuringBar(&self.display.bar)
    }
}

/// Bar that several threads move.
#[derive(Clone, Copy)]
pub struct MeasuringBar<'a>(&'a ProgressBar);

impl MeasuringBar<'_> {
    /// Shows a share from 0 to 1.
    pub fn advance(&self, share: f64) {
        let position = (share * SHARES as f64) as u64;
        // A share that another thread has overtaken is old.
        self.0.set_position(position.max(self.0.position()));
    }
}

impl Drop for Measuring<'_> {
    fn drop(&mut self) {
        let Display { bar, .. } = self.display;
        let n_epochs = self.display.n_runs.saturating_mul(self.display.n_epochs);
        bar.set_length(n_epochs.saturating_mul(SHARES));
        bar.set_position(self.display.done.get().saturating_mul(SHARES));
    }
}
