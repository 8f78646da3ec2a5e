//! Batch normalisation, what is added and ReLU, two passes over the images each way.

use burn::tensor::Tensor;
use burn_flex::Flex;
use rayon::prelude::*;

use super::super::{BatchNormGradients, BatchNormSaved};
use super::columns::{ColumnSums, Columns, length_at_once, over_columns, totals};
use crate::flex::floats::{Floats, tensor};
use crate::flex::lanes::{lanes, lanes_mut};
use crate::flex::results::result;

/// The output, and what the backward pass needs.
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
    let normal = Normal {
        mean: &mean,
        scale: &scale,
        weight: &weight,
    };
    let (rows, bias): (&[f32], &[f32]) = (&input, &bias);
    let added: Option<&[f32]> = residual.as_deref();
    let at_once = length_at_once(width);
    let over_part = |(part, out): (usize, &mut [f32])| {
        let part = part * at_once..part * at_once + out.len();
        let mut pass = Forward {
            normal,
            bias,
            rows: &rows[part.clone()],
            added: added.map(|added| &added[part]),
            relu,
            out,
        };
        over_columns(&mut pass, width);
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

/// The mean and 1/√(var + ε) of each column.
fn statistics(rows: &[f32], width: usize, epsilon: f64) -> [Vec<f32>; 2] {
    let n_rows = (rows.len() / width) as f64;
    // Shifted by the first row, so that the squares lose no digits to a large mean.
    let shift = &rows[..width];
    let sums = totals(rows.len(), width, |part| {
        let mut pass = Statistics {
            rows: &rows[part],
            shift,
            sums: [vec![0.0; width], vec![0.0; width]],
        };
        over_columns(&mut pass, width);
        pass.sums
    });
    let [offsets, squares] = sums.map(|sums| sums.into_iter().map(move |sum| sum / n_rows));
    offsets
        .zip(squares)
        .zip(shift)
        .map(|((offset, square), shift)| {
            let variance = (square - offset * offset).max(0.0);
            let mean = (f64::from(*shift) + offset) as f32;
            (mean, (1.0 / (variance + epsilon).sqrt()) as f32)
        })
        .collect::<(Vec<_>, Vec<_>)>()
        .into()
}

struct Statistics<'a> {
    rows: &'a [f32],
    shift: &'a [f32],
    sums: [Vec<f64>; 2],
}

impl Columns for Statistics<'_> {
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

/// What normalises, and γ.
#[derive(Clone, Copy)]
struct Normal<'a> {
    mean: &'a [f32],
    scale: &'a [f32],
    weight: &'a [f32],
}

struct Forward<'a> {
    normal: Normal<'a>,
    bias: &'a [f32],
    rows: &'a [f32],
    added: Option<&'a [f32]>,
    relu: bool,
    out: &'a mut [f32],
}

