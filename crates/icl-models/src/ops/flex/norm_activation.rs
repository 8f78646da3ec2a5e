//! Normalisation, leaky ReLU and dropout, two passes over the rows each way.

use burn::tensor::Tensor;
use burn_flex::{Flex, FlexTensor};

use super::super::{NormActivation, NormActivationSaved};
use super::lanes::{LANES, lanes, lanes_mut, vectorised};
use super::{floats, tensor, wrap};

/// The output, and what the backward pass needs.
pub(super) fn forward(
    options: NormActivation,
    x: Tensor<Flex, 2>,
    mask: Option<Tensor<Flex, 2>>,
) -> (Tensor<Flex, 2>, NormActivationSaved<Flex>) {
    let [n, width] = x.dims();
    let (input, mask) = (floats(x), mask.map(floats));
    let mut pass = Forward {
        rows: input.storage(),
        mask: mask.as_ref().map(FlexTensor::storage),
        width,
        options,
        out: vec![0.0; n * width],
        mean: vec![0.0; width],
        scale: vec![0.0; width],
    };
    over_columns(&mut pass, width);
    let (out, mean, scale) = (pass.out, pass.mean, pass.scale);
    let saved = NormActivationSaved {
        mean: tensor(mean, [1, width]),
        scale: tensor(scale, [1, width]),
        input: wrap(input),
        mask: mask.map(wrap),
    };
    (tensor(out, [n, width]), saved)
}

/// Work that is done a few columns at a time.
trait Columns {
    /// The work on `L` columns from `first` on.
    fn columns<const L: usize>(&mut self, first: usize);
}

fn over_columns(pass: &mut impl Columns, width: usize) {
    vectorised(
        #[inline(always)]
        || {
            let n_wide = width / LANES * LANES;
            for first in (0..n_wide).step_by(LANES) {
                pass.columns::<LANES>(first);
            }
            for first in n_wide..width {
                pass.columns::<1>(first);
            }
        },
    );
}

struct Forward<'a> {
    rows: &'a [f32],
    mask: Option<&'a [f32]>,
    width: usize,
    options: NormActivation,
    out: Vec<f32>,
    mean: Vec<f32>,
    scale: Vec<f32>,
}

impl Columns for Forward<'_> {
    /// `L` columns from `first` on: their statistics, then their output.
    #[inline(always)]
    fn columns<const L: usize>(&mut self, first: usize) {
        let n = self.rows.len() / self.width;
        // Shifted by the first row, so that the squares lose no digits to a large mean.
        let shift = *lanes::<L>(self.rows, first);
        let mut sums = ColumnSums::<L>::default();
        for row in 0..n {
            let x = lanes::<L>(self.rows, row * self.width + first);
            let centred: [f32; L] = std::array::from_fn(|lane| x[lane] - shift[lane]);
            sums.add(
                &centred,
                &std::array::from_fn(|lane| centred[lane] * centred[lane]),
            );
        }
        let (offset, square) = sums.means(n);
        let mut mean = [0.0; L];
        let mut scale = [0.0; L];
        for lane in 0..L {
            let variance = (square[lane] - offset[lane] * offset[lane]).max(0.0);
            mean[lane] = (f64::from(shift[lane]) + offset[lane]) as f32;
            scale[lane] = (1.0 / (variance + self.options.epsilon).sqrt()) as f32;
        }
        let slope = self.options.negative_slope as f32;
        for row in 0..n {
            let at = row * self.width + first;
            let x = lanes::<L>(self.rows, at);
            let normal: [f32; L] = std::array::from_fn(|lane| (x[lane] - mean[lane]) * scale[lane]);
            let mut out = normal.map(|x| x * if x > 0.0 { 1.0 } else { slope });
            if let Some(mask) = self.mask {
                let mask = lanes::<L>(mask, at);
                out = std::array::from_fn(|lane| out[lane] * mask[lane]);
            }
            *lanes_mut(&mut self.out, at) = out;
        }
        *lanes_mut(&mut self.mean, first) = mean;
        *lanes_mut(&mut self.scale, first) = scale;
    }
}

