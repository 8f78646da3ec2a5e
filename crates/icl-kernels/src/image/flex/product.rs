//! The convolution and its gradient by the input: products of patches with a weight.

use std::ops::Range;

use burn::tensor::Tensor;
use burn_flex::Flex;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::super::window::Window;
use super::axis::Axis;
use super::packing::PatchPacking;
use super::patches::{Patches, Pixel};
use super::weight::Weight;
use super::winograd::{self, Quads};
use crate::flex::floats::Floats;
use crate::flex::memory::{result, with_scratch};
use crate::tiles::{
    DEPTH, Left, Right, Tiled, matrices, matrices_mut, multiply, row, tiled, zeros,
};

pub(super) fn convolution(
    x: Tensor<Flex, 4>,
    weight: Tensor<Flex, 4>,
    window: Window,
) -> Tensor<Flex, 4> {
    let [n, height, width, c_in] = x.dims();
    let [c_out, ..] = weight.dims();
    let (x, weight) = (Floats::of(x), Floats::of(weight));
    let weight = Weight {
        values: &weight,
        c_out,
        c_in,
        is_transposed: false,
    };
    let sides = [height, width].map(|side| window.output(side));
    result([n, sides[0], sides[1], c_out], |out| {
        if let Some(quads) = Quads::of(window, [height, width], c_in) {
            return winograd::product(&x, quads, weight, out);
        }
        let axes = [height, width].map(|side| Axis::forward(side, window));
        tiled(PatchProduct {
            patches: Patches::new(&x, [n, height, width, c_in], axes),
            weight,
            out,
        });
    })
}

pub(super) fn input_gradient(
    gradient: Tensor<Flex, 4>,
    weight: Tensor<Flex, 4>,
    window: Window,
    [height, width]: [usize; 2],
) -> Tensor<Flex, 4> {
    let shape = gradient.dims();
    let [c_out, c_in, ..] = weight.dims();
    let (gradient, weight) = (Floats::of(gradient), Floats::of(weight));
    let weight = Weight {
        values: &weight,
        c_out,
        c_in,
        is_transposed: true,
    };
    result([shape[0], height, width, c_in], |out| {
        if let Some(quads) = Quads::transposed(window, [height, width], c_out) {
            return winograd::product(&gradient, quads, weight, out);
        }
        let axes = [height, width].map(|side| Axis::transposed(side, window));
        tiled(PatchProduct {
            patches: Patches::new(&gradient, shape, axes),
            weight,
            out,
        });
    })
}

/// The product of the patches of all outputs with a weight.
struct PatchProduct<'a> {
    patches: Patches<'a>,
    weight: Weight<'a>,
    out: &'a mut [f32],
}

impl Tiled for PatchProduct<'_> {
    type Output = ();

    fn run<S: Simd, const MR: usize, const NR: usize>(self, simd: S) {
        let layout = self.patches.layout();
        let [n_rows, n_columns] = self.patches.outputs();
        let width = self.weight.width();
        let rows_at_once = rows_at_once([n_rows, n_columns]);
        with_scratch(self.weight.packed_length::<NR>(layout), |weight| {
            self.weight.pack::<NR>(layout, weight);
            let weight = matrices(weight);
            self.out
                .par_chunks_mut(rows_at_once * n_columns * width)
                .enumerate()
                .for_each(|(part, out)| {
                    let first = part * rows_at_once;
                    simd.vectorize(ProductPart::<MR, NR> {
                        patches: &self.patches,
                        weight,
                        width,
                        rows: first..first + out.len() / (n_columns * width),
                        out,
                    });
                });
        });
    }
}

/// Number of rows of outputs that one thread works on: about 128 pixels of one image, or several small
/// images, whose pixels at the same place see padding through the same taps.
fn rows_at_once([n_rows, n_columns]: [usize; 2]) -> usize {
    let n_pixels = n_rows * n_columns;
    if n_pixels >= 128 {
        128_usize.div_ceil(n_columns)
    } else {
        n_rows * (1 << (256 / n_pixels).min(8).ilog2())
    }
}

/// Some rows of the product.
struct ProductPart<'a, const MR: usize, const NR: usize> {
    patches: &'a Patches<'a>,
    weight: &'a [Right<NR>],
    width: usize,
    rows: Range<usize>,
    out: &'a mut [f32],
}

impl<const MR: usize, const NR: usize> WithSimd for ProductPart<'_, MR, NR> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let layout = self.patches.layout();
        let packs = layout.n_groups() * layout.packs();
        let mut pixels = self.patches.pixels(self.rows.clone());
        self.patches.sort(&mut pixels);
        // The left factor and the current panel of the right one fit into the second-level cache.
        let at_once = (32_768 / (packs * DEPTH)).max(32) / MR * MR;
        let n_blocks = at_once.min(pixels.len()).div_ceil(MR);
        with_scratch(
            n_blocks * packs * DEPTH * MR,
            #[inline(always)]
            |left| {
                let left = matrices_mut(left);
                let mut packing = PatchPacking::<MR>::new(self.patches);
                for pixels in pixels.chunks(at_once) {
                    packing.fill(pixels, left);
                    self.multiply(simd, pixels, left, &packing);
                }
            },
        );
    }
}

impl<const MR: usize, const NR: usize> ProductPart<'_, MR, NR> {
    #[inline(always)]
    fn multiply<S: Simd>(
        &mut self,
        simd: S,
        pixels: &[Pixel],
        left: &[Left<MR>],
        packing: &PatchPacking<MR>,
    ) {
        let layout = self.patches.layout();
        let [n_rows, n_columns] = self.patches.outputs();
        let packs = layout.packs();
        let panels = self.weight.chunks_exact(layout.n_groups() * packs);
        for (panel, first) in panels.zip((0..self.width).step_by(NR)) {
            let n_lanes = NR.min(self.width - first);
            for (block, pixels) in packing.blocks.iter().zip(pixels.chunks(MR)) {
                let mut tile = zeros::<S, MR>(simd);
                let mut left = &left[block.start..];
                for run in &packing.runs[block.runs.clone()] {
                    let right = &panel[run.start * packs..run.end * packs];
                    tile = multiply(simd, tile, &left[..right.len()], right);
                    left = &left[right.len()..];
                }
                for (pixel, tile) in pixels.iter().zip(tile) {
                    let at = pixel.image * n_rows + pixel.row - self.rows.start;
                    let at = (at * n_columns + pixel.column) * self.width + first;
                    let values = row::<S, NR>(tile);
                    match self.out[at..].first_chunk_mut() {
                        Some(out) if n_lanes == NR => *out = values,
                        _ => self.out[at..at + n_lanes].copy_from_slice(&values[..n_lanes]),
                    }
                }
            }
        }
    }
}
