//! Backward passes of several threads, of which each calls kernels that share the threads of a pool.

use std::sync::mpsc::channel;
use std::time::Duration;

use burn::backend::{Autodiff, Flex};
use burn::tensor::{Distribution, Tensor};
use icl_kernels::beside_kernels;
use icl_kernels::image::dense_product;

type B = Autodiff<Flex>;

const N_THREADS: usize = 4;

/// Burn locks a graph during its backward pass, and after each pass looks into the graphs of all threads: a pass that
/// waits for a thread which another pass occupies would never end.
#[test]
fn backward_passes_of_several_threads_end() {
    let (sender, ended) = channel();
    for _ in 0..N_THREADS {
        let sender = sender.clone();
        // Not scoped: threads that wait for each other must not keep the test from failing.
        std::thread::spawn(move || {
            for _ in 0..300 {
                beside_kernels::<B, _>(backward);
            }
            sender.send(()).unwrap();
        });
    }
    for _ in 0..N_THREADS {
        let end = ended.recv_timeout(Duration::from_secs(60));
        assert!(end.is_ok(), "the threads wait for each other");
    }
}

fn backward() {
    let random = |shape| Tensor::<B, 2>::random(shape, Distribution::Default, &Default::default());
    let weight = random([16, 16]).require_grad();
    let product = dense_product(
        dense_product(random([256, 16]), weight.clone()),
        weight.clone(),
    );
    let gradients = product.sum().backward();
    assert!(weight.grad(&gradients).is_some());
}