impl Columns for Forward<'_> {
    #[inline(always)]
    fn columns<const L: usize>(&mut self, first: usize) {
        let Normal {
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

/// ReLU, which leaves what is not a number as it is.
#[inline(always)]
pub(super) fn rectify(x: f32) -> f32 {
    if x < 0.0 { 0.0 } else { x }
}

/// The gradients by all operands.
pub(super) fn backward(
    saved: BatchNormSaved<Flex>,
    gradient: Tensor<Flex, 4>,
) -> BatchNormGradients<Flex> {
    let shape = gradient.dims();
    let width = shape[3];
    let (input, gradient) = (Floats::of(saved.input), Floats::of(gradient));
    let rectified = saved.rectified.map(Floats::of);
    let [mean, scale, weight] = [saved.mean, saved.scale, saved.weight].map(Floats::of);
    let pass = Gradient {
        rows: &input,
        gradient: &gradient,
        rectified: rectified.as_deref(),
        normal: Normal {
            mean: &mean,
            scale: &scale,
            weight: &weight,
        },
    };
    let length = pass.rows.len();
    let [sums, projections] = totals(length, width, |part| {
        let mut pass = BackwardSums {
            of: pass.part(part),
            sums: [vec![0.0; width], vec![0.0; width]],
        };
        over_columns(&mut pass, width);
        pass.sums
    });
    let n_rows = (length / width) as f64;
    let means = [&sums, &projections].map(|sums| {
        sums.iter()
            .map(|sum| (sum / n_rows) as f32)
            .collect::<Vec<_>>()
    });
    // What was added gets the gradient itself where there is no ReLU.
    let has_own = saved.has_residual && rectified.is_some();
    // Kept by nobody else, so that what comes to it later is added in place.
    let mut residual = vec![0.0; if has_own { length } else { 0 }];
    let at_once = length_at_once(width);
    let over_parts = |(part, (out, residual)): (usize, (&mut [f32], Option<&mut [f32]>))| {
        let part = part * at_once..part * at_once + out.len();
        let mut pass = Backward {
            of: pass.part(part),
            means: [&means[0], &means[1]],
            out,
            residual,
        };
        over_columns(&mut pass, width);
    };
    let out = result(shape, |out| {
        let out = out.par_chunks_mut(at_once);
        if has_own {
            let residual = residual.par_chunks_mut(at_once).map(Some);
            out.zip(residual).enumerate().for_each(over_parts);
        } else {
            let parts = out.map(|out| (out, None));
            parts.enumerate().for_each(over_parts);
        }
    });
    let single = |sums: Vec<f64>| sums.into_iter().map(|sum| sum as f32).collect();
    BatchNormGradients {
        input: out,
        weight: tensor(single(projections), [width]),
        bias: tensor(single(sums), [width]),
        residual: match (has_own, saved.has_residual) {
            (true, _) => Some(tensor(residual, shape)),
            (false, true) => Some(gradient.tensor()),
            (false, false) => None,
        },
    }
}

/// What the backward pass reads.
#[derive(Clone, Copy)]
struct Gradient<'a> {
    rows: &'a [f32],
    gradient: &'a [f32],
    rectified: Option<&'a [f32]>,
    normal: Normal<'a>,
}

impl<'a> Gradient<'a> {
    fn part(&self, part: std::ops::Range<usize>) -> Gradient<'a> {
        Self {
            rows: &self.rows[part.clone()],
            gradient: &self.gradient[part.clone()],
            rectified: self.rectified.map(|y| &y[part]),
            normal: self.normal,
        }
    }

    /// The gradient by what ReLU is taken of, at `at`.
    #[inline(always)]
    fn rectified<const L: usize>(&self, at: usize) -> [f32; L] {
        let gradient = lanes::<L>(self.gradient, at);
        match self.rectified {
            Some(y) => {
                let y = lanes::<L>(y, at);
                std::array::from_fn(|lane| if y[lane] > 0.0 { gradient[lane] } else { 0.0 })
            }
            None => *gradient,
        }
    }

    /// The normalised input at `at`, with the statistics of its columns.
    #[inline(always)]
    fn normal<const L: usize>(&self, at: usize, [mean, scale]: &[[f32; L]; 2]) -> [f32; L] {
        let x = lanes::<L>(self.rows, at);
        std::array::from_fn(|lane| (x[lane] - mean[lane]) * scale[lane])
    }

    #[inline(always)]
    fn statistics<const L: usize>(&self, first: usize) -> [[f32; L]; 2] {
        [self.normal.mean, self.normal.scale].map(|values| *lanes::<L>(values, first))
    }
}

struct BackwardSums<'a> {
    of: Gradient<'a>,
    sums: [Vec<f64>; 2],
}

impl Columns for BackwardSums<'_> {
    #[inline(always)]
    fn columns<const L: usize>(&mut self, first: usize) {
        let statistics = self.of.statistics::<L>(first);
        let mut sums = ColumnSums::<L>::new();
        for at in (first..self.of.rows.len()).step_by(self.of.normal.mean.len()) {
            let gradient = self.of.rectified::<L>(at);
            let normal = self.of.normal(at, &statistics);
            let projection = std::array::from_fn(|lane| gradient[lane] * normal[lane]);
            sums.add(&gradient, &projection);
        }
        for (to, totals) in self.sums.iter_mut().zip(sums.totals()) {
            to[first..first + L].copy_from_slice(&totals);
        }
    }
}

struct Backward<'a> {
    of: Gradient<'a>,
    means: [&'a [f32]; 2],
    out: &'a mut [f32],
    residual: Option<&'a mut [f32]>,
}

impl Columns for Backward<'_> {
    #[inline(always)]
    fn columns<const L: usize>(&mut self, first: usize) {
        let statistics = self.of.statistics::<L>(first);
        let [mean, projection] = self.means.map(|values| *lanes::<L>(values, first));
        let weight = lanes::<L>(self.of.normal.weight, first);
        let slope: [f32; L] = std::array::from_fn(|lane| statistics[1][lane] * weight[lane]);
        for at in (first..self.of.rows.len()).step_by(self.of.normal.mean.len()) {
            let gradient = self.of.rectified::<L>(at);
            let normal = self.of.normal(at, &statistics);
            *lanes_mut::<L>(self.out, at) = std::array::from_fn(|lane| {
                (gradient[lane] - mean[lane] - normal[lane] * projection[lane]) * slope[lane]
            });
            if let Some(residual) = &mut self.residual {
                *lanes_mut(residual, at) = gradient;
            }
        }
    }
}
