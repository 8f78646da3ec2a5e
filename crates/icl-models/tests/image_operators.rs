//! The image kernels against plain loops in double precision, the composed forms and finite
//! differences.

use std::any::TypeId;

use burn::backend::{Autodiff, Flex};
use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use icl_core::Seed;
use icl_core::testing::{
    TestAutodiff, TestBackend, assert_close, finite_difference, precisions, to_vec,
};
use icl_models::{ImageBackend, Window};
use rand::RngExt;

/// Tolerance of sums in single precision, relative to the largest value.
const SINGLE: f64 = 1e-5;
const DOUBLE: f64 = 1e-12;

fn draw(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = Seed::new(seed).rng();
    (0..n).map(|_| rng.random::<f64>() * 2.0 - 1.0).collect()
}

fn tensor<B: Backend, const D: usize>(
    values: &[f64],
    shape: [usize; D],
    dtype: DType,
) -> Tensor<B, D> {
    Tensor::from_data(
        TensorData::new(values.to_vec(), shape),
        (&Default::default(), dtype),
    )
}

/// Asserts closeness relative to the largest expected value.
#[track_caller]
fn assert_near(actual: &[f64], expected: &[f64], tolerance: f64) {
    let largest = expected
        .iter()
        .fold(f64::MIN_POSITIVE, |m, e| m.max(e.abs()));
    let scaled = |values: &[f64]| -> Vec<f64> { values.iter().map(|v| v / largest).collect() };
    assert_close(&scaled(actual), &scaled(expected), tolerance);
}

/// A convolution of `n` images, and where everything of it stands.
#[derive(Debug, Clone, Copy)]
struct Case {
    n: usize,
    sides: [usize; 2],
    c_in: usize,
    c_out: usize,
    window: Window,
}

impl Case {
    fn input(self) -> [usize; 4] {
        [self.n, self.sides[0], self.sides[1], self.c_in]
    }

    fn weight(self) -> [usize; 4] {
        [self.c_out, self.c_in, self.window.size, self.window.size]
    }

    fn output(self) -> [usize; 4] {
        let [height, width] = self.sides.map(|side| self.window.output(side));
        [self.n, height, width, self.c_out]
    }

    /// Calls `visit` with the positions in input, weight and output of each product.
    fn each_product(self, mut visit: impl FnMut(usize, usize, usize)) {
        let Window {
            size,
            stride,
            padding,
        } = self.window;
        let [_, out_height, out_width, _] = self.output();
        let [height, width] = self.sides;
        for image in 0..self.n {
            for (row, column) in (0..out_height).flat_map(|r| (0..out_width).map(move |c| (r, c))) {
                for (i, j) in (0..size).flat_map(|i| (0..size).map(move |j| (i, j))) {
                    let (y, x) = (row * stride + i, column * stride + j);
                    if y < padding || x < padding || y - padding >= height || x - padding >= width {
                        continue;
                    }
                    let pixel = (image * height + y - padding) * width + x - padding;
                    let output = (image * out_height + row) * out_width + column;
                    for ci in 0..self.c_in {
                        for co in 0..self.c_out {
                            visit(
                                pixel * self.c_in + ci,
                                ((co * self.c_in + ci) * size + i) * size + j,
                                output * self.c_out + co,
                            );
                        }
                    }
                }
            }
        }
    }
}

