//! Limits of the system that would end the program without a word.

/// Lets a write beyond a limit on the size of files fail with an error, which names the file, instead of a signal that ends the
/// process. To be called before other threads start, which inherit it.
#[cfg(unix)]
pub fn as_errors() {
    use nix::sys::signal::{SigSet, Signal};

    let mut signals = SigSet::empty();
    signals.add(Signal::SIGXFSZ);
    // Blocked instead of ignored, which is no safe call; one that waits forever does no harm.
    let _ = signals.thread_block();
}

/// Elsewhere there is no such signal.
#[cfg(not(unix))]
pub fn as_errors() {}
