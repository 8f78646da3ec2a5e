//! Gradients of batch normalisation in two passes over the images.

use std::ops::Range;

use burn::tensor::Tensor;
use burn_flex::Flex;
use rayon::prelude::*;

use super::super::saved::{BatchNormGradients, BatchNormSaved};
use super::batch_norm::Normaliser;
use super::channels::{length_at_once, over_channels, totals};
use crate::flex::columns::{ColumnPass, ColumnSums, lanes, lanes_mut};
use crate::flex::floats::{Floats, tensor};
use crate::flex::memory::result;

/// Computes the gradients by all operands.
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
        normal: Normaliser {
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
        over_channels(&mut pass, width);
        pass.sums
    });
    let n_rows = (length / width) as f64;
    let means = [&sums, &projections].map(|sums| {
        sums.iter()
            .map(|sum| (sum / n_rows) as f32)
            .collect::<Vec<_>>()
    });
    // Without ReLU the gradient by the residual is the incoming gradient itself.
    let has_own = saved.has_residual && rectified.is_some();
    // Memory without another reference, so that later gradients are added in place.
    let mut residual = vec![0.0; if has_own { length } else { 0 }];
    let at_once = length_at_once(width);
    let over_parts = |(part, (out, residual)): (usize, (&mut [f32], Option<&mut [f32]>))| {
        let part = part * at_once..part * at_once + out.len();
        let mut pass = NormBackward {
            of: pass.part(part),
            means: [&means[0], &means[1]],
            out,
            residual,
        };
        over_channels(&mut pass, width);
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

/// Operands of the backward pass.
#[derive(Clone, Copy)]
struct Gradient<'a> {
    rows: &'a [f32],
    gradient: &'a [f32],
    rectified: Option<&'a [f32]>,
    normal: Normaliser<'a>,
}

impl<'a> Gradient<'a> {
    fn part(&self, part: Range<usize>) -> Gradient<'a> {
        Self {
            rows: &self.rows[part.clone()],
            gradient: &self.gradient[part.clone()],
            rectified: self.rectified.map(|y| &y[part]),
            normal: self.normal,
        }
    }

    /// The gradient by the argument of ReLU, at `at`.
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

impl ColumnPass for BackwardSums<'_> {
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

struct NormBackward<'a> {
    of: Gradient<'a>,
    means: [&'a [f32]; 2],
    out: &'a mut [f32],
    residual: Option<&'a mut [f32]>,
}

impl ColumnPass for NormBackward<'_> {
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
