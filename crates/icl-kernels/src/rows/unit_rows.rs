//! Rows divided by their length on the default CPU backend: one pass over memory, and one for the gradient.

use burn::backend::{Autodiff, Flex};
use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use pulp::Arch;
use rayon::prelude::*;

use crate::autodiff::{record, unwrap, wrap};
use crate::backends::apply_as;

/// Number of values that are processed at once, in the vector registers of the processor found.
const LANES: usize = 16;

/// Number of values per parallel task. Rows do not depend on it: every row is divided alone.
const TASK: usize = 1 << 14;

/// Divides each row of `x` `[n, d]` by its length, as [`normalize`](super::normalize) does, or returns `x` where that
/// is not this kernel's: on backends other than `flex`, with more than one level of autodiff, in other precisions and
/// for rows without values.
pub(super) fn in_one_pass<B: Backend>(x: Tensor<B, 2>) -> Result<Tensor<B, 2>, Tensor<B, 2>> {
    if x.dtype() != DType::F32 || x.dims()[1] == 0 {
        return Err(x);
    }
    apply_as(x, |x: Tensor<Flex, 2>| divide(x).0).or_else(|x| apply_as(x, divide_with_gradient))
}

/// The largest absolute value m of each row, and the length of the row divided by m.
type Lengths = Vec<[f32; 2]>;

/// Divides each row of `x` by its length, and returns both.
fn divide(x: Tensor<Flex, 2>) -> (Tensor<Flex, 2>, Lengths) {
    let [n, width] = x.dims();
    let mut data = x.into_data();
    let mut lengths = vec![[0.0; 2]; n];
    let rows_at_once = TASK.div_ceil(width);
    single_mut(&mut data)
        .par_chunks_mut(rows_at_once * width)
        .zip(lengths.par_chunks_mut(rows_at_once))
        .for_each(|(rows, lengths)| {
            Arch::new().dispatch(
                #[inline(always)]
                || {
                    for (row, length) in rows.chunks_exact_mut(width).zip(lengths) {
                        *length = divide_row(row);
                    }
                },
            );
        });
    (Tensor::from_data(data, &Default::default()), lengths)
}

fn divide_with_gradient(x: Tensor<Autodiff<Flex>, 2>) -> Tensor<Autodiff<Flex>, 2> {
    let x = unwrap(x);
    let (rows, lengths) = divide(wrap(x.primitive.clone()));
    let saved = rows.clone();
    record([x], rows, move |gradient, [is_wanted]| {
        let gradient = is_wanted.then(|| gradient_by_rows(saved, lengths, wrap(gradient)));
        [gradient.map(unwrap)]
    })
}

/// Computes the gradient by x of y = x/‖x‖, row by row:
///
/// ```text
/// ∂L/∂x = (g − y·⟨g, y⟩)/‖x‖      g = ∂L/∂y
/// ```
fn gradient_by_rows(
    rows: Tensor<Flex, 2>,
    lengths: Lengths,
    gradient: Tensor<Flex, 2>,
) -> Tensor<Flex, 2> {
    let [_, width] = gradient.dims();
    let (mut data, rows) = (gradient.into_data(), rows.into_data());
    let rows = rows.as_slice::<f32>().expect("single precision");
    let rows_at_once = TASK.div_ceil(width);
    single_mut(&mut data)
        .par_chunks_mut(rows_at_once * width)
        .zip(rows.par_chunks(rows_at_once * width))
        .zip(lengths.par_chunks(rows_at_once))
        .for_each(|((gradients, rows), lengths)| {
            Arch::new().dispatch(
                #[inline(always)]
                || {
                    let rows = rows.chunks_exact(width).zip(lengths);
                    for (gradient, (row, length)) in gradients.chunks_exact_mut(width).zip(rows) {
                        gradient_of_row(gradient, row, *length);
                    }
                },
            );
        });
    Tensor::from_data(data, &Default::default())
}

fn single_mut(data: &mut TensorData) -> &mut [f32] {
    data.as_mut_slice().expect("single precision")
}

/// Divides a row by its length. Returns its largest absolute value and the length of the row divided by that; a row of
/// zeros gives 1 and infinity, which pass no gradient on.
#[inline(always)]
fn divide_row(row: &mut [f32]) -> [f32; 2] {
    let largest = largest_of_row(row);
    if largest == 0.0 {
        return [1.0, f32::INFINITY];
    }
    for value in row.iter_mut() {
        *value /= largest;
    }
    let length = product(row, row).sqrt();
    let factor = length.recip();
    for value in row.iter_mut() {
        *value *= factor;
    }
    [largest, length]
}

/// Replaces the gradient by a row of unit length by that by the row before its division.
#[inline(always)]
fn gradient_of_row(gradient: &mut [f32], row: &[f32], [largest, length]: [f32; 2]) {
    let along = product(gradient, row);
    let factor = length.recip();
    for (gradient, value) in gradient.iter_mut().zip(row) {
        *gradient = (*gradient - value * along) * factor / largest;
    }
}

// Sums and maxima go lane by lane, so that they are computed in vectors.

