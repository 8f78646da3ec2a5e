//! Runs of each method over the seeds.

use icl_train::REFERENCE;

use crate::comparison::distance::Distances;
use crate::record::RunRecord;
use crate::speed_up::{Rule, SpeedUp, outcome};
use crate::summary::Summary;

/// Runs of one method, one per seed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MethodRuns<'a> {
    /// Name of the method.
    pub(crate) method: &'a str,
    /// Records of the runs.
    pub(crate) records: Vec<&'a RunRecord>,
    /// Speed-up in sample passes to the target.
    pub(crate) speed_up_in_passes: Option<SpeedUp>,
    /// Speed-up in seconds to the target.
    pub(crate) speed_up_in_time: Option<SpeedUp>,
}

/// Collects the runs of each method, in the order in which the methods first appear. Where the old encoder
/// is not clearly below the quality of retraining, no method has a speed-up.
pub(crate) fn methods(records: &[RunRecord]) -> Vec<MethodRuns<'_>> {
    let mut methods: Vec<MethodRuns<'_>> = Vec::new();
    for record in records {
        match methods.iter_mut().find(|of| of.method == record.method) {
            Some(of) => of.records.push(record),
            None => methods.push(MethodRuns {
                method: &record.method,
                records: vec![record],
                speed_up_in_passes: None,
                speed_up_in_time: None,
            }),
        }
    }
    if Distances::of(records).is_some_and(|of| !of.is_clear()) {
        return methods;
    }
    for of in &mut methods {
        let speed_up = |rule| {
            let of_seed = |record: &&RunRecord| {
                let is_reference =
                    |other: &&RunRecord| other.method == REFERENCE && other.seed == record.seed;
                outcome(rule, record, records.iter().find(is_reference)?)
            };
            SpeedUp::over(of.records.iter().filter_map(of_seed))
        };
        (of.speed_up_in_passes, of.speed_up_in_time) =
            (speed_up(Rule::TargetPasses), speed_up(Rule::TargetTime));
    }
    methods
}

/// Returns the targets of all seeds that have one, in nats; each seed counts once.
pub(crate) fn target(records: &[RunRecord]) -> Option<Summary> {
    let mut targets: Vec<(u64, f64)> = Vec::new();
    for record in records {
        if let Some(target) = record.target
            && targets.iter().all(|(seed, _)| *seed != record.seed)
        {
            targets.push((record.seed, target));
        }
    }
    Summary::of_present(targets.into_iter().map(|(_, target)| Some(target)))
}

impl MethodRuns<'_> {
    /// Summarises a quantity over the seeds that have it.
    pub(crate) fn over(&self, of: impl Fn(&RunRecord) -> Option<f64>) -> Option<Summary> {
        Summary::of_present(self.records.iter().map(|record| of(record)))
    }

    /// Summarises a cost to the target over the seeds that have a target, `None` for never.
    pub(crate) fn to_target(&self, of: impl Fn(&RunRecord) -> Option<f64>) -> Option<Summary> {
        Summary::new(self.aimed().map(of))
    }

    /// Summarises the distance of the final risk from the target, as a share of it.
    pub(crate) fn gap(&self) -> Option<Summary> {
        self.over(gap)
    }

    /// Returns whether the method is retraining, against which all others are measured.
    pub(crate) fn is_reference(&self) -> bool {
        self.method == REFERENCE
    }

    /// Returns whether the method trains at all.
    pub(crate) fn is_trained(&self) -> bool {
        self.records.iter().any(|record| record.training.epochs > 0)
    }

    /// Returns the number of seeds that have a target.
    pub(crate) fn n_with_target(&self) -> usize {
        self.aimed().count()
    }

    /// Returns the number of seeds that reached the target.
    pub(crate) fn n_reached(&self) -> usize {
        self.aimed()
            .filter(|r| r.epochs_to_target.is_some())
            .count()
    }

    /// Returns the number of seeds that were at the target before the first step.
    pub(crate) fn n_at_start(&self) -> usize {
        self.aimed()
            .filter(|r| r.passes_to_target == Some(0))
            .count()
    }

    /// Returns the number of seeds that reached the target and ended above it all the same.
    pub(crate) fn n_left(&self) -> usize {
        let is_above = |record: &&RunRecord| gap(record).is_some_and(|gap| gap > 0.0);
        let reached = self.aimed().filter(|r| r.epochs_to_target.is_some());
        reached.filter(is_above).count()
    }

    fn aimed(&self) -> impl Iterator<Item = &RunRecord> {
        let records = self.records.iter().copied();
        records.filter(|record| record.target.is_some())
    }
}

