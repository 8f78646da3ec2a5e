//! The group of processes that trains one encoder, which `mpirun` has started.
//!
//! All members run the same command. The first one works in the folder that the user has named, and prints; the others work in
//! a temporary folder each, silently.

mod folders;
mod processes;

use std::sync::Arc;

use icl_core::{Alone, Group};

pub use folders::{Place, remove_own_folders};
pub use processes::{join, leave, place_on_machine};

/// Returns the group of this process: itself alone unless it has joined one.
pub fn group() -> Arc<dyn Group> {
    processes::joined().unwrap_or_else(|| Arc::new(Alone))
}

/// Returns whether this member leaves printing and the user's folder to another one.
pub fn is_silent() -> bool {
    group().rank() > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_alone_until_it_joins() {
        assert_eq!((group().size(), is_silent()), (1, false));
    }
}
