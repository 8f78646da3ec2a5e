//! Limits of the system that would end the program without a word, or by a signal.

#[cfg(unix)]
use std::sync::Arc;
#[cfg(unix)]
use std::sync::atomic::AtomicBool;

/// Lets a write beyond a limit on the size of files fail with an error, which names the file, instead of a signal that ends the
/// process, and a lack of memory with exit code 1. To be called before other threads start, which inherit it.
#[cfg(unix)]
pub fn as_errors() {
    use nix::sys::signal::{SigSet, Signal};
    use signal_hook::consts::SIGABRT;
    use signal_hook::flag::register_conditional_shutdown;

    let mut signals = SigSet::empty();
    signals.add(Signal::SIGXFSZ);
    // Blocked instead of ignored, which is no safe call; one that waits forever does no harm.
    let _ = signals.thread_block();
    // Where an allocation fails, the standard library says so in one sentence and aborts; nothing in safe Rust comes
    // between.
    let _ = register_conditional_shutdown(SIGABRT, 1, Arc::new(AtomicBool::new(true)));
}

/// Elsewhere there is no such signal.
#[cfg(not(unix))]
pub fn as_errors() {}
