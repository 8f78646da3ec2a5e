//! The reason of a verdict in words.

use super::measurement::{AnchorDrift, Drift};
use super::verdict::Verdict;

impl Drift {
    /// Returns the reason of the joint verdict in words, as a clause with numbers.
    pub fn reason(&self) -> String {
        let deciding = self.deciding();
        let of = match (&self.new, std::ptr::eq(deciding, &self.old)) {
            (None, _) => "",
            (Some(_), true) => "old ",
            (Some(_), false) => "new ",
        };
        let reason = deciding.reason_of(of);
        match (&self.discrepancy, deciding.verdict()) {
            (Some(it), Verdict::Keep) if self.is_other_noise() => format!(
                "{reason}; but that holds for old anchors, and old and new embeddings differ (MMD² {:.4}, p = {:.3} by \
                 Holm's correction): add new anchors with their positives to measure what this costs on new data",
                it.mmd2, it.p_adjusted
            ),
            (Some(it), Verdict::Keep) => format!(
                "{reason}; that holds for old anchors, and old and new embeddings do not differ either, in a test of \
                 {} old and {} new rows (MMD² {:.4}, p = {:.3})",
                it.n_old, it.n_new, it.mmd2, it.p_value
            ),
            _ => reason,
        }
    }
}

impl AnchorDrift {
    /// Returns the reason of the verdict of these anchors in words, as a clause with numbers.
    pub fn reason(&self) -> String {
        self.reason_of("")
    }

    /// Returns the reason, with the word `old ` or `new ` before anchors where both kinds are tested.
    fn reason_of(&self, word: &str) -> String {
        let (s, q95, effect) = (self.bias_inference, self.null.q95, self.effect);
        let (n, p) = (self.n_anchors, self.p_adjusted);
        let of = match word {
            "" => String::new(),
            word => format!(" of {word}anchors"),
        };
        match self.verdict() {
            Verdict::Update => format!(
                "the bias of inference{of}, {s:.4} nats, exceeds in size the effect that counts, {effect} nats, and \
                 chance: without drift it stays within {q95:.4} nats in 95 % of cases (p = {p:.3} by Holm's \
                 correction)"
            ),
            Verdict::Keep => format!(
                "the bias of inference{of}, {s:.4} nats, is within the effect that counts, {effect} nats, and there \
                 are enough data to detect a larger one: without drift it stays within {q95:.4} nats in 95 % of cases"
            ),
            Verdict::Unclear if self.is_repeated() => format!(
                "{} of {n} {word}anchors have more than one row of their own in the noise, which are no independent \
                 draws: compare one row of each sample",
                self.n_repeated
            ),
            Verdict::Unclear if self.is_open_by_range() => {
                let [low, high] = self.bias_range;
                format!(
                    "{} of {n} {word}anchors have no row of their own in the noise: if it holds their samples in other \
                     numbers (other views, or rounded), the bias of inference{of} may be anything from {low:.4} to \
                     {high:.4} nats; compare with noise that holds the anchors or their positives bit for bit, or with \
                     more rows and none of their samples",
                    self.n_unpaired
                )
            }
            Verdict::Unclear => format!(
                "the bias of inference{of}, {s:.4} nats, may be chance or hidden by it: even without drift it exceeds \
                 {q95:.4} nats in 5 % of cases (p = {p:.3} by Holm's correction), and the effect that counts is \
                 {effect} nats: compare more samples"
            ),
        }
    }
}
