//! The file of records of a table of DACL.

use std::path::Path;

use crate::pages::dacl::{DaclRecord, DaclSettings, DaclTarget, parse_dacl_records};
use anyhow::anyhow;
use icl_cli::parts::{Failure, choice};

use crate::commands::record_file::RecordFile;

/// Opens the file of a table in a folder.
///
/// # Errors
/// If the file cannot be read or written, or has a record of another table or of other settings.
pub fn open(
    folder: &Path,
    target: DaclTarget,
    settings: &DaclSettings,
) -> Result<RecordFile<DaclRecord>, Failure> {
    let check = |path: &Path, record: &DaclRecord| check(path, record, target, settings);
    RecordFile::open(folder, target.name(), parse_dacl_records, check)
}

/// Checks that a record was made with the same settings: numbers of others are neither used nor replaced.
fn check(
    path: &Path,
    record: &DaclRecord,
    target: DaclTarget,
    settings: &DaclSettings,
) -> Result<(), Failure> {
    if record.target == target && record.settings == *settings {
        return Ok(());
    }
    let written = |target: DaclTarget, of: &DaclSettings| {
        let number = |of: Option<usize>| of.map_or("none".to_owned(), |of| of.to_string());
        format!(
            "{} with epochs {}, batch size {}, width {}, optimizer {}, limit {} and backend {}",
            target.name(),
            of.epochs,
            of.batch_size,
            number(of.width),
            choice::name(&of.optimizer),
            number(of.limit),
            of.backend
        )
    };
    Err(Failure::input(anyhow!(
        "{}: found a record of {}, expected {}: choose another folder with --out, or remove the file",
        path.display(),
        written(record.target, &record.settings),
        written(target, settings)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::dacl::{DACL_SCHEMA, DaclAccuracies, DaclDataSet, DaclRow};
    use icl_train::UpdateRule;
    use tempfile::tempdir;

    fn settings(epochs: usize) -> DaclSettings {
        DaclSettings {
            epochs,
            batch_size: 64,
            width: Some(16),
            optimizer: UpdateRule::Adam,
            limit: None,
            backend: "flex".to_owned(),
        }
    }

    fn record(row: DaclRow) -> DaclRecord {
        DaclRecord {
            schema: DACL_SCHEMA,
            target: DaclTarget::Table1,
            data: DaclDataSet::Digits,
            row,
            seed: 0,
            settings: settings(2),
            n_training: 70,
            n_test: 30,
            accuracies: DaclAccuracies::default(),
            training: None,
            time_s: 1.0,
        }
    }

    fn opened(at: &Path, epochs: usize) -> Result<RecordFile<DaclRecord>, Failure> {
        open(at, DaclTarget::Table1, &settings(epochs))
    }

    #[test]
    fn a_line_that_was_cut_off_is_removed() {
        let at = tempdir().unwrap();
        let mut file = opened(at.path(), 2).unwrap();
        for row in [DaclRow::Majority, DaclRow::Raw] {
            file.add(record(row)).unwrap();
        }
        let path = at.path().join("dacl1.jsonl");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 20]).unwrap();
        let mut file = opened(at.path(), 2).unwrap();
        assert!(file.has(|r| r.row == DaclRow::Majority));
        assert!(!file.has(|r| r.row == DaclRow::Raw));
        file.add(record(DaclRow::Raw)).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }

    #[test]
    fn records_of_other_settings_are_an_error() {
        let at = tempdir().unwrap();
        opened(at.path(), 2)
            .and_then(|mut file| file.add(record(DaclRow::Raw)))
            .unwrap();
        let error = opened(at.path(), 3).unwrap_err().to_string();
        assert!(
            error.contains("found a record of dacl1 with epochs 2,")
                && error.contains("expected dacl1 with epochs 3,"),
            "{error}"
        );
        let of_lars = DaclSettings {
            optimizer: UpdateRule::Lars,
            ..settings(2)
        };
        let error = open(at.path(), DaclTarget::Table1, &of_lars).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("width 16, optimizer adam,")
                && error.contains("width 16, optimizer lars,"),
            "{error}"
        );
    }
}
