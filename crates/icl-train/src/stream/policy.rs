//! The decision whether it is time for an update, and what an update may cost.

use icl_core::drift::{AnchorDrift, Verdict};
use serde::{Deserialize, Serialize};

use crate::error::TrainError;
use crate::stream::decision::Decision;
use crate::stream::state::{StreamMemory, StreamState};
use crate::stream::when::When;

/// When a stream updates its encoder, and what the updates may cost. The default updates at every experience, without a
/// budget.
///
/// ```
/// use icl_core::Seed;
/// use icl_train::{Keep, Policy, StreamMemory, When};
///
/// let policy = Policy { when: When::Every(2), ..Policy::default() };
/// let mut memory = StreamMemory::default();
/// assert!(!policy.decide(&mut memory, "monday", 30, None, [0.0; 2]).update);
/// memory.arrive("monday", (0..30).collect());
/// let tuesday = policy.decide(&mut memory, "tuesday", 20, None, [0.0; 2]);
/// assert!(tuesday.update && tuesday.n_samples == 50);
/// // An update takes all that waits.
/// memory.arrive("tuesday", (30..50).collect());
/// memory.absorb(Keep::All, |name| Seed::new(7).child(name));
/// assert_eq!(memory.n_waiting(), [0, 0]);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// Moment of an update.
    pub when: When,
    /// Largest number of experiences that wait, at least 1. Reaching it triggers an update under every rule but
    /// `never`. `None`, also in older records, for no limit.
    #[serde(default)]
    pub at_latest: Option<usize>,
    /// Largest charged cost of an update with its decision, in full passes.
    pub budget_per_update: Option<f64>,
    /// Largest charged cost of all updates, the first training not counted, in full passes.
    pub budget_total: Option<f64>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            when: When::Always,
            at_latest: None,
            budget_per_update: None,
            budget_total: None,
        }
    }
}

impl Policy {
    /// Checks the numbers. [`Stream::decide`](crate::Stream::decide) does so before a decision.
    ///
    /// # Errors
    /// [`TrainError`] with the first field that is out of its range.
    pub fn check(&self) -> Result<(), TrainError> {
        // With 0, nothing could wait, and `never` would still let everything wait.
        TrainError::unless(self.at_latest != Some(0), "at_latest", 0, "at least 1")?;
        for (field, budget) in [
            ("budget_per_update", self.budget_per_update),
            ("budget_total", self.budget_total),
        ] {
            let found = budget.unwrap_or(1.0);
            let is_valid = found.is_finite() && found > 0.0;
            TrainError::unless(is_valid, field, found, "a number of passes above 0")?;
        }
        Ok(())
    }

    /// Decides whether an experience of `n_samples` training samples, with all that waits, triggers an update, and adds
    /// its regret to the memory. `drift` is the drift of the noise from what the encoder was trained on to all of these samples,
    /// for a rule that needs it ([`When::needs_drift`]). The two costs in full passes are those of all updates so far, this
    /// decision included, and of the last update.
    ///
    /// Regret is what the live encoder costs beyond chance:
    ///
    /// ```text
    /// Σ over experiences that wait of n · max(0, |s| − mean of |s| without drift)
    /// ```
    ///
    /// # Panics
    /// If the rule needs a drift and there is none.
    pub fn decide(
        &self,
        memory: &mut StreamMemory,
        experience: &str,
        n_samples: usize,
        drift: Option<&AnchorDrift>,
        [charged, of_last]: [f64; 2],
    ) -> Decision {
        if let Some(drift) = drift {
            let beyond = drift.bias_inference.abs() - drift.null.mean;
            memory.regret += n_samples as f64 * beyond.max(0.0);
        }
        let regret = memory.regret;
        let [n, n_samples] = {
            let [n_before, n_samples_before] = memory.n_waiting();
            [n_before + 1, n_samples_before + n_samples]
        };
        let (by_rule, reason) = self.reason(n, n_samples, drift, regret, of_last);
        let is_late = self.when != When::Never && self.at_latest.is_some_and(|most| n >= most);
        let reason = match is_late && !by_rule {
            true => format!("{}, the maximum; {reason}", pending(n)),
            false => reason,
        };
        let update = by_rule || is_late;
        let used_up = self
            .budget_total
            .filter(|total| update && charged >= *total);
        Decision {
            experience: experience.to_owned(),
            update: update && used_up.is_none(),
            reason: match used_up {
                Some(total) => format!("{reason}; the budget of {total} passes is used up"),
                None => reason,
            },
            n_experiences: n,
            n_samples,
            statistic: drift.map(|it| it.bias_inference),
            null_mean: drift.map(|it| it.null.mean),
            null_q95: drift.map(|it| it.null.q95),
            regret,
        }
    }

