//! The gradient of the convolution by its weight: patches by gradients, summed over all outputs.

use std::ops::Range;

use burn::tensor::Tensor;
use burn_flex::Flex;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::super::window::Window;
use super::axis::Axis;
use super::patches::{Patches, Pixel};
use super::sums::{SumsLayout, TileSums};
use super::winograd::{self, Quads};
use crate::flex::floats::{Floats, tensor};
use crate::flex::memory::with_scratch;
use crate::tiles::{DEPTH, Tiled, multiply_transposed, tiled, zeros};

/// Maximum number of parts into which the work is divided, whatever the number of threads, so that the sum over parts
/// does not depend on it.
const N_PARTS: usize = 8;

pub(super) fn weight_gradient(
    x: Tensor<Flex, 4>,
    gradient: Tensor<Flex, 4>,
    window: Window,
) -> Tensor<Flex, 4> {
    let shape = x.dims();
    let [n, height, width, c_in] = shape;
    let [.., c_out] = gradient.dims();
    let (x, gradient) = (Floats::of(x), Floats::of(gradient));
    let out = match Quads::of(window, [height, width], c_in) {
        Some(quads) => winograd::weight_gradient(&x, quads, &gradient, c_out),
        None => tiled(WeightGradient {
            patches: Patches::new(
                &x,
                shape,
                [height, width].map(|side| Axis::forward(side, window)),
            ),
            gradient: &gradient,
            c_out,
            n_images: n,
        }),
    };
    tensor(out, [c_out, c_in, window.size, window.size])
}

struct WeightGradient<'a> {
    patches: Patches<'a>,
    gradient: &'a [f32],
    c_out: usize,
    n_images: usize,
}

impl Tiled for WeightGradient<'_> {
    type Output = Vec<f32>;

    fn run<S: Simd, const MR: usize, const NR: usize>(self, simd: S) -> Vec<f32> {
        let patches = self.patches.layout();
        let row_length = patches.n_taps() * patches.n_channels();
        // The sums of one part fit into the second-level cache.
        let channels_at_once = if row_length < 4096 { 64 } else { 32 };
        let n_rows = self.n_images * self.patches.outputs()[0];
        // Blocks of channels are shared by threads, too: the more there are, the fewer parts are needed.
        let n_parts = (N_PARTS / self.c_out.div_ceil(channels_at_once)).clamp(1, n_rows.max(1));
        let mut out = vec![0.0; self.c_out * row_length];
        out.par_chunks_mut(channels_at_once * row_length)
            .enumerate()
            .for_each(|(at, out)| {
                let first = at * channels_at_once;
                let channels = first..first + out.len() / row_length;
                let layout = SumsLayout::new::<MR, NR>(patches, channels.len());
                with_scratch(n_parts * layout.length(), |sums| {
                    sums.par_chunks_exact_mut(layout.length())
                        .enumerate()
                        .for_each(|(part, sums)| {
                            simd.vectorize(GradientPart::<MR, NR> {
                                of: &self,
                                channels: channels.clone(),
                                rows: part * n_rows / n_parts..(part + 1) * n_rows / n_parts,
                                sums: TileSums::new(layout, sums),
                            });
                        });
                    layout.total::<NR>(sums, out);
                });
            });
        out
    }
}

/// Sums over some rows, of some channels of the gradient.
struct GradientPart<'a, const MR: usize, const NR: usize> {
    of: &'a WeightGradient<'a>,
    channels: Range<usize>,
    rows: Range<usize>,
    sums: TileSums<'a, MR, NR>,
}

impl<const MR: usize, const NR: usize> WithSimd for GradientPart<'_, MR, NR> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let depth = self.of.patches.layout().depth();
        let mut pixels = self.of.patches.pixels(self.rows.clone());
        self.of.patches.sort(&mut pixels);
        // Both factors fit into the second-level cache.
        let at_once = (65_536 / depth).clamp(64, 256).min(pixels.len().max(1));
        let right_length = depth.next_multiple_of(NR) * at_once;
        let left_length = self.channels.len().next_multiple_of(MR) * at_once;
        with_scratch(
            right_length + left_length,
            #[inline(always)]
            |factors| {
                let (right, left) = factors.split_at_mut(right_length);
                let (right, left) = (right.as_chunks_mut().0, left.as_chunks_mut().0);
                for pixels in pixels.chunks(at_once) {
                    self.add(simd, pixels, at_once, right, left);
                }
            },
        );
    }
}

