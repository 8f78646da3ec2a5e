//! The gradient of a convolution by its taps, summed over all quads.

use std::ops::Range;

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::quads::{Quad, Quads};
use super::transform::{Square, of_gradients, of_inputs, taps};
use super::{N_PRODUCTS, N_TAPS};
use crate::flex::memory::with_scratch;
use crate::tiles::{Tile, Tiled, multiply_transposed, row, tiled, zeros};

/// Maximum number of parts into which the work is divided, whatever the number of threads, so that the sum over parts
/// does not depend on it.
const N_PARTS: usize = 8;

/// Maximum number of channels of the gradient whose sums are made at once.
const MOST_CHANNELS: usize = 64;

/// Number of values in a cache line.
const LINE: usize = 16;

/// Computes the gradient `[c_out, c_in, 3, 3]` by the taps from `images` and the `gradient` by the outputs
/// `[n, h′, w′, c_out]`.
pub(in super::super) fn weight_gradient(
    images: &[f32],
    quads: Quads,
    gradient: &[f32],
    c_out: usize,
) -> Vec<f32> {
    tiled(WeightGradient {
        images,
        quads,
        gradient,
        c_out,
    })
}

struct WeightGradient<'a> {
    images: &'a [f32],
    quads: Quads,
    gradient: &'a [f32],
    c_out: usize,
}

impl Tiled for WeightGradient<'_> {
    type Output = Vec<f32>;

    fn run<S: Simd, const MR: usize, const NR: usize>(self, simd: S) -> Vec<f32> {
        let c_in = self.quads.n_channels();
        // The sums of one part fit into half of the second-level cache.
        let channels_at_once = if c_in < 512 {
            MOST_CHANNELS
        } else {
            MOST_CHANNELS / 2
        };
        let n_images =
            self.gradient.len() / self.c_out / self.quads.outputs().iter().product::<usize>();
        let n_rows = n_images * self.quads.counts()[0];
        let n_parts = (N_PARTS / self.c_out.div_ceil(channels_at_once)).clamp(1, n_rows.max(1));
        let mut out = vec![0.0; self.c_out * c_in * N_TAPS];
        out.par_chunks_mut(channels_at_once * c_in * N_TAPS)
            .enumerate()
            .for_each(|(at, out)| {
                let first = at * channels_at_once;
                let channels = first..first + out.len() / (c_in * N_TAPS);
                let layout = Sums::new::<MR, NR>(c_in, channels.len());
                with_scratch(n_parts * layout.length::<NR>(), |sums| {
                    sums.par_chunks_exact_mut(layout.length::<NR>())
                        .enumerate()
                        .for_each(|(part, sums)| {
                            simd.vectorize(Part::<MR, NR> {
                                of: &self,
                                channels: channels.clone(),
                                rows: part * n_rows / n_parts..(part + 1) * n_rows / n_parts,
                                layout,
                                sums: sums.as_chunks_mut().0,
                            });
                        });
                    simd.vectorize(Total::<NR> { layout, sums, out });
                });
            });
        out
    }
}

/// Layout of the sums of one part: product after product, each in panels of `NR` channels of the images, each panel
/// with a row for each channel of the gradient.
#[derive(Debug, Clone, Copy)]
struct Sums {
    c_in: usize,
    n_panels: usize,
    rows_per_panel: usize,
}

impl Sums {
    fn new<const MR: usize, const NR: usize>(c_in: usize, n_channels: usize) -> Self {
        Self {
            c_in,
            n_panels: c_in.div_ceil(NR),
            rows_per_panel: n_channels.next_multiple_of(MR),
        }
    }

    fn length<const NR: usize>(self) -> usize {
        N_PRODUCTS * self.n_panels * self.rows_per_panel * NR
    }

    /// Returns the index of a row of a panel of a product.
    #[inline(always)]
    fn row(self, [product, panel, row]: [usize; 3]) -> usize {
        (product * self.n_panels + panel) * self.rows_per_panel + row
    }
}

