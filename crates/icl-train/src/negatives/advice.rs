//! Numbers of negatives that the ranks of a run's own evaluations advise.

use icl_core::negatives::{MAX_ADVISED, Optimum, Ranks, advise, reliability, separation};
use serde::{Deserialize, Serialize};

use crate::negatives::{NegativesPeak, NegativesSchedule, StepNegatives};

/// Largest factor by which [`NegativesSchedule::Stagewise`] changes K at an evaluation.
const LARGEST_STEP: f64 = 2.0;

/// Advice of a run's evaluations on its number of negatives.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Advice {
    /// Peak that the first evaluation advised under [`NegativesPeak::Auto`].
    pub(crate) peak: Option<f64>,
    /// Number of negatives under [`NegativesSchedule::Stagewise`].
    pub(crate) stage: f64,
    /// Highest AUC on training samples.
    highest: f64,
}

impl Default for Advice {
    fn default() -> Self {
        Self {
            peak: None,
            stage: 1.0,
            highest: 0.0,
        }
    }
}

impl Advice {
    /// Updates the advice by the ranks of an evaluation: on training samples, of which the first `n_old` are old, and
    /// on held-out ones.
    pub(crate) fn take_in(
        &mut self,
        choice: &StepNegatives,
        (training, n_old): (&Ranks, usize),
        held_out: Option<&Ranks>,
    ) {
        let n = training.of_anchors().len();
        if choice.peak == NegativesPeak::Auto && self.peak.is_none() && n_old < n {
            let [old, new] = [training.rows(0..n_old), training.rows(n_old..n)];
            self.peak = Some(of_update(&old, &new) as f64);
        }
        let Some(held_out) = held_out.filter(|_| choice.schedule == NegativesSchedule::Stagewise)
        else {
            return;
        };
        self.highest = self.highest.max(training.auc());
        let label = separation(inner_auc(training, self.highest)).unwrap_or(0.0);
        let next = of_stage(label, held_out) as f64;
        self.stage = next.clamp(self.stage / LARGEST_STEP, self.stage * LARGEST_STEP);
    }
}

/// Returns an AUC of ranks, limited to half a pair from 0 and from 1, at which the separation is infinite.
fn inner_auc(ranks: &Ranks, auc: f64) -> f64 {
    let pairs: usize = ranks.of_anchors().iter().map(|rank| rank.n_noise()).sum();
    let end = 0.5 / pairs as f64;
    auc.clamp(end, 1.0 - end)
}

/// Returns the number of negatives of an update, which draws at most all other samples.
fn of_update(old: &Ranks, new: &Ranks) -> usize {
    let most = old.of_anchors().len() + new.of_anchors().len() - 1;
    let advice = advise(inner_auc(old, old.auc()), inner_auc(new, new.auc()));
    // The effectiveness has one maximum over K: below it, the largest number that is possible is the best.
    advice.map_or(1, |optimum| optimum.k.min(most.max(1)))
}

/// Returns the number of negatives of a stage of the training, with P(B; K) as measured on held-out samples.
///
/// ```text
/// K = argmax over K of P(μ, K) − P(B; K)
/// ```
fn of_stage(label: f64, held_out: &Ranks) -> usize {
    let right = held_out.right_by_k(MAX_ADVISED);
    let values = right.iter().enumerate();
    let values: Vec<f64> = values
        .map(|(at, right)| reliability(label, (at + 1) as f64) - right)
        .collect();
    Optimum::of(&values).map_or(1, |optimum| optimum.k)
}

#[cfg(test)]
mod tests {
    use super::*;
    use icl_core::negatives::Rank;

    /// Anchors of which all have the same share of 1000 noise samples below their positive.
    fn ranks(below: usize) -> Ranks {
        let rank = Rank {
            below,
            tied: 0,
            above: 1000 - below,
        };
        Ranks::new(vec![rank; 600])
    }

    fn choice(peak: NegativesPeak, schedule: NegativesSchedule) -> StepNegatives {
        StepNegatives {
            peak,
            schedule,
            ..StepNegatives::default()
        }
    }

    /// The advice for AUCs of 0.95 and 0.5 is that of `icl negatives --train-auc 0.95 --lambda 1`, 20; better
    /// predictions at the start need more negatives.
    #[test]
    fn an_update_begins_where_the_encoder_is() {
        assert_eq!(of_update(&ranks(950), &ranks(500)), 20);
        assert!(of_update(&ranks(950), &ranks(900)) > 20);
        assert_eq!(of_update(&ranks(950), &ranks(990)), 20);
        assert_eq!(of_update(&ranks(400), &ranks(300)), 1);
        assert!(of_update(&ranks(1000), &ranks(1000)) <= MAX_ADVISED);
    }

    #[test]
    fn the_peak_is_that_of_the_first_evaluation() {
        let auto = choice(NegativesPeak::Auto, NegativesSchedule::Fixed);
        let both = |old: usize, new: usize| {
            let all = [ranks(old), ranks(new)].map(|part| part.of_anchors().to_vec());
            Ranks::new(all.concat())
        };
        let mut advice = Advice::default();
        advice.take_in(&auto, (&both(950, 500), 600), None);
        assert_eq!(advice.peak, Some(20.0));
        advice.take_in(&auto, (&both(950, 900), 600), None);
        assert_eq!(advice.peak, Some(20.0));
        // Before new data arrive, there is no encoder to ask.
        let mut first = Advice::default();
        first.take_in(&auto, (&ranks(950), 600), None);
        assert_eq!(first.peak, None);
    }

    /// K is that of a search by a plain loop, and at most doubles at an evaluation.
    #[test]
    fn a_stage_moves_towards_its_optimum() {
        let stagewise = choice(NegativesPeak::Reference, NegativesSchedule::Stagewise);
        let (training, held_out) = (ranks(950), ranks(700));
        let label = separation(0.95).unwrap();
        let right = |k: usize| {
            (0..k)
                .map(|i| (700 - i) as f64 / (1000 - i) as f64)
                .product()
        };
        let value = |k: &usize| {
            let right: f64 = right(*k);
            reliability(label, *k as f64) - right
        };
        let best = (1..600)
            .max_by(|a, b| value(a).total_cmp(&value(b)))
            .unwrap();
        let mut advice = Advice::default();
        let mut stages = Vec::new();
        for _ in 0..8 {
            advice.take_in(&stagewise, (&training, 600), Some(&held_out));
            stages.push(advice.stage);
        }
        assert_eq!(stages[..2], [2.0, 4.0]);
        assert_eq!(advice.stage, best as f64);
    }
}
