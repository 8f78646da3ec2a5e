//! Gaussian noise, with which mixup noise is compared.

use rand::RngExt;
use rand_distr::StandardNormal;

use crate::Rng;

/// Adds independent Gaussian noise to every value, in place.
///
/// ```text
/// x⁺ = x + δ, δ ~ N(mean, deviation²)
/// ```
///
/// The DACL paper prints means in {0.05, 0.1, 0.3, 0.5} with a deviation of 1.
pub fn gaussian(x: &mut [f32], mean: f32, deviation: f32, rng: &mut Rng) {
    for x in x {
        let normal: f32 = rng.sample(StandardNormal);
        *x += mean + deviation * normal;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    #[test]
    fn mean_and_deviation_are_those_given() {
        const N: usize = 100_000;
        let mut x = vec![1.0; N];
        gaussian(&mut x, 0.5, 2.0, &mut Seed::new(3).rng());
        let mean = x.iter().map(|x| f64::from(*x)).sum::<f64>() / N as f64;
        let error = 2.0 / (N as f64).sqrt();
        assert!((mean - 1.5).abs() < 5.0 * error, "{mean}");
        let square = |x: &f32| (f64::from(*x) - mean).powi(2);
        let variance = x.iter().map(square).sum::<f64>() / N as f64;
        // The variance of a squared normal deviation is 2·σ⁴.
        let error = 4.0 * (2.0 / N as f64).sqrt();
        assert!((variance - 4.0).abs() < 5.0 * error, "{variance}");
    }
}