/// Sums over some rows of quads, of some channels of the gradient.
struct Part<'a, const MR: usize, const NR: usize> {
    of: &'a WeightGradient<'a>,
    channels: Range<usize>,
    rows: Range<usize>,
    layout: Sums,
    sums: &'a mut [[f32; NR]],
}

impl<const MR: usize, const NR: usize> WithSimd for Part<'_, MR, NR> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let quads = self.of.quads.of_rows(self.rows.clone());
        if quads.is_empty() {
            self.sums.fill([0.0; NR]);
            return;
        }
        // Both factors fit into the second-level cache.
        let at_once = (8192 / self.layout.c_in).clamp(32, 64).min(quads.len());
        let right_length = N_PRODUCTS * self.right_stride(at_once) * NR;
        let left_length = N_PRODUCTS * self.left_stride(at_once) * MR;
        with_scratch(
            right_length + left_length,
            #[inline(always)]
            |factors| {
                let (right, left) = factors.split_at_mut(right_length);
                let (right, left) = (right.as_chunks_mut().0, left.as_chunks_mut().0);
                for (at, quads) in quads.chunks(at_once).enumerate() {
                    self.transform_inputs(simd, quads, at_once, right);
                    self.transform_gradients(simd, quads, at_once, left);
                    self.add(simd, [quads.len(), at_once], right, left, at == 0);
                }
            },
        );
    }
}

