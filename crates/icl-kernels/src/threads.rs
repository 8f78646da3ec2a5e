//! The threads on which kernels of the CPU share their work.

use std::sync::atomic::{AtomicBool, Ordering};

use burn::tensor::backend::Backend;

use crate::backends::is_host_memory;

/// Whether a sequence of kernels runs in the pool.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// Runs a sequence of kernels, such as a training step, on a thread of rayon's global pool, on which kernels share their
/// work. It runs on the calling thread if tensors are not in the memory of this process, if the pool
/// has one thread, or if the pool already runs such a sequence.
///
/// A thread outside of the pool sleeps while the pool works for it and is woken after each kernel, which takes longer
/// than a small kernel itself: a training step of a graph network on 32 graphs switched threads 180 times. A thread of
/// the pool does its part of each kernel, and only others are woken.
///
/// There is one sequence at a time because a thread of the pool takes up other work of the pool while it waits for
/// others. That must not be a whole step: a backward pass locks its graph, and after it Burn looks into the graphs of
/// all threads.
///
/// `work` must not wait for work that another thread does in the pool: with two threads it occupies one of them. If a
/// thread of the pool calls this function, `work` runs on the current thread and does not count as the sequence of the
/// pool: two trainers must not train on threads of rayon's global pool.
///
/// ```
/// use burn::backend::Flex;
/// use burn::tensor::Tensor;
/// use icl_kernels::beside_kernels;
///
/// let sum = beside_kernels::<Flex, _>(|| {
///     Tensor::<Flex, 2>::ones([2, 3], &Default::default()).sum().into_scalar()
/// });
/// assert_eq!(sum, 6.0);
/// ```
pub fn beside_kernels<B: Backend, T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let is_outside = rayon::current_thread_index().is_none();
    let is_of_use = is_outside && rayon::current_num_threads() > 1 && is_host_memory::<B>();
    // `rayon::scope` called from outside moves the closure to a thread of the pool.
    match is_of_use.then(Turn::take).flatten() {
        Some(_turn) => rayon::scope(|_| work()),
        None => work(),
    }
}

/// The right to run in the pool, until it is dropped.
struct Turn;

impl Turn {
    /// Takes the turn if nobody has it.
    fn take() -> Option<Self> {
        let is_taken = IS_TAKEN.swap(true, Ordering::Acquire);
        (!is_taken).then_some(Self)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        IS_TAKEN.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::backend::{Autodiff, Flex};

    /// Returns whether work runs in the pool.
    fn is_inside<B: Backend>() -> bool {
        beside_kernels::<B, _>(|| rayon::current_thread_index().is_some())
    }

    /// One test, since no other may have the turn.
    #[test]
    fn one_sequence_at_a_time_is_in_the_pool() {
        let has_threads = rayon::current_num_threads() > 1;
        assert_eq!(is_inside::<Autodiff<Flex>>(), has_threads);
        assert!(!is_inside::<Autodiff<Autodiff<Flex>>>());
        let others = beside_kernels::<Flex, _>(|| {
            let within = is_inside::<Flex>();
            let outside = std::thread::spawn(is_inside::<Flex>).join();
            [within, outside.unwrap()]
        });
        assert_eq!(others, [has_threads, false]);
        let panicked = std::panic::catch_unwind(|| {
            beside_kernels::<Flex, ()>(|| panic!("of the work"));
        });
        assert!(panicked.is_err());
        assert_eq!(is_inside::<Flex>(), has_threads, "the turn was given back");
    }
}
