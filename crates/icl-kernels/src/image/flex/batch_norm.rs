//! Batch normalisation with residual and ReLU: two passes over the images, or one if the statistics
//! are known.

use burn::tensor::Tensor;
use burn_flex::Flex;
use rayon::prelude::*;

use super::super::saved::BatchNormSaved;
use super::channels::{length_at_once, over_channels, rectify, totals};
use crate::flex::columns::{ColumnPass, ColumnSums, lanes, lanes_mut};
use crate::flex::floats::{Floats, tensor};
use crate::flex::memory::result;

/// Computes the output, and the values that the backward pass needs.
pub(super) fn forward(
    x: Tensor<Flex, 4>,
    affine: [Tensor<Flex, 1>; 2],
    residual: Option<Tensor<Flex, 4>>,
    epsilon: f64,
    relu: bool,
) -> (Tensor<Flex, 4>, BatchNormSaved<Flex>) {
    let shape = x.dims();
    let width = shape[3];
    let (input, residual) = (Floats::of(x), residual.map(Floats::of));
    let [weight, bias] = affine.map(Floats::of);
    let [mean, scale] = statistics(&input, width, epsilon);
    let normal = Normaliser {
        mean: &mean,
        scale: &scale,
        weight: &weight,
    };
    let (rows, bias): (&[f32], &[f32]) = (&input, &bias);
    let added: Option<&[f32]> = residual.as_deref();
    let at_once = length_at_once(width);
    let over_part = |(part, out): (usize, &mut [f32])| {
        let part = part * at_once..part * at_once + out.len();
        let mut pass = NormForward {
            normal,
            bias,
            rows: &rows[part.clone()],
            added: added.map(|added| &added[part]),
            relu,
            out,
        };
        over_channels(&mut pass, width);
    };
    let out = result(shape, |out| {
        out.par_chunks_mut(at_once).enumerate().for_each(over_part);
    });
    let saved = BatchNormSaved {
        mean: tensor(mean, [width]),
        scale: tensor(scale, [width]),
        input: input.tensor(),
        weight: weight.tensor(),
        rectified: relu.then(|| out.clone()),
        has_residual: residual.is_some(),
        epsilon,
    };
    (out, saved)
}

/// Computes the mean and 1/√(var + ε) of each column.
fn statistics(rows: &[f32], width: usize, epsilon: f64) -> [Vec<f32>; 2] {
    let n_rows = (rows.len() / width) as f64;
    // Subtracting the first row keeps the digits of the squares where the mean is large.
    let shift = &rows[..width];
    let sums = totals(rows.len(), width, |part| {
        let mut pass = MomentSums {
            rows: &rows[part],
            shift,
            sums: [vec![0.0; width], vec![0.0; width]],
        };
        over_channels(&mut pass, width);
        pass.sums
    });
    let [offsets, squares] = sums.map(|sums| sums.into_iter().map(move |sum| sum / n_rows));
    offsets
        .zip(squares)
        .zip(shift)
        .map(|((offset, square), shift)| {
            // Rounding can make the difference negative.
            let variance = (square - offset * offset).max(0.0);
            let mean = (f64::from(*shift) + offset) as f32;
            (mean, (1.0 / (variance + epsilon).sqrt()) as f32)
        })
        .collect::<(Vec<_>, Vec<_>)>()
        .into()
}

struct MomentSums<'a> {
    rows: &'a [f32],
    shift: &'a [f32],
    sums: [Vec<f64>; 2],
}

impl ColumnPass for MomentSums<'_> {
    #[inline(always)]
    fn columns<const L: usize>(&mut self, first: usize) {
        let shift = *lanes::<L>(self.shift, first);
        let mut sums = ColumnSums::<L>::new();
        for row in self.rows.chunks_exact(self.shift.len()) {
            let x = lanes::<L>(row, first);
            let centred: [f32; L] = std::array::from_fn(|lane| x[lane] - shift[lane]);
            sums.add(&centred, &centred.map(|x| x * x));
        }
        for (to, totals) in self.sums.iter_mut().zip(sums.totals()) {
            to[first..first + L].copy_from_slice(&totals);
        }
    }
}

