//! The trace of a backend, recorded by another process of this program.

use anyhow::anyhow;
use icl_report::BackendTrace;

use crate::process::child;
use crate::process::child::OnInterrupt;
use crate::process::failure::{Failure, INTERRUPTED};
use crate::process::interrupt;

/// Returns the trace of a backend, by this program with the same options in a process of its own.
///
/// # Errors
/// The failure of that process, or if it cannot be started, prints no trace, or this one is interrupted.
pub fn ask(backend: &str) -> Result<BackendTrace, Failure> {
    let ended = |how: &str| Failure::Other(anyhow!("{backend}: its process {how}"));
    let own = std::env::args_os().skip(1);
    let mut command = child::this_program(own.chain(["--trace".into(), backend.into()]))
        .map_err(|error| ended(&format!("could not be started: {error}")))?;
    let output = child::run(&mut command, OnInterrupt::End, None)
        .map_err(|error| ended(&format!("could not be run: {error}")))?;
    if interrupt::requested() {
        return Err(Failure::Interrupted(anyhow!("stopped at {backend}")));
    }
    let code = output.status.and_then(|status| status.code());
    if code == Some(0) {
        return serde_json::from_str(&output.stdout)
            .map_err(|error| ended(&format!("printed no trace ({error})")));
    }
    // Drivers, too, write to standard error; the program's own sentence is the last.
    let last = output.last_words();
    let sentence = last.and_then(|line| {
        let [error, interrupted] = ["error: ", "interrupted: "].map(|kind| line.strip_prefix(kind));
        error.or(interrupted)
    });
    let Some(sentence) = sentence else {
        let status = output.status.map(|status| status.to_string());
        return Err(ended(&format!(
            "ended with {}{}",
            status.unwrap_or_default(),
            last.map(|last| format!(" ({last})")).unwrap_or_default()
        )));
    };
    let error = anyhow!("{backend}: {sentence}");
    Err(match code {
        Some(2) => Failure::Input(error),
        Some(code) if code == i32::from(INTERRUPTED) => Failure::Interrupted(error),
        _ => Failure::Other(error),
    })
}
