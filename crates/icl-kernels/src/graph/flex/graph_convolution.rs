//! The product of a sparse matrix, a dense one and a weight, and its gradients, each in one pass over
//! the rows. Intermediate rows stay in the first-level cache.

use std::ops::Range;

use burn::tensor::Tensor;
use burn_flex::Flex;
use pulp::Simd;

use super::super::sparse_matrix::SparseMatrix;
use super::block_products::{BLOCK, DenseProduct, OuterProduct, Packed};
use super::parts::{over_parts, sums_of_parts};
use super::sparse_product::{Factors, SparseRows};
use crate::flex::floats::{Floats, tensor};
use crate::flex::memory::{result, with_scratch};
use crate::tiles::{Tiled, tiled};

/// Number of rows in a part, whatever the number of threads that share the parts, so that results do not depend on it.
const PART: usize = 10 * BLOCK;

/// Number of multiplications of a dense product that take as long as an addition of a sparse one.
const DENSE: usize = 20;

/// Computes A·X·W without storing the whole of A·X.
pub(super) fn forward(
    matrix: &SparseMatrix<Flex>,
    x: Tensor<Flex, 2>,
    weight: Tensor<Flex, 2>,
) -> Tensor<Flex, 2> {
    let [d, c] = weight.dims();
    let factors = Factors::new(&matrix.forward, x);
    let rows = factors.rows();
    let weight = Packed::new(&Floats::of(weight), [d, c]);
    let n = matrix.forward.n_rows;
    result([n, c], |out| {
        over_parts(out, PART * c, work(rows, d, n * d * c), |part, out| {
            tiled(ConvolutionForward {
                rows,
                weight: &weight,
                first_row: part * PART,
                out,
            });
        });
    })
}

/// Computes the gradients by X and by W, each if wanted. The gradient by X needs Aᵀ·G row by row, and
/// the gradient by W uses the same rows.
pub(super) fn backward(
    matrix: &SparseMatrix<Flex>,
    x: Tensor<Flex, 2>,
    weight: Tensor<Flex, 2>,
    gradient: Tensor<Flex, 2>,
    [by_x, by_weight]: [bool; 2],
) -> [Option<Tensor<Flex, 2>>; 2] {
    let [d, c] = weight.dims();
    if !by_x {
        let gradient_by_weight = by_weight.then(|| {
            let factors = Factors::new(&matrix.forward, x);
            let (rows, gradient) = (factors.rows(), Floats::of(gradient));
            let gradient: &[f32] = &gradient;
            let n = matrix.forward.n_rows;
            let sums = sums_of_parts(n.div_ceil(PART), work(rows, d, n * d * c), |part| {
                tiled(ByWeight {
                    rows,
                    gradient,
                    shape: [d, c],
                    rows_at: part * PART..n.min((part + 1) * PART),
                })
            });
            tensor(total(&sums, d * c), [d, c])
        });
        return [None, gradient_by_weight];
    }
    let factors = Factors::new(&matrix.transposed, gradient);
    let (rows, x) = (factors.rows(), Floats::of(x));
    let x: &[f32] = &x;
    let weight = Packed::transposed(&Floats::of(weight), [d, c]);
    let n = matrix.transposed.n_rows;
    let n_products = if by_weight { 2 } else { 1 };
    let mut sums = Vec::new();
    let gradient_by_x = result([n, d], |out| {
        sums = over_parts(
            out,
            PART * d,
            work(rows, c, n_products * n * d * c),
            |part, out| {
                tiled(ConvolutionBackward {
                    rows,
                    x: by_weight.then_some(x),
                    weight: &weight,
                    first_row: part * PART,
                    out,
                })
            },
        );
    });
    let gradient_by_weight = by_weight.then(|| tensor(total(&sums, d * c), [d, c]));
    [Some(gradient_by_x), gradient_by_weight]
}

/// Cost of a sparse product of rows of `width` and of dense products of `n_multiplications`, in
/// additions of a sparse product.
fn work(rows: SparseRows<'_>, width: usize, n_multiplications: usize) -> usize {
    rows.columns.len() * width + n_multiplications / DENSE
}

/// Returns the sum of the parts, in their order.
fn total(parts: &[Vec<f32>], length: usize) -> Vec<f32> {
    let element = |at: usize| parts.iter().map(|part| f64::from(part[at])).sum::<f64>() as f32;
    (0..length).map(element).collect()
}

/// Rows of A·X·W from `first_row` on, as many as `out` holds.
struct ConvolutionForward<'a> {
    rows: SparseRows<'a>,
    weight: &'a Packed,
    first_row: usize,
    out: &'a mut [f32],
}

impl Tiled for ConvolutionForward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd, const MR: usize, const NR: usize>(self, simd: S) {
        let [d, c] = self.weight.sides;
        with_scratch(BLOCK * d, |sums| {
            let mut product = DenseProduct::<MR>::new(self.weight);
            let firsts = (self.first_row..).step_by(BLOCK);
            for (first, out) in firsts.zip(self.out.chunks_mut(BLOCK * c)) {
                let sums = &mut sums[..out.len() / c * d];
                self.rows.fill(first, sums);
                product.fill::<S, NR>(simd, sums, out);
            }
        });
    }
}

/// Rows of the gradient by X and, with `x`, their contribution to the gradient by W.
struct ConvolutionBackward<'a> {
    rows: SparseRows<'a>,
    x: Option<&'a [f32]>,
    weight: &'a Packed,
    first_row: usize,
    out: &'a mut [f32],
}

impl Tiled for ConvolutionBackward<'_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn run<S: Simd, const MR: usize, const NR: usize>(self, simd: S) -> Vec<f32> {
        let [c, d] = self.weight.sides;
        with_scratch(BLOCK * c, |sums| {
            let mut product = DenseProduct::<MR>::new(self.weight);
            let mut outer = OuterProduct::<MR, NR>::new([d, c]);
            let firsts = (self.first_row..).step_by(BLOCK);
            for (first, out) in firsts.zip(self.out.chunks_mut(BLOCK * d)) {
                let sums = &mut sums[..out.len() / d * c];
                self.rows.fill(first, sums);
                product.fill::<S, NR>(simd, sums, out);
                if let Some(x) = self.x {
                    outer.add(simd, &x[first * d..][..out.len()], sums);
                }
            }
            outer.total
        })
    }
}

/// Contribution of some rows of A·X to the gradient by W.
struct ByWeight<'a> {
    rows: SparseRows<'a>,
    gradient: &'a [f32],
    shape: [usize; 2],
    rows_at: Range<usize>,
}

impl Tiled for ByWeight<'_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn run<S: Simd, const MR: usize, const NR: usize>(self, simd: S) -> Vec<f32> {
        let [d, c] = self.shape;
        with_scratch(BLOCK * d, |sums| {
            let mut outer = OuterProduct::<MR, NR>::new([d, c]);
            let Range { start, end } = self.rows_at;
            let gradient = &self.gradient[start * c..end * c];
            let firsts = (start..).step_by(BLOCK);
            for (first, gradient) in firsts.zip(gradient.chunks(BLOCK * c)) {
                let sums = &mut sums[..gradient.len() / c * d];
                self.rows.fill(first, sums);
                outer.add(simd, sums, gradient);
            }
            outer.total
        })
    }
}
