//! The group of members that trains one encoder: processes that `mpirun` has started, or threads of this one.
//!
//! All members run the same command. The first one works in the folder that the user has named, and prints; the others work in
//! a temporary folder each, silently.

mod folders;
mod processes;
mod threads;

use std::cell::RefCell;
use std::sync::Arc;

use icl_core::{Alone, Group};

pub use folders::{OwnFolder, Place, remove_own_folders};
pub use processes::{join, leave, place_on_machine};
pub use threads::on_threads;

thread_local! {
    /// The member that this thread is, if it is one itself.
    static OF_THREAD: RefCell<Option<Arc<dyn Group>>> = const { RefCell::new(None) };
}

/// Returns the group of this thread or else of this process: itself alone unless it has joined one.
pub fn group() -> Arc<dyn Group> {
    let of_thread = OF_THREAD.with_borrow(Clone::clone);
    of_thread
        .or_else(processes::joined)
        .unwrap_or_else(|| Arc::new(Alone))
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