    /// Returns whether the rule is for an update, and why.
    fn reason(
        &self,
        n: usize,
        n_samples: usize,
        drift: Option<&AnchorDrift>,
        regret: f64,
        of_last: f64,
    ) -> (bool, String) {
        let measured = || drift.expect("this rule needs a drift");
        match self.when {
            When::Always => (true, "update after every experience".to_owned()),
            When::Never => (false, "never update".to_owned()),
            When::Every(needed) => (
                n >= needed,
                format!("{}, an update needs {needed}", pending(n)),
            ),
            When::Samples(needed) => (
                n_samples >= needed,
                format!("{n_samples} samples are pending, an update needs {needed}"),
            ),
            When::Drift(_) => {
                let drift = measured();
                (drift.verdict() == Verdict::Update, drift.reason())
            }
            When::Regret(of_pass) => {
                measured();
                let needed = of_pass * of_last;
                (
                    regret >= needed && regret > 0.0,
                    format!(
                        "the regret is {regret:.1} nats, an update needs {needed:.1} \
                         ({of_pass} for each of {of_last:.0} passes)"
                    ),
                )
            }
        }
    }

    /// Returns the budget of an update: what its decision, of a cost of `deciding` passes, and the updates before have left.
    pub(super) fn budget(&self, state: &StreamState, deciding: f64) -> Option<f64> {
        let left = self
            .budget_total
            .map(|total| total - state.charged_to_updates() - deciding);
        // A budget must be above 0. The smallest lets an update take its one step.
        let of_update = self
            .budget_per_update
            .map(|it| (it - deciding).max(f64::MIN_POSITIVE));
        match (of_update, left) {
            (Some(of_update), Some(left)) => Some(of_update.min(left)),
            (of_update, left) => of_update.or(left),
        }
    }
}

