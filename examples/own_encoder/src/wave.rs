//! The data: waves made by a formula.

use std::f32::consts::TAU;

use icl::prelude::*;
use rand::RngExt;

/// Number of values of a wave.
pub const LENGTH: usize = 64;
/// The overtones, as multiples of the tone's frequency: the classes.
const OVERTONES: [f32; 3] = [2.0, 3.0, 4.0];

/// A sample: any type of yours that can be cloned and sent between threads.
#[derive(Clone, Debug)]
pub struct Wave {
    /// Values over time.
    pub values: [f32; LENGTH],
    /// Index of its overtone.
    pub class: usize,
}

impl Wave {
    /// Draws a tone of `lowest` to `lowest` + 3 periods, with an overtone and noise.
    pub fn draw(lowest: f32, rng: &mut Rng) -> Self {
        let class = rng.random_range(0..OVERTONES.len());
        let frequency = TAU * (lowest + 3.0 * rng.random::<f32>()) / LENGTH as f32;
        let [phase, other] = [TAU * rng.random::<f32>(), TAU * rng.random::<f32>()];
        let values = std::array::from_fn(|index| {
            let x = frequency * index as f32;
            let noise = 2.0 * rng.random::<f32>() - 1.0;
            (x + phase).sin() + 0.6 * (OVERTONES[class] * x + other).sin() + noise
        });
        Self { values, class }
    }
}
