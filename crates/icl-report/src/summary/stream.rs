//! Quantities of a stream that follow from the cells of its record.

use icl_train::{Answer, REFERENCE};

use crate::record::{Cells, StreamControl, StreamRecord};
use crate::summary::choice::compare;
use crate::summary::over_seeds::mean;
use crate::summary::speed_up::SAME;

/// Quantities of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StreamSummary {
    /// Number of updates after the first experience, those that were rejected included.
    pub(crate) n_updates: usize,
    /// Difference of the risk on earlier experiences from that right after each: above 0 is worse.
    pub(crate) forgotten: Option<f64>,
    /// Seconds of training of the method's updates.
    pub(crate) train_s: f64,
    /// Choice between the method and its controls; `None` without controls, or where risks are missing.
    pub(crate) choice: Option<StreamChoice>,
    /// The method.
    pub(crate) own: StrategySummary,
    /// The controls, in the order of the record.
    pub(crate) controls: Vec<StrategySummary>,
}

/// Choice between the method of a stream (0) and its controls (from 1 on): the cheapest that is not clearly worse than
/// retraining or, where it was not run, than the one with the lowest risk.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StreamChoice {
    /// The one to use.
    pub(crate) best: usize,
    /// The one that the others are measured against.
    pub(crate) reference: usize,
    /// Answers for each: whether its risks at the end, paired over the experiences, are lower than the reference's.
    pub(crate) answers: Vec<Answer>,
}

/// Quantities of the method of a stream or of a control.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StrategySummary {
    /// Method.
    pub(crate) method: String,
    /// Mean risk over all experiences at the end, in nats; `None` if a cell is missing.
    pub(crate) mean_risk: Option<f64>,
    /// Mean accuracy over all experiences at the end.
    pub(crate) mean_accuracy: Option<f64>,
    /// Mean difference of the method's risk from that of this control at the end: above 0, the method is worse.
    /// `None` for the method.
    pub(crate) gap: Option<f64>,
    /// Risk of the encoder that was live when each experience came `[T]`; `None` for the first.
    pub(crate) served: Vec<Option<f64>>,
    /// Mean of the served risks.
    pub(crate) mean_served: Option<f64>,
    /// Mean of the risks on each experience right after it.
    pub(crate) mean_after: Option<f64>,
    /// Charged passes up to each experience `[T]`.
    pub(crate) cumulated: Vec<Option<f64>>,
    /// Charged passes of all updates: the training on the first experience, which all have alike, is left out.
    pub(crate) updates_cost: f64,
}

impl StreamSummary {
    /// Summarises a stream.
    pub(crate) fn of(record: &StreamRecord) -> Self {
        let mut measures = record.measures.iter();
        let forgetting = measures.find(|of| of.name == "forgetting_first");
        let experiences = record.experiences.iter();
        let charged: Vec<f64> = experiences.map(|of| of.training.charged_passes).collect();
        let cells = (&record.risk, record.accuracy.as_ref());
        let control = |of: &StreamControl| {
            let gap = of.gap.last().copied().flatten();
            let cells = (&of.risk, of.accuracy.as_ref());
            StrategySummary::of(&of.method, cells, &of.charged_passes, gap)
        };
        let later = || record.experiences.iter().skip(1);
        let own = StrategySummary::of(&record.method, cells, &charged, None);
        let controls: Vec<StrategySummary> = record.controls.iter().map(control).collect();
        let strategies: Vec<&StrategySummary> = std::iter::once(&own).chain(&controls).collect();
        let risks = record.controls.iter().map(|of| &of.risk);
        let risks: Vec<&Cells> = std::iter::once(&record.risk).chain(risks).collect();
        Self {
            n_updates: later().filter(|of| of.updated || of.is_rejected).count(),
            forgotten: forgetting.and_then(|of| of.risk.filter(|risk| risk.is_finite())),
            train_s: later().map(|of| of.training.train_s).sum(),
            choice: StreamChoice::of(&strategies, &risks),
            own,
            controls,
        }
    }
}

