//! Normalisation with known statistics, what is added and ReLU in one pass.

use burn::tensor::Tensor;
use burn_flex::Flex;
use rayon::prelude::*;

use super::batch_norm::rectify;
use super::columns::{Columns, length_at_once, over_columns};
use crate::flex::floats::Floats;
use crate::flex::lanes::{lanes, lanes_mut};
use crate::flex::results::result;

pub(super) fn scale_shift(
    x: Tensor<Flex, 4>,
    affine: [Tensor<Flex, 1>; 2],
    residual: Option<Tensor<Flex, 4>>,
    relu: bool,
) -> Tensor<Flex, 4> {
    let shape = x.dims();
    let (x, residual) = (Floats::of(x), residual.map(Floats::of));
    let [scale, shift] = affine.map(Floats::of);
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
        over_columns(&mut pass, shape[3]);
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

impl Columns for ScaleShift<'_> {
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
