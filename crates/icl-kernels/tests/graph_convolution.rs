//! The graph convolution against plain loops in double precision on the host: its value, each of its
//! gradients alone and together, and their gradients.

use burn::backend::{Autodiff, Flex};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{DType, Tensor};
use icl_kernels::graph::{HostCsr, SparseMatrix, graph_convolution};
use icl_kernels::internals::graph_convolution_backward;
use icl_kernels::testing::{
    ComposedBackend, TestAutodiff, TestBackend, finite_difference, precisions, to_vec,
};

use crate::sparse::{assert_near, draw, product, random, tensor};

/// Sums of some hundreds of products in single precision, relative to the largest result: a gradient by
/// the weight goes over thousands of rows, whose errors are as often up as down.
const SINGLE: f64 = 5e-6;
const DOUBLE: f64 = 1e-13;

/// Widths of input and output: narrow, wide, beyond any vector, the output narrower than the input.
const WIDTHS: [[usize; 2]; 8] = [
    [1, 1],
    [1, 32],
    [3, 5],
    [7, 33],
    [32, 32],
    [33, 70],
    [17, 16],
    [40, 7],
];

/// One row, some, many parts of them and a row more, more columns than rows; no entry at all.
fn matrices() -> Vec<HostCsr> {
    vec![
        random(1, 4, 5, 1),
        random(49, 30, 5, 2),
        random(2401, 1700, 5, 3),
        random(2048, 2500, 5, 13),
        HostCsr {
            pointers: vec![0; 6],
            n_columns: 3,
            ..Default::default()
        },
    ]
}

/// a·b of `[n, k]` and `[k, m]`.
fn dense(a: &[f64], b: &[f64], [k, m]: [usize; 2]) -> Vec<f64> {
    let element = |at: usize| (0..k).map(|i| a[at / m * k + i] * b[i * m + at % m]).sum();
    (0..a.len() / k * m).map(element).collect()
}

fn transposed(x: &[f64], width: usize) -> Vec<f64> {
    let n = x.len() / width;
    (0..x.len()).map(|at| x[at % n * width + at / n]).collect()
}

/// Values, with the gradients by X and W of Σ g ⊙ (A·X·W).
struct Expected {
    output: Vec<f64>,
    by_x: Vec<f64>,
    by_weight: Vec<f64>,
}

struct Case {
    host: HostCsr,
    shape: [usize; 2],
    x: Vec<f64>,
    weight: Vec<f64>,
    gradient: Vec<f64>,
}

impl Case {
    fn all() -> impl Iterator<Item = Self> {
        let case = |host: HostCsr, [d, c]: [usize; 2]| Self {
            x: draw(host.n_columns * d, 4),
            weight: draw(d * c, 5),
            gradient: draw(host.n_rows() * c, 6),
            shape: [d, c],
            host,
        };
        matrices()
            .into_iter()
            .flat_map(move |host| WIDTHS.map(|shape| case(host.clone(), shape)))
    }

    fn expected(&self) -> Expected {
        let [d, c] = self.shape;
        let back = product(&self.host, &self.gradient, c, true);
        Expected {
            output: product(&self.host, &dense(&self.x, &self.weight, [d, c]), c, false),
            by_x: dense(&back, &transposed(&self.weight, c), [c, d]),
            by_weight: dense(&transposed(&self.x, d), &back, [self.host.n_columns, c]),
        }
    }

    fn matrix<B: Backend>(&self) -> SparseMatrix<B> {
        SparseMatrix::new(self.host.clone(), &Default::default())
    }

    /// X, W and the gradient by the output.
    fn tensors<B: Backend>(&self, dtype: DType) -> [Tensor<B, 2>; 3] {
        let [d, c] = self.shape;
        [
            tensor(&self.x, d, dtype),
            tensor(&self.weight, c, dtype),
            tensor(&self.gradient, c, dtype),
        ]
    }
}

#[test]
fn the_convolution_is_plain_loops() {
    compare_with_loops::<TestBackend>();
    compare_with_loops::<ComposedBackend>();
}

fn compare_with_loops<B: Backend>() {
    for case in Case::all() {
        let expected = case.expected().output;
        let matrix = case.matrix::<B>();
        for (dtype, tolerance) in precisions(SINGLE, DOUBLE) {
            let [x, weight, _] = case.tensors(dtype);
            let found = graph_convolution(&matrix, x, weight);
            assert_eq!(found.dims(), [case.host.n_rows(), case.shape[1]]);
            assert_near(&found, &expected, tolerance);
        }
    }
}

#[test]
fn gradients_are_those_that_are_wanted() {
    compare_gradients::<TestBackend>();
    compare_gradients::<ComposedBackend>();
}