fn cases() -> Vec<Case> {
    let case = |n, sides, [c_in, c_out]: [usize; 2], [size, stride, padding]: [usize; 3]| Case {
        n,
        sides,
        c_in,
        c_out,
        window: Window {
            size,
            stride,
            padding,
        },
    };
    vec![
        case(2, [9, 7], [3, 64], [7, 2, 3]),
        case(1, [28, 28], [1, 16], [3, 1, 1]),
        case(2, [5, 5], [5, 3], [3, 1, 0]),
        case(3, [6, 5], [16, 5], [3, 2, 1]),
        case(1, [16, 12], [16, 64], [3, 1, 1]),
        case(9, [2, 2], [64, 64], [3, 1, 1]),
        case(3, [4, 4], [64, 80], [3, 2, 1]),
        case(2, [7, 5], [64, 16], [1, 2, 0]),
        case(1, [1, 1], [32, 48], [3, 1, 1]),
        case(2, [2, 3], [16, 1], [5, 2, 2]),
        case(1, [3, 2], [1, 1], [7, 2, 3]),
        case(17, [3, 3], [48, 33], [3, 1, 2]),
        case(1, [40, 33], [16, 16], [3, 1, 1]),
        case(1, [8, 8], [20, 100], [2, 2, 0]),
        case(3, [7, 6], [32, 48], [3, 1, 1]),
        case(2, [9, 8], [16, 33], [3, 1, 0]),
        case(2, [12, 11], [48, 16], [3, 1, 2]),
        case(9, [4, 4], [64, 80], [3, 1, 1]),
        case(1, [6, 130], [96, 16], [3, 1, 1]),
    ]
}

#[test]
fn the_convolution_and_its_gradients_are_double_loops() {
    for (seed, case) in (0..).zip(cases()) {
        let length = |shape: [usize; 4]| shape.iter().product::<usize>();
        let x = draw(length(case.input()), 3 * seed);
        let weight = draw(length(case.weight()), 3 * seed + 1);
        let gradient = draw(length(case.output()), 3 * seed + 2);
        let mut y = vec![0.0; gradient.len()];
        let (mut by_input, mut by_weight) = (vec![0.0; x.len()], vec![0.0; weight.len()]);
        case.each_product(|i, w, o| {
            y[o] += x[i] * weight[w];
            by_input[i] += gradient[o] * weight[w];
            by_weight[w] += gradient[o] * x[i];
        });
        // Shown where it fails.
        eprintln!("{case:?}");
        for (dtype, tolerance) in precisions(SINGLE, DOUBLE) {
            type B = TestBackend;
            let (x, weight, gradient) = (
                tensor::<B, 4>(&x, case.input(), dtype),
                tensor::<B, 4>(&weight, case.weight(), dtype),
                tensor::<B, 4>(&gradient, case.output(), dtype),
            );
            let found = B::convolution(x.clone(), weight.clone(), case.window);
            assert_eq!(found.dims(), case.output(), "{case:?}");
            assert_near(&to_vec(&found), &y, tolerance);
            let [found_input, found_weight] =
                B::convolution_gradients(x.clone(), weight.clone(), gradient.clone(), case.window);
            assert_near(&to_vec(&found_input), &by_input, tolerance);
            assert_near(&to_vec(&found_weight), &by_weight, tolerance);
            let found = B::convolution_weight_gradient(x, gradient.clone(), case.window);
            assert_eq!(found.dims(), case.weight(), "{case:?}");
            assert_near(&to_vec(&found), &by_weight, tolerance);
            let found = B::convolution_input_gradient(gradient, weight, case.window, case.sides);
            assert_eq!(found.dims(), case.input(), "{case:?}");
            assert_near(&to_vec(&found), &by_input, tolerance);
        }
    }
}

/// The output of batch normalisation, and its gradients by the input, γ, β and what is added.
struct BatchNormExpected {
    y: Vec<f64>,
    gradients: [Vec<f64>; 4],
}

const EPSILON: f64 = 1e-5;

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
    type A = TestAutodiff;
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
                let y = A::batch_norm(operand_, affine_, added_, EPSILON, relu);
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
    let y = TestBackend::batch_norm(x, affine, None, EPSILON, false);
    // The mean itself is rounded to 64·2⁻²⁴, and that of the composed form is added up from 0 on.
    let is_default = TypeId::of::<TestBackend>() == TypeId::of::<Flex>();
    let tolerance = if is_default { 1e-5 } else { 1e-4 };
    assert_near(&to_vec(&y), &expected.y, tolerance);
}

