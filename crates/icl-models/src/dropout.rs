//! Dropout masks, drawn on the host so that a seed gives the same mask on every backend.

use icl_core::Rng;
use rand::Rng as _;

/// Of how many the elements are dropped.
const STEPS: f64 = 65536.0;

/// `n` elements that are 0 with probability p and 1/(1 − p) otherwise (Srivastava et al., 2014), so
/// that their mean is 1.
///
/// `p` counts in steps of 1/65536, at most 65535 of them: four elements are drawn from each 64
/// random bits.
pub(crate) fn mask(n: usize, p: f64, rng: &mut Rng) -> Vec<f32> {
    let threshold = (p * STEPS).round().min(STEPS - 1.0);
    let kept = (STEPS / (STEPS - threshold)) as f32;
    let threshold = threshold as u32;
    let mut values = vec![0.0; n];
    for chunk in values.chunks_mut(4) {
        let bits = rng.next_u64();
        for (lane, value) in chunk.iter_mut().enumerate() {
            let draw = (bits >> (16 * lane)) as u16;
            *value = if u32::from(draw) < threshold {
                0.0
            } else {
                kept
            };
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use icl_core::Seed;

    #[test]
    fn a_probability_of_almost_one_keeps_some() {
        let values = mask(1 << 22, 0.999_999, &mut Seed::new(1).rng());
        let n_kept = values.iter().filter(|&&v| v == 65536.0).count();
        // 64 are expected, with a standard deviation of 8.
        assert!((24..=104).contains(&n_kept), "{n_kept}");
    }

    #[test]
    fn a_mask_keeps_the_mean() {
        for p in [0.1, 0.5, 0.9] {
            let n = 400_001;
            let values = mask(n, p, &mut Seed::new(1).rng());
            assert_eq!(values.len(), n);
            let dropped = values.iter().filter(|&&v| v == 0.0).count() as f64 / n as f64;
            // Five standard deviations of a binomial share.
            assert!((dropped - p).abs() < 5.0 * (p * (1.0 - p) / n as f64).sqrt());
            let kept = values.iter().copied().fold(0.0, f32::max);
            assert!(values.iter().all(|&v| v == 0.0 || v == kept));
            assert!((f64::from(kept) * (1.0 - p) - 1.0).abs() < 1e-3);
        }
    }
}
