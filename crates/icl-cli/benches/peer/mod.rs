//! PyTorch's side of a benchmark: a process that does a part of the work on request.

use std::error::Error;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Returns the number of threads of both sides: `RAYON_NUM_THREADS`, else all.
pub fn n_threads() -> Result<usize, Box<dyn Error>> {
    Ok(match std::env::var("RAYON_NUM_THREADS") {
        Ok(n) => n.parse()?,
        Err(_) => std::thread::available_parallelism()?.get(),
    })
}

/// A script of `scripts/peer` in a process of its own.
pub struct Peer {
    /// Name of the side.
    pub name: String,
    // In this order: the process ends when its input does.
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    _process: Child,
}

impl Peer {
    /// Starts a script, and reads the first line, which names its side. None if there is no Python with what the script
    /// needs.
    pub fn start(script: &str, arguments: &[OsString]) -> Option<Self> {
        let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/peer");
        let mut process = Command::new(python)
            .arg(scripts.join(script))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let input = process.stdin.take()?;
        let mut output = BufReader::new(process.stdout.take()?).lines();
        let name = output.next()?.ok()?;
        Some(Self {
            name,
            input,
            output,
            _process: process,
        })
    }

    /// Writes a line to the process.
    pub fn request(&mut self, what: impl Display) -> Result<(), Box<dyn Error>> {
        Ok(writeln!(self.input, "{what}")?)
    }

    /// Returns the next line of the process.
    pub fn answer(&mut self) -> Result<String, Box<dyn Error>> {
        Ok(self.output.next().ok_or("PyTorch's process has ended")??)
    }
}
