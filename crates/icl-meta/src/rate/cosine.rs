//! A rate that falls as half a cosine (Loshchilov and Hutter, 2017, without restarts).

/// ```text
/// lr(t) = lr·(1 + cos(π·t/T))/2
/// ```
pub(super) fn rate(base: f64, step: u64, n_steps: u64) -> f64 {
    let share = step as f64 / n_steps.max(1) as f64;
    base * (1.0 + (std::f64::consts::PI * share).cos()) / 2.0
}

#[cfg(test)]
mod tests {
    use crate::rate::cosine::rate;

    #[test]
    fn it_falls_from_the_base_to_nothing() {
        assert_eq!(rate(0.2, 0, 100), 0.2);
        assert!((rate(0.2, 50, 100) - 0.1).abs() < 1e-12);
        assert!((rate(0.2, 25, 100) - 0.1 * (1.0 + 0.5_f64.sqrt())).abs() < 1e-12);
        assert!(rate(0.2, 100, 100).abs() < 1e-12);
    }
}
