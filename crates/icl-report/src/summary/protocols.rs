//! Accuracies by each protocol, and their floors.

use std::collections::BTreeSet;

use icl_core::ByOrigin;
use serde::Serialize;

use crate::record::{AccuracyByOrigin, FloorAccuracies, ProtocolAccuracies, RunRecord};
use crate::summary::over_seeds::Summary;

/// Accuracy on a part of the data.
pub type Part = fn(AccuracyByOrigin) -> Option<f64>;
/// Floor of an accuracy.
pub type Floor = fn(&FloorAccuracies) -> AccuracyByOrigin;

/// Sentence where no protocol has an accuracy.
pub(crate) const NO_PROTOCOL: &str =
    "No accuracy was measured: the data hold no classes, or no protocol was requested.";

/// Reason for which an accuracy is missing.
pub const ONE_CLASS: &str = "not defined, because that part of the data holds a single class.";

/// Parts of the data by their names.
pub(crate) const PARTS: [(&str, Part); 3] = [
    ("all data", |parts| parts.all),
    ("old data", |parts| parts.old),
    ("new data", |parts| parts.new),
];

/// Floors by their names.
pub const FLOORS: [(&str, Floor); 4] = [
    ("majority", |floors| floors.majority),
    ("size", |floors| floors.size),
    ("raw features", |floors| floors.raw),
    ("untrained encoder", |floors| floors.untrained),
];

/// Protocol of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProtocolSummary {
    /// Name.
    pub protocol: String,
    /// Whether an accuracy is missing because its part of the data holds a single class.
    pub lacks_accuracies: bool,
    /// Floors over the seeds by their names; all methods of a seed have the same floors, so each seed counts once.
    pub floors: Vec<(&'static str, ByOrigin<Option<Summary>>)>,
}

/// Protocol that tells encoders apart where many labels would hide their differences.
const FEW_LABELS: &str = "nearest neighbour from five labels a class";

/// Protocols that every program has, by their names.
const OWN: [&str; 3] = ["linear probe", "k nearest neighbours", FEW_LABELS];

/// Returns the accuracies and floors of a record by the protocol of this name.
pub fn by_protocol(record: &RunRecord, protocol: &str) -> Option<ProtocolAccuracies> {
    match OWN.iter().position(|own| *own == protocol) {
        Some(0) => record.linear_probe,
        Some(1) => record.knn,
        Some(_) => record.few_labels,
        None => record.added_protocols.get(protocol).copied(),
    }
}

/// Returns the protocol whose accuracies stand next to the risks: that of a few labels, else the first that is
/// recorded.
pub(crate) fn telling(records: &[RunRecord]) -> Option<&str> {
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

/// Returns the protocols that at least one record holds, those that a program adds first.
pub(crate) fn recorded(records: &[RunRecord]) -> Vec<&str> {
    let is_held = |name: &&str| records.iter().any(|of| by_protocol(of, name).is_some());
    let added = records
        .iter()
        .flat_map(|record| record.added_protocols.keys());
    let added: BTreeSet<&str> = added.map(String::as_str).collect();
    let protocols = added.into_iter().chain(OWN);
    protocols.filter(is_held).collect()
}

/// Summarises a floor over the seeds. All methods of a seed have the same floors, so each seed counts
/// once.
pub fn floor_over_seeds(
    records: &[RunRecord],
    protocol: &str,
    floor: Floor,
    part: Part,
) -> Option<Summary> {
    let mut seeds: Vec<&RunRecord> = Vec::new();
    for record in records {
        if by_protocol(record, protocol).is_some()
            && seeds.iter().all(|first| first.seed != record.seed)
        {
            seeds.push(record);
        }
    }
    let value = |record: &&RunRecord| part(floor(&by_protocol(record, protocol)?.floors));
    Summary::of_present(seeds.iter().map(value))
}

/// Summarises the protocols that at least one record holds, in the order of [`recorded`].
pub(crate) fn protocols(records: &[RunRecord]) -> Vec<ProtocolSummary> {
    let of = |protocol: &str| {
        let mut held = records.iter().filter_map(|of| by_protocol(of, protocol));
        let lacks =
            |of: ProtocolAccuracies| PARTS.iter().any(|(_, part)| part(of.accuracy).is_none());
        let floors = FLOORS.iter().map(|(name, floor)| {
            (
                *name,
                by_part(|part| floor_over_seeds(records, protocol, *floor, part)),
            )
        });
        ProtocolSummary {
            protocol: protocol.to_owned(),
            lacks_accuracies: held.any(lacks),
            floors: floors.collect(),
        }
    };
    recorded(records).into_iter().map(of).collect()
}

/// Computes a quantity for each part of the data.
pub(crate) fn by_part<T>(of: impl Fn(Part) -> T) -> ByOrigin<T> {
    let [all, old, new] = PARTS.map(|(_, part)| of(part));
    ByOrigin { all, old, new }
}

/// Returns the letter of a floor in charts: M, S, R or U.
pub fn initial(name: &str) -> char {
    name.chars().next().map_or('?', |c| c.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::record;

    #[test]
    fn each_seed_gives_its_floors_once() {
        let mut records = [record("a", 1), record("b", 1), record("a", 2)];
        for (record, floor) in records.iter_mut().zip([0.5, 0.5, 0.7]) {
            record.knn.as_mut().unwrap().floors.majority.all = Some(floor);
        }
        let majority = floor_over_seeds(&records, OWN[1], FLOORS[0].1, PARTS[0].1).unwrap();
        assert_eq!(
            (majority.n, majority.min, majority.max),
            (2, Some(0.5), Some(0.7))
        );
    }

    #[test]
    fn only_recorded_protocols_are_shown() {
        let mut records = [record("a", 1)];
        assert_eq!(
            recorded(&records),
            [
                "support vector machine",
                "linear probe",
                "k nearest neighbours"
            ]
        );
        records[0].linear_probe = None;
        records[0].added_protocols.clear();
        assert_eq!(recorded(&records), ["k nearest neighbours"]);
        assert!(!protocols(&records)[0].lacks_accuracies);
        records[0].knn = None;
        assert!(recorded(&records).is_empty());
    }
}
