//! The outputs of a convolution, quad by quad.

use std::ops::Range;

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::super::weight::Weight;
use super::N_PRODUCTS;
use super::quads::{Quad, Quads};
use super::transform::{Square, of_inputs, outputs};
use super::weight::{pack, packed_length};
use crate::flex::memory::with_scratch;
use crate::tiles::{
    DEPTH, Left, Right, Tiled, matrices, matrices_mut, multiply, row, tiled, zeros,
};

/// Writes the outputs of the convolution of `images` by `weight`.
pub(in super::super) fn product(images: &[f32], quads: Quads, weight: Weight<'_>, out: &mut [f32]) {
    tiled(Product {
        images,
        quads,
        weight,
        out,
    });
}

struct Product<'a> {
    images: &'a [f32],
    quads: Quads,
    weight: Weight<'a>,
    out: &'a mut [f32],
}

impl Tiled for Product<'_> {
    type Output = ();

    fn run<S: Simd, const MR: usize, const NR: usize>(self, simd: S) {
        let width = self.weight.width();
        with_scratch(packed_length::<NR>(self.weight), |factors| {
            pack::<S, NR>(simd, self.weight, factors);
            let factors = matrices(factors);
            parts(self.quads, self.out, width)
                .into_par_iter()
                .for_each(|(rows, out)| {
                    simd.vectorize(Part::<MR, NR> {
                        images: self.images,
                        quads: self.quads,
                        factors,
                        width,
                        rows,
                        out,
                    });
                });
        });
    }
}

/// Number of quads whose transformed inputs fit into half of the second-level cache.
pub(super) fn at_once(quads: &Quads) -> usize {
    (8192 / quads.n_channels()).max(32)
}

/// Divides the outputs into rows of quads that one thread works on, with their memory.
fn parts(quads: Quads, out: &mut [f32], width: usize) -> Vec<(Range<usize>, &mut [f32])> {
    let ([n_rows, n_columns], [height, row_length]) = (quads.counts(), quads.outputs());
    let row_length = row_length * width;
    let n_images = out.len() / (height * row_length).max(1);
    let rows_at_once = (at_once(&quads) / n_columns).max(1);
    let mut rest = out;
    let mut parts = Vec::new();
    for first in (0..n_images * n_rows).step_by(rows_at_once) {
        let end = (first + rows_at_once).min(n_images * n_rows);
        let n_pixel_rows = quads.pixel_rows_before(end) - quads.pixel_rows_before(first);
        let (part, others) = rest.split_at_mut(n_pixel_rows * row_length);
        parts.push((first..end, part));
        rest = others;
    }
    parts
}

/// Some rows of quads.
struct Part<'a, const MR: usize, const NR: usize> {
    images: &'a [f32],
    quads: Quads,
    factors: &'a [Right<NR>],
    width: usize,
    rows: Range<usize>,
    out: &'a mut [f32],
}

impl<const MR: usize, const NR: usize> WithSimd for Part<'_, MR, NR> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let quads = self.quads.of_rows(self.rows.clone());
        let at_once = at_once(&self.quads).next_multiple_of(MR);
        let n_blocks = at_once.min(quads.len()).div_ceil(MR);
        let left_length = n_blocks * self.quads.packs() * N_PRODUCTS * DEPTH * MR;
        with_scratch(
            left_length + N_PRODUCTS * MR * NR,
            #[inline(always)]
            |scratch| {
                let (left, sums) = scratch.split_at_mut(left_length);
                let (left, sums) = (matrices_mut(left), matrices_mut(sums));
                for quads in quads.chunks(at_once) {
                    self.transform(simd, quads, left);
                    self.multiply(simd, quads, left, sums);
                }
            },
        );
    }
}

