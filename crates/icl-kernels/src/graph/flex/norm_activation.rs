//! Normalisation, leaky ReLU and dropout, forward and backward in two passes over the rows each.

use std::ops::Range;

use burn::tensor::Tensor;
use burn_flex::Flex;

use super::super::saved::{NormActivation, NormActivationSaved};
use super::parts::{Totals, means, over_parts, sums_of_parts};
use crate::dropout::DropoutMask;
use crate::flex::columns::{ColumnPass, ColumnSums, LANES, lanes, lanes_mut, over_columns};
use crate::flex::floats::{Floats, tensor};
use crate::flex::memory::result;

/// Number of rows in a part, a multiple of those that are summed in single precision.
const PART: usize = 512;

/// Number of columns at once.
const WIDE: usize = 2 * LANES;

/// Computes the output, and the values that the backward pass needs.
pub(super) fn forward(
    options: NormActivation,
    x: Tensor<Flex, 2>,
    mask: Option<DropoutMask>,
) -> (Tensor<Flex, 2>, NormActivationSaved<Flex>) {
    let [n, width] = x.dims();
    let input = Floats::of(x);
    let rows: &[f32] = &input;
    let length = PART * width;
    let (mut mean, mut scale) = (vec![0.0; width], vec![0.0; width]);
    let out = result([n, width], |out| {
        // Subtracting the first row keeps the digits of the squares where the mean is large.
        let shift = &rows[..width];
        let sums = over_parts(out, length, n * width, |part, out| {
            let mut pass = InputSums {
                rows: of_part(rows, part * length, out),
                shift,
                totals: Totals::new(width),
            };
            over_columns::<WIDE>(&mut pass, width);
            pass.totals
        });
        for (column, [offset, square]) in means(&sums, n).enumerate() {
            // Rounding can make the difference negative.
            let variance = (square - offset * offset).max(0.0);
            mean[column] = (f64::from(shift[column]) + offset) as f32;
            scale[column] = (1.0 / (variance + options.epsilon).sqrt()) as f32;
        }
        over_parts(out, length, n * width, |part, out| {
            let first = part * length;
            let mut pass = OutputPass {
                rows: of_part(rows, first, out),
                first,
                mask: mask.as_ref(),
                mean: &mean,
                scale: &scale,
                slope: options.negative_slope as f32,
                out,
            };
            over_columns::<WIDE>(&mut pass, width);
        });
    });
    let saved = NormActivationSaved {
        mean: tensor(mean, [1, width]),
        scale: tensor(scale, [1, width]),
        input: input.tensor(),
        mask,
    };
    (out, saved)
}

/// Multiplies `L` values by the elements of the mask from `at` on.
#[inline(always)]
fn times<const L: usize>(mask: &DropoutMask, at: usize, mut values: [f32; L]) -> [f32; L] {
    let (bits, scale) = (mask.bits(at) as u32, mask.scale());
    for (lane, value) in values.iter_mut().enumerate() {
        let is_kept = bits >> lane & 1 == 1;
        *value *= if is_kept { scale } else { 0.0 };
    }
    values
}

/// Returns the elements of `all` at the places of the part `out`, which begins at `first`.
fn of_part<'a>(all: &'a [f32], first: usize, out: &[f32]) -> &'a [f32] {
    &all[first..first + out.len()]
}

/// A pass that sums each column and its squares.
struct InputSums<'a> {
    rows: &'a [f32],
    shift: &'a [f32],
    totals: Totals,
}

impl ColumnPass for InputSums<'_> {
    #[inline(always)]
    fn columns<const L: usize>(&mut self, first: usize) {
        let shift = *lanes::<L>(self.shift, first);
        let mut sums = ColumnSums::<L>::new();
        for at in (first..self.rows.len()).step_by(self.shift.len()) {
            let x = lanes::<L>(self.rows, at);
            let centred: [f32; L] = std::array::from_fn(|lane| x[lane] - shift[lane]);
            sums.add(
                &centred,
                &std::array::from_fn(|lane| centred[lane] * centred[lane]),
            );
        }
        self.totals.set(first, sums);
    }
}

/// A pass that computes the output from the statistics.
struct OutputPass<'a> {
    rows: &'a [f32],
    /// Index of the first element of `out` in the mask.
    first: usize,
    mask: Option<&'a DropoutMask>,
    mean: &'a [f32],
    scale: &'a [f32],
    slope: f32,
    out: &'a mut [f32],
}

impl ColumnPass for OutputPass<'_> {
    #[inline(always)]
    fn columns<const L: usize>(&mut self, first: usize) {
        let mean = *lanes::<L>(self.mean, first);
        let scale = *lanes::<L>(self.scale, first);
        for at in (first..self.rows.len()).step_by(self.mean.len()) {
            let x = lanes::<L>(self.rows, at);
            let mut out = [0.0; L];
            for lane in 0..L {
                let normal = (x[lane] - mean[lane]) * scale[lane];
                out[lane] = normal * if normal > 0.0 { 1.0 } else { self.slope };
            }
            if let Some(mask) = self.mask {
                out = times(mask, self.first + at, out);
            }
            *lanes_mut(self.out, at) = out;
        }
    }
}