/// Statistics that normalise, and γ.
#[derive(Clone, Copy)]
pub(super) struct Normaliser<'a> {
    pub(super) mean: &'a [f32],
    pub(super) scale: &'a [f32],
    pub(super) weight: &'a [f32],
}

struct NormForward<'a> {
    normal: Normaliser<'a>,
    bias: &'a [f32],
    rows: &'a [f32],
    added: Option<&'a [f32]>,
    relu: bool,
    out: &'a mut [f32],
}

impl ColumnPass for NormForward<'_> {
    #[inline(always)]
    fn columns<const L: usize>(&mut self, first: usize) {
        let Normaliser {
            mean,
            scale,
            weight,
        } = self.normal;
        let width = mean.len();
        let (mean, bias) = (*lanes::<L>(mean, first), *lanes::<L>(self.bias, first));
        let (scale, weight) = (lanes::<L>(scale, first), lanes::<L>(weight, first));
        let slope: [f32; L] = std::array::from_fn(|lane| scale[lane] * weight[lane]);
        for at in (first..self.rows.len()).step_by(width) {
            let x = lanes::<L>(self.rows, at);
            let mut y: [f32; L] =
                std::array::from_fn(|lane| (x[lane] - mean[lane]) * slope[lane] + bias[lane]);
            if let Some(added) = self.added {
                let added = lanes::<L>(added, at);
                y = std::array::from_fn(|lane| y[lane] + added[lane]);
            }
            if self.relu {
                y = y.map(rectify);
            }
            *lanes_mut(self.out, at) = y;
        }
    }
}

/// Normalises by known statistics, adds the residual and applies ReLU in one pass.
pub(super) fn scale_shift(
    x: Tensor<Flex, 4>,
    scale: Tensor<Flex, 1>,
    shift: Tensor<Flex, 1>,
    residual: Option<Tensor<Flex, 4>>,
    relu: bool,
) -> Tensor<Flex, 4> {
    let shape = x.dims();
    let (x, residual) = (Floats::of(x), residual.map(Floats::of));
    let [scale, shift] = [scale, shift].map(Floats::of);
    let rows: &[f32] = &x;
    let added: Option<&[f32]> = residual.as_deref();
    let (scale, shift) = (&scale, &shift);
    let at_once = length_at_once(shape[3]);
    let over_part = |(part, out): (usize, &mut [f32])| {
        let part = part * at_once..part * at_once + out.len();
        let mut pass = ScaleShift {
            scale,
            shift,
            rows: &rows[part.clone()],
            added: added.map(|added| &added[part]),
            relu,
            out,
        };
        over_channels(&mut pass, shape[3]);
    };
    result(shape, |out| {
        out.par_chunks_mut(at_once).enumerate().for_each(over_part);
    })
}

struct ScaleShift<'a> {
    scale: &'a [f32],
    shift: &'a [f32],
    rows: &'a [f32],
    added: Option<&'a [f32]>,
    relu: bool,
    out: &'a mut [f32],
}

impl ColumnPass for ScaleShift<'_> {
    #[inline(always)]
    fn columns<const L: usize>(&mut self, first: usize) {
        let [scale, shift] = [self.scale, self.shift].map(|values| *lanes::<L>(values, first));
        for at in (first..self.rows.len()).step_by(self.scale.len()) {
            let x = lanes::<L>(self.rows, at);
            let mut y: [f32; L] = std::array::from_fn(|lane| x[lane] * scale[lane] + shift[lane]);
            if let Some(added) = self.added {
                let added = lanes::<L>(added, at);
                y = std::array::from_fn(|lane| y[lane] + added[lane]);
            }
            if self.relu {
                y = y.map(rectify);
            }
            *lanes_mut(self.out, at) = y;
        }
    }
}