impl<const MR: usize, const NR: usize> Part<'_, MR, NR> {
    /// Transforms the inputs of `quads`, packed in blocks of `MR` quads, each pack by pack and product by product. The
    /// rest of a block that is not full is never read.
    #[inline(always)]
    fn transform<S: Simd>(&self, simd: S, quads: &[Quad], left: &mut [Left<MR>]) {
        let block_length = self.quads.packs() * N_PRODUCTS;
        let zero = simd.splat_f32s(0.0);
        for (quads, left) in quads.chunks(MR).zip(left.chunks_exact_mut(block_length)) {
            for (lane, quad) in quads.iter().enumerate() {
                let inputs = self.quads.inputs(*quad);
                for (pack, left) in left.chunks_exact_mut(N_PRODUCTS).enumerate() {
                    for vector in 0..DEPTH / S::F32_LANES {
                        let mut square: Square<S, 4> = [[zero; 4]; 4];
                        for i in 0..4 {
                            for j in 0..4 {
                                if let Some(at) = inputs[i][j] {
                                    let from = &self.images[at + pack * DEPTH..][..DEPTH];
                                    square[i][j] = S::as_simd_f32s(from).0[vector];
                                }
                            }
                        }
                        let square = of_inputs(simd, &square);
                        for product in 0..N_PRODUCTS {
                            let row = &mut left[product][lane];
                            S::as_mut_simd_f32s(row).0[vector] = square[product / 4][product % 4];
                        }
                    }
                }
            }
        }
    }

    /// Multiplies the transformed inputs of `quads` by the factors, and writes the outputs.
    #[inline(always)]
    fn multiply<S: Simd>(
        &mut self,
        simd: S,
        quads: &[Quad],
        left: &[Left<MR>],
        sums: &mut [[[f32; NR]; MR]],
    ) {
        let packs = self.quads.packs();
        let block_length = packs * N_PRODUCTS;
        let panels = self.factors.chunks_exact(block_length);
        for (panel, first) in panels.zip((0..self.width).step_by(NR)) {
            for (quads, left) in quads.chunks(MR).zip(left.chunks_exact(block_length)) {
                for (product, sums) in sums.iter_mut().enumerate() {
                    let mut tile = zeros::<S, MR>(simd);
                    let right = &panel[product * packs..][..packs];
                    for (left, right) in left.chunks_exact(N_PRODUCTS).zip(right) {
                        let (left, right) = (&left[product..=product], std::slice::from_ref(right));
                        tile = multiply(simd, tile, left, right);
                    }
                    for lane in 0..MR {
                        sums[lane] = row::<S, NR>(tile[lane]);
                    }
                }
                for (lane, quad) in quads.iter().enumerate() {
                    self.write(simd, *quad, first, sums, lane);
                }
            }
        }
    }

    /// Writes the outputs of a quad: `NR` channels from `first` on, or as many as there are.
    #[inline(always)]
    fn write<S: Simd>(
        &mut self,
        simd: S,
        quad: Quad,
        first: usize,
        sums: &[[[f32; NR]; MR]],
        lane: usize,
    ) {
        let mut values = [[[0.0; NR]; 2]; 2];
        for vector in 0..NR / S::F32_LANES {
            let mut square: Square<S, 4> = [[simd.splat_f32s(0.0); 4]; 4];
            for product in 0..N_PRODUCTS {
                let sums = &sums[product][lane];
                square[product / 4][product % 4] = S::as_simd_f32s(sums).0[vector];
            }
            let square = outputs(simd, &square);
            for i in 0..2 {
                for j in 0..2 {
                    S::as_mut_simd_f32s(&mut values[i][j]).0[vector] = square[i][j];
                }
            }
        }
        let n_lanes = NR.min(self.width - first);
        let before = self.quads.pixel_rows_before(self.rows.start) * self.quads.outputs()[1];
        for (pixels, values) in self.quads.pixels(quad).iter().zip(&values) {
            for (pixel, values) in pixels.iter().zip(values) {
                let Some(pixel) = *pixel else { continue };
                let out = &mut self.out[(pixel - before) * self.width + first..];
                match out.first_chunk_mut() {
                    Some(out) if n_lanes == NR => *out = *values,
                    _ => out[..n_lanes].copy_from_slice(&values[..n_lanes]),
                }
            }
        }
    }
}
