//! Checks that records belong into one document.

use std::collections::HashSet;

use crate::error::{ReportError, check_schema, empty};
use crate::record::{EmbeddingMap, RunRecord, SCHEMA};

/// Checks that there is a record, that all are of this schema, of one data set, split and backend, that
/// their best evaluations exist, and that there is one per method and seed. Returns the first.
pub(crate) fn check_records(records: &[RunRecord]) -> Result<&RunRecord, ReportError> {
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

/// Checks that a map has one flag and, in each panel, one point per label.
pub(crate) fn check_map(map: &EmbeddingMap) -> Result<(), ReportError> {
    let expected = map.labels.len();
    let check = |part: &str, found: usize| {
        if found == expected {
            Ok(())
        } else {
            Err(ReportError::message(format!(
                "the map has {found} {part} for {expected} labels"
            )))
        }
    };
    check("flags of new samples", map.is_new.len())?;
    check("points before", map.before.len())?;
    for (method, points) in &map.after {
        check(&format!("points after `{method}`"), points.len())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{map, record};

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

    #[test]
    fn a_map_has_one_point_a_label() {
        let mut map = map(&["warm"], 10);
        assert!(check_map(&map).is_ok());
        map.after[0].1.pop();
        assert_eq!(
            check_map(&map).unwrap_err().to_string(),
            "the map has 9 points after `warm` for 10 labels"
        );
    }
}
