//! Another process of this program, asked what its backend does.

use std::io::{self, Read};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::anyhow;
use icl_report::BackendTrace;

use crate::process::failure::Failure;
use crate::process::interrupt;

/// How often it is looked whether the process has ended, or is to end.
const TICK: Duration = Duration::from_millis(20);

/// What a backend did, by this program with the same options in a process of its own.
///
/// # Errors
/// What that process said, or if it cannot be started, says nothing of use, or somebody interrupts this one.
pub fn ask(backend: &str) -> Result<BackendTrace, Failure> {
    let ended = |what: &str| Failure::Other(anyhow!("{backend}: its process {what}"));
    let child = std::env::current_exe()
        .and_then(|program| {
            Command::new(program)
                .args(std::env::args_os().skip(1))
                .args(["--trace", backend])
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
        })
        .map_err(|error| ended(&format!("could not be started: {error}")))?;
    let output = output(child).map_err(|error| ended(&format!("was lost: {error}")))?;
    if interrupt::requested() {
        return Err(Failure::Interrupted(anyhow!("stopped at {backend}")));
    }
    if output.status.success() {
        return serde_json::from_slice(&output.stdout)
            .map_err(|error| ended(&format!("gave no trace ({error})")));
    }
    // Drivers, too, write to standard error; the program's own sentence is the last.
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    let sentence = last.and_then(|line| {
        let [error, interrupted] = ["error: ", "interrupted: "].map(|kind| line.strip_prefix(kind));
        error.or(interrupted)
    });
    let error = anyhow!(
        "{backend}: {}",
        sentence.or(last).unwrap_or("nothing was said")
    );
    match (output.status.code(), sentence) {
        (Some(2), Some(_)) => Err(Failure::Input(error)),
        (Some(code), Some(_)) if code == i32::from(interrupt::EXIT_CODE) => {
            Err(Failure::Interrupted(error))
        }
        (Some(1), Some(_)) => Err(Failure::Other(error)),
        _ => Err(ended(&format!(
            "ended with {}{}",
            output.status,
            last.map(|last| format!(" ({last})")).unwrap_or_default()
        ))),
    }
}

/// What a process wrote until it ended. It is ended as soon as this one is to end: a signal may have reached
/// this one alone.
fn output(mut child: Child) -> io::Result<Output> {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        let stdout = scope.spawn(|| read(stdout));
        let stderr = scope.spawn(|| read(stderr));
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if interrupt::requested() {
                child.kill()?;
            }
            thread::sleep(TICK);
        };
        let [stdout, stderr] = [stdout, stderr].map(|reader| reader.join().unwrap_or_default());
        Ok(Output {
            status,
            stdout,
            stderr,
        })
    })
}

/// All that comes; what cannot be read any more is missing.
fn read(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        let _ = pipe.read_to_end(&mut bytes);
    }
    bytes
}
