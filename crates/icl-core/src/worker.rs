//! The threads on which kernels of the CPU share their work.

use burn::tensor::backend::Backend;

use crate::is_host_memory;

/// Runs a sequence of kernels, such as a training step, on one of the threads on which kernels share their work: those of
/// rayon's global pool. Tensors that do not lie in the memory of this process leave it to the thread that calls.
///
/// A thread outside of the pool sleeps while the pool works for it and is woken after each kernel, which takes longer than a small
/// kernel itself: a training step of a graph network on 32 graphs switched threads 180 times. A thread of the pool does its part
/// of each kernel, and only others are woken.
///
/// `work` must not wait for what another thread does in the pool: with two threads it holds one of them.
///
/// ```
/// use burn::backend::Flex;
/// use burn::tensor::Tensor;
/// use icl_core::beside_kernels;
///
/// let device = Default::default();
/// let sum = beside_kernels::<Flex, _>(&device, || Tensor::<Flex, 2>::ones([2, 3], &device).sum().into_scalar());
/// assert_eq!(sum, 6.0);
/// ```
pub fn beside_kernels<B: Backend, T: Send>(
    device: &B::Device,
    work: impl FnOnce() -> T + Send,
) -> T {
    let is_outside = rayon::current_thread_index().is_none();
    match is_outside && rayon::current_num_threads() > 1 && is_host_memory::<B>(device) {
        true => rayon::scope(|_| work()),
        false => work(),
    }
}
