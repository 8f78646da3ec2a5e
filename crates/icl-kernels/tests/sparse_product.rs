//! The sparse product against plain loops in double precision on the host: its value, its gradient
//! and the gradient's gradient, for every shape of matrix that a kernel could stumble on.

use burn::backend::{Autodiff, Flex};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{DType, Tensor};
use icl_kernels::graph::{HostCsr, SparseMatrix, sparse_product};
use icl_kernels::testing::{
    ComposedBackend, TestAutodiff, TestBackend, assert_close, precisions, to_vec,
};

use crate::sparse::{assert_near, draw, product, random, tensor};

/// A sum of at most forty products of numbers up to 1 in single precision: each step rounds by
/// 2⁻²⁴ of what has been added up, in whatever order, and fused or not.
const SINGLE: f64 = 2e-6;
const DOUBLE: f64 = 1e-13;

/// Several sizes, a single row, a single entry, none at all.
fn matrices() -> Vec<HostCsr> {
    let one = HostCsr {
        pointers: vec![0, 1],
        columns: vec![4],
        values: vec![-0.5],
        n_columns: 7,
    };
    vec![
        random(50, 40, 9, 1),
        random(301, 5, 3, 2),
        random(4, 500, 40, 3),
        random(1, 60, 40, 4),
        one,
        HostCsr {
            pointers: vec![0; 6],
            n_columns: 3,
            ..Default::default()
        },
    ]
}

#[test]
fn the_product_is_a_plain_loop() {
    compare_with_loops::<TestBackend>();
    compare_with_loops::<ComposedBackend>();
}

fn compare_with_loops<B: Backend>() {
    for host in matrices() {
        let matrix = SparseMatrix::<B>::new(host.clone(), &Default::default());
        for width in [1, 3, 4, 17, 32, 33] {
            let x = draw(host.n_columns * width, width as u64);
            let expected = product(&host, &x, width, false);
            for (dtype, tolerance) in precisions(SINGLE, DOUBLE) {
                let found = sparse_product(&matrix, tensor(&x, width, dtype));
                assert_eq!(found.dims(), [host.n_rows(), width]);
                assert_close(&to_vec(&found), &expected, tolerance);
            }
        }
    }
}

#[test]
fn what_is_not_contiguous_is_multiplied_as_well() {
    let host = random(30, 20, 6, 5);
    let matrix = SparseMatrix::<TestBackend>::new(host.clone(), &Default::default());
    let x = draw(20 * 12, 6);
    let transposed: Vec<f64> = (0..12 * 20).map(|at| x[at % 20 * 12 + at / 20]).collect();
    let whole: Tensor<TestBackend, 2> = tensor(&transposed, 20, DType::F32);
    let found = sparse_product(&matrix, whole.transpose());
    assert_close(&to_vec(&found), &product(&host, &x, 12, false), SINGLE);

    let part = tensor::<TestBackend>(&x, 12, DType::F32).narrow(1, 3, 8);
    let columns: Vec<f64> = x.chunks(12).flat_map(|row| &row[3..11]).copied().collect();
    let found = sparse_product(&matrix, part);
    assert_close(&to_vec(&found), &product(&host, &columns, 8, false), SINGLE);
}

/// ```text
/// L = Σ w ⊙ (A·x)³      ∂L/∂x = Aᵀ·(3w ⊙ (A·x)²)
/// ```
#[test]
fn the_gradient_is_that_of_the_transpose() {
    compare_gradients::<TestAutodiff>();
    compare_gradients::<ComposedBackend>();
}

