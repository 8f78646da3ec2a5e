//! The answer of a test of drift.

use std::fmt;

use super::no_drift::NoDrift;

/// Answer to the question whether an encoder is to be updated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The drift is larger than chance and than the effect that counts.
    Update,
    /// The drift is at most the effect that counts, and the panel is large enough to see one.
    Keep,
    /// Chance alone may exceed the effect that counts: the panel is too small.
    Unclear,
}

impl Verdict {
    /// Judges a statistic s by its quantile without drift and by an effect ε, both in nats.
    ///
    /// ```text
    /// update   |s| > q95 and |s| > ε
    /// keep     |s| ≤ ε and q95 ≤ ε
    /// unclear  otherwise
    /// ```
    pub(super) fn of(statistic: f64, null: &NoDrift, effect: f64) -> Self {
        let is_effect = statistic.abs() > effect;
        match null.q95 <= effect {
            true if !is_effect => Self::Keep,
            _ if is_effect && null.is_exceeded_by(statistic) => Self::Update,
            _ => Self::Unclear,
        }
    }
}

impl fmt::Display for Verdict {
    /// Writes `yes`, `no` or `cannot tell`, the answer to "update?".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Update => "yes",
            Self::Keep => "no",
            Self::Unclear => "cannot tell",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_its_answer() {
        let null = |q95| NoDrift {
            q95,
            mean: q95 / 3.0,
            n_relabellings: 200,
            p_value: 0.5,
        };
        for (s, q95, answer) in [
            (0.2, 0.1, "yes"),
            (-0.2, 0.1, "yes"),
            (0.2, 0.01, "yes"),
            (0.2, 0.2, "cannot tell"),
            (0.2, 0.3, "cannot tell"),
            (0.01, 0.1, "cannot tell"),
            (0.04, 0.01, "no"),
            (0.05, 0.05, "no"),
            (0.0, 0.0, "no"),
        ] {
            let found = Verdict::of(s, &null(q95), 0.05);
            assert_eq!(found.to_string(), answer, "s = {s}, q95 = {q95}");
        }
    }
}
