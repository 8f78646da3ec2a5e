//! Commands that are stopped while they train, as somebody at the keyboard or the system would do it.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{Ran, command, split};

/// Longest time that a test waits.
const PATIENCE: Duration = Duration::from_secs(120);

/// Begins a command that works in the folder `out` of `at`, and waits until the file `name` is in its
/// `.checkpoint`.
#[track_caller]
pub fn begin(at: &Path, line: &str, out: &str, name: &str) -> Child {
    let mut child = command(at, &split(line))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let path = at.join(out).join(".checkpoint").join(name);
    let begun = Instant::now();
    while !path.exists() {
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
