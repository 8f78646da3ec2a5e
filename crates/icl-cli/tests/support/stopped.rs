//! Commands that are stopped while they train, as somebody at the keyboard or the system would do it.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{Ran, command, split, work};

/// Longest time that a test waits.
const PATIENCE: Duration = Duration::from_secs(120);

/// Time that a command takes which is stopped at a checkpoint. The first one is written after a second, and other tests may run
/// next to this command or not.
const LONG: Duration = Duration::from_secs(6);

/// Runs a command that writes the folder `whole` with more and more epochs, until it takes some seconds on this machine, and
/// returns their number.
#[track_caller]
pub fn epochs_of_some_seconds(whole: &Path, run: impl Fn(usize) -> Ran) -> usize {
    let mut n_epochs = 1000;
    loop {
        let begun = Instant::now();
        run(n_epochs).succeeded();
        let took = begun.elapsed();
        if took >= LONG {
            return n_epochs;
        }
        fs::remove_dir_all(whole).unwrap();
        let factor = 1.2 * LONG.as_secs_f64() / took.as_secs_f64();
        n_epochs = (n_epochs as f64 * factor.clamp(1.2, 10.0)).ceil() as usize;
    }
}

/// Begins a command that writes the folder `out` of `at`, and waits until the file `name` is in the folder of its work.
#[track_caller]
pub fn begin(at: &Path, line: &str, out: &str, name: &str) -> Child {
    let mut child = command(at, &split(line))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while !work(&at.join(out)).join(name).exists() {
        let status = child.try_wait().unwrap();
        assert_eq!(status, None, "{line} ended before there was {name}");
        assert!(begun.elapsed() < PATIENCE, "{line} never wrote {name}");
        sleep(Duration::from_millis(2));
    }
    child
}

/// Interrupts it as Ctrl-C does; what it did then.
pub fn interrupt(child: Child) -> Ran {
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Ends it as nothing can be ended more abruptly.
pub fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}
