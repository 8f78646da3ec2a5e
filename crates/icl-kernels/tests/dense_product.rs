//! The product of rows with a weight and its gradients, against plain loops in double precision and finite
//! differences.

use burn::backend::{Autodiff, Flex};
use burn::tensor::{DType, Tensor, backend::Backend};
use icl_kernels::image::dense_product;
use icl_kernels::internals::{dense_product_input_gradient, dense_product_weight_gradient};
use icl_kernels::testing::{
    ComposedBackend, TestAutodiff, TestBackend, assert_close, finite_difference, precisions, to_vec,
};

use crate::numbers::{draw, tensor};

/// Rows, columns and width of the products: single numbers, whole and broken tiles, one and several tasks.
const SHAPES: [[usize; 3]; 8] = [
    [1, 1, 1],
    [5, 3, 7],
    [1, 32, 16],
    [9, 16, 33],
    [37, 48, 50],
    [64, 36, 96],
    [130, 64, 65],
    [257, 128, 70],
];

#[test]
fn the_product_and_its_gradients_are_double_loops() {
    compare_with_loops::<TestBackend>();
    compare_with_loops::<ComposedBackend>();
}

fn compare_with_loops<B: Backend>() {
    for (seed, [n, d_input, d_output]) in (0..).zip(SHAPES) {
        let x = draw(n * d_input, 3 * seed);
        let weight = draw(d_input * d_output, 3 * seed + 1);
        let gradient = draw(n * d_output, 3 * seed + 2);
        let mut y = vec![0.0; gradient.len()];
        let (mut by_input, mut by_weight) = (vec![0.0; x.len()], vec![0.0; weight.len()]);
        for row in 0..n {
            for i in 0..d_input {
                for j in 0..d_output {
                    let at = [row * d_output + j, row * d_input + i, i * d_output + j];
                    y[at[0]] += x[at[1]] * weight[at[2]];
                    by_input[at[1]] += gradient[at[0]] * weight[at[2]];
                    by_weight[at[2]] += gradient[at[0]] * x[at[1]];
                }
            }
        }
        // Shown where it fails.
        eprintln!("{n} rows, {d_input} to {d_output}");
        // Sums of up to 257 products of at most 1 in single precision.
        for (dtype, tolerance) in precisions(2e-5, 1e-12) {
            let x = tensor::<B, 2>(&x, [n, d_input], dtype);
            let weight = tensor::<B, 2>(&weight, [d_input, d_output], dtype);
            let gradient = tensor::<B, 2>(&gradient, [n, d_output], dtype);
            let found = dense_product(x.clone(), weight.clone());
            assert_eq!(found.dims(), [n, d_output]);
            assert_close(&to_vec(&found), &y, tolerance);
            let found = dense_product_input_gradient(gradient.clone(), weight);
            assert_eq!(found.dims(), [n, d_input]);
            assert_close(&to_vec(&found), &by_input, tolerance);
            let found = dense_product_weight_gradient(x, gradient);
            assert_eq!(found.dims(), [d_input, d_output]);
            assert_close(&to_vec(&found), &by_weight, tolerance);
        }
    }
}

#[test]
fn operands_may_be_views() {
    let (x, weight) = (draw(6 * 8, 40), draw(5 * 20, 41));
    let x = tensor::<TestBackend, 2>(&x, [6, 8], DType::F32);
    let weight = tensor::<TestBackend, 2>(&weight, [5, 20], DType::F32);
    let (x, weight) = (x.narrow(0, 1, 4).narrow(1, 2, 5), weight.narrow(1, 3, 9));
    let found = dense_product(x.clone(), weight.clone());
    let turned = dense_product_input_gradient(x.clone(), weight.clone().transpose());
    let expected = to_vec(&x.matmul(weight));
    assert_close(&to_vec(&found), &expected, 1e-6);
    assert_close(&to_vec(&turned), &expected, 1e-6);
}

const N: usize = 3;
const D_INPUT: usize = 4;
const D_OUTPUT: usize = 2;

/// Σ (x·W)³, whose second derivatives are not constant.
fn cubes<B: Backend>(x: Tensor<B, 2>, weight: Tensor<B, 2>) -> Tensor<B, 1> {
    let y = dense_product(x, weight);
    (y.clone() * y.clone() * y).sum()
}