/// The gradient by the input.
pub(super) fn backward(
    options: NormActivation,
    saved: NormActivationSaved<Flex>,
    gradient: Tensor<Flex, 2>,
) -> Tensor<Flex, 2> {
    let [n, width] = gradient.dims();
    let [input, gradient, mean, scale] =
        [saved.input, gradient, saved.mean, saved.scale].map(floats);
    let mask = saved.mask.map(floats);
    let mut pass = Backward {
        rows: input.storage(),
        gradient: gradient.storage(),
        mask: mask.as_ref().map(FlexTensor::storage),
        mean: mean.storage(),
        scale: scale.storage(),
        width,
        slope: options.negative_slope as f32,
        out: vec![0.0; n * width],
    };
    over_columns(&mut pass, width);
    let out = pass.out;
    tensor(out, [n, width])
}

struct Backward<'a> {
    rows: &'a [f32],
    gradient: &'a [f32],
    mask: Option<&'a [f32]>,
    mean: &'a [f32],
    scale: &'a [f32],
    width: usize,
    slope: f32,
    out: Vec<f32>,
}

impl Columns for Backward<'_> {
    /// `L` columns from `first` on: the gradient by the normalised input, then less its mean and
    /// its projection on that input.
    #[inline(always)]
    fn columns<const L: usize>(&mut self, first: usize) {
        let n = self.rows.len() / self.width;
        let (mean, scale) = (
            *lanes::<L>(self.mean, first),
            *lanes::<L>(self.scale, first),
        );
        let rows = self.rows;
        let normal = |at| -> [f32; L] {
            let x = lanes::<L>(rows, at);
            std::array::from_fn(|lane| (x[lane] - mean[lane]) * scale[lane])
        };
        let mut sums = ColumnSums::<L>::default();
        for row in 0..n {
            let at = row * self.width + first;
            let normal = normal(at);
            let slope = normal.map(|x| if x > 0.0 { 1.0 } else { self.slope });
            let gradient = lanes::<L>(self.gradient, at);
            let mut out: [f32; L] = std::array::from_fn(|lane| gradient[lane] * slope[lane]);
            if let Some(mask) = self.mask {
                let mask = lanes::<L>(mask, at);
                out = std::array::from_fn(|lane| out[lane] * mask[lane]);
            }
            sums.add(&out, &std::array::from_fn(|lane| out[lane] * normal[lane]));
            *lanes_mut(&mut self.out, at) = out;
        }
        let (sum, projection) = sums.means(n);
        let (sum, projection) = (sum.map(|x| x as f32), projection.map(|x| x as f32));
        for row in 0..n {
            let at = row * self.width + first;
            let normal = normal(at);
            let out = lanes_mut::<L>(&mut self.out, at);
            for lane in 0..L {
                out[lane] = (out[lane] - sum[lane] - normal[lane] * projection[lane]) * scale[lane];
            }
        }
    }
}

/// Two sums of each of `L` columns. Sums over a few rows stay in single precision, which is fast;
/// their totals in double precision lose nothing.
struct ColumnSums<const L: usize> {
    n_rows: usize,
    sums: [[f32; L]; 2],
    totals: [[f64; L]; 2],
}

impl<const L: usize> Default for ColumnSums<L> {
    fn default() -> Self {
        Self {
            n_rows: 0,
            sums: [[0.0; L]; 2],
            totals: [[0.0; L]; 2],
        }
    }
}

impl<const L: usize> ColumnSums<L> {
    /// Rows whose sums stay in single precision.
    const BLOCK: usize = 64;

    #[inline(always)]
    fn add(&mut self, first: &[f32; L], second: &[f32; L]) {
        for lane in 0..L {
            self.sums[0][lane] += first[lane];
            self.sums[1][lane] += second[lane];
        }
        self.n_rows += 1;
        if self.n_rows == Self::BLOCK {
            self.end_block();
        }
    }

    #[inline(always)]
    fn end_block(&mut self) {
        for (total, sum) in self.totals.iter_mut().zip(&mut self.sums) {
            for lane in 0..L {
                total[lane] += f64::from(sum[lane]);
            }
            *sum = [0.0; L];
        }
        self.n_rows = 0;
    }

    #[inline(always)]
    fn means(mut self, n: usize) -> ([f64; L], [f64; L]) {
        self.end_block();
        let [first, second] = self.totals.map(|total| total.map(|sum| sum / n as f64));
        (first, second)
    }
}
