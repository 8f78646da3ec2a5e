//! Sparse times dense times a weight, and its gradients: one pass over the rows each way. What one
//! product leaves for the next stays in the nearest cache.

use std::ops::Range;

use burn::tensor::Tensor;
use burn_flex::Flex;
use icl_core::graph::SparseMatrix;
use pulp::Simd;

use super::parts::{over_parts, sums_of_parts};
use super::sparse_product::{Factors, SparseRows};
use crate::flex::floats::{Floats, tensor};
use crate::flex::results::result;
use crate::flex::scratch::with_scratch;
use crate::flex::tiles::{
    DEPTH, Left, Right, Tiled, matrices, matrices_mut, multiply, multiply_transposed, row, tiled,
    zeros,
};

/// Rows that are worked on at once, whole tiles of any height.
const BLOCK: usize = 48;

/// Rows of a part: what threads share, and whose sums are added up in order.
const PART: usize = 10 * BLOCK;

/// Multiplications of a dense product that take as long as an addition of a sparse one.
const DENSE: usize = 20;

/// A·X·W, of which A·X is never whole.
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
            tiled(Forward {
                rows,
                weight: &weight,
                first_row: part * PART,
                out,
            });
        });
    })
}

/// The gradients by X and by W, those that are `wanted`. The gradient by X needs Aᵀ·G row by row, and that
/// by W comes of the same rows.
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
                tiled(Backward {
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

/// How much there is to do in a sparse product of rows of `width` and in dense ones of `n_multiplications`,
/// in additions of a sparse one.
fn work(rows: SparseRows<'_>, width: usize, n_multiplications: usize) -> usize {
    rows.columns.len() * width + n_multiplications / DENSE
}

/// The sum of the parts, in their order.
fn total(parts: &[Vec<f32>], length: usize) -> Vec<f32> {
    let element = |at: usize| parts.iter().map(|part| f64::from(part[at])).sum::<f64>() as f32;
    (0..length).map(element).collect()
}

/// W `[d, c]`, or its transpose, as tiles take it.
struct Packed {
    numbers: Vec<f32>,
    /// Rows and columns.
    sides: [usize; 2],
}

impl Packed {
    fn new(weight: &[f32], [d, c]: [usize; 2]) -> Self {
        tiled(Packing {
            sides: [d, c],
            number: |term, column| weight[term * c + column],
        })
    }

    fn transposed(weight: &[f32], [d, c]: [usize; 2]) -> Self {
        tiled(Packing {
            sides: [c, d],
            number: |term, column| weight[column * c + term],
        })
    }
}

struct Packing<F> {
    sides: [usize; 2],
    number: F,
}

impl<F: Fn(usize, usize) -> f32> Tiled for Packing<F> {
    type Output = Packed;

    /// Panel by panel of `NR` columns, with zeros where the factor ends.
    #[inline(always)]
    fn run<S: Simd, const MR: usize, const NR: usize>(self, _: S) -> Packed {
        let [n_terms, width] = self.sides;
        let depth = n_terms.div_ceil(DEPTH) * DEPTH;
        let mut numbers = vec![0.0; width.div_ceil(NR) * depth * NR];
        for (panel, packed) in numbers.chunks_exact_mut(depth * NR).enumerate() {
            for (term, packed) in packed.chunks_exact_mut(NR).take(n_terms).enumerate() {
                for (column, packed) in (panel * NR..width).zip(packed) {
                    *packed = (self.number)(term, column);
                }
            }
        }
        Packed {
            numbers,
            sides: self.sides,
        }
    }
}

/// Rows of A·X·W from `first_row` on, as many as `out` holds.
struct Forward<'a> {
    rows: SparseRows<'a>,
    weight: &'a Packed,
    first_row: usize,
    out: &'a mut [f32],
}

impl Tiled for Forward<'_> {
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

/// Rows of the gradient by X, and with `x` what they bring to the gradient by W.
struct Backward<'a> {
    rows: SparseRows<'a>,
    x: Option<&'a [f32]>,
    weight: &'a Packed,
    first_row: usize,
    out: &'a mut [f32],
}

impl Tiled for Backward<'_> {
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

/// What some rows of A·X bring to the gradient by W.
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

/// A product of blocks of rows with a weight.
struct DenseProduct<'a, const MR: usize> {
    right: &'a Packed,
    left: Vec<f32>,
}

impl<'a, const MR: usize> DenseProduct<'a, MR> {
    fn new(right: &'a Packed) -> Self {
        Self {
            right,
            left: vec![0.0; BLOCK * right.sides[0].div_ceil(DEPTH) * DEPTH],
        }
    }

