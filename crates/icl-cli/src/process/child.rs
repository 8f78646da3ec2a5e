//! A process that is asked to end when this one is.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::process::interrupt;

/// How often it is looked whether somebody has asked for an end.
const PAUSE: Duration = Duration::from_millis(50);

/// Runs a command to its end: how it ended, and what it wrote to standard error.
///
/// It has a process group of its own, so that Ctrl-C on a terminal reaches this program alone; which
/// then passes on one signal, wherever it came from. A second one would end the process at once,
/// without its state saved.
///
/// # Errors
/// If it cannot be started or waited for.
pub fn run(command: &mut Command) -> std::io::Result<(ExitStatus, String)> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = command.stderr(Stdio::piped()).spawn()?;
    let stderr = child.stderr.take();
    std::thread::scope(|scope| {
        let written = scope.spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut stderr) = stderr {
                // What cannot be read cannot be shown; how the process ends says enough then.
                let _ = stderr.read_to_end(&mut bytes);
            }
            String::from_utf8_lossy(&bytes).into_owned()
        });
        let mut is_told = false;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if interrupt::requested() && !is_told {
                is_told = true;
                ask_to_end(&child);
            }
            std::thread::sleep(PAUSE);
        };
        Ok((status, written.join().unwrap_or_default()))
    })
}

#[cfg(unix)]
fn ask_to_end(child: &Child) {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    if let Ok(id) = i32::try_from(child.id()) {
        // One that has ended in the meantime needs no signal.
        let _ = kill(Pid::from_raw(id), Signal::SIGINT);
    }
}

/// Elsewhere processes share the console, and its signals.
#[cfg(not(unix))]
fn ask_to_end(_: &Child) {}