fn compare_gradients<A: AutodiffBackend>() {
    for host in matrices() {
        let (width, n_rows) = (5, host.n_rows());
        let (x, w) = (draw(host.n_columns * width, 7), draw(n_rows * width, 8));
        let y = product(&host, &x, width, false);
        let by_y: Vec<f64> = w.iter().zip(&y).map(|(w, y)| 3.0 * w * y * y).collect();
        let expected = product(&host, &by_y, width, true);
        let matrix = SparseMatrix::new(host, &Default::default());
        for (dtype, tolerance) in precisions(SINGLE, DOUBLE) {
            let input = tensor::<A>(&x, width, dtype).require_grad();
            let y = sparse_product(&matrix, input.clone());
            let cubes = y.clone() * y.clone() * y;
            let gradients = (cubes * tensor(&w, width, dtype)).sum().backward();
            let found = input.grad(&gradients).expect("a gradient");
            // A product of four sums, then a sum of such.
            assert_near(&found, &expected, 10.0 * tolerance);
        }
    }
}

/// With g the gradient above, and by the symmetry of second derivatives:
///
/// ```text
/// S = Σ g²      ∂S/∂x = 2·Aᵀ·(6w ⊙ (A·x) ⊙ (A·g))
/// ```
#[test]
fn the_gradient_has_a_gradient() {
    type Twice = Autodiff<TestAutodiff>;
    for host in matrices() {
        let (width, n_rows) = (5, host.n_rows());
        let (x, w) = (draw(host.n_columns * width, 9), draw(n_rows * width, 10));
        let y = product(&host, &x, width, false);
        let by_y: Vec<f64> = w.iter().zip(&y).map(|(w, y)| 3.0 * w * y * y).collect();
        let gradient = product(&host, &by_y, width, true);
        let of_gradient = product(&host, &gradient, width, false);
        let inside: Vec<f64> = (0..y.len())
            .map(|at| 12.0 * w[at] * y[at] * of_gradient[at])
            .collect();
        let expected = product(&host, &inside, width, true);
        let matrix = SparseMatrix::new(host, &Default::default());
        for (dtype, tolerance) in precisions(SINGLE, DOUBLE) {
            let inner = tensor::<TestAutodiff>(&x, width, dtype).require_grad();
            let outer = Tensor::<Twice, 2>::from_inner(inner.clone()).require_grad();
            let y = sparse_product(&matrix, outer.clone());
            let cubes = y.clone() * y.clone() * y;
            let loss = (cubes * tensor(&w, width, dtype)).sum();
            let first = outer.grad(&loss.backward()).expect("a gradient");
            let gradients = (first.clone() * first).sum().backward();
            let found = inner.grad(&gradients).expect("a second gradient");
            assert_near(&found, &expected, 10.0 * tolerance);
        }
    }
}

fn bits<B: Backend>(tensor: Tensor<B, 2>) -> Vec<u32> {
    let values = to_vec(&tensor);
    values.iter().map(|v| (*v as f32).to_bits()).collect()
}

#[test]
fn every_run_gives_the_same_bits() {
    let host = random(3000, 3000, 20, 11);
    let x = draw(3000 * 32, 12);
    let run = || {
        let matrix = SparseMatrix::<TestBackend>::new(host.clone(), &Default::default());
        bits(sparse_product(&matrix, tensor(&x, 32, DType::F32)))
    };
    let first = run();
    for _ in 0..5 {
        assert!(run() == first);
    }
}

#[test]
fn threads_do_not_change_a_bit_on_the_default_backend() {
    // Many rows; few rows of many entries.
    for (host, width) in [
        (random(20_000, 20_000, 12, 13), 32),
        (random(12, 40_000, 9_000, 14), 33),
    ] {
        let x = draw(host.n_columns * width, 15);
        let matrix = SparseMatrix::<Flex>::new(host, &Default::default());
        let with_threads = |n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
            let pool = pool.build().expect("a pool of threads");
            pool.install(|| bits(sparse_product(&matrix, tensor(&x, width, DType::F32))))
        };
        let one = with_threads(1);
        assert!(with_threads(2) == one);
        assert!(with_threads(4) == one);
    }
}

#[test]
#[should_panic(expected = "a sparse matrix of 7 columns times a dense one of 3 rows")]
fn shapes_that_do_not_fit_are_misuse() {
    let matrix = SparseMatrix::<TestBackend>::new(random(4, 7, 3, 16), &Default::default());
    sparse_product(&matrix, tensor(&[1.0; 6], 2, DType::F32));
}