    /// `rows` times the weight, at most a block.
    #[inline(always)]
    fn fill<S: Simd, const NR: usize>(&mut self, simd: S, rows: &[f32], out: &mut [f32]) {
        let [n_terms, width] = self.right.sides;
        let packs = n_terms.div_ceil(DEPTH);
        let left: &mut [Left<MR>] = matrices_mut(&mut self.left);
        pack_left(rows, n_terms, left);
        let right: &[Right<NR>] = matrices(&self.right.numbers);
        for (left, out) in left.chunks_exact(packs).zip(out.chunks_mut(MR * width)) {
            for (panel, right) in right.chunks_exact(packs).enumerate() {
                let tile = multiply(simd, zeros(simd), left, right);
                for (vectors, out) in tile.into_iter().zip(out.chunks_exact_mut(width)) {
                    let out = &mut out[panel * NR..];
                    let numbers = row::<S, NR>(vectors);
                    match out.first_chunk_mut() {
                        Some(out) => *out = numbers,
                        None => out.copy_from_slice(&numbers[..out.len()]),
                    }
                }
            }
        }
    }
}

/// Packs rows of `width` numbers for tiles of `MR` of them. What lies beyond a row's end is 0 from the
/// beginning; beyond the last row nobody looks.
#[inline(always)]
fn pack_left<const MR: usize>(rows: &[f32], width: usize, left: &mut [Left<MR>]) {
    let packs = width.div_ceil(DEPTH);
    for (at, numbers) in rows.chunks_exact(width).enumerate() {
        let left = &mut left[at / MR * packs..][..packs];
        let (whole, rest) = numbers.as_chunks::<DEPTH>();
        for (left, whole) in left.iter_mut().zip(whole) {
            left[at % MR] = *whole;
        }
        if !rest.is_empty() {
            left[packs - 1][at % MR][..rest.len()].copy_from_slice(rest);
        }
    }
}

/// Sums of the outer products of rows, `[d, c]`.
struct OuterProduct<const MR: usize, const NR: usize> {
    shape: [usize; 2],
    left: Vec<f32>,
    right: Vec<f32>,
    total: Vec<f32>,
}

impl<const MR: usize, const NR: usize> OuterProduct<MR, NR> {
    fn new([d, c]: [usize; 2]) -> Self {
        Self {
            shape: [d, c],
            left: vec![0.0; d.div_ceil(MR) * MR * BLOCK],
            right: vec![0.0; c.div_ceil(NR) * NR * BLOCK],
            total: vec![0.0; d * c],
        }
    }

    /// Adds leftᵀ·right, of as many rows on both sides, at most a block.
    #[inline(always)]
    fn add<S: Simd>(&mut self, simd: S, left: &[f32], right: &[f32]) {
        let [d, c] = self.shape;
        let n_rows = right.len() / c;
        pack_panels::<MR>(left, d, &mut self.left);
        pack_panels::<NR>(right, c, &mut self.right);
        for (i, left) in self.left.chunks_exact(BLOCK * MR).enumerate() {
            let left: &[[f32; MR]] = &left.as_chunks().0[..n_rows];
            for (j, right) in self.right.chunks_exact(BLOCK * NR).enumerate() {
                let right: &[[f32; NR]] = &right.as_chunks().0[..n_rows];
                let tile = multiply_transposed(simd, zeros(simd), left, right);
                let total = self.total[i * MR * c..].chunks_exact_mut(c);
                for (vectors, total) in tile.into_iter().zip(total) {
                    let numbers = row::<S, NR>(vectors);
                    for (total, number) in total[j * NR..].iter_mut().zip(numbers) {
                        *total += number;
                    }
                }
            }
        }
    }
}

/// Packs rows of `width` numbers as panels of `N` columns, a block of rows each. What lies beyond a row's
/// end is 0 from the beginning.
#[inline(always)]
fn pack_panels<const N: usize>(rows: &[f32], width: usize, panels: &mut [f32]) {
    for (at, numbers) in rows.chunks_exact(width).enumerate() {
        for (panel, numbers) in numbers.chunks(N).enumerate() {
            let panel = &mut panels[(panel * BLOCK + at) * N..];
            match (panel.first_chunk_mut::<N>(), numbers.first_chunk::<N>()) {
                (Some(panel), Some(numbers)) => *panel = *numbers,
                _ => panel[..numbers.len()].copy_from_slice(numbers),
            }
        }
    }
}
