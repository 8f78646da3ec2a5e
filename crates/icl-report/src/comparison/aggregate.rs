//! What each method did over the seeds.

use crate::Summary;
use crate::{AccuracyParts, FloorParts, RunRecord};
use icl_train::REFERENCE;

/// A quantity on all, old and new data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parts<T> {
    /// On X′.
    pub all: T,
    /// On X.
    pub old: T,
    /// On ΔX.
    pub new: T,
}

impl<T> Parts<T> {
    /// All, old and new, in this order.
    pub fn as_array(&self) -> [&T; 3] {
        [&self.all, &self.old, &self.new]
    }
}

/// What one method did, over the seeds. Where a quantity is `None`, no seed has it.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodSummary {
    /// The method's name.
    pub method: String,
    /// The number of seeds.
    pub n_seeds: usize,
    /// The number of seeds that have a target: those in which retraining was run.
    pub n_with_target: usize,
    /// The number of seeds that reached the target.
    pub n_reached: usize,
    /// The number of seeds that were at the target before the first step.
    pub n_at_start: usize,
    /// The number of seeds that reached the target and ended above it all the same.
    pub n_left: usize,
    /// The target, in nats.
    pub target: Option<Summary>,
    /// Seconds of training to the target, over the seeds that have one.
    pub time_to_target_s: Option<Summary>,
    /// Epochs to the target.
    pub epochs_to_target: Option<Summary>,
    /// Views through the encoder to the target.
    pub passes_to_target: Option<Summary>,
    /// Seconds to the target over those of retraining in the same seed. Seeds in which either never
    /// arrived, or was at the target before the first step, are left out.
    pub relative_time: Option<Summary>,
    /// Views to the target over those of retraining, in the same seeds.
    pub relative_passes: Option<Summary>,
    /// Final exact risk over all data / target − 1.
    pub gap: Option<Summary>,
    /// Epochs trained.
    pub epochs: Option<Summary>,
    /// The exact risk before the first step, in nats.
    pub start_risk: Parts<Option<Summary>>,
    /// The exact risk at the end, in nats.
    pub risk: Parts<Option<Summary>>,
    /// L^{I,X} over the old data before the first step, in nats.
    pub start_nce1_old: Option<Summary>,
    /// L^{I,X} over the old data at the end, in nats.
    pub nce1_old: Option<Summary>,
    /// L^{II} over the old data at the end, in nats.
    pub nce2_old: Option<Summary>,
    /// Accuracy of the support vector machine.
    pub accuracy: Parts<Option<Summary>>,
    /// ‖Δθ‖/‖θ‖.
    pub parameter_change: Option<Summary>,
    /// The paper's convergence epoch, that of the lowest training loss.
    pub lowest_loss_epoch: Option<Summary>,
    /// Seconds of training until the end of that epoch.
    pub lowest_loss_s: Option<Summary>,
}

/// The floors of the accuracies, over the seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FloorSummary {
    /// Always the most frequent class.
    pub majority: Parts<Option<Summary>>,
    /// The machine on the numbers of nodes and edges.
    pub size: Parts<Option<Summary>>,
    /// The machine on summed raw node features.
    pub raw: Parts<Option<Summary>>,
    /// The machine on the embeddings of an untrained encoder.
    pub untrained: Parts<Option<Summary>>,
}