impl<const MR: usize, const NR: usize> GradientPart<'_, MR, NR> {
    /// Adds the products of `pixels` to the sums, `at_once` terms after another in each panel.
    #[inline(always)]
    fn add<S: Simd>(
        &mut self,
        simd: S,
        pixels: &[Pixel],
        at_once: usize,
        right: &mut [[f32; NR]],
        left: &mut [[f32; MR]],
    ) {
        let layout = self.of.patches.layout();
        let mut runs = Vec::new();
        let mut patch = vec![0.0; (layout.packs() + 2) * DEPTH];
        self.fill_left(pixels, at_once, left);
        for group in 0..layout.n_groups() {
            runs.clear();
            self.fill_right(pixels, group, at_once, right, &mut patch, &mut runs);
            for (panel, right) in right.chunks_exact(at_once).enumerate() {
                for (block, left) in left.chunks_exact(at_once).enumerate() {
                    let mut tile = zeros::<S, MR>(simd);
                    for run in &runs {
                        let (left, right) = (&left[run.clone()], &right[run.clone()]);
                        tile = multiply_transposed(simd, tile, left, right);
                    }
                    self.sums.add(simd, [group, panel, block], tile);
                }
            }
        }
        self.sums.are_begun = true;
    }

    /// Packs the gradients of `pixels`, in panels of `MR` channels. Channels beyond the last are never
    /// read.
    #[inline(always)]
    fn fill_left(&self, pixels: &[Pixel], at_once: usize, left: &mut [[f32; MR]]) {
        let [n_rows, n_columns] = self.of.patches.outputs();
        for (term, pixel) in pixels.iter().enumerate() {
            let at = (pixel.image * n_rows + pixel.row) * n_columns + pixel.column;
            let gradient = &self.of.gradient[at * self.of.c_out..][self.channels.clone()];
            copy_panels(gradient, left, at_once, term);
        }
    }

    /// Packs the channels that `pixels` see through a group of taps, in panels of `NR` numbers, and
    /// finds the runs of pixels that do not see padding.
    #[inline(always)]
    fn fill_right(
        &self,
        pixels: &[Pixel],
        group: usize,
        at_once: usize,
        right: &mut [[f32; NR]],
        patch: &mut [f32],
        runs: &mut Vec<Range<usize>>,
    ) {
        let patches = &self.of.patches;
        let layout = patches.layout();
        if !layout.is_split() {
            for (term, pixel) in pixels.iter().enumerate() {
                patches.whole(*pixel, patch);
                copy_panels(&patch[..layout.depth()], right, at_once, term);
            }
            runs.push(0..pixels.len());
            return;
        }
        let tap = [group / layout.size(), group % layout.size()];
        for (term, pixel) in pixels.iter().enumerate() {
            let Some(channels) = patches.tap(*pixel, tap) else {
                continue;
            };
            copy_panels(channels, right, at_once, term);
            match runs.last_mut() {
                Some(run) if run.end == term => run.end += 1,
                _ => runs.push(term..term + 1),
            }
        }
    }
}

/// Copies the numbers of one term to panels of `W` numbers; a panel has `at_once` terms.
#[inline(always)]
fn copy_panels<const W: usize>(
    numbers: &[f32],
    panels: &mut [[f32; W]],
    at_once: usize,
    term: usize,
) {
    let (whole, rest) = numbers.as_chunks::<W>();
    let mut terms = panels[term..].iter_mut().step_by(at_once);
    for (numbers, panel) in whole.iter().zip(&mut terms) {
        *panel = *numbers;
    }
    if let (false, Some(panel)) = (rest.is_empty(), terms.next()) {
        panel[..rest.len()].copy_from_slice(rest);
    }
}
