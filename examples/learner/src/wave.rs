//! The data, waves made by a formula, and their views.

use std::f32::consts::TAU;

use icl::prelude::*;
use rand::RngExt;

/// Number of values of a wave.
pub const LENGTH: usize = 32;

/// A wave.
pub type Wave = [f32; LENGTH];

/// Draws a wave of a random tone and phase, with its overtone: old waves are low, new ones high.
pub fn draw(origin: Origin, rng: &mut Rng) -> Wave {
    let lowest = match origin {
        Origin::Old => 1.0,
        Origin::New => 3.0,
    };
    let tone = lowest + 2.0 * rng.random::<f32>();
    let [phase, share] = [TAU * rng.random::<f32>(), rng.random::<f32>()];
    std::array::from_fn(|at| {
        let x = TAU * tone * at as f32 / LENGTH as f32 + phase;
        x.sin() + share * (2.0 * x).sin()
    })
}

/// Makes a view of a wave: it begins anywhere and has noise.
pub fn view(wave: &Wave, rng: &mut Rng) -> Wave {
    let mut view = *wave;
    view.rotate_left(rng.random_range(0..LENGTH));
    view.map(|value| value + rng.random::<f32>() - 0.5)
}
