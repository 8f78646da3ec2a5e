//! Dense products of a few rows at a time, in tiles that are kept in vector registers.

use pulp::Simd;

use crate::tiles::{
    DEPTH, Left, Right, Tiled, matrices, matrices_mut, multiply, multiply_transposed, row, tiled,
    zeros,
};

/// Number of rows that are worked on at once, a multiple of the height of every tile.
pub(super) const BLOCK: usize = 48;

/// A weight `[d, c]`, or its transpose, packed for tiles.
pub(super) struct Packed {
    numbers: Vec<f32>,
    /// Numbers of rows and columns.
    pub(super) sides: [usize; 2],
}

impl Packed {
    pub(super) fn new(weight: &[f32], [d, c]: [usize; 2]) -> Self {
        tiled(WeightPacking {
            sides: [d, c],
            number: |term, column| weight[term * c + column],
        })
    }

    pub(super) fn transposed(weight: &[f32], [d, c]: [usize; 2]) -> Self {
        tiled(WeightPacking {
            sides: [c, d],
            number: |term, column| weight[column * c + term],
        })
    }
}

struct WeightPacking<F> {
    sides: [usize; 2],
    number: F,
}

impl<F: Fn(usize, usize) -> f32> Tiled for WeightPacking<F> {
    type Output = Packed;

    /// Packs panel by panel of `NR` columns, with zeros beyond the end of the factor.
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

/// A product of blocks of rows with a weight.
pub(super) struct DenseProduct<'a, const MR: usize> {
    right: &'a Packed,
    left: Vec<f32>,
}

impl<'a, const MR: usize> DenseProduct<'a, MR> {
    pub(super) fn new(right: &'a Packed) -> Self {
        Self {
            right,
            left: vec![0.0; BLOCK * right.sides[0].div_ceil(DEPTH) * DEPTH],
        }
    }

    /// Computes the product of `rows`, at most a block of them, with the weight.
    #[inline(always)]
    pub(super) fn fill<S: Simd, const NR: usize>(
        &mut self,
        simd: S,
        rows: &[f32],
        out: &mut [f32],
    ) {
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

/// Packs rows of `width` numbers for tiles of `MR` rows. Numbers beyond the end of a row are 0 from
/// the beginning; numbers beyond the last row are never read.
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
pub(super) struct OuterProduct<const MR: usize, const NR: usize> {
    shape: [usize; 2],
    left: Vec<f32>,
    right: Vec<f32>,
    pub(super) total: Vec<f32>,
}

impl<const MR: usize, const NR: usize> OuterProduct<MR, NR> {
    pub(super) fn new([d, c]: [usize; 2]) -> Self {
        Self {
            shape: [d, c],
            left: vec![0.0; d.div_ceil(MR) * MR * BLOCK],
            right: vec![0.0; c.div_ceil(NR) * NR * BLOCK],
            total: vec![0.0; d * c],
        }
    }

    /// Adds leftᵀ·right of equally many rows on both sides, at most a block.
    #[inline(always)]
    pub(super) fn add<S: Simd>(&mut self, simd: S, left: &[f32], right: &[f32]) {
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

/// Packs rows of `width` numbers as panels of `N` columns, a block of rows each. Numbers beyond the end
/// of a row are 0 from the beginning.
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