/// Returns how far the encoder of a run lies above the target, as a share of it: on old or on new data, where it is
/// more. The risk is that of the evaluation, over the same samples as the target.
fn gap(record: &RunRecord) -> Option<f64> {
    let last = record.course.evaluations.len().checked_sub(1)?;
    let risk = record.course.evaluations[record.course.best_evaluation.unwrap_or(last)].risk;
    let target = record.target_by_origin?;
    Some((risk.old / target.old).max(risk.new / target.new) - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{comparison, reaching, record};

    fn of<'a>(methods: &'a [MethodRuns<'a>], name: &str) -> &'a MethodRuns<'a> {
        methods.iter().find(|of| of.method == name).unwrap()
    }

    #[test]
    fn methods_keep_their_order_and_seeds_are_counted() {
        let records = comparison();
        let methods = methods(&records);
        let names: Vec<_> = methods.iter().map(|of| of.method).collect();
        assert_eq!(&names[..3], ["inference", "retraining", "warm"]);
        assert!(methods.iter().all(|of| of.records.len() == 3));
        assert!(super::methods(&[]).is_empty());
    }

    #[test]
    fn speed_ups_by_hand() {
        let records = [
            reaching("retraining", 1, Some((10, 1000, 4.0)), 2.0),
            reaching("retraining", 2, Some((20, 2000, 8.0)), 2.0),
            reaching("retraining", 3, Some((30, 3000, 9.0)), 2.0),
            reaching("warm", 1, Some((5, 500, 1.0)), 2.2),
            reaching("warm", 2, Some((0, 0, 0.0)), 1.8),
            reaching("warm", 3, None, 2.2),
            reaching("slow", 1, Some((20, 2000, 8.0)), 2.0),
            reaching("slow", 2, Some((20, 4000, 8.0)), 2.0),
        ];
        let methods = methods(&records);
        let warm = of(&methods, "warm");
        assert_eq!(
            (
                warm.n_with_target(),
                warm.n_reached(),
                warm.n_at_start(),
                warm.n_left()
            ),
            (3, 2, 1, 1)
        );
        let time = warm.to_target(|r| r.time_to_target_s).unwrap();
        assert_eq!(
            (time.median, time.min, time.max),
            (Some(1.0), Some(0.0), None)
        );
        // One seed each: there at the start, never there, and four times as quick.
        let speed_up = warm.speed_up_in_time.unwrap();
        assert_eq!((speed_up.n, speed_up.median_ratio()), (3, Some(4.0)));
        assert_eq!(speed_up.range().unwrap(), "never–at start");
        let of_passes = |name| of(&methods, name).speed_up_in_passes?.median_ratio();
        assert_eq!(of_passes("warm"), Some(2.0));
        assert_eq!(of_passes("slow"), Some(0.5));
        assert_eq!(of_passes("retraining"), Some(1.0));
        assert!((warm.gap().unwrap().median.unwrap() - 0.1).abs() < 1e-12);
    }

    #[test]
    fn without_retraining_nothing_is_never() {
        let mut alone = record("warm", 1);
        alone.target = None;
        let records = [alone];
        let methods = methods(&records);
        assert_eq!(methods[0].n_with_target(), 0);
        assert_eq!(
            methods[0].to_target(|record| record.charged_to_target),
            None
        );
        assert_eq!(methods[0].gap(), None);
        assert_eq!(methods[0].speed_up_in_passes, None);
        assert_eq!(target(&records), None);
    }

    #[test]
    fn each_seed_gives_its_target_once() {
        let mut records = [record("a", 1), record("b", 1), record("a", 2)];
        records[2].target = None;
        assert_eq!(target(&records).unwrap().n, 1);
    }
}
