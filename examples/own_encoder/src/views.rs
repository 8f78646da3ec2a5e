//! The views of the data, and their collation into batches.

use burn::tensor::{Tensor, TensorData, backend::Backend};
use icl::prelude::*;
use rand::RngExt;

use crate::wave::{LENGTH, Wave};

// ANCHOR: views
/// Two views of a wave: it may begin anywhere, and there is noise.
#[derive(Debug)]
pub struct BeginAnywhere;

impl Views for BeginAnywhere {
    type Sample = Wave;
    type View = [f32; LENGTH];

    fn view(&self, wave: &Wave, rng: &mut Rng) -> [f32; LENGTH] {
        let mut values = wave.values;
        values.rotate_left(rng.random_range(0..LENGTH));
        values.map(|value| value + 2.0 * rng.random::<f32>() - 1.0)
    }

    fn plain(&self, wave: &Wave) -> [f32; LENGTH] {
        wave.values
    }
}
// ANCHOR_END: views

// ANCHOR: collate
/// Views become one tensor `[n, 1, length]`, on any backend.
#[derive(Debug)]
pub struct Stack;

impl<B: Backend> Collate<B, [f32; LENGTH], Tensor<B, 3>> for Stack {
    fn collate(&self, views: &[[f32; LENGTH]], device: &B::Device) -> Tensor<B, 3> {
        Tensor::from_data(
            TensorData::new(views.concat(), [views.len(), 1, LENGTH]),
            device,
        )
    }
}
// ANCHOR_END: collate
