//! Normalisation with activation against plain loops, the composed form and finite differences, and
//! both graph operators in a second derivative.

use std::any::TypeId;

use burn::backend::{Autodiff, Flex};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{DType, Tensor};
use icl_kernels::DropoutMask;
use icl_kernels::graph::{HostCsr, NormActivation, SparseMatrix, norm_activation, sparse_product};
use icl_kernels::internals::norm_activation_backward;
use icl_kernels::testing::{
    ComposedBackend, TestAutodiff, TestBackend, assert_close, finite_difference, precisions, to_vec,
};

use crate::numbers::{draw, tensor};

const OPTIONS: NormActivation = NormActivation {
    epsilon: 1e-5,
    negative_slope: 0.01,
};

/// 5 x 4, with an empty row, and not symmetric.
fn sparse() -> HostCsr {
    HostCsr {
        pointers: vec![0, 2, 2, 3, 6, 7],
        columns: vec![0, 3, 1, 0, 1, 2, 3],
        values: vec![0.5, -1.0, 2.0, 1.5, 0.25, -0.75, 3.0],
        n_columns: 4,
    }
}

/// y of [`NormActivation`] in double precision.
fn expected_output(x: &[f64], mask: Option<&[f64]>, width: usize) -> Vec<f64> {
    let n = x.len() / width;
    let mut y = vec![0.0; x.len()];
    for c in 0..width {
        let column: Vec<f64> = (0..n).map(|row| x[row * width + c]).collect();
        let mean = column.iter().sum::<f64>() / n as f64;
        let variance = column.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64;
        for row in 0..n {
            let normal = (column[row] - mean) / (variance + OPTIONS.epsilon).sqrt();
            let slope = if normal > 0.0 {
                1.0
            } else {
                OPTIONS.negative_slope
            };
            y[row * width + c] = normal * slope * mask.map_or(1.0, |mask| mask[row * width + c]);
        }
    }
    y
}

/// A mask, and its elements.
fn dropout(n: usize, seed: u64) -> (DropoutMask, Vec<f64>) {
    let kept: Vec<bool> = draw(n, seed).iter().map(|m| *m >= 0.0).collect();
    let elements = kept.iter().map(|&kept| if kept { 2.0 } else { 0.0 });
    (DropoutMask::new(&kept, 2.0), elements.collect())
}

#[test]
fn normalising_is_what_it_says() {
    compare_with_loops::<TestBackend>();
    compare_with_loops::<ComposedBackend>();
}

fn compare_with_loops<B: Backend>() {
    // A single row; more rows than a block of sums holds; more than a part has that threads share.
    for (n, width) in [(1, 3), (150, 3), (1100, 33), (5000, 17)] {
        // A column with a mean far from 0.
        let x: Vec<f64> = (draw(n * width, 4).iter().enumerate())
            .map(|(at, x)| if at % width == 1 { x + 50.0 } else { *x })
            .map(|x| f64::from(x as f32))
            .collect();
        let (mask, elements) = dropout(n * width, 5);
        for mask in [None, Some((&mask, elements.as_slice()))] {
            let expected = expected_output(&x, mask.map(|(_, elements)| elements), width);
            // The mean of 50 is rounded to 2⁻¹⁹, which dropout doubles, and 1/√var enlarges.
            for (dtype, tolerance) in precisions(2e-5, 1e-11) {
                let mask = mask.map(|(mask, _)| mask.clone());
                let x = tensor::<B, 2>(&x, [n, width], dtype);
                // Without a kernel, a column is added up in whatever order the backend does, from 0 on.
                let has_kernel = TypeId::of::<B>() == TypeId::of::<Flex>();
                let tolerance = if has_kernel { 1.0 } else { 50.0 } * tolerance;
                let (y, _) = norm_activation(OPTIONS, x, mask);
                assert_close(&to_vec(&y), &expected, tolerance);
            }
        }
    }
}

#[test]
fn normalising_has_the_right_gradient() {
    compare_with_differences::<TestAutodiff>();
    compare_with_differences::<ComposedBackend>();
}

