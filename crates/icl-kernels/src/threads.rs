//! The threads on which kernels of the CPU share their work.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use burn::tensor::backend::Backend;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::backends::is_host_memory;

/// The pool of sequences, with as many threads as rayon's global pool. None if the system refused the threads.
///
/// A thread of a pool takes up other work of its pool while it waits. In the global pool it could begin a backward pass
/// while it computes a part of a kernel for another one. Burn locks a graph during its backward pass and looks into all
/// graphs after each: the second pass would wait for the first, and the first for the thread that it occupies.
static POOL: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
    let threads = ThreadPoolBuilder::new().num_threads(rayon::current_num_threads());
    threads.stack_size(STACK).build().ok()
});

/// Stack of a thread in bytes: that of a main thread, whose work the others take up.
const STACK: usize = 8 << 20;

/// Whether a sequence of kernels runs in the pool.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// Runs a sequence of kernels, such as a training step, on a thread of a pool on which its kernels share their work.
/// The pool has as many threads as rayon's global pool. The sequence runs on the calling thread if tensors are not in
/// the memory of this process, if there is one thread, if the calling thread belongs to a pool, or if the pool already
/// runs a sequence.
///
/// A thread outside of a pool sleeps while the pool works for it and is woken after each kernel, which takes longer
/// than a small kernel itself: a training step of a graph network on 32 graphs switched threads 180 times. A thread of
/// the pool does its part of each kernel, and only others are woken.
///
/// Two trainers must not train on threads of rayon's global pool. One of them could begin a backward pass within a
/// kernel of the other, and neither would end.
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
    match pool::<B>().and_then(|pool| Some((Turn::take()?, pool))) {
        Some((_turn, pool)) => pool.install(work),
        None => work(),
    }
}

/// Runs work that threads share, such as making the views of the next step, in the pool of [`beside_kernels`]: threads
/// of another pool would compete with those of the kernels for the cores. It runs on the calling thread in the same
/// cases, but for the last one: the pool may be running a sequence.
///
/// The work must contain no backward pass.
pub fn in_pool_of_kernels<B: Backend, T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match pool::<B>() {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// Returns the pool, if it is of use to the calling thread.
fn pool<B: Backend>() -> Option<&'static ThreadPool> {
    let is_outside = rayon::current_thread_index().is_none();
    let is_of_use = is_outside && rayon::current_num_threads() > 1 && is_host_memory::<B>();
    is_of_use.then(|| POOL.as_ref()).flatten()
}

/// The right to run in the pool, until it is dropped.
struct Turn;

impl Turn {
    /// Takes the turn if nobody has it.
    fn take() -> Option<Self> {
        if IS_TAKEN.swap(true, Ordering::Acquire) {
            // No turn is made here: dropped, it would end the turn of another.
            return None;
        }
        Some(Self)
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
        beside_kernels::<B, _>(is_in_pool)
    }

    fn is_in_pool() -> bool {
        rayon::current_thread_index().is_some()
    }

    /// One test, since no other may have the turn.
    #[test]
    fn one_sequence_at_a_time_is_in_the_pool() {
        let has_threads = rayon::current_num_threads() > 1;
        assert_eq!(is_inside::<Autodiff<Flex>>(), has_threads);
        assert!(!is_inside::<Autodiff<Autodiff<Flex>>>());
        let others = beside_kernels::<Flex, _>(|| {
            let within = is_inside::<Flex>();
            // More than one attempt: one that fails must leave the turn with who has it.
            let outside = [(); 2].map(|()| std::thread::spawn(is_inside::<Flex>).join().unwrap());
            let shared = std::thread::spawn(|| in_pool_of_kernels::<Flex, _>(is_in_pool)).join();
            (within, outside, shared.unwrap())
        });
        assert_eq!(others, (has_threads, [false; 2], has_threads));
        let panicked = std::panic::catch_unwind(|| {
            beside_kernels::<Flex, ()>(|| panic!("of the work"));
        });
        assert!(panicked.is_err());
        assert_eq!(is_inside::<Flex>(), has_threads, "the turn was given back");
    }
}
