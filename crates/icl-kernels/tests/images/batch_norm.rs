//! Batch normalisation, scale and shift against plain loops in double precision.

use std::any::TypeId;

use burn::backend::Flex;
use burn::tensor::DType;
use burn::tensor::backend::AutodiffBackend;
use icl_kernels::image::{batch_norm, scale_shift};
use icl_kernels::testing::{ComposedBackend, TestAutodiff, TestBackend, precisions, to_vec};

use crate::numbers::{DOUBLE, SINGLE, assert_near, draw, tensor};

/// The output of batch normalisation, and its gradients by the input, γ, β and what is added.
struct BatchNormExpected {
    y: Vec<f64>,
    gradients: [Vec<f64>; 4],
}

pub const EPSILON: f64 = 1e-5;

fn batch_norm_expected(
    x: &[f64],
    [weight, bias]: [&[f64]; 2],
    residual: Option<&[f64]>,
    relu: bool,
    gradient: &[f64],
) -> BatchNormExpected {
    let width = weight.len();
    let n_rows = x.len() / width;
    let mut y = vec![0.0; x.len()];
    let mut gradients = [
        vec![0.0; x.len()],
        vec![0.0; width],
        vec![0.0; width],
        vec![0.0; x.len()],
    ];
    for c in 0..width {
        let at = |row: usize| row * width + c;
        let mean = (0..n_rows).map(|row| x[at(row)]).sum::<f64>() / n_rows as f64;
        let squares = (0..n_rows).map(|row| (x[at(row)] - mean).powi(2));
        let deviation = (squares.sum::<f64>() / n_rows as f64 + EPSILON).sqrt();
        let normal = |row| (x[at(row)] - mean) / deviation;
        for row in 0..n_rows {
            let sum = weight[c] * normal(row) + bias[c] + residual.map_or(0.0, |r| r[at(row)]);
            let is_cut = relu && sum <= 0.0;
            y[at(row)] = if is_cut { 0.0 } else { sum };
            gradients[3][at(row)] = if is_cut { 0.0 } else { gradient[at(row)] };
            gradients[1][c] += gradients[3][at(row)] * normal(row);
            gradients[2][c] += gradients[3][at(row)];
        }
        for row in 0..n_rows {
            let centred = gradients[3][at(row)]
                - gradients[2][c] / n_rows as f64
                - normal(row) * gradients[1][c] / n_rows as f64;
            gradients[0][at(row)] = weight[c] * centred / deviation;
        }
    }
    BatchNormExpected { y, gradients }
}

#[test]
fn batch_normalisation_and_its_gradients_are_plain_loops() {
    compare_with_loops::<TestAutodiff>();
    compare_with_loops::<ComposedBackend>();
}

fn compare_with_loops<A: AutodiffBackend>() {
    for (seed, shape) in (100..).zip([[2, 3, 5, 3], [4, 7, 7, 64], [1, 2, 2, 80], [3, 9, 40, 17]]) {
        let [.., width] = shape;
        let length = shape.iter().product();
        let x: Vec<_> = draw(length, seed).iter().map(|x| x + 3.0).collect();
        let (weight, bias) = (draw(width, seed + 10), draw(width, seed + 20));
        let (added, gradient) = (draw(length, seed + 30), draw(length, seed + 40));
        for (relu, is_added) in [(false, false), (true, false), (false, true), (true, true)] {
            let residual = is_added.then_some(added.as_slice());
            let expected = batch_norm_expected(&x, [&weight, &bias], residual, relu, &gradient);
            for (dtype, tolerance) in precisions(SINGLE, DOUBLE) {
                let operand = tensor::<A, 4>(&x, shape, dtype).require_grad();
                let affine = [&weight, &bias]
                    .map(|values| tensor::<A, 1>(values, [width], dtype).require_grad());
                let added = residual.map(|r| tensor::<A, 4>(r, shape, dtype).require_grad());
                let (operand_, affine_, added_) = (operand.clone(), affine.clone(), added.clone());
                let y = batch_norm(operand_, affine_, added_, EPSILON, relu);
                assert_near(&to_vec(&y), &expected.y, tolerance);
                let grads = (y * tensor(&gradient, shape, dtype)).sum().backward();
                let found = |index: usize| match index {
                    0 => to_vec(&operand.grad(&grads).unwrap()),
                    3 => to_vec(&added.as_ref().unwrap().grad(&grads).unwrap()),
                    _ => to_vec(&affine[index - 1].grad(&grads).unwrap()),
                };
                for index in 0..if is_added { 4 } else { 3 } {
                    assert_near(&found(index), &expected.gradients[index], tolerance);
                }
            }
        }
    }
}