impl<const MR: usize, const NR: usize> Part<'_, MR, NR> {
    /// Number of rows between the factors of two products. All 16 are written in turn: a few unused rows keep them from
    /// falling into the same set of the cache.
    #[inline(always)]
    fn right_stride(&self, at_once: usize) -> usize {
        self.layout.n_panels * at_once + (2 * LINE).div_ceil(NR)
    }

    /// The same for the left factors.
    #[inline(always)]
    fn left_stride(&self, at_once: usize) -> usize {
        self.layout.rows_per_panel / MR * at_once + (2 * LINE).div_ceil(MR)
    }

    /// Transforms the inputs of `quads`, in panels of `NR` channels with `at_once` terms each.
    #[inline(always)]
    fn transform_inputs<S: Simd>(
        &self,
        simd: S,
        quads: &[Quad],
        at_once: usize,
        right: &mut [[f32; NR]],
    ) {
        let zero = simd.splat_f32s(0.0);
        for (term, quad) in quads.iter().enumerate() {
            let inputs = self.of.quads.inputs(*quad);
            for first in (0..self.layout.c_in).step_by(S::F32_LANES) {
                let mut square: Square<S, 4> = [[zero; 4]; 4];
                for i in 0..4 {
                    for j in 0..4 {
                        if let Some(at) = inputs[i][j] {
                            let from = &self.of.images[at + first..][..S::F32_LANES];
                            square[i][j] = S::as_simd_f32s(from).0[0];
                        }
                    }
                }
                let square = of_inputs(simd, &square);
                let (panel, vector) = (first / NR, first % NR / S::F32_LANES);
                for product in 0..N_PRODUCTS {
                    let at = product * self.right_stride(at_once) + panel * at_once + term;
                    let row = &mut right[at];
                    S::as_mut_simd_f32s(row).0[vector] = square[product / 4][product % 4];
                }
            }
        }
    }

    /// Transforms the gradients of `quads`, in blocks of `MR` channels with `at_once` terms each. Channels beyond the
    /// last are never read.
    #[inline(always)]
    fn transform_gradients<S: Simd>(
        &self,
        simd: S,
        quads: &[Quad],
        at_once: usize,
        left: &mut [[f32; MR]],
    ) {
        let n_channels = self.channels.len();
        let mut gradients = [[[0.0; MOST_CHANNELS]; 2]; 2];
        let mut transformed = [[0.0; MOST_CHANNELS]; N_PRODUCTS];
        for (term, quad) in quads.iter().enumerate() {
            let pixels = self.of.quads.pixels(*quad);
            for i in 0..2 {
                for j in 0..2 {
                    let gradients = &mut gradients[i][j][..n_channels];
                    match pixels[i][j] {
                        Some(pixel) => {
                            let from = pixel * self.of.c_out + self.channels.start;
                            gradients.copy_from_slice(&self.of.gradient[from..from + n_channels]);
                        }
                        None => gradients.fill(0.0),
                    }
                }
            }
            for vector in 0..n_channels.div_ceil(S::F32_LANES) {
                let mut square: Square<S, 2> = [[simd.splat_f32s(0.0); 2]; 2];
                for i in 0..2 {
                    for j in 0..2 {
                        square[i][j] = S::as_simd_f32s(&gradients[i][j]).0[vector];
                    }
                }
                let square = of_gradients(simd, &square);
                for product in 0..N_PRODUCTS {
                    let row = &mut transformed[product];
                    S::as_mut_simd_f32s(row).0[vector] = square[product / 4][product % 4];
                }
            }
            for (product, transformed) in transformed.iter().enumerate() {
                let (blocks, rest) = transformed[..n_channels].as_chunks::<MR>();
                let terms = &mut left[product * self.left_stride(at_once) + term..];
                let mut terms = terms.iter_mut().step_by(at_once);
                for (block, term) in blocks.iter().zip(&mut terms) {
                    *term = *block;
                }
                if let (false, Some(term)) = (rest.is_empty(), terms.next()) {
                    term[..rest.len()].copy_from_slice(rest);
                }
            }
        }
    }

    /// Adds the products of `n_terms` quads to the sums, or begins these with them.
    #[inline(always)]
    fn add<S: Simd>(
        &mut self,
        simd: S,
        [n_terms, at_once]: [usize; 2],
        right: &[[f32; NR]],
        left: &[[f32; MR]],
        begins: bool,
    ) {
        let (n_panels, n_blocks) = (self.layout.n_panels, self.layout.rows_per_panel / MR);
        for product in 0..N_PRODUCTS {
            let right = &right[product * self.right_stride(at_once)..];
            let left = &left[product * self.left_stride(at_once)..];
            for (panel, right) in right.chunks_exact(at_once).take(n_panels).enumerate() {
                for (block, left) in left.chunks_exact(at_once).take(n_blocks).enumerate() {
                    let tile: Tile<S, MR> = multiply_transposed(
                        simd,
                        zeros::<S, MR>(simd),
                        &left[..n_terms],
                        &right[..n_terms],
                    );
                    let first = self.layout.row([product, panel, block * MR]);
                    for (sums, tile) in self.sums[first..first + MR].iter_mut().zip(tile) {
                        let tile = row::<S, NR>(tile);
                        if begins {
                            *sums = tile;
                        } else {
                            for lane in 0..NR {
                                sums[lane] += tile[lane];
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Adds the parts `sums` in order, and transforms them to the gradients of rows of the weight.
struct Total<'a, const NR: usize> {
    layout: Sums,
    sums: &'a [f32],
    out: &'a mut [f32],
}

impl<const NR: usize> WithSimd for Total<'_, NR> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (out, _) = self.out.as_chunks_mut::<N_TAPS>();
        for (row, out) in out.chunks_exact_mut(self.layout.c_in).enumerate() {
            for (panel, out) in out.chunks_mut(NR).enumerate() {
                let mut by_tap = [[0.0; NR]; N_TAPS];
                for vector in 0..NR / S::F32_LANES {
                    let mut square: Square<S, 4> = [[simd.splat_f32s(0.0); 4]; 4];
                    for part in self.sums.chunks_exact(self.layout.length::<NR>()) {
                        let (rows, _) = part.as_chunks::<NR>();
                        for product in 0..N_PRODUCTS {
                            let sums = &rows[self.layout.row([product, panel, row])];
                            let total = &mut square[product / 4][product % 4];
                            *total = simd.add_f32s(*total, S::as_simd_f32s(sums).0[vector]);
                        }
                    }
                    let square = taps(simd, &square);
                    for tap in 0..N_TAPS {
                        let row = &mut by_tap[tap];
                        S::as_mut_simd_f32s(row).0[vector] = square[tap / 3][tap % 3];
                    }
                }
                for (lane, out) in out.iter_mut().enumerate() {
                    for tap in 0..N_TAPS {
                        out[tap] = by_tap[tap][lane];
                    }
                }
            }
        }
    }
}
