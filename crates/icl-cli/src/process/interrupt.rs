//! Ctrl-C: the first asks for an end at the next step, the second ends at once.

use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::anyhow;

use crate::process::failure::Failure;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// The exit code of a program that was interrupted.
pub const EXIT_CODE: u8 = 130;

/// From now on signals to interrupt or to terminate are noted.
///
/// # Errors
/// If the system refuses.
pub fn watch() -> Result<(), Failure> {
    ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            exit(EXIT_CODE.into());
        }
    })
    .map_err(|error| Failure::Other(anyhow!("signals cannot be watched: {error}")))
}

/// Whether there was such a signal.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
