//! Runs cells, at most two at the same time, each in a process of its own.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use crate::pages::paper::DataSet;
use anyhow::anyhow;
use icl_cli::parts::child::{self, OnInterrupt};
use icl_cli::parts::{Failure, INTERRUPTED, interrupt, tell};
use indicatif::HumanDuration;

use crate::commands::cell_folder::{CellFolder, State};
use crate::commands::options::ReproduceOptions;

/// Outcome of all cells.
pub struct Ended {
    /// Names of the folders of the cells that failed.
    pub failed: Vec<String>,
    /// Number of cells that were not started.
    pub n_left: usize,
    /// Whether cells were not started because the budget was spent.
    pub is_out_of_time: bool,
}

/// Outcome of a cell.
enum Outcome {
    Done,
    Interrupted,
    Failed(String),
}

/// Runs the cells in their order. A cell that fails is reported, and the others continue.
///
/// # Errors
/// If it is interrupted: the processes were interrupted, too, and have saved their states.
pub fn run(cells: &[&CellFolder], options: &ReproduceOptions) -> Result<Ended, Failure> {
    let begin = Instant::now();
    let budget = options.rows.budget_s();
    let is_out_of_time = || budget.is_some_and(|budget| begin.elapsed().as_secs_f64() >= budget);
    let queue: Mutex<VecDeque<&CellFolder>> = Mutex::new(cells.iter().copied().collect());
    let next = || {
        if interrupt::requested() || is_out_of_time() {
            return None;
        }
        // A thread that panicked while it held the lock has left the queue whole.
        let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.pop_front()
    };
    let (send, ended) = mpsc::channel();
    let mut countdown = Countdown::new(cells, options.jobs);
    let mut failed = Vec::new();
    let mut is_interrupted = false;
    std::thread::scope(|scope| {
        for number in 0..options.jobs.min(cells.len()) {
            let (send, next) = (send.clone(), &next);
            let worker = move || {
                while let Some(cell) = next() {
                    let begin = Instant::now();
                    let outcome = run_one(cell, options);
                    if send.send((cell, outcome, begin.elapsed())).is_err() {
                        return;
                    }
                }
            };
            match std::thread::Builder::new().spawn_scoped(scope, worker) {
                Err(error) if number == 0 => {
                    let error = anyhow!("a thread cannot be started: {error}");
                    return Err(Failure::Other(error));
                }
                // Fewer cells at a time are computed then.
                Err(_) => break,
                Ok(_) => (),
            }
        }
        drop(send);
        for (cell, outcome, took) in ended {
            let label = cell.cell.label();
            let name = || {
                let name = cell.path.file_name();
                name.map_or(label.clone(), |name| name.to_string_lossy().into_owned())
            };
            match outcome {
                Outcome::Done => {
                    let line = countdown.done(cell, took, begin.elapsed());
                    tell(line);
                }
                Outcome::Interrupted => is_interrupted = true,
                Outcome::Failed(message) => {
                    countdown.failed(cell);
                    tell(format_args!("{}: {message}", name()));
                    failed.push(name());
                }
            }
        }
        Ok(())
    })?;
    let n_left = queue.lock().unwrap_or_else(PoisonError::into_inner).len();
    if is_interrupted || interrupt::requested() {
        return Err(Failure::Interrupted(anyhow!(
            "interrupted; {}",
            options.how_to_continue()
        )));
    }
    Ok(Ended {
        failed,
        n_left,
        is_out_of_time: n_left > 0,
    })
}

/// Runs a cell to its end, or until it is interrupted.
fn run_one(cell: &CellFolder, options: &ReproduceOptions) -> Outcome {
    let line = match cell.command_line(options) {
        Ok(line) => line,
        Err(failure) => return Outcome::Failed(format!("error: {failure}")),
    };
    let run = || {
        let mut command = child::this_program(line)?;
        if options.jobs > 1 {
            // Cells that run at the same time would share the cores: each has one thread, as the page says.
            command.env("RAYON_NUM_THREADS", "1");
        }
        child::run(&mut command, OnInterrupt::Ask, None)
    };
    let ended = match run() {
        Ok(ended) => ended,
        Err(error) => return Outcome::Failed(format!("error: cannot be run: {error}")),
    };
    match ended.status.and_then(|status| status.code()) {
        Some(0) => match cell.look(options) {
            Ok(State::Complete(_)) => Outcome::Done,
            _ => Outcome::Failed("error: it ended without a complete record".to_owned()),
        },
        Some(code) if code == i32::from(INTERRUPTED) => Outcome::Interrupted,
        code => {
            let mut lines = ended.stderr.lines().rev();
            let line = lines.find(|line| line.starts_with("error: "));
            let how = || match code {
                Some(code) => format!("error: it ended with code {code}"),
                None => "error: it was ended by a signal".to_owned(),
            };
            let line = line.or_else(|| ended.last_words());
            Outcome::Failed(line.map_or_else(how, str::to_owned))
        }
    }
}

/// Number of cells that have ended, and estimate of the time that the others take.
struct Countdown {
    n: usize,
    jobs: usize,
    /// Data set of each cell that has not ended.
    open: Vec<DataSet>,
    /// Time that each cell has taken that has ended.
    took: Vec<(DataSet, Duration)>,
    n_ended: usize,
}

impl Countdown {
    fn new(cells: &[&CellFolder], jobs: usize) -> Self {
        Self {
            n: cells.len(),
            jobs,
            open: cells.iter().map(|cell| cell.cell.data).collect(),
            took: Vec::new(),
            n_ended: 0,
        }
    }

    /// Counts a cell that is complete; the line to show.
    fn done(&mut self, cell: &CellFolder, took: Duration, gone: Duration) -> String {
        self.failed(cell);
        self.took.push((cell.cell.data, took));
        let left = match self.open.len() {
            0 => "none left".to_owned(),
            _ => format!("about {} left", HumanDuration(self.left())),
        };
        format!(
            "cell {} of {}: {}: {:.1} s; {} elapsed, {left}",
            self.n_ended,
            self.n,
            cell.cell.label(),
            took.as_secs_f64(),
            HumanDuration(gone)
        )
    }

    /// Counts a cell whose time says nothing about the others.
    fn failed(&mut self, cell: &CellFolder) {
        self.n_ended += 1;
        if let Some(at) = self.open.iter().position(|data| *data == cell.cell.data) {
            self.open.remove(at);
        }
    }

    /// Estimates the remaining time from the mean of each data set, or of all where it has none yet.
    fn left(&self) -> Duration {
        let mean = |of: &dyn Fn(&DataSet) -> bool| {
            let took: Vec<f64> = self
                .took
                .iter()
                .filter(|(data, _)| of(data))
                .map(|(_, took)| took.as_secs_f64())
                .collect();
            (!took.is_empty()).then(|| took.iter().sum::<f64>() / took.len() as f64)
        };
        let all = mean(&|_| true).unwrap_or_default();
        let seconds: f64 = self
            .open
            .iter()
            .map(|data| mean(&|own| own == data).unwrap_or(all))
            .sum();
        Duration::from_secs_f64(seconds / self.jobs as f64)
    }
}
