//! Normalisation, leaky ReLU and dropout, forward and backward in two passes over the rows each.

use burn::tensor::Tensor;
use burn_flex::Flex;

use super::super::norm_activation::{NormActivation, NormActivationSaved};
use super::parts::{Totals, means, over_parts};
use crate::dropout::DropoutMask;
use crate::flex::columns::{ColumnPass, ColumnSums, LANES, lanes, lanes_mut, over_columns};
use crate::flex::floats::{Floats, tensor};
use crate::flex::memory::result;

/// Number of rows in a part, a multiple of those that are summed in single precision.
const PART: usize = 512;

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
            over_columns::<LANES>(&mut pass, width);
            pass.totals
        });
        for (column, [offset, square]) in means(&sums, n).enumerate() {
            let variance = (square - offset * offset).max(0.0);
            mean[column] = (f64::from(shift[column]) + offset) as f32;
            scale[column] = (1.0 / (variance + options.epsilon).sqrt()) as f32;
        }
        over_parts(out, length, n * width, |part, out| {
            let first = part * length;
            let mut pass = OutputPass {
                rows: of_part(rows, first, out),
                mask: MaskPart::of(&mask, first),
                mean: &mean,
                scale: &scale,
                slope: options.negative_slope as f32,
                out,
            };
            over_columns::<LANES>(&mut pass, width);
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

/// The dropout mask of a part that begins at element `first`.
#[derive(Clone, Copy)]
struct MaskPart<'a> {
    mask: &'a DropoutMask,
    first: usize,
}

impl<'a> MaskPart<'a> {
    fn of(mask: &'a Option<DropoutMask>, first: usize) -> Option<Self> {
        mask.as_ref().map(|mask| Self { mask, first })
    }

    /// Multiplies `L` values, of which the first is at `at`, by their elements of the mask.
    #[inline(always)]
    fn times<const L: usize>(self, at: usize, values: [f32; L]) -> [f32; L] {
        let (bits, scale) = (self.mask.bits(self.first + at) as u32, self.mask.scale());
        std::array::from_fn(|lane| {
            let is_kept = bits >> lane & 1 == 1;
            values[lane] * if is_kept { scale } else { 0.0 }
        })
    }
}

/// The elements of `all` at the places of the part `out`, which begins at `first`.
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
    mask: Option<MaskPart<'a>>,
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
            let normal: [f32; L] = std::array::from_fn(|lane| (x[lane] - mean[lane]) * scale[lane]);
            let mut out = normal.map(|x| x * if x > 0.0 { 1.0 } else { self.slope });
            if let Some(mask) = self.mask {
                out = mask.times(at, out);
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
    let normal = Normal {
        rows: &input,
        mean: &mean,
        scale: &scale,
    };
    let gradient: &[f32] = &gradient;
    let length = PART * width;
    result([n, width], |out| {
        let sums = over_parts(out, length, n * width, |part, out| {
            let first = part * length;
            let mut pass = ByNormal {
                normal: normal.part(first, out),
                gradient: of_part(gradient, first, out),
                mask: MaskPart::of(&saved.mask, first),
                slope: options.negative_slope as f32,
                totals: Totals::new(width),
                out,
            };
            over_columns::<LANES>(&mut pass, width);
            pass.totals
        });
        let means: Vec<[f32; 2]> = means(&sums, n)
            .map(|means| means.map(|mean| mean as f32))
            .collect();
        over_parts(out, length, n * width, |part, out| {
            let mut pass = ByInput {
                normal: normal.part(part * length, out),
                means: &means,
                out,
            };
            over_columns::<LANES>(&mut pass, width);
        });
    })
}

/// The normalised input, computed again.
#[derive(Clone, Copy)]
struct Normal<'a> {
    rows: &'a [f32],
    mean: &'a [f32],
    scale: &'a [f32],
}

impl Normal<'_> {
    fn part(self, first: usize, out: &[f32]) -> Self {
        Self {
            rows: &self.rows[first..first + out.len()],
            ..self
        }
    }

    /// `L` elements from `at` on, with the statistics of their columns.
    #[inline(always)]
    fn at<const L: usize>(&self, at: usize, mean: &[f32; L], scale: &[f32; L]) -> [f32; L] {
        let x = lanes::<L>(self.rows, at);
        std::array::from_fn(|lane| (x[lane] - mean[lane]) * scale[lane])
    }
}

/// A pass that computes the gradient by the normalised input, its sums, and those of its projection
/// on that input.
struct ByNormal<'a> {
    normal: Normal<'a>,
    gradient: &'a [f32],
    mask: Option<MaskPart<'a>>,
    slope: f32,
    totals: Totals,
    out: &'a mut [f32],
}

impl ColumnPass for ByNormal<'_> {
    #[inline(always)]
    fn columns<const L: usize>(&mut self, first: usize) {
        let mean = *lanes::<L>(self.normal.mean, first);
        let scale = *lanes::<L>(self.normal.scale, first);
        let mut sums = ColumnSums::<L>::new();
        for at in (first..self.out.len()).step_by(self.normal.mean.len()) {
            let normal = self.normal.at(at, &mean, &scale);
            let slope = normal.map(|x| if x > 0.0 { 1.0 } else { self.slope });
            let gradient = lanes::<L>(self.gradient, at);
            let mut out: [f32; L] = std::array::from_fn(|lane| gradient[lane] * slope[lane]);
            if let Some(mask) = self.mask {
                out = mask.times(at, out);
            }
            sums.add(&out, &std::array::from_fn(|lane| out[lane] * normal[lane]));
            *lanes_mut(self.out, at) = out;
        }
        self.totals.set(first, sums);
    }
}

/// A pass that turns the gradient by the normalised input in `out` into that by the input, by
/// subtracting its mean and its projection.
struct ByInput<'a> {
    normal: Normal<'a>,
    means: &'a [[f32; 2]],
    out: &'a mut [f32],
}

impl ColumnPass for ByInput<'_> {
    #[inline(always)]
    fn columns<const L: usize>(&mut self, first: usize) {
        let mean = *lanes::<L>(self.normal.mean, first);
        let scale = *lanes::<L>(self.normal.scale, first);
        let sum: [f32; L] = std::array::from_fn(|lane| self.means[first + lane][0]);
        let projection: [f32; L] = std::array::from_fn(|lane| self.means[first + lane][1]);
        for at in (first..self.out.len()).step_by(self.means.len()) {
            let normal = self.normal.at(at, &mean, &scale);
            let out = lanes_mut::<L>(self.out, at);
            for lane in 0..L {
                out[lane] = (out[lane] - sum[lane] - normal[lane] * projection[lane]) * scale[lane];
            }
        }
    }
}
