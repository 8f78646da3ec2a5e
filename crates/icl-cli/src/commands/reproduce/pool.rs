//! Runs cells, at most two beside each other, each in a process of its own.

use std::collections::VecDeque;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use icl_report::paper::DataSet;
use indicatif::HumanDuration;

use crate::commands::reproduce::arguments::ReproduceArguments;
use crate::commands::reproduce::cell_folder::{CellFolder, State};
use crate::commands::reproduce::how_to_go_on;
use crate::process::child;
use crate::process::failure::Failure;
use crate::process::interrupt;
use crate::process::terminal::tell;

/// The exit code of a run that was interrupted and has saved its state.
const INTERRUPTED: i32 = 130;

/// How it went.
pub struct Ended {
    /// The cells that failed, by their folders' names.
    pub failed: Vec<String>,
    /// The number of cells that were not started.
    pub n_left: usize,
    /// Whether that is because the budget was spent.
    pub is_out_of_time: bool,
}

/// What a process came to.
enum Ending {
    Done,
    Interrupted,
    Failed(String),
}

/// Runs the cells in their order. A cell that fails is told of, and the others go on.
///
/// # Errors
/// If it is interrupted: the processes have been told too, and have saved what they had.
pub fn run(cells: &[&CellFolder], arguments: &ReproduceArguments) -> Result<Ended, Failure> {
    let begin = Instant::now();
    let budget = arguments.budget.map(|minutes| minutes * 60.0);
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
    let mut progress = Progress::new(cells, arguments.jobs);
    let mut failed = Vec::new();
    let mut is_interrupted = false;
    std::thread::scope(|scope| {
        for _ in 0..arguments.jobs.min(cells.len()) {
            let (send, next) = (send.clone(), &next);
            scope.spawn(move || {
                while let Some(cell) = next() {
                    let begin = Instant::now();
                    let ending = run_one(cell, arguments);
                    if send.send((cell, ending, begin.elapsed())).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        for (cell, ending, took) in ended {
            let label = cell.cell.label();
            let name = || {
                let name = cell.path.file_name();
                name.map_or(label.clone(), |name| name.to_string_lossy().into_owned())
            };
            match ending {
                Ending::Done => {
                    let line = progress.done(cell, took, begin.elapsed());
                    tell(line);
                }
                Ending::Interrupted => is_interrupted = true,
                Ending::Failed(message) => {
                    progress.failed(cell);
                    tell(format_args!("{}: {message}", name()));
                    failed.push(name());
                }
            }
        }
    });
    let n_left = queue.lock().unwrap_or_else(PoisonError::into_inner).len();
    if is_interrupted || interrupt::requested() {
        return Err(Failure::Interrupted(anyhow!(
            "interrupted; {}",
            how_to_go_on(&arguments.out)
        )));
    }
    Ok(Ended {
        failed,
        n_left,
        is_out_of_time: n_left > 0,
    })
}

/// Runs a cell to its end.
fn run_one(cell: &CellFolder, arguments: &ReproduceArguments) -> Ending {
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return Ending::Failed(format!("error: cannot find this program: {error}")),
    };
    let mut command = Command::new(program);
    command
        .args(cell.command_line(arguments))
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    if arguments.jobs > 1 {
        command.env("RAYON_NUM_THREADS", "1");
    }
    let (status, stderr) = match child::run(&mut command) {
        Ok(ended) => ended,
        Err(error) => return Ending::Failed(format!("error: cannot be run: {error}")),
    };
    match status.code() {
        Some(0) => match cell.look(arguments) {
            Ok(State::Complete(_)) => Ending::Done,
            _ => Ending::Failed("error: it ended without a complete record".to_owned()),
        },
        Some(INTERRUPTED) => Ending::Interrupted,
        code => {
            let lines = || stderr.lines().rev();
            let line = lines().find(|line| line.starts_with("error: "));
            let line = line.or_else(|| lines().find(|line| !line.trim().is_empty()));
            let ended = || match code {
                Some(code) => format!("error: it ended with code {code}"),
                None => "error: it was ended by a signal".to_owned(),
            };
            Ending::Failed(line.map_or_else(ended, str::to_owned))
        }
    }
}

/// How far it is, and how long the rest may take.
struct Progress {
    n: usize,
    jobs: usize,
    /// The data set of each cell that has not ended.
    open: Vec<DataSet>,
    /// How long each cell took that has.
    took: Vec<(DataSet, Duration)>,
    n_ended: usize,
}

impl Progress {
    fn new(cells: &[&CellFolder], jobs: usize) -> Self {
        Self {
            n: cells.len(),
            jobs,
            open: cells.iter().map(|cell| cell.cell.data).collect(),
            took: Vec::new(),
            n_ended: 0,
        }
    }

    /// A cell has run: the line to show.
    fn done(&mut self, cell: &CellFolder, took: Duration, gone: Duration) -> String {
        self.failed(cell);
        self.took.push((cell.cell.data, took));
        let left = match self.open.len() {
            0 => "none left".to_owned(),
            _ => format!("about {} left", HumanDuration(self.left())),
        };
        format!(
            "cell {} of {}: {}: {:.1} s; {} gone, {left}",
            self.n_ended,
            self.n,
            cell.cell.label(),
            took.as_secs_f64(),
            HumanDuration(gone)
        )
    }

    /// A cell has ended without saying how long one takes.
    fn failed(&mut self, cell: &CellFolder) {
        self.n_ended += 1;
        if let Some(at) = self.open.iter().position(|data| *data == cell.cell.data) {
            self.open.remove(at);
        }
    }

    /// The time of what is open at the mean of its data set, or of all where it has none yet.
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
