//! Changes over a training and by an update.

use icl_train::Verdict;

use crate::record::UpdateRecord;

/// Share of the exact risk below which a change may be luck: parameters that were trained with other
/// random numbers differ by about as much.
const NOISE: f64 = 0.01;

/// Quantity before and after.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Change {
    /// Value before.
    pub(crate) before: f64,
    /// Value after.
    pub(crate) after: f64,
}

impl Change {
    /// Returns the value after less that before.
    pub(crate) fn difference(self) -> f64 {
        self.after - self.before
    }

    /// Returns the difference as a share of the size of the value before; `None` where it is no finite number.
    pub(crate) fn share(self) -> Option<f64> {
        Some(self.difference() / self.before.abs()).filter(|share| share.is_finite())
    }
}

/// Result of an update.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum UpdateVerdict {
    /// An exact risk is not a finite number.
    NotFinite,
    /// No encoder of the update has a lower risk than the one before.
    NoneBetter,
    /// The parameters are those of the encoder before.
    NotTrained,
    /// Another encoder, and what held-out samples say of it; `None` without them.
    Trained(Option<Verdict>),
}

/// Changes by an update.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct UpdateSummary {
    /// Result.
    pub(crate) verdict: UpdateVerdict,
    /// Exact risk over all data.
    pub(crate) all: Change,
    /// Exact risk over old data.
    pub(crate) old: Change,
    /// Exact risk over new data.
    pub(crate) new: Change,
    /// Whether the encoder before is kept.
    pub(crate) is_rejected: bool,
    /// L^{I,X} over old data, where it rises while L^{II} falls: the drift of objectives that drop it.
    pub(crate) drift: Option<Change>,
    /// Largest difference of the exact risk on old data from the sum of its parts, in nats.
    pub(crate) residual: f64,
}

impl UpdateSummary {
    /// Compares the encoders before and after.
    pub(crate) fn of(record: &UpdateRecord) -> Self {
        let (first, last) = (&record.before, &record.after);
        let change = |before, after| Change { before, after };
        let all = change(first.all, last.all);
        let old = change(first.old, last.old);
        let new = change(first.new, last.new);
        let risks = [all, old, new];
        let is_finite = |of: &Change| of.before.is_finite() && of.after.is_finite();
        let verdict = if !risks.iter().all(is_finite) {
            UpdateVerdict::NotFinite
        } else if record.training.parameter_change != 0.0 {
            UpdateVerdict::Trained(record.verdict)
        } else if record.course.best_evaluation == Some(0) && record.training.epochs > 0 {
            UpdateVerdict::NoneBetter
        } else {
            UpdateVerdict::NotTrained
        };
        let nce1_old = change(first.nce1_old, last.nce1_old);
        let least = NOISE * nce1_old.before.abs();
        let rises = nce1_old.difference() >= least && nce1_old.difference() > 0.0;
        let drifts = rises && last.nce2_old < first.nce2_old;
        Self {
            verdict,
            all,
            old,
            new,
            is_rejected: record.is_rejected,
            drift: drifts.then_some(nce1_old),
            residual: first.theorem1_residual.max(last.theorem1_residual),
        }
    }
}

/// Returns the loss of each epoch minus that of an encoder to which all negatives are as similar as the positive.
///
/// ```text
/// L − ln(1 + K)
/// ```
pub(crate) fn above_chance(losses: &[f64], negatives: &[f64]) -> Vec<f64> {
    let epochs = losses.iter().zip(negatives);
    epochs.map(|(loss, k)| loss - k.ln_1p()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_measured_from_chance() {
        assert_eq!(
            above_chance(&[2.0, 1.0], &[1.0, 20.0]),
            [2.0 - 2_f64.ln(), 1.0 - 21_f64.ln()]
        );
    }
}
