//! The kernels against double loops, the composed forms and finite differences.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor, TensorData};
use icl_core::Seed;
use icl_core::graph::{HostCsr, SparseMatrix};
use icl_core::testing::{TestAutodiff, TestBackend, assert_close, finite_difference, to_vec};
use icl_models::{GraphBackend, NormActivation};
use rand::RngExt;

const OPTIONS: NormActivation = NormActivation {
    epsilon: 1e-5,
    negative_slope: 0.01,
};

fn draw(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = Seed::new(seed).rng();
    (0..n).map(|_| rng.random::<f64>() * 2.0 - 1.0).collect()
}

fn tensor<B: GraphBackend>(values: &[f64], shape: [usize; 2], dtype: DType) -> Tensor<B, 2> {
    Tensor::from_data(
        TensorData::new(values.to_vec(), shape),
        (&Default::default(), dtype),
    )
}

/// 5 x 4, with an empty row, and not symmetric.
fn sparse() -> HostCsr {
    HostCsr {
        pointers: vec![0, 2, 2, 3, 6, 7],
        columns: vec![0, 3, 1, 0, 1, 2, 3],
        values: vec![0.5, -1.0, 2.0, 1.5, 0.25, -0.75, 3.0],
        n_columns: 4,
    }
}

#[test]
fn the_sparse_product_is_a_double_loop() {
    let (host, width) = (sparse(), 3);
    let x = draw(4 * width, 1);
    let mut expected = vec![0.0; 5 * width];
    for row in 0..5 {
        for entry in host.pointers[row] as usize..host.pointers[row + 1] as usize {
            for c in 0..width {
                expected[row * width + c] +=
                    f64::from(host.values[entry]) * x[host.columns[entry] as usize * width + c];
            }
        }
    }
    let matrix = SparseMatrix::<TestBackend>::new(host, &Default::default());
    for (dtype, tolerance) in [(DType::F32, 1e-6), (DType::F64, 1e-12)] {
        let product = TestBackend::sparse_product(&matrix, tensor(&x, [4, width], dtype));
        assert_close(&to_vec(&product), &expected, tolerance);
    }
}

#[test]
fn the_sparse_product_has_the_transpose_as_its_backward_pass() {
    let weights = draw(10, 2);
    for dtype in [DType::F32, DType::F64] {
        let loss = |x: Tensor<TestAutodiff, 2>| {
            let matrix = SparseMatrix::new(sparse(), &Default::default());
            let product = TestAutodiff::sparse_product(&matrix, x);
            (product.powi_scalar(2) * tensor(&weights, [5, 2], dtype)).sum()
        };
        let x = draw(8, 3);
        let input = tensor::<TestAutodiff>(&x, [4, 2], dtype).require_grad();
        let gradients = loss(input.clone()).backward();
        let expected = finite_difference(
            |x| {
                let x = tensor(x, [4, 2], DType::F64);
                let matrix = SparseMatrix::<TestBackend>::new(sparse(), &Default::default());
                let product = TestBackend::sparse_product(&matrix, x);
                to_vec(&(product.powi_scalar(2) * tensor(&weights, [5, 2], DType::F64)).sum())[0]
            },
            &x,
            1e-5,
        );
        assert_close(&to_vec(&input.grad(&gradients).unwrap()), &expected, 1e-6);
    }
}

#[test]
fn normalising_is_what_it_says() {
    // More rows than one block of the kernel holds; a column with a mean far from 0.
    let (n, width) = (150, 3);
    let x: Vec<f64> = draw(n * width, 4)
        .iter()
        .enumerate()
        .map(|(at, x)| if at % width == 1 { x + 50.0 } else { *x })
        .collect();
    let mask: Vec<f64> = draw(n * width, 5)
        .iter()
        .map(|m| if *m < 0.0 { 0.0 } else { 2.0 })
        .collect();
    let mut expected = vec![0.0; n * width];
    for c in 0..width {
        let column: Vec<f64> = (0..n).map(|row| x[row * width + c]).collect();
        let mean = column.iter().sum::<f64>() / n as f64;
        let variance = column.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64;
        for row in 0..n {
            let normal = (column[row] - mean) / (variance + 1e-5).sqrt();
            let active = if normal > 0.0 { normal } else { 0.01 * normal };
            expected[row * width + c] = active * mask[row * width + c];
        }
    }
    // A value of 50 holds 6 digits after the point in single precision.
    for (dtype, tolerance) in [(DType::F32, 2e-5), (DType::F64, 1e-12)] {
        let (x, mask) = (
            tensor(&x, [n, width], dtype),
            tensor(&mask, [n, width], dtype),
        );
        let (y, _) = TestBackend::norm_activation(OPTIONS, x, Some(mask));
        assert_close(&to_vec(&y), &expected, tolerance);
    }
}

#[test]
fn normalising_has_the_right_gradient() {
    let (n, width) = (70, 2);
    let (x, weights) = (draw(n * width, 6), draw(n * width, 7));
    let mask: Vec<f64> = draw(n * width, 8)
        .iter()
        .map(|m| if *m < 0.0 { 0.0 } else { 2.0 })
        .collect();
    for masked in [false, true] {
        let mask = |dtype| masked.then(|| tensor::<TestAutodiff>(&mask, [n, width], dtype));
        let loss = |x: Tensor<TestAutodiff, 2>, dtype| {
            let (y, _) = TestAutodiff::norm_activation(OPTIONS, x, mask(dtype));
            (y.powi_scalar(2) * tensor(&weights, [n, width], dtype)).sum()
        };
        let expected = finite_difference(
            |x| to_vec(&loss(tensor(x, [n, width], DType::F64), DType::F64).inner())[0],
            &x,
            1e-6,
        );
        for (dtype, tolerance) in [(DType::F32, 1e-4), (DType::F64, 1e-6)] {
            let input = tensor::<TestAutodiff>(&x, [n, width], dtype).require_grad();
            let gradients = loss(input.clone(), dtype).backward();
            assert_close(
                &to_vec(&input.grad(&gradients).unwrap()),
                &expected,
                tolerance,
            );
        }
    }
}

/// The gradient of a squared gradient, through `Autodiff<Autodiff<B>>`, against finite differences
/// of the first gradient.
#[test]
fn both_operators_are_twice_differentiable() {
    type Twice = Autodiff<TestAutodiff>;
    let (n, width) = (4, 2);
    let x = draw(n * width, 9);
    let weights = draw(5 * width, 10);
    let first = |x: Tensor<Twice, 2>| {
        let matrix = SparseMatrix::<Twice>::new(sparse(), &Default::default());
        let (y, _) =
            Twice::norm_activation(OPTIONS, Twice::sparse_product(&matrix, x.clone()), None);
        let loss = (y.powi_scalar(2) * tensor(&weights, [5, width], DType::F64)).sum();
        let gradients = loss.backward();
        x.grad(&gradients).expect("a gradient").powi_scalar(2).sum()
    };
    let once = |x: &[f64]| {
        let x = tensor::<Twice>(x, [n, width], DType::F64).require_grad();
        to_vec(&first(x).inner())[0]
    };
    let inner = tensor::<TestAutodiff>(&x, [n, width], DType::F64).require_grad();
    let outer = Tensor::<Twice, 2>::from_inner(inner.clone()).require_grad();
    let gradients = first(outer).backward();
    let actual = to_vec(&inner.grad(&gradients).unwrap());
    let expected = finite_difference(once, &x, 1e-5);
    assert!(expected.iter().any(|g| g.abs() > 1e-2));
    assert_close(&actual, &expected, 1e-4);
}
