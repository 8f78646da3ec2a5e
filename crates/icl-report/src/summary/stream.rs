//! Quantities of a stream that follow from the cells of its record.

use crate::record::{Cells, StreamControl, StreamRecord};
use crate::summary::over_seeds::mean;

/// Quantities of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StreamSummary {
    /// Number of updates after the first experience.
    pub(crate) n_updates: usize,
    /// Difference of the risk on earlier experiences from that right after each: above 0 is worse.
    pub(crate) forgotten: Option<f64>,
    /// The method.
    pub(crate) own: StrategySummary,
    /// The controls, in the order of the record.
    pub(crate) controls: Vec<StrategySummary>,
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
        let later = record.experiences.iter().skip(1);
        Self {
            n_updates: later.filter(|experience| experience.updated).count(),
            forgotten: forgetting.and_then(|of| of.risk.filter(|risk| risk.is_finite())),
            own: StrategySummary::of(&record.method, cells, &charged, None),
            controls: record.controls.iter().map(control).collect(),
        }
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
    fn costs_are_summed_up() {
        assert_eq!(
            cumulated(&[1.0, 0.0, 2.5]),
            [Some(1.0), Some(1.0), Some(3.5)]
        );
    }
}
