//! A measured drift.

use super::no_drift::NoDrift;
use super::terms::AnchorTerms;
use super::verdict::Verdict;

/// Drift of the noise from old to new, as old and as new anchors see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Drift {
    /// Drift that old anchors see.
    pub old: AnchorDrift,
    /// Drift that new anchors see, if the panel has any.
    pub new: Option<AnchorDrift>,
}

/// Drift of the noise from old to new, as anchors of one origin see it.
#[derive(Debug, Clone, PartialEq)]
pub struct AnchorDrift {
    /// Statistic s: the mean of L^{I,X} − L^{I,X′} over the anchors, in nats. Negative if the noise moves towards them.
    pub bias_inference: f64,
    /// Distribution of |s| without drift.
    pub null: NoDrift,
    /// Smallest drift that counts, in nats.
    pub effect: f64,
    /// Answer.
    pub verdict: Verdict,
    /// Terms of each anchor.
    pub terms: Vec<AnchorTerms>,
}

impl Drift {
    /// Returns the answer of both kinds of anchors: to update if either says so, to keep if both do.
    ///
    /// With new anchors there are two tests, each with a chance of 5 % of a false alarm at most.
    pub fn verdict(&self) -> Verdict {
        self.deciding().verdict
    }

    /// Returns why, as a clause.
    pub fn reason(&self) -> String {
        let deciding = self.deciding();
        let of = match (&self.new, std::ptr::eq(deciding, &self.old)) {
            (None, _) => "",
            (Some(_), true) => " of old anchors",
            (Some(_), false) => " of new anchors",
        };
        deciding.reason_of(of)
    }

    /// Returns the number of self-pairs that were left out, over all anchors.
    pub fn n_self_pairs(&self) -> usize {
        let anchors = self.old.terms.iter();
        let anchors = anchors.chain(self.new.iter().flat_map(|new| &new.terms));
        anchors.map(|it| it.n_self_old + it.n_self_new).sum()
    }

    /// Returns the drift whose verdict decides: the old anchors' among equals.
    pub fn deciding(&self) -> &AnchorDrift {
        let weight = |drift: &AnchorDrift| match drift.verdict {
            Verdict::Update => 2,
            Verdict::Unclear => 1,
            Verdict::Keep => 0,
        };
        match &self.new {
            Some(new) if weight(new) > weight(&self.old) => new,
            _ => &self.old,
        }
    }
}

impl AnchorDrift {
    /// Returns why the verdict is what it is, as a clause.
    pub fn reason(&self) -> String {
        self.reason_of("")
    }

    fn reason_of(&self, of: &str) -> String {
        let (s, q95, effect) = (self.bias_inference, self.null.q95, self.effect);
        match self.verdict {
            Verdict::Update => format!(
                "the bias of inference{of}, {s:.4} nats, exceeds in size the effect that counts, {effect} nats, and the 95 % \
                 quantile of panels without drift, {q95:.4} nats"
            ),
            Verdict::Keep => format!(
                "the bias of inference{of}, {s:.4} nats, is within the effect that counts, {effect} nats, and this panel is \
                 large enough to see one: without drift it stays within {q95:.4} nats in 95 % of cases"
            ),
            Verdict::Unclear => format!(
                "the bias of inference{of}, {s:.4} nats, may be chance or hidden by it: even without drift it exceeds \
                 {q95:.4} nats in 5 % of cases, more than the effect that counts, {effect} nats; more samples can tell"
            ),
        }
    }
}
