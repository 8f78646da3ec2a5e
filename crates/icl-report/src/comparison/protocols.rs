//! Accuracies by each protocol, and their floors.

use crate::record::{AccuracyByOrigin, FloorAccuracies, ProtocolAccuracies, RunRecord};
use crate::summary::Summary;

/// Accuracy on a part of the data.
pub(crate) type Part = fn(AccuracyByOrigin) -> Option<f64>;
/// Floor of an accuracy.
pub(crate) type Floor = fn(&FloorAccuracies) -> AccuracyByOrigin;
/// Accuracies and floors by a protocol.
pub(crate) type Protocol = fn(&RunRecord) -> Option<ProtocolAccuracies>;

/// Sentence where no protocol has an accuracy.
pub(crate) const NO_PROTOCOL: &str =
    "No accuracy was measured: the data hold no classes, or no protocol was asked for.";

/// Reason for which an accuracy is missing.
pub(crate) const ONE_CLASS: &str =
    "not defined, because that part of the data holds a single class.";

/// Parts of the data by their names.
pub(crate) const PARTS: [(&str, Part); 3] = [
    ("all data", |parts| parts.all),
    ("old data", |parts| parts.old),
    ("new data", |parts| parts.new),
];

/// Floors by their names.
pub(crate) const FLOORS: [(&str, Floor); 4] = [
    ("majority", |floors| floors.majority),
    ("size", |floors| floors.size),
    ("raw features", |floors| floors.raw),
    ("untrained encoder", |floors| floors.untrained),
];

/// Protocols by their names, the paper's first.
pub(crate) const PROTOCOLS: [(&str, Protocol); 4] = [
    ("support vector machine", |record| {
        let machine = ProtocolAccuracies {
            accuracy: record.accuracy,
            floors: record.floors,
        };
        // Where it was not asked for, all its values are missing.
        (machine != ProtocolAccuracies::default()).then_some(machine)
    }),
    ("linear probe", |record| record.linear_probe),
    ("k nearest neighbours", |record| record.knn),
    FEW_LABELS,
];

/// Protocol that tells encoders apart where many labels would hide their differences.
const FEW_LABELS: (&str, Protocol) = ("nearest neighbour from five labels a class", |record| {
    record.few_labels
});

/// Returns the protocol whose accuracies stand beside the risks: that of a few labels, else the first that is
/// recorded.
pub(crate) fn telling(records: &[RunRecord]) -> Option<(&'static str, Protocol)> {
    if records.iter().any(|record| record.few_labels.is_some()) {
        return Some(FEW_LABELS);
    }
    recorded(records).first().copied()
}

/// Returns a protocol's name in a sentence.
pub(crate) fn with_article(name: &str) -> String {
    if name.starts_with("linear") {
        format!("a {name}")
    } else {
        format!("the {name}")
    }
}

/// Returns the protocols that at least one record holds.
pub(crate) fn recorded(records: &[RunRecord]) -> Vec<(&'static str, Protocol)> {
    let is_held = |of: &Protocol| records.iter().any(|record| of(record).is_some());
    let protocols = PROTOCOLS.into_iter();
    protocols.filter(|(_, of)| is_held(of)).collect()
}

/// Summarises a floor over the seeds. All methods of a seed have the same floors, so each seed counts
/// once.
pub(crate) fn floor_over_seeds(
    records: &[RunRecord],
    protocol: Protocol,
    floor: Floor,
    part: Part,
) -> Option<Summary> {
    let mut seeds: Vec<&RunRecord> = Vec::new();
    for record in records {
        if protocol(record).is_some() && seeds.iter().all(|first| first.seed != record.seed) {
            seeds.push(record);
        }
    }
    let value = |record: &&RunRecord| part(floor(&protocol(record)?.floors));
    Summary::of_present(seeds.iter().map(value))
}

/// Returns whether a recorded protocol lacks an accuracy because its part of the data holds a single class.
pub(crate) fn lacks_accuracies(records: &[RunRecord]) -> bool {
    let lacks = |of: ProtocolAccuracies| PARTS.iter().any(|(_, part)| part(of.accuracy).is_none());
    let protocols = recorded(records);
    let mut all = records.iter().flat_map(|record| {
        let of = protocols.iter().map(|(_, protocol)| *protocol);
        of.filter_map(move |protocol| protocol(record))
    });
    all.any(lacks)
}

/// Returns the letter of a floor in charts: M, S, R or U.
pub(crate) fn initial(name: &str) -> char {
    name.chars().next().map_or('?', |c| c.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::record;

    #[test]
    fn each_seed_gives_its_floors_once() {
        let mut records = [record("a", 1), record("b", 1), record("a", 2)];
        records[0].floors.majority.all = Some(0.5);
        records[1].floors.majority.all = Some(0.5);
        records[2].floors.majority.all = Some(0.7);
        let majority = floor_over_seeds(&records, PROTOCOLS[0].1, FLOORS[0].1, PARTS[0].1).unwrap();
        assert_eq!(
            (majority.n, majority.min, majority.max),
            (2, Some(0.5), Some(0.7))
        );
    }

    #[test]
    fn only_recorded_protocols_are_shown() {
        let mut records = [record("a", 1)];
        records[0].linear_probe = None;
        records[0].knn = None;
        assert_eq!(recorded(&records).len(), 1);
        let svm = PROTOCOLS[0].1(&records[0]);
        records[0].knn = svm;
        let names: Vec<&str> = recorded(&records).iter().map(|of| of.0).collect();
        assert_eq!(names, ["support vector machine", "k nearest neighbours"]);
        assert!(!lacks_accuracies(&records));
        records[0].accuracy = AccuracyByOrigin::default();
        records[0].floors = FloorAccuracies::default();
        let names: Vec<&str> = recorded(&records).iter().map(|of| of.0).collect();
        assert_eq!(names, ["k nearest neighbours"]);
        assert!(!lacks_accuracies(&records));
    }
}
