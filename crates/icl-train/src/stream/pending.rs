//! Experiences that have arrived since the last update.

use icl_core::drift::{AnchorDrift, Verdict};
use serde::{Deserialize, Serialize};

use crate::stream::when::When;

/// Experiences that wait for an update, and the decision whether it is time for one.
///
/// ```
/// use icl_train::{Pending, When};
///
/// let mut pending = Pending::default();
/// assert!(!pending.decide(When::Every(2), None, "monday", 30, None, 0.0).update);
/// let tuesday = pending.decide(When::Every(2), None, "tuesday", 20, None, 0.0);
/// assert!(tuesday.update && tuesday.n_samples == 50);
/// // An update takes all that is pending.
/// pending.clear();
/// assert_eq!(pending.n_experiences(), 0);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    names: Vec<String>,
    n_samples: usize,
    regret: f64,
}

/// Decision on an update, with the numbers that led to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Experience that has just arrived.
    pub experience: String,
    /// Whether to update.
    pub update: bool,
    /// Reason, in words.
    pub reason: String,
    /// Number of pending experiences, this one included.
    pub n_experiences: usize,
    /// Number of pending samples.
    pub n_samples: usize,
    /// Bias of inference in nats, if the rule needs it.
    pub statistic: Option<f64>,
    /// Mean of its absolute value without drift, in nats.
    pub null_mean: Option<f64>,
    /// Its 95 % quantile without drift, in nats.
    pub null_q95: Option<f64>,
    /// Regret so far, in nats summed over samples.
    pub regret: f64,
}

impl Pending {
    /// Adds an experience of `n_samples` samples and decides. `drift` is the drift of the noise from what the encoder was trained on to all that is pending, as a rule
    /// asks for it ([`When::needs_drift`]); `passes` the charged cost of the last update; with `at_latest`, so many pending
    /// experiences are a reason under every rule but `never`.
    ///
    /// Regret is what the live encoder costs beyond chance:
    ///
    /// ```text
    /// Σ over pending experiences of n · max(0, |s| − mean of |s| without drift)
    /// ```
    ///
    /// # Panics
    /// If the rule needs a drift and there is none.
    pub fn decide(
        &mut self,
        when: When,
        at_latest: Option<usize>,
        experience: &str,
        n_samples: usize,
        drift: Option<&AnchorDrift>,
        passes: f64,
    ) -> Decision {
        self.names.push(experience.to_owned());
        self.n_samples += n_samples;
        if let Some(drift) = drift {
            let beyond = drift.bias_inference.abs() - drift.null.mean;
            self.regret += n_samples as f64 * beyond.max(0.0);
        }
        let measured = || drift.expect("this rule needs a drift");
        let n = self.n_experiences();
        let (by_rule, reason) = match when {
            When::Always => (true, "every experience is a reason".to_owned()),
            When::Never => (false, "no experience is a reason".to_owned()),
            When::Every(needed) => (
                n >= needed,
                format!("{}, {needed} are a reason", pending(n)),
            ),
            When::Samples(needed) => (
                self.n_samples >= needed,
                format!(
                    "{} samples are pending, {needed} are a reason",
                    self.n_samples
                ),
            ),
            When::Drift(_) => {
                let drift = measured();
                (drift.verdict() == Verdict::Update, drift.reason())
            }
            When::Regret(of_pass) => {
                measured();
                let needed = of_pass * passes;
                (
                    self.regret >= needed && self.regret > 0.0,
                    format!(
                        "the regret is {:.1} nats, {needed:.1} are a reason ({of_pass} for each of {passes:.0} passes)",
                        self.regret
                    ),
                )
            }
        };
        let is_late = when != When::Never && at_latest.is_some_and(|most| n >= most);
        let reason = match is_late && !by_rule {
            true => format!("{}, the most that may be; {reason}", pending(n)),
            false => reason,
        };
        Decision {
            experience: experience.to_owned(),
            update: by_rule || is_late,
            reason,
            n_experiences: n,
            n_samples: self.n_samples,
            statistic: drift.map(|it| it.bias_inference),
            null_mean: drift.map(|it| it.null.mean),
            null_q95: drift.map(|it| it.null.q95),
            regret: self.regret,
        }
    }

    /// Forgets what was pending, after an update.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns the names of the pending experiences.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the number of pending experiences.
    pub fn n_experiences(&self) -> usize {
        self.names.len()
    }

    /// Returns the number of pending samples.
    pub fn n_samples(&self) -> usize {
        self.n_samples
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

    use icl_core::drift::{DriftPanel, DriftTestConfig};

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
        let panel = DriftPanel::try_new(pairs, [arc(0.0, 40), arc(shift, 40)]).unwrap();
        let test = DriftTestConfig::new(0.5, 31.0).try_init().unwrap();
        test.measure(&panel).unwrap().old
    }

    fn updates(when: When, at_latest: Option<usize>, drifts: &[Option<&AnchorDrift>]) -> Vec<bool> {
        let mut pending = Pending::default();
        let decide = |drift: &Option<&AnchorDrift>| {
            let decision = pending.decide(when, at_latest, "next", 10, *drift, 100.0);
            if decision.update {
                pending.clear();
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
    fn a_decision_has_its_numbers() {
        let far = drift(3.1);
        let decision = Pending::default().decide(When::Drift(0.05), None, "d", 10, Some(&far), 0.0);
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
}
