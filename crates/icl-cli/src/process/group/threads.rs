//! Members that are threads of this process, one a device.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{Builder, scope};

use icl_core::{GroupError, Threads};
use icl_train::{StreamError, TrainError};

use crate::process::failure::Failure;
use crate::process::group::OF_THREAD;
use crate::process::threads::{STACK, refused};

/// Runs the task of each member of a group on a thread, and returns the result of the first member. A member whose task has ended
/// leaves the group.
///
/// # Errors
/// If a task fails: the failure of the first such member, but not one that follows from another's.
pub fn on_threads<T: Send>(
    tasks: impl IntoIterator<Item = impl FnOnce() -> Result<T, Failure> + Send>,
) -> Result<T, Failure> {
    let tasks: Vec<_> = tasks.into_iter().collect();
    let members = Threads::group(tasks.len());
    let outcomes: Vec<_> = scope(|scope| {
        let threads: Vec<_> = members
            .into_iter()
            .zip(tasks)
            .map(|(member, task)| {
                let as_member = || {
                    OF_THREAD.set(Some(Arc::new(member)));
                    let outcome = task();
                    OF_THREAD.set(None);
                    outcome
                };
                Builder::new()
                    .stack_size(STACK)
                    .spawn_scoped(scope, as_member)
            })
            .collect();
        // A member without a thread has left, so that the others end.
        let outcome = |thread: std::io::Result<std::thread::ScopedJoinHandle<'_, _>>| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(error) => Err(refused(&error)),
        };
        threads.into_iter().map(outcome).collect()
    });
    let mut results = Vec::new();
    let mut failures = Vec::new();
    for outcome in outcomes {
        match outcome {
            Ok(result) => results.push(result),
            Err(failure) => failures.push(failure),
        }
    }
    let cause = failures.iter().position(|failure| !is_of_another(failure));
    match failures.is_empty() {
        true => Ok(results.swap_remove(0)),
        false => Err(failures.swap_remove(cause.unwrap_or(0))),
    }
}

/// Returns whether a member has failed because another one has left.
fn is_of_another(failure: &Failure) -> bool {
    failure.causes().any(|cause| {
        let of_group = match (cause.downcast_ref(), cause.downcast_ref()) {
            (Some(TrainError::Group(error)), _) | (_, Some(StreamError::Group(error))) => {
                Some(error)
            }
            _ => cause.downcast_ref(),
        };
        matches!(of_group, Some(GroupError::Left { .. }))
    })
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;
    use crate::process::group::{group, is_silent};

    /// Runs members of which the last one may fail before an operation of all.
    fn ranks(size: usize, fails: bool) -> Result<usize, Failure> {
        on_threads((0..size).map(|rank| {
            move || {
                let group = group();
                assert_eq!((group.rank(), group.size()), (rank, size));
                assert_eq!(is_silent(), rank > 0);
                if fails && rank + 1 == size {
                    return Err(Failure::input(anyhow!("wrong")));
                }
                let mut sum = [group.rank() as f64];
                let summed = group.sum_f64(&mut sum).map_err(TrainError::Group);
                summed.map_err(|error| Failure::training(error).continued_by("go on"))?;
                Ok(10 * rank + sum[0] as usize)
            }
        }))
    }

    #[test]
    fn the_first_member_gives_the_result() {
        assert_eq!(ranks(1, false).unwrap(), 0);
        assert_eq!(ranks(3, false).unwrap(), 3);
        assert_eq!(group().size(), 1);
    }

    #[test]
    fn the_failure_is_that_of_the_member_that_has_it() {
        let failure = ranks(3, true).unwrap_err();
        assert_eq!(
            (failure.to_string().as_str(), failure.exit_code()),
            ("wrong", 2)
        );
    }

    #[test]
    #[should_panic(expected = "of one member")]
    fn a_panic_of_a_member_ends_all() {
        let _ = on_threads((0..2).map(|rank| {
            move || match rank {
                0 => Ok(group().any(false).map_err(TrainError::Group)?),
                _ => panic!("of one member"),
            }
        }));
    }
}