/// Says how many experiences are pending.
fn pending(n: usize) -> String {
    match n {
        1 => "1 experience is pending".to_owned(),
        n => format!("{n} experiences are pending"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use icl_core::Seed;
    use icl_core::drift::{DriftData, DriftTestConfig};

    use crate::stream::keep::Keep;

    /// Returns the drift of a circle whose new half is `shift` away from the old one.
    fn drift(shift: f64) -> AnchorDrift {
        let arc = |first: f64, n: usize| {
            let points = (0..n).flat_map(|i| {
                let angle = first + 1.5 * i as f64 / n as f64;
                [angle.cos(), angle.sin()]
            });
            (points.collect::<Vec<f64>>(), 2)
        };
        let pairs = [arc(0.0, 40), arc(0.01, 40)];
        let data = DriftData::try_new(pairs, [arc(0.0, 40), arc(shift, 40)]).unwrap();
        let test = DriftTestConfig::new(0.5, 31.0).try_init().unwrap();
        test.measure(&data).unwrap().old
    }

    fn updates(when: When, at_latest: Option<usize>, drifts: &[Option<&AnchorDrift>]) -> Vec<bool> {
        let policy = Policy {
            when,
            at_latest,
            ..Policy::default()
        };
        let mut memory = StreamMemory::default();
        let mut n = 0;
        let decide = |drift: &Option<&AnchorDrift>| {
            let decision = policy.decide(&mut memory, "next", 10, *drift, [0.0, 100.0]);
            memory.arrive("next", (n..n + 10).collect());
            n += 10;
            if decision.update {
                memory.absorb(Keep::All, |_| Seed::new(0));
            }
            decision.update
        };
        drifts.iter().map(decide).collect()
    }

    #[test]
    fn rules_of_counts_merge_what_is_pending() {
        let none = [None; 6];
        assert_eq!(updates(When::Always, None, &none), [true; 6]);
        assert_eq!(updates(When::Never, Some(1), &none), [false; 6]);
        let every = [false, false, true, false, false, true];
        assert_eq!(updates(When::Every(3), None, &none), every);
        assert_eq!(updates(When::Samples(25), None, &none), every);
        let second = [false, true, false, true, false, true];
        assert_eq!(updates(When::Every(3), Some(2), &none), second);
    }

    #[test]
    fn drift_and_regret_fire_on_drift_alone() {
        let (still, far) = (drift(0.02), drift(3.1));
        let drifts = [Some(&still), Some(&still), Some(&far), Some(&still)];
        assert_eq!(
            updates(When::Drift(0.05), None, &drifts),
            [false, false, true, false]
        );
        // Ten samples with a regret each of |s| beyond chance, against 0.02 nats for each of 100 passes.
        let each = 10.0 * (far.bias_inference.abs() - far.null.mean);
        assert!(each > 2.0, "{far:?}");
        assert_eq!(
            updates(When::Regret(0.02), None, &drifts),
            [false, false, true, false]
        );
        let twice = 1.5 * each / 100.0;
        let drifts = [Some(&far), Some(&far), Some(&still)];
        assert_eq!(
            updates(When::Regret(twice), None, &drifts),
            [false, true, false]
        );
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        let sound = Policy {
            when: When::Drift(0.1),
            at_latest: Some(1),
            budget_per_update: Some(0.5),
            budget_total: None,
        };
        assert_eq!(sound.check(), Ok(()));
        let text = serde_json::to_string(&sound).unwrap();
        assert_eq!(
            text,
            "{\"when\":\"drift:0.1\",\"at_latest\":1,\"budget_per_update\":0.5,\"budget_total\":null}"
        );
        assert_eq!(serde_json::from_str::<Policy>(&text).unwrap(), sound);
        for (policy, expected) in [
            (
                Policy {
                    at_latest: Some(0),
                    ..sound.clone()
                },
                "at_latest: found 0, expected at least 1",
            ),
            (
                Policy {
                    budget_total: Some(f64::NAN),
                    ..sound.clone()
                },
                "budget_total: found NaN, expected a number of passes above 0",
            ),
        ] {
            assert_eq!(policy.check().unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_decision_has_its_numbers() {
        let far = drift(3.1);
        let policy = Policy {
            when: When::Drift(0.05),
            ..Policy::default()
        };
        let mut memory = StreamMemory::default();
        let decision = policy.decide(&mut memory, "d", 10, Some(&far), [0.0; 2]);
        assert_eq!(decision.statistic, Some(far.bias_inference));
        assert_eq!(decision.null_q95, Some(far.null.q95));
        assert!(
            decision.reason.contains("exceeds in size the effect"),
            "{}",
            decision.reason
        );
        let line = serde_json::to_string(&decision).unwrap();
        assert!(
            line.starts_with("{\"experience\":\"d\",\"update\":true"),
            "{line}"
        );
    }

    #[test]
    fn a_budget_that_is_used_up_ends_the_updates_and_bounds_the_last_one() {
        let policy = Policy {
            budget_per_update: Some(30.0),
            budget_total: Some(100.0),
            ..Policy::default()
        };
        let decide = |charged| {
            let mut memory = StreamMemory::default();
            policy.decide(&mut memory, "next", 10, None, [charged, 0.0])
        };
        assert!(decide(99.0).update);
        let used_up = decide(100.0);
        assert!(!used_up.update);
        let reason = "update after every experience; the budget of 100 passes is used up";
        assert_eq!(used_up.reason, reason);
        let state = StreamState::default();
        assert_eq!(policy.budget(&state, 10.0), Some(20.0));
        assert_eq!(policy.budget(&state, 95.0), Some(f64::MIN_POSITIVE));
        assert_eq!(Policy::default().budget(&state, 10.0), None);
        let of_all = Policy {
            budget_per_update: None,
            ..policy.clone()
        };
        assert_eq!(of_all.budget(&state, 10.0), Some(90.0));
    }
}
