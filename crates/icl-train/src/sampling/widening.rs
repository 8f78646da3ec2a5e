//! The widening share of old data in a run.

use serde::{Deserialize, Serialize};

/// Number of consecutive evaluations without progress after which the share widens.
const PATIENCE: u32 = 3;
/// Minimum change of a risk that counts as progress or as damage, relative to the lowest risk so far.
const MARGIN: f64 = 1e-3;

/// Share of the old data in an epoch, which grows from a small one up to all.
///
/// A small share makes epochs cheap and gives new data more weight than they have in X′: progress is
/// quick at first, and biased later. The share doubles after three consecutive evaluations at which the
/// exact risk over X′ has not fallen by a thousandth of its lowest value, or at which the risk over X was
/// a thousandth above its own lowest value. With all of X the loss is that of retraining, without bias.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Widening {
    fraction: f64,
    lowest_all: f64,
    lowest_old: f64,
    n_stalled: u32,
    n_worse: u32,
}

impl Widening {
    pub(crate) fn new(fraction: f64) -> Self {
        Self {
            fraction,
            lowest_all: f64::INFINITY,
            lowest_old: f64::INFINITY,
            n_stalled: 0,
            n_worse: 0,
        }
    }

    /// Returns the share of the next epoch.
    pub(crate) fn fraction(&self) -> f64 {
        self.fraction
    }

    /// Updates the share after an evaluation of the exact risk over X′ and over X.
    pub(crate) fn observe(&mut self, all: f64, old: f64) {
        let falls = all < self.lowest_all * (1.0 - MARGIN) || self.lowest_all.is_infinite();
        self.n_stalled = if falls { 0 } else { self.n_stalled + 1 };
        let is_worse = old > self.lowest_old * (1.0 + MARGIN);
        self.n_worse = if is_worse { self.n_worse + 1 } else { 0 };
        self.lowest_all = self.lowest_all.min(all);
        self.lowest_old = self.lowest_old.min(old);
        if self.n_stalled >= PATIENCE || self.n_worse >= PATIENCE {
            self.fraction = (2.0 * self.fraction).min(1.0);
            self.n_stalled = 0;
            self.n_worse = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fractions(risks: &[(f64, f64)]) -> Vec<f64> {
        let mut widening = Widening::new(0.2);
        let mut after = |&(all, old)| {
            widening.observe(all, old);
            widening.fraction()
        };
        risks.iter().map(&mut after).collect()
    }

    #[test]
    fn it_stays_while_both_risks_fall() {
        let risks: Vec<_> = (0..20).map(|t| 0.99_f64.powi(t)).map(|r| (r, r)).collect();
        assert!(fractions(&risks).iter().all(|&f| f == 0.2));
    }

    #[test]
    fn it_doubles_after_a_stall_up_to_all() {
        let found = fractions(&[(1.0, 1.0); 13]);
        assert_eq!(found[..4], [0.2, 0.2, 0.2, 0.4]);
        assert_eq!(found[6..10], [0.8, 0.8, 0.8, 1.0]);
        assert_eq!(found[12], 1.0);
    }

    #[test]
    fn it_doubles_when_old_data_suffer() {
        let fall = |t: i32| 0.98_f64.powi(t);
        let found = fractions(&[
            (fall(0), 1.0),
            (fall(1), 1.01),
            (fall(2), 1.01),
            (fall(3), 1.01),
            (fall(4), 1.01),
        ]);
        assert_eq!(found, [0.2, 0.2, 0.2, 0.4, 0.4]);
    }
}
