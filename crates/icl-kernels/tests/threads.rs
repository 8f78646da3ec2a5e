//! Backward passes of several threads, of which each calls kernels that share the threads of a pool.

use std::sync::mpsc::channel;
use std::time::Duration;

use burn::backend::{Autodiff, Flex};
use burn::tensor::{Distribution, Tensor, TensorData};
use icl_kernels::image::dense_product;
use icl_kernels::{beside_kernels, host_values};

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

/// The graph of a second backward pass to the same leaves lacks them: only tensors of the forward pass refer to it.
#[test]
fn second_gradients_of_several_threads_are_those_of_one() {
    let expected = second_gradient();
    std::thread::scope(|scope| {
        for _ in 0..N_THREADS {
            scope.spawn(|| {
                for _ in 0..2000 {
                    assert_eq!(second_gradient(), expected);
                }
            });
        }
    });
}

fn second_gradient() -> Vec<f64> {
    let matrix = |n_rows, step: f32| {
        let numbers: Vec<f32> = (0..n_rows * 16)
            .map(|at| (at as f32 * step).sin())
            .collect();
        Tensor::<B, 2>::from_data(TensorData::new(numbers, [n_rows, 16]), &Default::default())
    };
    let (x, weight) = (matrix(8, 0.7), matrix(16, 0.3).require_grad());
    let gradient = || {
        let hidden = dense_product(x.clone(), weight.clone());
        let gradients = dense_product(hidden, weight.clone()).sum().backward();
        host_values(weight.grad(&gradients).unwrap())
    };
    gradient();
    gradient()
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