#[test]
fn scaling_and_shifting_is_what_it_says_and_has_gradients() {
    type A = TestAutodiff;
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
            let found = TestBackend::scale_shift(
                tensor(&x, shape, dtype),
                tensor(&scale, [21], dtype),
                tensor(&shift, [21], dtype),
                is_added.then(|| tensor(&added, shape, dtype)),
                relu,
            );
            assert_near(&to_vec(&found), &y, tolerance);
        }
        let operand = tensor::<A, 4>(&x, shape, DType::F32).require_grad();
        let y = A::scale_shift(
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

#[test]
fn pooling_takes_the_first_maximum_and_gives_it_the_gradient() {
    type A = TestAutodiff;
    let geometries = [[3, 2, 1], [2, 2, 0], [3, 1, 1], [1, 1, 0]];
    for ([size, stride, padding], (shape, seed)) in geometries
        .into_iter()
        .flat_map(|g| [([2, 7, 5, 3], 1), ([1, 4, 6, 64], 2), ([3, 3, 3, 17], 3)].map(|s| (g, s)))
    {
        let window = Window {
            size,
            stride,
            padding,
        };
        let [n, height, width, channels] = shape;
        // Few different values, so that there are ties everywhere; all of them negative, so that
        // padding would win if it could.
        let x: Vec<_> = draw(n * height * width * channels, seed)
            .iter()
            .map(|x| (x * 2.0).round() - 5.0)
            .collect();
        let (rows, columns) = (window.output(height), window.output(width));
        let gradient = draw(n * rows * columns * channels, seed + 10);
        let mut y = vec![0.0; gradient.len()];
        let mut expected = vec![0.0; x.len()];
        for to in 0..gradient.len() {
            let (c, column) = (to % channels, to / channels % columns);
            let (row, image) = (
                to / channels / columns % rows,
                to / channels / columns / rows,
            );
            let mut best: Option<usize> = None;
            for (i, j) in (0..size).flat_map(|i| (0..size).map(move |j| (i, j))) {
                let (i, j) = (row * stride + i, column * stride + j);
                if i < padding || j < padding || i - padding >= height || j - padding >= width {
                    continue;
                }
                let at = ((image * height + i - padding) * width + j - padding) * channels + c;
                if best.is_none_or(|best| x[at] > x[best]) {
                    best = Some(at);
                }
            }
            y[to] = x[best.unwrap()];
            expected[best.unwrap()] += gradient[to];
        }
        for (dtype, _) in precisions(SINGLE, DOUBLE) {
            let operand = tensor::<A, 4>(&x, shape, dtype).require_grad();
            let found = A::max_pool(operand.clone(), window);
            assert_eq!(to_vec(&found), y);
            let weights = tensor(&gradient, [n, rows, columns, channels], dtype);
            let grads = (found * weights).sum().backward();
            assert_close(&to_vec(&operand.grad(&grads).unwrap()), &expected, 1e-6);
        }
    }
}

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
fn block<B: ImageBackend>(
    x: Tensor<B, 4>,
    weight: Tensor<B, 4>,
    affine: [Tensor<B, 1>; 2],
) -> Tensor<B, 1> {
    let dtype = x.dtype();
    let y = B::convolution(x, weight, SMALL);
    let added = tensor(&draw(2 * 3 * 2 * 4, 24), [2, 3, 2, 4], dtype);
    let y = B::batch_norm(y, affine, Some(added), EPSILON, true);
    let y = B::max_pool(
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
    let x = draw(2 * 5 * 4 * 2, 20);
    let at = |x: &[f64]| {
        let (weight, affine) = parameters::<Flex>(DType::F64);
        to_vec(&block(tensor(x, [2, 5, 4, 2], DType::F64), weight, affine))[0]
    };
    let expected = finite_difference(at, &x, 1e-6);
    assert!(expected.iter().any(|g| g.abs() > 1e-2));
    for (dtype, tolerance) in precisions(1e-4, 1e-6) {
        let operand = tensor::<TestAutodiff, 4>(&x, [2, 5, 4, 2], dtype).require_grad();
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
fn squared_gradients<B: ImageBackend>(
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
        let y = A::convolution(x.clone(), weight.clone(), window);
        let y = A::batch_norm(y.clone(), affine.clone(), Some(y), EPSILON, true);
        let y = A::max_pool(y, SMALL);
        let weights = tensor(&draw(&y.dims(), 54), y.dims(), DType::F32);
        let grads = (y.clone() * weights).sum().backward();
        let scaled = TestBackend::scale_shift(
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