fn compare_with_differences<A: AutodiffBackend>() {
    let (n, width) = (70, 2);
    let (x, weights) = (draw(n * width, 6), draw(n * width, 7));
    let (mask, elements) = dropout(n * width, 8);
    for mask in [None, Some((&mask, elements.as_slice()))] {
        let expected = finite_difference(
            |x| {
                let y = expected_output(x, mask.map(|(_, elements)| elements), width);
                y.iter().zip(&weights).map(|(y, w)| w * y * y).sum()
            },
            &x,
            1e-6,
        );
        for (dtype, tolerance) in precisions(1e-4, 1e-6) {
            let input = tensor::<A, 2>(&x, [n, width], dtype).require_grad();
            let mask = mask.map(|(mask, _)| mask.clone());
            let (y, _) = norm_activation(OPTIONS, input.clone(), mask);
            let squares = y.clone() * y;
            let loss = (squares * tensor(&weights, [n, width], dtype)).sum();
            let gradient = input.grad(&loss.backward()).expect("a gradient");
            assert_close(&to_vec(&gradient), &expected, tolerance);
        }
    }
}

/// The kernel's gradient where its sums go over many blocks, against that of the composed form.
#[test]
fn the_gradient_of_many_rows_is_that_of_the_composed_form() {
    for (n, width) in [(1100, 33), (5000, 17)] {
        let own = gradient_of_many_rows::<TestBackend>(n, width);
        // Elements are about 1; the means of thousands that are taken off them lose few digits.
        assert_close(
            &own,
            &gradient_of_many_rows::<ComposedBackend>(n, width),
            1e-5,
        );
    }
}

fn gradient_of_many_rows<B: Backend>(n: usize, width: usize) -> Vec<f64> {
    let [x, gradient] =
        [11, 12].map(|seed| tensor::<B, 2>(&draw(n * width, seed), [n, width], DType::F32));
    let (mask, _) = dropout(n * width, 13);
    let (_, saved) = norm_activation(OPTIONS, x, Some(mask));
    to_vec(&norm_activation_backward(OPTIONS, saved, gradient))
}

#[test]
fn threads_do_not_change_a_bit_of_normalising_on_the_default_backend() {
    let shape = [20_000, 33];
    let [x, gradient] = [14, 15].map(|seed| draw(20_000 * 33, seed));
    let (mask, _) = dropout(20_000 * 33, 16);
    let with_threads = |n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
        let pool = pool.build().expect("a pool of threads");
        pool.install(|| {
            let of = |values: &[f64]| tensor::<Flex, 2>(values, shape, DType::F32);
            let (y, saved) = norm_activation(OPTIONS, of(&x), Some(mask.clone()));
            let gradient = norm_activation_backward(OPTIONS, saved, of(&gradient));
            [y, gradient]
                .map(|tensor| -> Vec<u64> { to_vec(&tensor).iter().map(|v| v.to_bits()).collect() })
        })
    };
    let one = with_threads(1);
    assert!(with_threads(2) == one);
    assert!(with_threads(4) == one);
}

/// The squared gradient of both operators together.
fn squared_gradient<B: Backend>(x: Tensor<Autodiff<Autodiff<B>>, 2>) -> Tensor<Autodiff<B>, 1> {
    type Twice<B> = Autodiff<Autodiff<B>>;
    let matrix = SparseMatrix::<Twice<B>>::new(sparse(), &Default::default());
    let product = sparse_product(&matrix, x.clone());
    let (y, _) = norm_activation(OPTIONS, product, None);
    let weights = tensor(&draw(5 * 2, 10), [5, 2], x.dtype());
    let gradients = (y.clone() * y * weights).sum().backward();
    x.grad(&gradients).expect("a gradient").powi_scalar(2).sum()
}

/// The gradient of a squared gradient, through `Autodiff<Autodiff<B>>`, against finite differences
/// of the first gradient, which are taken on the backend that has double precision.
#[test]
fn both_operators_are_twice_differentiable() {
    let x = draw(4 * 2, 9);
    let once = |x: &[f64]| {
        let x = tensor::<Autodiff<Autodiff<Flex>>, 2>(x, [4, 2], DType::F64).require_grad();
        to_vec(&squared_gradient::<Flex>(x).inner())[0]
    };
    let expected = finite_difference(once, &x, 1e-5);
    assert!(expected.iter().any(|g| g.abs() > 1e-2));
    for (dtype, tolerance) in precisions(1e-3, 1e-4) {
        let inner = tensor::<TestAutodiff, 2>(&x, [4, 2], dtype).require_grad();
        let outer = Tensor::from_inner(inner.clone()).require_grad();
        let gradients = squared_gradient::<TestBackend>(outer).backward();
        let actual = to_vec(&inner.grad(&gradients).expect("a second gradient"));
        assert_close(&actual, &expected, tolerance);
    }
}
