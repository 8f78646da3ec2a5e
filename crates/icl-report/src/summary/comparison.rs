//! Comparison of methods over the seeds, as `comparison.json` has it.

use std::collections::HashSet;

use serde::Serialize;

use crate::error::{ReportError, check_schema, empty};
use crate::record::{RunRecord, SCHEMA};
use crate::summary::budgets::{Parity, WithinBudget, parities, within_budgets};
use crate::summary::levels::{Level, levels};
use crate::summary::methods::{MethodSummary, methods};
use crate::summary::over_seeds::Summary;
use crate::summary::protocols::{ProtocolSummary, protocols, telling};
use crate::summary::target::{Distances, TargetSummary};
use crate::summary::verdict::{Verdict, verdict};

/// Version of [`Comparison`]'s schema. It grows when fields change their meaning or leave.
pub const COMPARISON_SCHEMA: u32 = 1;

/// Comparison of methods over the seeds: all numbers that its page states and no record of a single run holds.
///
/// It follows from the records alone. Risks are in nats. Keys that end in `_s` and speed-ups in time depend on the
/// speed of the machine, and nothing else does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Version of the schema, [`COMPARISON_SCHEMA`].
    pub schema: u32,
    /// Name of the data set.
    pub data: String,
    /// Rule by which the data were split into old and new.
    pub split: String,
    /// Backend.
    pub backend: String,
    /// Root seeds in order.
    pub seeds: Vec<u64>,
    /// Number of old samples, N.
    pub n_old: Option<Summary>,
    /// Number of new samples, ΔN.
    pub n_new: Option<Summary>,
    /// Growth ratio α = ΔN / (N + ΔN).
    pub alpha: Option<Summary>,
    /// Answer to the question which method is as good as retraining.
    pub verdict: Verdict,
    /// Target; `null` where retraining was not run.
    pub target: Option<TargetSummary>,
    /// Distance of the old encoder from the target; `null` without retraining, a method that starts from θ₀, or noise.
    pub distance: Option<Distances>,
    /// Protocol whose accuracies stand next to the risks; `null` where none was measured.
    pub protocol: Option<String>,
    /// Protocols with their floors.
    pub protocols: Vec<ProtocolSummary>,
    /// Methods, in the order of the records.
    pub methods: Vec<MethodSummary>,
    /// Held-out risk of each method within each of its budgets next to retraining's; empty where retraining was not
    /// run, or nothing was held out.
    pub within_budgets: Vec<WithinBudget>,
    /// Cost at which each method is as good as retraining, as far as its budgets show it.
    pub parities: Vec<Parity>,
    /// Levels of quality; empty where there is nothing to speed up.
    pub levels: Vec<Level>,
}

impl Comparison {
    /// Compares the methods of records, one for each method and seed.
    ///
    /// # Errors
    /// If there are no records, if they are of another [`SCHEMA`], of two comparisons (data set, split or backend) or
    /// two of one method and seed; and if a best evaluation does not exist.
    pub fn of(records: &[RunRecord]) -> Result<Self, ReportError> {
        let first = check_records(records)?;
        let mut seeds: Vec<u64> = records.iter().map(|record| record.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        let over =
            |of: fn(&RunRecord) -> f64| Summary::of_present(records.iter().map(|it| Some(of(it))));
        let distance = Distances::of(records);
        let methods = methods(records, distance.as_ref());
        let within_budgets = within_budgets(records);
        Ok(Self {
            schema: COMPARISON_SCHEMA,
            data: first.data.clone(),
            split: first.split.clone(),
            backend: first.backend.clone(),
            seeds,
            n_old: over(|it| it.update.n_old as f64),
            n_new: over(|it| it.update.n_new as f64),
            alpha: over(|it| it.update.alpha),
            verdict: verdict(&methods, distance.as_ref()),
            target: TargetSummary::of(records),
            protocol: telling(records).map(str::to_owned),
            protocols: protocols(records),
            parities: parities(&within_budgets),
            within_budgets,
            levels: levels(records, &methods, distance.as_ref()),
            distance,
            methods,
        })
    }

    /// Returns the floors of the accuracies on all data by a protocol, with their names.
    pub(crate) fn floors(&self, protocol: &str) -> impl Iterator<Item = (&'static str, Summary)> {
        let of = self
            .protocols
            .iter()
            .filter(move |of| of.protocol == protocol);
        of.flat_map(|of| &of.floors)
            .filter_map(|(name, floor)| Some((*name, floor.all?)))
    }
}

/// Checks that there is a record, that all are of this schema, of one data set, split and backend, that
/// their best evaluations exist, and that there is one per method and seed. Returns the first.
fn check_records(records: &[RunRecord]) -> Result<&RunRecord, ReportError> {
    let first = records.first().ok_or_else(empty)?;
    let mut seen = HashSet::new();
    for (i, record) in records.iter().enumerate() {
        check_schema(i + 1, record.schema, SCHEMA)?;
        if let Some(found) = record.course.best_evaluation
            && found >= record.course.evaluations.len()
        {
            return Err(ReportError::message(format!(
                "record {} has the best evaluation {found} (counted from 0), expected one of {} evaluations",
                i + 1,
                record.course.evaluations.len()
            )));
        }
        for (field, first, other) in [
            ("data", &first.data, &record.data),
            ("split", &first.split, &record.split),
            ("backend", &first.backend, &record.backend),
        ] {
            if first != other {
                return Err(ReportError::message(format!(
                    "records of two comparisons: {field} is `{first}` in one and `{other}` in another"
                )));
            }
        }
        if !seen.insert((&record.method, record.seed)) {
            return Err(ReportError::message(format!(
                "method `{}` has two records of seed {}",
                record.method, record.seed
            )));
        }
    }
    Ok(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::record;

    #[test]
    fn each_fault_has_its_error() {
        assert_eq!(check_records(&[]).unwrap_err(), empty());
        let mut old = record("warm", 2);
        old.schema = 0;
        assert_eq!(
            check_records(&[record("warm", 1), old])
                .unwrap_err()
                .to_string(),
            "record 2 has schema 0, expected 2"
        );
        let mut beyond = record("warm", 2);
        beyond.course.best_evaluation = Some(usize::MAX);
        assert_eq!(
            check_records(&[beyond]).unwrap_err().to_string(),
            "record 1 has the best evaluation 18446744073709551615 (counted from 0), expected one of 41 evaluations"
        );
        let mut other = record("warm", 2);
        other.data = "PROTEINS".into();
        assert_eq!(
            check_records(&[record("warm", 1), other])
                .unwrap_err()
                .to_string(),
            "records of two comparisons: data is `MUTAG` in one and `PROTEINS` in another"
        );
        assert_eq!(
            check_records(&[record("warm", 1), record("warm", 1)])
                .unwrap_err()
                .to_string(),
            "method `warm` has two records of seed 1"
        );
        assert!(check_records(&[record("warm", 1), record("warm", 2)]).is_ok());
    }

    #[test]
    fn records_come_back_from_their_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.jsonl");
        let lines = [record("warm", 1), record("icl", 1)];
        let text = lines.map(|of| serde_json::to_string(&of).unwrap() + "\n");
        std::fs::write(&path, text.concat()).unwrap();
        let read = crate::record::read_records(&path).unwrap();
        assert_eq!(check_records(&read).unwrap().method, "warm");
        assert_eq!((read.len(), read[1].method.as_str()), (2, "icl"));
    }
}
