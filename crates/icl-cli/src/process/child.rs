//! Processes of this program that it starts itself.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio, exit};
use std::thread;
use std::time::{Duration, Instant};

use crate::process::failure::INTERRUPTED;
use crate::process::group::remove_own_folders;
use crate::process::interrupt;

/// Time between two checks whether the process has ended, or is to end.
const PAUSE: Duration = Duration::from_millis(10);

/// Variable that tells a process that its standard input ends with the process that has started it.
const LIFELINE: &str = "ICL_LIFELINE";

/// Lets this process end when the one that has started it by [`run`] has ended, however that was. Else it would
/// continue to run, and its folder would stay locked.
pub fn end_with_parent() {
    if std::env::var_os(LIFELINE).is_none() {
        return;
    }
    let wait = || {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        remove_own_folders();
        // At once: the state is that of the last checkpoint, as after a kill.
        exit(INTERRUPTED.into());
    };
    // Without a thread the process ends with its work.
    let _ = thread::Builder::new().spawn(wait);
}

/// Reaction of a process to an interruption of this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnInterrupt {
    /// The process gets one signal to end, and this program waits for it, so that it saves its state.
    ///
    /// The process has a process group of its own: Ctrl-C on a terminal reaches this program alone,
    /// which passes on one signal. A second one would end the process at once, without its state
    /// saved.
    Ask,
    /// The process is ended at once.
    End,
}

/// End of a process, with its output.
#[derive(Debug)]
pub struct Ended {
    /// Status; `None` for a process that took too long and was ended.
    pub status: Option<ExitStatus>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Ended {
    /// Returns the last line that it wrote to standard error and that is not blank.
    pub fn last_words(&self) -> Option<&str> {
        let mut lines = self.stderr.lines().rev();
        lines.find(|line| !line.trim().is_empty())
    }
}

/// Returns the command that starts this program with these arguments.
///
/// # Errors
/// If the program cannot be found.
pub fn this_program(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(arguments);
    Ok(command)
}

/// Runs a command to its end, or until it has taken longer than `limit`.
///
/// # Errors
/// If it cannot be started, ended or waited for.
pub fn run(
    command: &mut Command,
    on_interrupt: OnInterrupt,
    limit: Option<Duration>,
) -> io::Result<Ended> {
    #[cfg(unix)]
    if on_interrupt == OnInterrupt::Ask {
        std::os::unix::process::CommandExt::process_group(command, 0);
    }
    let mut child = command
        .env(LIFELINE, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    // Closed by the system if this process ends before the other one.
    let _lifeline = child.stdin.take();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        let readers = thread::Builder::new()
            .spawn_scoped(scope, || read(stdout))
            .and_then(|stdout| {
                let stderr = thread::Builder::new().spawn_scoped(scope, || read(stderr))?;
                Ok([stdout, stderr])
            });
        let readers = match readers {
            Ok(readers) => readers,
            Err(error) => {
                child.kill()?;
                child.wait()?;
                return Err(error);
            }
        };
        let status = wait(&mut child, on_interrupt, limit)?;
        let [stdout, stderr] = readers.map(|reader| reader.join().unwrap_or_default());
        Ok(Ended {
            status,
            stdout,
            stderr,
        })
    })
}

/// Waits for the process; `None` if it took too long.
fn wait(
    child: &mut Child,
    on_interrupt: OnInterrupt,
    limit: Option<Duration>,
) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    let mut is_asked = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if limit.is_some_and(|limit| start.elapsed() > limit) {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        if interrupt::requested() {
            match on_interrupt {
                OnInterrupt::Ask if is_asked => (),
                OnInterrupt::Ask => ask_to_end(child),
                OnInterrupt::End => child.kill()?,
            }
            is_asked = true;
        }
        // The standard library has no wait that a limit or an interruption ends.
        thread::sleep(PAUSE);
    }
}

/// Reads to the end; what cannot be read any more is missing.
fn read(pipe: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        let _ = pipe.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(unix)]
fn ask_to_end(child: &Child) {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    if let Ok(id) = i32::try_from(child.id()) {
        // A process that has ended in the meantime needs no signal.
        let _ = kill(Pid::from_raw(id), Signal::SIGINT);
    }
}

/// Elsewhere processes share the console, and its signals.
#[cfg(not(unix))]
fn ask_to_end(_: &Child) {}