fn operands() -> [Vec<f64>; 2] {
    [draw(N * D_INPUT, 50), draw(D_INPUT * D_OUTPUT, 51)]
}

fn tensors<B: Backend>(operands: &[Vec<f64>; 2], dtype: DType) -> [Tensor<B, 2>; 2] {
    let [x, weight] = operands;
    [
        tensor(x, [N, D_INPUT], dtype),
        tensor(weight, [D_INPUT, D_OUTPUT], dtype),
    ]
}

/// The finite differences of `f` by each of two operands.
fn differences(f: impl Fn(&[Vec<f64>; 2]) -> f64, h: f64) -> [Vec<f64>; 2] {
    let [x, weight] = operands();
    [
        finite_difference(|x| f(&[x.to_vec(), weight.clone()]), &x, h),
        finite_difference(|weight| f(&[x.clone(), weight.to_vec()]), &weight, h),
    ]
}

#[test]
fn gradients_are_finite_differences() {
    let at = |operands: &[Vec<f64>; 2]| {
        let [x, weight] = tensors::<Flex>(operands, DType::F64);
        to_vec(&cubes(x, weight))[0]
    };
    let expected = differences(at, 1e-6);
    for (dtype, tolerance) in precisions(1e-4, 1e-6) {
        let operands = tensors::<TestAutodiff>(&operands(), dtype).map(Tensor::require_grad);
        let [x, weight] = operands.clone();
        let grads = cubes(x, weight).backward();
        for (operand, expected) in operands.iter().zip(&expected) {
            assert_close(&to_vec(&operand.grad(&grads).unwrap()), expected, tolerance);
        }
    }
}

/// The sum of the squared gradients of [`cubes`].
fn squared_gradients<B: Backend>(
    operands: [Tensor<Autodiff<Autodiff<B>>, 2>; 2],
) -> Tensor<Autodiff<B>, 1> {
    let [x, weight] = operands.clone();
    let grads = cubes(x, weight).backward();
    let [by_x, by_weight] = operands.map(|x| x.grad(&grads).unwrap().powi_scalar(2).sum());
    by_x + by_weight
}

/// The gradient of a squared gradient, against finite differences of the first gradient on the backend that
/// has double precision.
#[test]
fn it_can_be_differentiated_twice() {
    let at = |operands: &[Vec<f64>; 2]| {
        let operands = tensors(operands, DType::F64).map(Tensor::require_grad);
        to_vec(&squared_gradients::<Flex>(operands).inner())[0]
    };
    let expected = differences(at, 1e-5);
    for (dtype, tolerance) in precisions(2e-3, 1e-5) {
        let inner = tensors::<TestAutodiff>(&operands(), dtype).map(Tensor::require_grad);
        let outer = inner
            .clone()
            .map(|inner| Tensor::from_inner(inner).require_grad());
        let grads = squared_gradients::<TestBackend>(outer).backward();
        for (operand, expected) in inner.iter().zip(&expected) {
            assert_close(&to_vec(&operand.grad(&grads).unwrap()), expected, tolerance);
        }
    }
}

#[test]
fn only_what_is_asked_for_gets_a_gradient() {
    let [x, weight] = tensors::<TestAutodiff>(&operands(), DType::F32);
    let weight = weight.require_grad();
    let grads = cubes(x.clone(), weight.clone()).backward();
    assert!(x.grad(&grads).is_none() && weight.grad(&grads).is_some());
}

#[test]
fn threads_do_not_change_a_bit() {
    let [n, d_input, d_output] = SHAPES[7];
    let bits = |n_threads| -> Vec<u64> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(n_threads)
            .build()
            .unwrap();
        let found = pool.install(|| {
            let x = tensor::<TestBackend, 2>(&draw(n * d_input, 60), [n, d_input], DType::F32);
            let shape = [d_input, d_output];
            let weight = tensor::<TestBackend, 2>(&draw(d_input * d_output, 61), shape, DType::F32);
            let y = dense_product(x.clone(), weight.clone());
            [
                dense_product_input_gradient(y.clone(), weight),
                dense_product_weight_gradient(x, y.clone()),
                y,
            ]
        });
        found.iter().flat_map(to_vec).map(f64::to_bits).collect()
    };
    let one = bits(1);
    assert!(one == bits(2) && one == bits(4));
}