/// Computes the gradient by the input.
pub(super) fn backward(
    options: NormActivation,
    saved: NormActivationSaved<Flex>,
    gradient: Tensor<Flex, 2>,
) -> Tensor<Flex, 2> {
    let [n, width] = gradient.dims();
    let [input, gradient, mean, scale] =
        [saved.input, gradient, saved.mean, saved.scale].map(Floats::of);
    let by_normal = ByNormal {
        rows: &input,
        mean: &mean,
        scale: &scale,
        gradient: &gradient,
        mask: saved.mask.as_ref(),
        slope: options.negative_slope as f32,
    };
    let (length, n_elements) = (PART * width, n * width);
    let sums = sums_of_parts(n.div_ceil(PART), n_elements, |part| {
        let first = part * length;
        let mut pass = GradientSums {
            by_normal,
            elements: first..n_elements.min(first + length),
            totals: Totals::new(width),
        };
        over_columns::<WIDE>(&mut pass, width);
        pass.totals
    });
    let means: Vec<[f32; 2]> = means(&sums, n)
        .map(|means| means.map(|mean| mean as f32))
        .collect();
    result([n, width], |out| {
        over_parts(out, length, n_elements, |part, out| {
            let mut pass = ByInput {
                by_normal,
                first: part * length,
                means: &means,
                out,
            };
            over_columns::<WIDE>(&mut pass, width);
        });
    })
}

/// The normalised input, and the gradient by it.
#[derive(Clone, Copy)]
struct ByNormal<'a> {
    rows: &'a [f32],
    mean: &'a [f32],
    scale: &'a [f32],
    gradient: &'a [f32],
    mask: Option<&'a DropoutMask>,
    slope: f32,
}

impl ByNormal<'_> {
    /// Returns `L` elements of both from `at` on, given the statistics of their columns. Computing them in each pass is
    /// faster than storing them.
    #[inline(always)]
    fn at<const L: usize>(&self, at: usize, mean: &[f32; L], scale: &[f32; L]) -> [[f32; L]; 2] {
        let (x, gradient) = (lanes::<L>(self.rows, at), lanes::<L>(self.gradient, at));
        let (mut normal, mut by_normal) = ([0.0; L], [0.0; L]);
        for lane in 0..L {
            normal[lane] = (x[lane] - mean[lane]) * scale[lane];
            let slope = if normal[lane] > 0.0 { 1.0 } else { self.slope };
            by_normal[lane] = gradient[lane] * slope;
        }
        if let Some(mask) = self.mask {
            by_normal = times(mask, at, by_normal);
        }
        [normal, by_normal]
    }
}

/// A pass that sums the gradient by the normalised input and its projection on that input.
struct GradientSums<'a> {
    by_normal: ByNormal<'a>,
    elements: Range<usize>,
    totals: Totals,
}

impl ColumnPass for GradientSums<'_> {
    #[inline(always)]
    fn columns<const L: usize>(&mut self, first: usize) {
        let mean = *lanes::<L>(self.by_normal.mean, first);
        let scale = *lanes::<L>(self.by_normal.scale, first);
        let mut sums = ColumnSums::<L>::new();
        let Range { start, end } = self.elements;
        for at in (start + first..end).step_by(self.by_normal.mean.len()) {
            let [mut normal, by_normal] = self.by_normal.at(at, &mean, &scale);
            for lane in 0..L {
                normal[lane] *= by_normal[lane];
            }
            sums.add(&by_normal, &normal);
        }
        self.totals.set(first, sums);
    }
}

/// A pass that computes the gradient by the input: that by the normalised input without its mean and its projection.
struct ByInput<'a> {
    by_normal: ByNormal<'a>,
    /// Index of the first element of `out`.
    first: usize,
    means: &'a [[f32; 2]],
    out: &'a mut [f32],
}

impl ColumnPass for ByInput<'_> {
    #[inline(always)]
    fn columns<const L: usize>(&mut self, first: usize) {
        let mean = *lanes::<L>(self.by_normal.mean, first);
        let scale = *lanes::<L>(self.by_normal.scale, first);
        let sum: [f32; L] = std::array::from_fn(|lane| self.means[first + lane][0]);
        let projection: [f32; L] = std::array::from_fn(|lane| self.means[first + lane][1]);
        for at in (first..self.out.len()).step_by(self.means.len()) {
            let [normal, by_normal] = self.by_normal.at(self.first + at, &mean, &scale);
            let out = lanes_mut::<L>(self.out, at);
            for lane in 0..L {
                out[lane] =
                    (by_normal[lane] - sum[lane] - normal[lane] * projection[lane]) * scale[lane];
            }
        }
    }
}