impl StreamChoice {
    fn of(strategies: &[&StrategySummary], risks: &[&Cells]) -> Option<Self> {
        let means: Option<Vec<f64>> = strategies.iter().map(|of| of.mean_risk).collect();
        let means = means.filter(|of| of.len() > 1 && of.iter().all(|risk| risk.is_finite()))?;
        let retraining = strategies.iter().position(|of| of.method == REFERENCE);
        let lowest = || (0..means.len()).min_by(|a, b| means[*a].total_cmp(&means[*b]));
        let reference = retraining.or_else(lowest)?;
        let last = |at: usize| -> Option<Vec<f64>> { risks[at].last()?.iter().copied().collect() };
        let of = last(reference)?;
        let answer = |at: usize| Some(compare(&last(at)?, &of, 0.0));
        let answers: Vec<Answer> = (0..means.len()).map(answer).collect::<Option<_>>()?;
        let as_good = || (0..answers.len()).filter(|at| answers[*at] != Answer::Worse);
        let cost = |at: usize| strategies[at].updates_cost;
        let least = as_good().map(cost).fold(f64::INFINITY, f64::min);
        // Of those that cost the same the method comes first, and retraining last.
        let best = as_good()
            .filter(|at| cost(*at) <= SAME * least)
            .min_by_key(|at| (strategies[*at].method == REFERENCE, *at));
        Some(Self {
            best: best.unwrap_or(reference),
            reference,
            answers,
        })
    }
}

impl StrategySummary {
    fn of(
        method: &str,
        (risk, accuracy): (&Cells, Option<&Cells>),
        charged: &[f64],
        gap: Option<f64>,
    ) -> Self {
        Self {
            method: method.to_owned(),
            mean_risk: mean_of_last(risk),
            mean_accuracy: accuracy.and_then(mean_of_last),
            gap,
            mean_served: mean(&present(served(risk))),
            mean_after: mean(&present(
                (0..risk.len()).map(|i| risk[i].get(i).copied().flatten()),
            )),
            served: served(risk),
            cumulated: cumulated(charged),
            updates_cost: charged.iter().skip(1).sum(),
        }
    }
}

/// Returns the mean of the last row of a matrix; `None` if a cell is missing.
fn mean_of_last(cells: &Cells) -> Option<f64> {
    let row = cells.last().filter(|row| row.len() == cells.len())?;
    let values: Option<Vec<f64>> = row.iter().copied().collect();
    mean(&values?)
}

/// Returns the values that are there and finite.
fn present(values: impl IntoIterator<Item = Option<f64>>) -> Vec<f64> {
    let values = values.into_iter().flatten();
    values.filter(|value| value.is_finite()).collect()
}

/// Returns the risk right of the diagonal; `None` for the first experience.
fn served(cells: &Cells) -> Vec<Option<f64>> {
    let before = |i: usize| cells[i - 1].get(i).copied().flatten();
    let served = (1..cells.len()).map(before);
    std::iter::once(None).chain(served).collect()
}

/// Returns the sums up to each experience.
fn cumulated(passes: &[f64]) -> Vec<Option<f64>> {
    let sums = passes.iter().scan(0.0, |sum, passes| {
        *sum += passes;
        Some(Some(*sum))
    });
    sums.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_served_is_right_of_the_diagonal() {
        let record = crate::fixture::stream(5);
        let found = served(&record.risk);
        assert_eq!(found[0], None);
        for (found, experience) in found.iter().zip(&record.experiences) {
            assert_eq!(*found, experience.served_risk);
        }
    }

    #[test]
    fn the_cheapest_that_is_not_clearly_worse_is_chosen() {
        let chosen = |risks: [[f64; 4]; 3], costs: [f64; 3]| {
            let mut record = crate::fixture::stream(4);
            record.risk[3] = risks[0].map(Some).to_vec();
            for (at, control) in record.controls.iter_mut().enumerate() {
                control.risk[3] = risks[at + 1].map(Some).to_vec();
                control.charged_passes = vec![9.0, 0.0, 0.0, costs[at + 1]];
            }
            for experience in &mut record.experiences {
                experience.training.charged_passes = 0.0;
            }
            record.experiences[3].training.charged_passes = costs[0];
            StreamSummary::of(&record).choice.unwrap().best
        };
        let (low, high) = ([2.0, 2.1, 2.2, 2.3], [2.6, 2.7, 2.9, 2.9]);
        // Retraining is the first control, no update the second.
        assert_eq!(chosen([low, low, high], [10.0, 100.0, 0.0]), 0);
        assert_eq!(chosen([low, low, low], [10.0, 100.0, 0.0]), 2);
        assert_eq!(chosen([high, low, high], [10.0, 100.0, 0.0]), 1);
        // Better on one experience and worse on another: no clear difference.
        let noisy = [2.2, 1.9, 2.3, 2.4];
        assert_eq!(chosen([noisy, low, high], [10.0, 100.0, 0.0]), 0);
        assert_eq!(chosen([low, low, high], [100.0, 100.0, 0.0]), 0);
    }

    #[test]
    fn costs_are_summed_up() {
        assert_eq!(
            cumulated(&[1.0, 0.0, 2.5]),
            [Some(1.0), Some(1.0), Some(3.5)]
        );
    }
}
