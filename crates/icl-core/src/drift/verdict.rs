//! The answer of a test of drift.

use std::fmt;

/// Answer to the question whether an encoder is to be updated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The drift is larger than chance and than the effect that counts.
    Update,
    /// The drift is at most the effect that counts, and the data are large enough to see one.
    Keep,
    /// The data allow neither conclusion: chance may exceed the effect that counts, the anchors do not fit the noise,
    /// or new data without positives differ from the old data.
    Unclear,
}

impl Verdict {
    /// Decides on a range of a statistic s by its quantile without drift and by an effect ε, in nats. `is_significant`
    /// says whether the value of the range nearest to 0 is, among all tests.
    ///
    /// ```text
    /// update   |s| > ε in all of the range, and significant
    /// keep     |s| ≤ ε in all of the range, and q95 ≤ ε
    /// unclear  otherwise
    /// ```
    pub(super) fn of(range: [f64; 2], is_significant: bool, q95: f64, effect: f64) -> Self {
        let farthest = range[0].abs().max(range[1].abs());
        if is_significant && nearest_to_zero(range) > effect {
            Self::Update
        } else if farthest <= effect && q95 <= effect {
            Self::Keep
        } else {
            Self::Unclear
        }
    }
}

/// Returns the smallest absolute value of a range.
pub(super) fn nearest_to_zero([low, high]: [f64; 2]) -> f64 {
    low.max(-high).max(0.0)
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
        for (range, is_significant, q95, answer) in [
            ([0.2, 0.2], true, 0.1, "yes"),
            ([-0.2, -0.2], true, 0.1, "yes"),
            ([0.2, 0.2], true, 0.01, "yes"),
            ([0.06, 0.3], true, 0.01, "yes"),
            ([0.2, 0.2], false, 0.2, "cannot tell"),
            ([0.2, 0.2], false, 0.04, "cannot tell"),
            ([0.01, 0.01], false, 0.1, "cannot tell"),
            ([0.04, 0.2], true, 0.01, "cannot tell"),
            ([-0.2, 0.2], true, 0.01, "cannot tell"),
            ([-0.06, 0.0], false, 0.01, "cannot tell"),
            ([0.04, 0.04], true, 0.01, "no"),
            ([0.05, 0.05], false, 0.05, "no"),
            ([-0.05, 0.05], false, 0.05, "no"),
            ([0.0, 0.0], false, 0.0, "no"),
        ] {
            let found = Verdict::of(range, is_significant, q95, 0.05);
            assert_eq!(found.to_string(), answer, "{range:?}, q95 = {q95}");
        }
    }

    #[test]
    fn a_range_over_zero_comes_next_to_it() {
        for (range, nearest) in [([-2.0, 3.0], 0.0), ([1.0, 3.0], 1.0), ([-3.0, -1.5], 1.5)] {
            assert_eq!(nearest_to_zero(range), nearest);
        }
    }
}
