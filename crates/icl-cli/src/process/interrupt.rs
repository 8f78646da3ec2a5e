//! Ctrl-C: the first one is confirmed and ends the program at the next step, the second ends it at once.

use std::io::{self, Read};
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::anyhow;

use crate::process::failure::{Failure, INTERRUPTED};
use crate::process::group::remove_own_folders;
use crate::process::terminal::tell;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Watches for the signals to interrupt and to terminate from now on, if nobody in this process does yet.
///
/// # Errors
/// If the system refuses.
pub fn watch() -> Result<(), Failure> {
    let watched = ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            remove_own_folders();
            exit(INTERRUPTED.into());
        }
        tell("finishing this step; Ctrl-C again quits now");
    });
    match watched {
        Ok(()) | Err(ctrlc::Error::MultipleHandlers) => Ok(()),
        Err(error) => Err(Failure::Other(anyhow!(
            "signals cannot be watched: {error}"
        ))),
    }
}

/// Whether there was such a signal.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// Reader that ends with an error once an interruption is requested.
pub struct Interruptible<R>(pub R);

impl<R: Read> Read for Interruptible<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if requested() {
            return Err(io::Error::other("stopped"));
        }
        self.0.read(buffer)
    }
}