#[test]
fn a_mean_far_from_zero_costs_batch_normalisation_no_digits() {
    let shape = [4, 16, 16, 16];
    let x: Vec<_> = draw(4 * 256 * 16, 1).iter().map(|x| x + 64.0).collect();
    let x: Vec<_> = x.iter().map(|x| f64::from(*x as f32)).collect();
    let (weight, bias) = (vec![1.0; 16], vec![0.0; 16]);
    let expected = batch_norm_expected(&x, [&weight, &bias], None, false, &x);
    let affine = [&weight, &bias].map(|v| tensor::<TestBackend, 1>(v, [16], DType::F32));
    let x = tensor(&x, shape, DType::F32);
    let y = batch_norm(x, affine, None, EPSILON, false);
    // The mean itself is rounded to 64·2⁻²⁴, and that of the composed form is added up from 0 on.
    let is_default = TypeId::of::<TestBackend>() == TypeId::of::<Flex>();
    let tolerance = if is_default { 1e-5 } else { 1e-4 };
    assert_near(&to_vec(&y), &expected.y, tolerance);
}

#[test]
fn scaling_and_shifting_is_what_it_says_and_has_gradients() {
    compare_scaling::<TestAutodiff>();
    compare_scaling::<ComposedBackend>();
}

fn compare_scaling<A: AutodiffBackend>() {
    let shape = [2, 3, 2, 21];
    let length = shape.iter().product();
    let (x, added) = (draw(length, 1), draw(length, 2));
    let (scale, shift, gradient) = (draw(21, 3), draw(21, 4), draw(length, 5));
    for (relu, is_added) in [(false, false), (true, false), (false, true), (true, true)] {
        let sum = |at: usize| {
            x[at] * scale[at % 21] + shift[at % 21] + if is_added { added[at] } else { 0.0 }
        };
        let y: Vec<_> = (0..length)
            .map(|at| if relu { sum(at).max(0.0) } else { sum(at) })
            .collect();
        for (dtype, tolerance) in precisions(SINGLE, DOUBLE) {
            let found = scale_shift::<A>(
                tensor(&x, shape, dtype),
                tensor(&scale, [21], dtype),
                tensor(&shift, [21], dtype),
                is_added.then(|| tensor(&added, shape, dtype)),
                relu,
            );
            assert_near(&to_vec(&found), &y, tolerance);
        }
        let operand = tensor::<A, 4>(&x, shape, DType::F32).require_grad();
        let y = scale_shift(
            operand.clone(),
            tensor(&scale, [21], DType::F32),
            tensor(&shift, [21], DType::F32),
            is_added.then(|| tensor(&added, shape, DType::F32)),
            relu,
        );
        let grads = (y * tensor(&gradient, shape, DType::F32)).sum().backward();
        let expected: Vec<_> = (0..length)
            .map(|at| {
                let is_cut = relu && sum(at) <= 0.0;
                if is_cut {
                    0.0
                } else {
                    gradient[at] * scale[at % 21]
                }
            })
            .collect();
        assert_near(&to_vec(&operand.grad(&grads).unwrap()), &expected, SINGLE);
    }
}
