//! The position of a target among the scores of other candidates.

/// Position of a target among candidates in the order of their scores: how many have a higher score, how many the same.
///
/// Measures of a target that ties with others are means over all orders of what is tied: a model that scores everything alike
/// gains nothing from the order in which items are stored. scikit-learn's `roc_auc_score` and `ndcg_score` do the same.
///
/// ```
/// use icl_eval::TargetPosition;
///
/// let position = TargetPosition::among(0.5, [0.9, 0.1, 0.5]);
/// assert_eq!(position.rank(), 2.5);
/// assert_eq!(position.auc(), 0.5);
/// assert_eq!(position.hit_rate(2), 0.5);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetPosition {
    n_above: usize,
    n_tied: usize,
    n_others: usize,
}

impl TargetPosition {
    /// Counts the other candidates by their scores, given the score of the target. A score that is NaN counts as lower.
    pub fn among(target: f64, others: impl IntoIterator<Item = f64>) -> Self {
        let mut position = Self {
            n_above: 0,
            n_tied: 0,
            n_others: 0,
        };
        for score in others {
            position.n_above += usize::from(score > target);
            position.n_tied += usize::from(score == target);
            position.n_others += 1;
        }
        position
    }

    /// Returns the number of candidates besides the target.
    pub fn n_others(&self) -> usize {
        self.n_others
    }

    /// Returns the rank of the target, from 1; the mean rank of all candidates that are tied with it.
    pub fn rank(&self) -> f64 {
        1.0 + self.n_above as f64 + self.n_tied as f64 / 2.0
    }

    /// Returns the share of the other candidates that are below the target, where tied ones count half; not a number if
    /// there are none.
    pub fn auc(&self) -> f64 {
        1.0 - (self.rank() - 1.0) / self.n_others as f64
    }

    /// Returns HR@k: 1 if the target is among the first k candidates, else 0. A tied target has the share of orders in which
    /// it is.
    pub fn hit_rate(&self, k: usize) -> f64 {
        let n_within = k.saturating_sub(self.n_above).min(self.n_tied + 1);
        n_within as f64 / (self.n_tied + 1) as f64
    }

    /// Returns nDCG@k with the target as only relevant candidate, 1/log₂(1 + rank) if it is among the first k, else 0. A tied
    /// target has the mean over all orders.
    pub fn ndcg(&self, k: usize) -> f64 {
        let last = k.min(self.n_above + self.n_tied + 1);
        let gains = (self.n_above + 1..=last).map(|rank| 1.0 / (1.0 + rank as f64).log2());
        gains.sum::<f64>() / (self.n_tied + 1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_ties_have_closed_forms() {
        let others = [1.0, 2.0, 3.0, 4.0];
        let first = TargetPosition::among(5.0, others);
        assert_eq!((first.rank(), first.auc()), (1.0, 1.0));
        assert_eq!((first.hit_rate(1), first.ndcg(1)), (1.0, 1.0));
        let last = TargetPosition::among(0.0, others);
        assert_eq!((last.rank(), last.auc()), (5.0, 0.0));
        assert_eq!((last.hit_rate(4), last.hit_rate(5)), (0.0, 1.0));
        assert_eq!(last.ndcg(4), 0.0);
        assert!((last.ndcg(5) - 1.0 / 6_f64.log2()).abs() < 1e-15);
        let tied = TargetPosition::among(1.0, [1.0; 4]);
        assert_eq!((tied.rank(), tied.auc()), (3.0, 0.5));
        for k in 0..=5 {
            assert!((tied.hit_rate(k) - k as f64 / 5.0).abs() < 1e-15);
        }
        assert_eq!(tied.hit_rate(9), 1.0);
    }

    #[test]
    fn ties_are_means_over_all_orders() {
        // Two above, three tied: the target is at rank 3, 4, 5 or 6, each in a quarter of the orders.
        let scores = [9.0, 8.0, 5.0, 5.0, 5.0, 1.0];
        let tied = TargetPosition::among(5.0, scores);
        for k in 0..9 {
            let at = (3..=6).filter(|rank| *rank <= k);
            let gains: f64 = at
                .clone()
                .map(|rank| 1.0 / (rank as f64 + 1.0).log2())
                .sum();
            assert!((tied.hit_rate(k) - at.count() as f64 / 4.0).abs() < 1e-15);
            assert!((tied.ndcg(k) - gains / 4.0).abs() < 1e-15);
        }
        assert_eq!(tied.rank(), 4.5);
    }

    #[test]
    fn without_others_there_is_no_auc() {
        let alone = TargetPosition::among(1.0, []);
        assert!(alone.auc().is_nan());
        assert_eq!((alone.rank(), alone.n_others()), (1.0, 0));
    }
}
