//! The machine, for the head of the report and for the sides.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The machine and the Python on it.
pub struct Machine {
    processor: String,
    pub n_threads: usize,
    pub python: Option<Python>,
    pub data_dir: PathBuf,
}

/// Python with the packages that the sides of PyTorch need.
pub struct Python {
    versions: String,
    /// GPU that it finds.
    pub gpu: Option<String>,
}

impl Machine {
    pub fn of_this_run() -> Result<Self, Box<dyn Error>> {
        let n_threads = match std::env::var("RAYON_NUM_THREADS") {
            Ok(n) => n.parse()?,
            Err(_) => std::thread::available_parallelism()?.get(),
        };
        Ok(Self {
            processor: line_of("/proc/cpuinfo", "model name").unwrap_or_default(),
            n_threads,
            python: Python::find(),
            data_dir: icl_data::catalogue::folder(),
        })
    }

    /// Returns the command of the program of PyTorch.
    pub fn peer() -> Command {
        let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
        let script = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../scripts/peer/backends.py"
        );
        let mut command = Command::new(python);
        command.arg(script);
        command
    }
}

impl Python {
    /// Finds Python; `None` if it does not start or lacks a package.
    fn find() -> Option<Self> {
        let output = Machine::peer()
            .arg("versions")
            .stderr(Stdio::null())
            .output()
            .ok()
            .filter(|output| output.status.success())?;
        let line = String::from_utf8(output.stdout).ok()?;
        let (versions, gpu) = line.trim_end_matches('\n').split_once('\t')?;
        Some(Self {
            versions: versions.to_owned(),
            gpu: Some(gpu.to_owned()).filter(|gpu| !gpu.is_empty()),
        })
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Processor: {}", self.processor)?;
        writeln!(f, "Threads of each side: {}", self.n_threads)?;
        match &self.python {
            Some(python) => {
                writeln!(f, "PyTorch's side: {}", python.versions)?;
                let waiting = std::env::var("OMP_WAIT_POLICY");
                let waiting = waiting.as_deref().unwrap_or("not set");
                writeln!(f, "How its threads wait, OMP_WAIT_POLICY: {waiting}")?;
                if let Some(gpu) = &python.gpu {
                    writeln!(f, "PyTorch's GPU: {gpu}")?;
                }
            }
            None => writeln!(
                f,
                "PyTorch's side: none, for `PYTHON` (else `python3`) has no torch, torchvision and \
                 torch_geometric"
            )?,
        }
        write!(f, "Load in the beginning: {}", load())
    }
}

/// Returns the mean number of runnable processes in the last 1, 5 and 15 minutes.
pub fn load() -> String {
    let line = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let means: Vec<&str> = line.split_whitespace().take(3).collect();
    means.join(", ")
}

/// Returns the largest resident memory of this process so far, in MiB; 0 where the system does not report it.
pub fn peak_memory_mib() -> usize {
    let kib = line_of("/proc/self/status", "VmHWM")
        .and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    kib.unwrap_or(0) / 1024
}

/// Returns the time that the threads of this process have taken of all processors, in milliseconds;
/// 0 where the system does not report it.
pub fn processor_ms() -> f64 {
    let threads = std::fs::read_dir("/proc/self/task");
    let of_thread = |path: PathBuf| {
        let text = std::fs::read_to_string(path.join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    };
    let nanoseconds = threads
        .into_iter()
        .flatten()
        .filter_map(|thread| of_thread(thread.ok()?.path()));
    nanoseconds.sum::<f64>() / 1e6
}

/// Returns the text after `name` and a colon in a file.
fn line_of(path: &str, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
