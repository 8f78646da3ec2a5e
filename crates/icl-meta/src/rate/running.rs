//! Running statistics of a sequence.

use serde::{Deserialize, Serialize};

/// Weight of the newest value after the first 20 values.
const WEIGHT: f64 = 0.05;

/// Exponentially weighted mean and variance. Over the first 20 values they are the plain ones.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Running {
    n: u64,
    mean: f64,
    variance: f64,
}

impl Running {
    /// Adds a value.
    pub(super) fn push(&mut self, value: f64) {
        self.n += 1;
        // 1/n gives the plain mean and variance of the first values, without the weight of a starting value.
        let weight = WEIGHT.max(1.0 / self.n as f64);
        let difference = value - self.mean;
        self.mean += weight * difference;
        self.variance = (1.0 - weight) * (self.variance + weight * difference * difference);
    }

    /// Computes (value − mean)/deviation, limited to ±3; 0 if the deviation is 0.
    pub(super) fn score(&self, value: f64) -> f64 {
        ratio(value - self.mean, self.variance.sqrt())
    }

    /// Computes value/√(mean square), limited to ±3; 0 if the mean square is 0.
    pub(super) fn relative(&self, value: f64) -> f64 {
        ratio(value, (self.variance + self.mean * self.mean).sqrt())
    }
}

fn ratio(value: f64, scale: f64) -> f64 {
    if scale > 0.0 {
        (value / scale).clamp(-3.0, 3.0)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_as_plain_mean_and_variance() {
        let values = [3.0, -1.0, 4.0, 1.0, 5.0];
        let mut running = Running::default();
        assert_eq!((running.score(7.0), running.relative(7.0)), (0.0, 0.0));
        values.iter().for_each(|&value| running.push(value));
        let mean = values.iter().sum::<f64>() / 5.0;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 5.0;
        let square = values.iter().map(|v| v * v).sum::<f64>() / 5.0;
        assert!((running.score(2.0) - (2.0 - mean) / variance.sqrt()).abs() < 1e-12);
        assert!((running.relative(2.0) - 2.0 / square.sqrt()).abs() < 1e-12);
        assert_eq!(running.score(1e9), 3.0);
    }

    #[test]
    fn later_it_forgets() {
        let mut running = Running::default();
        (0..1000).for_each(|_| running.push(100.0));
        (0..400).for_each(|step| running.push(f64::from(step % 2)));
        assert!(running.score(0.5).abs() < 0.2, "{running:?}");
    }
}
