//! The progress of training runs: a bar with the remaining time on a terminal, plain lines elsewhere.

use std::cell::Cell;
use std::io::IsTerminal;

use icl_train::Progress;
use indicatif::{ProgressBar, ProgressStyle};

use crate::process::terminal::tell;

/// Display of the progress of all training runs together.
pub struct Display {
    bar: ProgressBar,
    is_terminal: bool,
    n_epochs: u64,
    /// Epochs of the runs that have ended, each counted with its maximum.
    done: Cell<u64>,
}

impl Display {
    /// Creates the display of `n_runs` training runs of at most `n_epochs` epochs each.
    pub fn new(n_runs: u64, n_epochs: u64) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let bar = if is_terminal {
            ProgressBar::new(n_runs.saturating_mul(n_epochs))
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
            n_epochs,
            done: Cell::new(0),
        }
    }

    /// Names the training run that begins.
    pub fn begin(&self, what: &str) {
        self.bar.set_message(what.to_owned());
    }

    /// Shows the progress of the training run.
    pub fn advance(&self, progress: &Progress) {
        let position = self.done.get().saturating_add(progress.epoch as u64);
        self.bar.set_position(position);
    }

    /// Shows the end of the training run, perhaps before its last epoch, in a line.
    pub fn end(&self, line: &str) {
        self.done.set(self.done.get().saturating_add(self.n_epochs));
        self.bar.set_position(self.done.get());
        if self.is_terminal {
            self.bar.println(line);
        } else {
            tell(line);
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
