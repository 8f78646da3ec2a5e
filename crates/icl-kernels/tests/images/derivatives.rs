//! Gradients of all operators on images together, once and twice, and their independence of threads.

use burn::backend::{Autodiff, Flex};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{DType, Tensor};
use icl_kernels::image::{Window, batch_norm, convolution, max_pool, scale_shift};
use icl_kernels::testing::{
    ComposedBackend, TestAutodiff, TestBackend, assert_close, finite_difference, precisions, to_vec,
};

use super::batch_norm::EPSILON;
use crate::numbers::{assert_near, draw, tensor};

const SMALL: Window = Window {
    size: 3,
    stride: 2,
    padding: 1,
};

/// Weight, γ and β of [`block`].
fn parameters<B: Backend>(dtype: DType) -> (Tensor<B, 4>, [Tensor<B, 1>; 2]) {
    let weight = tensor(&draw(4 * 2 * 9, 21), [4, 2, 3, 3], dtype);
    let affine = [22, 23].map(|seed| tensor(&draw(4, seed), [4], dtype));
    (weight, affine)
}

/// A loss of everything there is: `x` `[2, 5, 4, 2]`, a weight, γ and β.
fn block<B: Backend>(
    x: Tensor<B, 4>,
    weight: Tensor<B, 4>,
    affine: [Tensor<B, 1>; 2],
) -> Tensor<B, 1> {
    let dtype = x.dtype();
    let y = convolution(x, weight, SMALL);
    let added = tensor(&draw(2 * 3 * 2 * 4, 24), [2, 3, 2, 4], dtype);
    let y = batch_norm(y, affine, Some(added), EPSILON, true);
    let y = max_pool(
        y,
        Window {
            size: 2,
            stride: 1,
            padding: 0,
        },
    );
    (y.powi_scalar(2) * tensor(&draw(2 * 2 * 4, 25), [2, 2, 1, 4], dtype)).sum()
}

#[test]
fn gradients_are_finite_differences() {
    compare_with_differences::<TestAutodiff>();
    compare_with_differences::<ComposedBackend>();
}

fn compare_with_differences<A: AutodiffBackend>() {
    let x = draw(2 * 5 * 4 * 2, 20);
    let at = |x: &[f64]| {
        let (weight, affine) = parameters::<Flex>(DType::F64);
        to_vec(&block(tensor(x, [2, 5, 4, 2], DType::F64), weight, affine))[0]
    };
    let expected = finite_difference(at, &x, 1e-6);
    assert!(expected.iter().any(|g| g.abs() > 1e-2));
    for (dtype, tolerance) in precisions(1e-4, 1e-6) {
        let operand = tensor::<A, 4>(&x, [2, 5, 4, 2], dtype).require_grad();
        let (weight, affine) = parameters(dtype);
        let grads = block(operand.clone(), weight, affine).backward();
        assert_close(
            &to_vec(&operand.grad(&grads).unwrap()),
            &expected,
            tolerance,
        );
    }
}

/// The squared gradients of [`block`] by the input, the weight and γ.
fn squared_gradients<B: Backend>(
    x: Tensor<Autodiff<Autodiff<B>>, 4>,
    weight: Tensor<Autodiff<Autodiff<B>>, 4>,
) -> Tensor<Autodiff<B>, 1> {
    let (_, affine) = parameters::<Autodiff<Autodiff<B>>>(x.dtype());
    let affine = affine.map(Tensor::require_grad);
    let grads = block(x.clone(), weight.clone(), affine.clone()).backward();
    x.grad(&grads).unwrap().powi_scalar(2).sum()
        + weight.grad(&grads).unwrap().powi_scalar(2).sum()
        + affine[0].grad(&grads).unwrap().powi_scalar(2).sum()
}

