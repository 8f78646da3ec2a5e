//! The file of records, to which a line is added for each row that is complete.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use icl_core::{InputFile, file_system};
use icl_report::dacl::{
    DaclDataSet, DaclRecord, DaclRow, DaclSettings, DaclTarget, parse_dacl_records,
};

use crate::files::whole;
use crate::options::choice;
use crate::process::failure::Failure;

/// Size of the largest file of records that is read, in bytes: 256 MiB.
const MAX_BYTES: u64 = 256 << 20;

/// The records of a table, in memory and in a file.
#[derive(Debug)]
pub struct RecordFile {
    path: PathBuf,
    file: File,
    records: Vec<DaclRecord>,
}

impl RecordFile {
    /// Opens the file of a table in a folder, which is created if it is not there. A last line that was cut
    /// off is removed.
    ///
    /// # Errors
    /// If the file cannot be read or written, or has a record of another table or of other settings.
    pub fn open(
        folder: &Path,
        target: DaclTarget,
        settings: &DaclSettings,
    ) -> Result<Self, Failure> {
        let path = folder.join(format!("{}.jsonl", target.name()));
        file_system().create_folders(folder).map_err(|error| {
            Failure::input(anyhow!("out: cannot write {}: {error}", folder.display()))
        })?;
        let read = InputFile::open(&path, MAX_BYTES).and_then(InputFile::text);
        let text = match read.map_err(std::io::Error::from) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Failure::file(&path, "cannot be read", error)),
        };
        let complete = text.rfind('\n').map_or(0, |end| end + 1);
        if complete < text.len() {
            whole::replace(&path, &text.as_bytes()[..complete])?;
        }
        let records = parse_dacl_records(&path, &text[..complete]).map_err(Failure::input)?;
        for record in &records {
            check(&path, record, target, settings)?;
        }
        let file = OpenOptions::new().create(true).append(true).open(&path);
        Ok(Self {
            file: file.map_err(|error| Failure::file(&path, "cannot be written", error))?,
            path,
            records,
        })
    }

    /// Returns whether a row has its record.
    pub fn has(&self, data: DaclDataSet, row: DaclRow, seed: u64) -> bool {
        let is_own = |r: &DaclRecord| (r.data, r.row, r.seed) == (data, row, seed);
        self.records.iter().any(is_own)
    }

    /// Adds a record.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn add(&mut self, record: DaclRecord) -> Result<(), Failure> {
        let mut line =
            serde_json::to_string(&record).map_err(|error| Failure::Other(error.into()))?;
        line.push('\n');
        let written = self.file.write_all(line.as_bytes());
        written
            .and_then(|()| self.file.sync_data())
            .map_err(|error| Failure::file(&self.path, "cannot be written", error))?;
        self.records.push(record);
        Ok(())
    }

    /// Returns all records, those of earlier commands first.
    pub fn records(&self) -> &[DaclRecord] {
        &self.records
    }

    /// Says how to continue after an early end.
    pub fn how_to_continue(&self) -> String {
        format!(
            "the same command continues with the rows that are missing in {}",
            self.path.display()
        )
    }
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
    use icl_report::dacl::{DACL_SCHEMA, DaclAccuracies};
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

    fn open(at: &Path, epochs: usize) -> Result<RecordFile, Failure> {
        RecordFile::open(at, DaclTarget::Table1, &settings(epochs))
    }

    #[test]
    fn a_line_that_was_cut_off_is_removed() {
        let at = tempdir().unwrap();
        let mut file = open(at.path(), 2).unwrap();
        for row in [DaclRow::Majority, DaclRow::Raw] {
            file.add(record(row)).unwrap();
        }
        let path = at.path().join("dacl1.jsonl");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 20]).unwrap();
        let mut file = open(at.path(), 2).unwrap();
        assert!(file.has(DaclDataSet::Digits, DaclRow::Majority, 0));
        assert!(!file.has(DaclDataSet::Digits, DaclRow::Raw, 0));
        file.add(record(DaclRow::Raw)).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }

    #[test]
    fn records_of_other_settings_are_an_error() {
        let at = tempdir().unwrap();
        open(at.path(), 2)
            .and_then(|mut file| file.add(record(DaclRow::Raw)))
            .unwrap();
        let error = open(at.path(), 3).unwrap_err().to_string();
        assert!(
            error.contains("found a record of dacl1 with epochs 2,")
                && error.contains("expected dacl1 with epochs 3,"),
            "{error}"
        );
        let of_lars = DaclSettings {
            optimizer: UpdateRule::Lars,
            ..settings(2)
        };
        let error = RecordFile::open(at.path(), DaclTarget::Table1, &of_lars).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("width 16, optimizer adam,")
                && error.contains("width 16, optimizer lars,"),
            "{error}"
        );
    }
}
