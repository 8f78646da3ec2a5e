//! Single draws from the generator of a view.

use icl_core::Rng;
use rand::RngExt;

/// Draws `true` with this probability.
pub(super) fn happens(probability: f64, rng: &mut Rng) -> bool {
    rng.random::<f64>() < probability
}

/// Draws a number uniform between the two.
pub(super) fn uniform([low, high]: [f64; 2], rng: &mut Rng) -> f64 {
    low + (high - low) * rng.random::<f64>()
}