fn compare_gradients<B: Backend>() {
    for case in Case::all() {
        let Expected {
            by_x, by_weight, ..
        } = case.expected();
        let expected = [&by_x, &by_weight];
        let matrix = case.matrix::<B>();
        for (dtype, tolerance) in precisions(SINGLE, DOUBLE) {
            for wanted in [[true, true], [true, false], [false, true], [false, false]] {
                let [x, weight, gradient] = case.tensors(dtype);
                let found = graph_convolution_backward(&matrix, x, weight, gradient, wanted);
                for ((found, expected), wanted) in found.iter().zip(expected).zip(wanted) {
                    assert_eq!(found.is_some(), wanted);
                    if let Some(found) = found {
                        assert_near(found, expected, tolerance);
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_tracked_gets_its_gradient() {
    compare_tracked::<TestAutodiff>();
    compare_tracked::<ComposedBackend>();
}

fn compare_tracked<A: AutodiffBackend>() {
    for case in Case::all() {
        let Expected {
            by_x, by_weight, ..
        } = case.expected();
        let matrix = case.matrix::<A>();
        for (dtype, tolerance) in precisions(SINGLE, DOUBLE) {
            for [x_is_tracked, weight_is_tracked] in [[true, true], [true, false], [false, true]] {
                let [x, weight, gradient] = case.tensors::<A>(dtype);
                let x = x.set_require_grad(x_is_tracked);
                let weight = weight.set_require_grad(weight_is_tracked);
                let y = graph_convolution(&matrix, x.clone(), weight.clone());
                let gradients = (y * gradient).sum().backward();
                for (factor, is_tracked, expected) in [
                    (x, x_is_tracked, &by_x),
                    (weight, weight_is_tracked, &by_weight),
                ] {
                    let found = factor.grad(&gradients);
                    assert_eq!(found.is_some(), is_tracked);
                    if let Some(found) = found {
                        assert_near(&found, expected, tolerance);
                    }
                }
            }
        }
    }
}

/// The squared gradients by both factors of a loss that is not linear.
fn squared_gradients<B: Backend>(
    matrix: &SparseMatrix<Autodiff<Autodiff<B>>>,
    x: Tensor<Autodiff<Autodiff<B>>, 2>,
    weight: Tensor<Autodiff<Autodiff<B>>, 2>,
) -> Tensor<Autodiff<B>, 1> {
    let y = graph_convolution(matrix, x.clone(), weight.clone());
    let gradients = (y.clone() * y.clone() * y).sum().backward();
    let square = |factor: Tensor<Autodiff<Autodiff<B>>, 2>| {
        let gradient = factor.grad(&gradients).expect("a gradient");
        gradient.powi_scalar(2).sum()
    };
    square(x) + square(weight)
}

/// Against finite differences of the first gradients, which are taken on the backend that has double
/// precision.
#[test]
fn gradients_have_gradients() {
    let host = random(5, 4, 5, 7);
    let [d, c] = [2, 3];
    let (x, weight) = (draw(4 * d, 8), draw(d * c, 9));
    let once = |x: &[f64], weight: &[f64]| {
        type Twice = Autodiff<Autodiff<Flex>>;
        let matrix = SparseMatrix::<Twice>::new(host.clone(), &Default::default());
        let x = tensor::<Twice>(x, d, DType::F64).require_grad();
        let weight = tensor::<Twice>(weight, c, DType::F64).require_grad();
        to_vec(&squared_gradients::<Flex>(&matrix, x, weight).inner())[0]
    };
    let expected = [
        finite_difference(|x| once(x, &weight), &x, 1e-5),
        finite_difference(|weight| once(&x, weight), &weight, 1e-5),
    ];
    for expected in &expected {
        assert!(expected.iter().any(|g| g.abs() > 1e-2));
    }
    for (dtype, tolerance) in precisions(1e-4, 1e-6) {
        type Twice = Autodiff<TestAutodiff>;
        let matrix = SparseMatrix::<Twice>::new(host.clone(), &Default::default());
        let inner = [(&x, d), (&weight, c)]
            .map(|(values, width)| tensor::<TestAutodiff>(values, width, dtype).require_grad());
        let [x, weight] = inner
            .clone()
            .map(|inner| Tensor::<Twice, 2>::from_inner(inner).require_grad());
        let gradients = squared_gradients::<TestBackend>(&matrix, x, weight).backward();
        for (inner, expected) in inner.iter().zip(&expected) {
            let found = inner.grad(&gradients).expect("a second gradient");
            assert_near(&found, expected, tolerance);
        }
    }
}

#[test]
fn threads_do_not_change_a_bit_on_the_default_backend() {
    let (host, [d, c]) = (random(20_000, 20_000, 5, 10), [32, 33]);
    let matrix = SparseMatrix::<Flex>::new(host, &Default::default());
    let [x, weight, gradient] =
        [(20_000 * d, d), (d * c, c), (20_000 * c, c)].map(|(n, width)| (draw(n, 11), width));
    let of = |(values, width): &(Vec<f64>, usize)| tensor::<Flex>(values, *width, DType::F32);
    let with_threads = |n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
        let pool = pool.build().expect("a pool of threads");
        pool.install(|| {
            let y = graph_convolution(&matrix, of(&x), of(&weight));
            let both = [true; 2];
            let [by_x, by_weight] =
                graph_convolution_backward(&matrix, of(&x), of(&weight), of(&gradient), both);
            [Some(y), by_x, by_weight].map(|tensor| {
                let values = to_vec(&tensor.expect("all are wanted"));
                values.iter().map(|v| v.to_bits()).collect::<Vec<_>>()
            })
        })
    };
    let one = with_threads(1);
    assert!(with_threads(2) == one);
    assert!(with_threads(4) == one);
}

#[test]
#[should_panic(expected = "a sparse matrix of 7 columns times a dense one of 3 rows")]
fn shapes_that_do_not_fit_are_misuse() {
    let matrix = SparseMatrix::<TestBackend>::new(random(4, 7, 5, 12), &Default::default());
    let [x, weight] = [3, 2].map(|n| tensor(&vec![1.0; n * 2], 2, DType::F32));
    graph_convolution(&matrix, x, weight);
}