/// Returns the largest absolute value of a row.
#[inline(always)]
fn largest_of_row(row: &[f32]) -> f32 {
    let (blocks, rest) = row.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for block in blocks {
        for lane in 0..LANES {
            lanes[lane] = larger(block[lane].abs(), lanes[lane]);
        }
    }
    for (lane, value) in lanes.iter_mut().zip(rest) {
        *lane = larger(value.abs(), *lane);
    }
    let mut largest = 0.0;
    for lane in lanes {
        largest = larger(lane, largest);
    }
    largest
}

#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// Returns ⟨a, b⟩.
#[inline(always)]
fn product(a: &[f32], b: &[f32]) -> f32 {
    let ((blocks_a, rest_a), (blocks_b, rest_b)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut lanes = [0.0; LANES];
    for (a, b) in blocks_a.iter().zip(blocks_b) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    for (lane, (a, b)) in lanes.iter_mut().zip(rest_a.iter().zip(rest_b)) {
        *lane += a * b;
    }
    let mut sum = 0.0;
    for lane in lanes {
        sum += lane;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::normalize;
    use crate::testing::assert_close;

    type Nested = Autodiff<Autodiff<Flex>>;

    fn tensor<B: Backend>(values: &[f64], width: usize) -> Tensor<B, 2> {
        let data = TensorData::new(values.to_vec(), [values.len() / width, width]);
        Tensor::from_data(data.convert::<f32>(), &Default::default())
    }

    fn values<B: Backend>(x: Tensor<B, 2>) -> Vec<f64> {
        crate::device::host_values(x)
    }

    /// Rows and their gradients against plain loops in double precision: widths below, at and above that of a vector,
    /// more rows than one task has, and lengths whose squares overflow or underflow.
    #[test]
    fn rows_and_gradients_are_plain_loops() {
        for width in [1, 3, 16, 37, 128] {
            let n = TASK / width + 5;
            let scale = |row: usize| [1.0, 1e30, 1e-30, 0.0][row % 4];
            let draw = |at: usize, seed: f64| ((at as f64 * 0.7 + seed) * 1.3).sin();
            let x: Vec<f64> = (0..n * width)
                .map(|at| f64::from((draw(at, 0.1) * scale(at / width)) as f32))
                .collect();
            // Gradients of the size that gives numbers of size 1.
            let g: Vec<f64> = (0..n * width)
                .map(|at| f64::from((draw(at, 0.5) * scale(at / width)) as f32))
                .collect();
            let (mut y, mut by_x) = (Vec::new(), Vec::new());
            for (x, g) in x.chunks(width).zip(g.chunks(width)) {
                let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
                let unit: Vec<f64> = x
                    .iter()
                    .map(|x| if length > 0.0 { x / length } else { 0.0 })
                    .collect();
                let along: f64 = unit.iter().zip(g).map(|(y, g)| y * g).sum();
                let by = |(y, g): (&f64, &f64)| {
                    if length > 0.0 {
                        (g - y * along) / length
                    } else {
                        0.0
                    }
                };
                by_x.extend(unit.iter().zip(g).map(by));
                y.extend(unit);
            }
            let leaf = tensor::<Autodiff<Flex>>(&x, width).require_grad();
            let found = normalize(leaf.clone());
            assert_close(&values(found.clone()), &y, 1e-6);
            assert_close(&values(normalize(tensor::<Flex>(&x, width))), &y, 1e-6);
            let grads = (found * tensor(&g, width)).sum().backward();
            assert_close(&values(leaf.grad(&grads).unwrap()), &by_x, 1e-5);
            assert_close(&values(leaf), &x, 0.0);
        }
    }

    #[test]
    fn other_backends_and_shapes_are_left_to_others() {
        assert!(in_one_pass(tensor::<Nested>(&[1.0, 2.0], 2)).is_err());
        assert!(in_one_pass(Tensor::<Flex, 2>::zeros([2, 0], &Default::default())).is_err());
        let double = Tensor::<Flex, 2>::ones([2, 2], (&Default::default(), DType::F64));
        assert!(in_one_pass(double).is_err());
        assert!(in_one_pass(Tensor::<Flex, 2>::zeros([0, 2], &Default::default())).is_ok());
    }

    /// A view of a larger tensor, and a row that is expanded.
    #[test]
    fn what_else_sees_the_memory_is_left_alone() {
        let x = tensor::<Flex>(&[3.0, 4.0, 0.0, 5.0, 8.0, 6.0], 2);
        let part = x.clone().narrow(0, 1, 2);
        assert_close(&values(normalize(part)), &[0.0, 1.0, 0.8, 0.6], 1e-7);
        let same = x.clone().narrow(0, 0, 1).expand([2, 2]);
        assert_close(&values(normalize(same)), &[0.6, 0.8, 0.6, 0.8], 1e-7);
        let columns = normalize(x.clone().transpose());
        assert_eq!(columns.dims(), [2, 3]);
        assert_close(&values(x), &[3.0, 4.0, 0.0, 5.0, 8.0, 6.0], 0.0);
    }
}