/// The gradient of a squared gradient, through `Autodiff<Autodiff<B>>`, against finite differences
/// of the first gradient, which are taken on the backend that has double precision.
#[test]
fn all_operators_are_twice_differentiable() {
    let shape = [2, 5, 4, 2];
    let x = draw(2 * 5 * 4 * 2, 30);
    let weight_values = to_vec(&parameters::<Flex>(DType::F64).0);
    let at = |x: &[f64], weight: &[f64]| {
        let x = tensor::<_, 4>(x, shape, DType::F64).require_grad();
        let weight = tensor::<_, 4>(weight, [4, 2, 3, 3], DType::F64).require_grad();
        to_vec(&squared_gradients::<Flex>(x, weight).inner())[0]
    };
    let by_x = finite_difference(|x| at(x, &weight_values), &x, 1e-5);
    let by_weight = finite_difference(|weight| at(&x, weight), &weight_values, 1e-5);
    for (dtype, tolerance) in precisions(1e-3, 1e-5) {
        let inner_x = tensor::<TestAutodiff, 4>(&x, shape, dtype).require_grad();
        let inner_weight =
            tensor::<TestAutodiff, 4>(&weight_values, [4, 2, 3, 3], dtype).require_grad();
        let outer =
            |inner: &Tensor<TestAutodiff, 4>| Tensor::from_inner(inner.clone()).require_grad();
        let squared = squared_gradients::<TestBackend>(outer(&inner_x), outer(&inner_weight));
        let grads = squared.backward();
        assert_near(&to_vec(&inner_x.grad(&grads).unwrap()), &by_x, tolerance);
        assert_near(
            &to_vec(&inner_weight.grad(&grads).unwrap()),
            &by_weight,
            tolerance,
        );
    }
}

#[test]
fn only_what_is_asked_for_gets_a_gradient() {
    let x = tensor::<TestAutodiff, 4>(&draw(80, 40), [2, 5, 4, 2], DType::F32);
    let (weight, affine) = parameters::<TestAutodiff>(DType::F32);
    let weight = weight.require_grad();
    let grads = block(x.clone(), weight.clone(), affine.clone()).backward();
    assert!(x.grad(&grads).is_none() && affine[0].grad(&grads).is_none());
    assert!(weight.grad(&grads).is_some());
}

/// Every number that comes of every kernel.
fn everything() -> Vec<f64> {
    type A = TestAutodiff;
    let mut numbers = Vec::new();
    let geometries = [
        ([5, 32, 31, 3], [48, 7, 2, 3]),
        ([12, 9, 9, 48], [64, 3, 1, 1]),
    ];
    for (shape, [c_out, size, stride, padding]) in geometries {
        let window = Window {
            size,
            stride,
            padding,
        };
        let draw = |shape: &[usize], seed| draw(shape.iter().product(), seed);
        let x = tensor::<A, 4>(&draw(&shape, 50), shape, DType::F32).require_grad();
        let weight = [c_out, shape[3], size, size];
        let weight = tensor::<A, 4>(&draw(&weight, 51), weight, DType::F32).require_grad();
        let affine = [52, 53]
            .map(|s| tensor::<A, 1>(&draw(&[c_out], s), [c_out], DType::F32).require_grad());
        let y = convolution(x.clone(), weight.clone(), window);
        let y = batch_norm(y.clone(), affine.clone(), Some(y), EPSILON, true);
        let y = max_pool(y, SMALL);
        let weights = tensor(&draw(&y.dims(), 54), y.dims(), DType::F32);
        let grads = (y.clone() * weights).sum().backward();
        let scaled = scale_shift::<TestBackend>(
            y.clone().inner(),
            affine[0].clone().inner(),
            affine[1].clone().inner(),
            None,
            true,
        );
        numbers.extend(to_vec(&y));
        numbers.extend(to_vec(&scaled));
        numbers.extend(to_vec(&x.grad(&grads).unwrap()));
        numbers.extend(to_vec(&weight.grad(&grads).unwrap()));
        for parameter in &affine {
            numbers.extend(to_vec(&parameter.grad(&grads).unwrap()));
        }
    }
    numbers
}

#[test]
fn threads_do_not_change_a_bit() {
    let bits = |n_threads| -> Vec<u64> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(n_threads)
            .build()
            .unwrap();
        pool.install(everything)
            .into_iter()
            .map(f64::to_bits)
            .collect()
    };
    let one = bits(1);
    assert!(one == bits(2) && one == bits(4));
}
