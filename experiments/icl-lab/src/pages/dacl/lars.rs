//! The learning rate of LARS in trainings that are shorter than the paper's.

/// Learning rate of LARS in the paper's training on tables.
const PRINTED_RATE: f64 = 0.1;
/// Number of its steps: 1000 epochs of 60,000 images in batches of 4096.
const PRINTED_STEPS: f64 = 15_000.0;

/// Returns the learning rate of LARS for a training of `n_steps` steps: the rate of DACL's training on tables
/// (Verma et al., 2021, section 5.1), scaled so that weights can move as far as there.
///
/// ```text
/// lr = 0.1 · 15,000 / n_steps
/// ```
///
/// A step changes a weight by at most lr·η/(1 − m) of its length, 0.001 of it at the paper's rate. A short
/// training at that rate would leave the weights where they were. With this rate the sum of that bound over
/// the steps is the paper's, since the learning rate falls as a cosine in both.
///
/// # Panics
/// If `n_steps` is 0.
pub fn scaled_lars_rate(n_steps: u64) -> f64 {
    assert!(n_steps > 0, "n_steps: found 0, expected at least 1");
    PRINTED_RATE * PRINTED_STEPS / n_steps as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_the_rates_is_that_of_the_paper() {
        // The mean of a cosine from 1 to 0 over n steps.
        let sum = |rate: f64, n: u64| -> f64 {
            let at = |step: u64| std::f64::consts::PI * step as f64 / n as f64;
            (0..n).map(|step| rate * 0.5 * (1.0 + at(step).cos())).sum()
        };
        assert_eq!(scaled_lars_rate(15_000), 0.1);
        assert_eq!(scaled_lars_rate(480), 3.125);
        let (own, printed) = (sum(scaled_lars_rate(480), 480), sum(0.1, 15_000));
        // The cosine is sampled at the beginnings of the steps: the sums differ by half a step.
        assert!((own / printed - 1.0).abs() < 1.0 / 480.0, "{own} {printed}");
    }
}
