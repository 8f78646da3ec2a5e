//! Threads, which a system may refuse: a limit on processes or on memory.

use anyhow::anyhow;

use crate::process::failure::Failure;

/// Stack of a thread in bytes: that of a main thread, whose work the others take up.
const STACK: usize = 8 << 20;

/// Starts the threads on which the program computes, one for each core or as many as `RAYON_NUM_THREADS` says. They
/// would start at their first use, and a refusal would be a panic there.
///
/// # Errors
/// If the system refuses them.
pub fn start() -> Result<(), Failure> {
    rayon::ThreadPoolBuilder::new()
        .stack_size(STACK)
        .build_global()
        .map_err(|error| {
            Failure::Other(anyhow!(
                "the threads to compute on cannot be started: {error}"
            ))
        })
}