impl FloorSummary {
    /// The four floors by their names.
    pub fn named(&self) -> [(&'static str, &Parts<Option<Summary>>); 4] {
        [
            ("majority", &self.majority),
            ("size", &self.size),
            ("raw features", &self.raw),
            ("untrained encoder", &self.untrained),
        ]
    }
}

/// One summary a method, in the order in which the methods first appear.
pub fn summarize(records: &[RunRecord]) -> Vec<MethodSummary> {
    let mut methods: Vec<&str> = Vec::new();
    for record in records {
        if !methods.contains(&record.method.as_str()) {
            methods.push(&record.method);
        }
    }
    methods
        .into_iter()
        .map(|method| summary_of(method, records))
        .collect()
}

/// The floors, of which every seed has the same for all methods: each seed counts once.
pub fn summarize_floors(records: &[RunRecord]) -> FloorSummary {
    let mut seeds: Vec<&RunRecord> = Vec::new();
    for record in records {
        if seeds.iter().all(|first| first.seed != record.seed) {
            seeds.push(record);
        }
    }
    let floor = |of: fn(&FloorParts) -> AccuracyParts| accuracy(&seeds, |r| of(&r.floors));
    FloorSummary {
        majority: floor(|floors| floors.majority),
        size: floor(|floors| floors.size),
        raw: floor(|floors| floors.raw),
        untrained: floor(|floors| floors.untrained),
    }
}

/// The target over the seeds that have one, in nats: each seed counts once.
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

/// Whether no accuracy is missing because its part of the data holds a single class.
pub(crate) fn has_all_accuracies(records: &[RunRecord]) -> bool {
    records.iter().all(|record| {
        let AccuracyParts { all, old, new } = record.accuracy;
        all.is_some() && old.is_some() && new.is_some()
    })
}

fn summary_of(method: &str, records: &[RunRecord]) -> MethodSummary {
    let own: Vec<&RunRecord> = records.iter().filter(|r| r.method == method).collect();
    let aimed: Vec<&RunRecord> = own.iter().copied().filter(|r| r.target.is_some()).collect();
    let count = |is: fn(&RunRecord) -> bool| aimed.iter().filter(|r| is(r)).count();
    let present =
        |of: fn(&RunRecord) -> Option<f64>| Summary::of_present(own.iter().map(|r| of(r)));
    let to_target = |of: fn(&RunRecord) -> Option<f64>| Summary::new(aimed.iter().map(|r| of(r)));
    let relative = |of: fn(&RunRecord) -> Option<f64>| {
        Summary::of_present(aimed.iter().map(|record| {
            let yardstick = records
                .iter()
                .find(|r| r.method == REFERENCE && r.seed == record.seed)?;
            let (own, whole) = (of(record)?, of(yardstick)?);
            (!is_at_start(record) && whole > 0.0).then_some(own / whole)
        }))
    };
    MethodSummary {
        method: method.to_owned(),
        n_seeds: own.len(),
        n_with_target: aimed.len(),
        n_reached: count(|r| r.epochs_to_target.is_some()),
        n_at_start: count(is_at_start),
        n_left: count(|r| r.epochs_to_target.is_some() && gap(r).is_some_and(|gap| gap > 0.0)),
        target: Summary::of_present(aimed.iter().map(|r| r.target)),
        time_to_target_s: to_target(|r| r.time_to_target_s),
        epochs_to_target: to_target(|r| r.epochs_to_target.map(|n| n as f64)),
        passes_to_target: to_target(|r| r.passes_to_target.map(|n| n as f64)),
        relative_time: relative(|r| r.time_to_target_s),
        relative_passes: relative(|r| r.passes_to_target.map(|n| n as f64)),
        gap: Summary::of_present(aimed.iter().map(|r| gap(r))),
        epochs: present(|r| Some(r.epochs as f64)),
        start_risk: Parts {
            all: present(|r| Some(r.start.all)),
            old: present(|r| Some(r.start.old)),
            new: present(|r| Some(r.start.new)),
        },
        risk: Parts {
            all: present(|r| Some(r.risk.all)),
            old: present(|r| Some(r.risk.old)),
            new: present(|r| Some(r.risk.new)),
        },
        start_nce1_old: present(|r| Some(r.start.nce1_old)),
        nce1_old: present(|r| Some(r.nce1_old)),
        nce2_old: present(|r| Some(r.nce2_old)),
        accuracy: accuracy(&own, |r| r.accuracy),
        parameter_change: present(|r| Some(r.parameter_change)),
        lowest_loss_epoch: present(|r| r.lowest_loss_epoch.map(|n| n as f64)),
        lowest_loss_s: present(|r| r.lowest_loss_s),
    }
}

fn is_at_start(record: &RunRecord) -> bool {
    record.epochs_to_target == Some(0)
}

/// How far the exact risk at the end lies above the target, as a share of it.
fn gap(record: &RunRecord) -> Option<f64> {
    record.target.map(|target| record.risk.all / target - 1.0)
}

fn accuracy(
    records: &[&RunRecord],
    of: impl Fn(&RunRecord) -> AccuracyParts,
) -> Parts<Option<Summary>> {
    let part = |part: fn(AccuracyParts) -> Option<f64>| {
        Summary::of_present(records.iter().map(|record| part(of(record))))
    };
    Parts {
        all: part(|parts| parts.all),
        old: part(|parts| parts.old),
        new: part(|parts| parts.new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{comparison, record};

    fn of<'a>(summaries: &'a [MethodSummary], method: &str) -> &'a MethodSummary {
        summaries.iter().find(|s| s.method == method).unwrap()
    }

    fn reaching(method: &str, seed: u64, at: Option<(usize, u64, f64)>) -> RunRecord {
        let mut record = record(method, seed);
        record.target = Some(2.0);
        record.epochs_to_target = at.map(|(epochs, _, _)| epochs);
        record.passes_to_target = at.map(|(_, passes, _)| passes);
        record.time_to_target_s = at.map(|(_, _, seconds)| seconds);
        record
    }

    #[test]
    fn methods_keep_their_order_and_seeds_are_counted() {
        let summaries = summarize(&comparison());
        let names: Vec<_> = summaries.iter().map(|s| s.method.as_str()).collect();
        assert_eq!(&names[..3], ["inference", "retraining", "warm"]);
        assert!(summaries.iter().all(|s| s.n_seeds == 3));
        assert!(summarize(&[]).is_empty());
    }

    #[test]
    fn time_to_target_by_hand() {
        let records = [
            reaching("retraining", 1, Some((10, 1000, 4.0))),
            reaching("retraining", 2, Some((20, 2000, 8.0))),
            reaching("retraining", 3, Some((30, 3000, 9.0))),
            reaching("warm", 1, Some((5, 500, 1.0))),
            reaching("warm", 2, Some((0, 0, 0.0))),
            reaching("warm", 3, None),
            reaching("slow", 1, Some((20, 2000, 8.0))),
            reaching("slow", 2, Some((20, 4000, 8.0))),
        ];
        let summaries = summarize(&records);
        let warm = of(&summaries, "warm");
        assert_eq!(
            (warm.n_with_target, warm.n_reached, warm.n_at_start),
            (3, 2, 1)
        );
        let time = warm.time_to_target_s.unwrap();
        assert_eq!(
            (time.median, time.min, time.max),
            (Some(1.0), Some(0.0), None)
        );
        // Seed 2 was there at the start and seed 3 never came: seed 1 alone has a factor.
        let relative = warm.relative_time.unwrap();
        assert_eq!((relative.n, relative.median), (1, Some(0.25)));
        assert_eq!(warm.relative_passes.unwrap().median, Some(0.5));
        let slow = of(&summaries, "slow");
        assert_eq!(slow.relative_time.unwrap().median, Some(1.5));
        assert_eq!(slow.relative_passes.unwrap().median, Some(2.0));
        assert_eq!(
            of(&summaries, "retraining").relative_time.unwrap().max,
            Some(1.0)
        );
    }

    #[test]
    fn without_retraining_nothing_is_never() {
        let mut alone = record("warm", 1);
        alone.target = None;
        let summaries = summarize(&[alone]);
        assert_eq!(summaries[0].n_with_target, 0);
        assert_eq!(summaries[0].time_to_target_s, None);
        assert_eq!(summaries[0].gap, None);
        assert_eq!(summaries[0].relative_time, None);
    }

    #[test]
    fn who_arrived_and_left_again_is_counted() {
        let mut left = reaching("warm", 1, Some((5, 500, 1.0)));
        left.risk.all = 2.2;
        let mut stayed = reaching("warm", 2, Some((5, 500, 1.0)));
        stayed.risk.all = 1.8;
        let summaries = summarize(&[left, stayed]);
        assert_eq!((summaries[0].n_reached, summaries[0].n_left), (2, 1));
        assert!((summaries[0].gap.unwrap().median.unwrap()).abs() < 1e-12);
    }

    #[test]
    fn each_seed_gives_its_floors_and_target_once() {
        let mut records = [record("a", 1), record("b", 1), record("a", 2)];
        records[0].floors.majority.all = Some(0.5);
        records[1].floors.majority.all = Some(0.5);
        records[2].floors.majority.all = Some(0.7);
        records[2].target = None;
        let floors = summarize_floors(&records);
        let majority = floors.majority.all.unwrap();
        assert_eq!(
            (majority.n, majority.min, majority.max),
            (2, Some(0.5), Some(0.7))
        );
        assert_eq!(target(&records).unwrap().n, 1);
    }
}
