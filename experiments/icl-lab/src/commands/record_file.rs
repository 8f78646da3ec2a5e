//! A file of records, to which a line is added for each row of an experiment that is complete.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use icl_cli::parts::Failure;
use icl_core::InputFile;
use icl_report::ReportError;
use serde::Serialize;

use crate::commands::page_files;

/// Size of the largest file of records that is read, in bytes: 256 MiB.
const MAX_BYTES: u64 = 256 << 20;

/// The records of a target, in memory and in a file.
#[derive(Debug)]
pub struct RecordFile<R> {
    path: PathBuf,
    file: File,
    records: Vec<R>,
}

impl<R: Serialize> RecordFile<R> {
    /// Opens the file `NAME.jsonl` of a target in a folder, which is created if it is not there. A last line that was cut
    /// off is removed. `parse` reads all lines, and `check` says whether a record of the file at a path belongs to the rows
    /// that are to be run.
    ///
    /// # Errors
    /// If the file is a link, cannot be read or written, or has a record that does not belong there.
    pub fn open(
        folder: &Path,
        name: &str,
        parse: impl Fn(&Path, &str) -> Result<Vec<R>, ReportError>,
        check: impl Fn(&Path, &R) -> Result<(), Failure>,
    ) -> Result<Self, Failure> {
        let path = folder.join(format!("{name}.jsonl"));
        page_files::create_folder(folder)?;
        if path.is_symlink() {
            return Err(Failure::input(anyhow!(
                "{}: found a link, expected a file of records or nothing",
                path.display()
            )));
        }
        let read = InputFile::open(&path, MAX_BYTES).and_then(InputFile::text);
        let text = match read {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Failure::file(&path, "cannot be read", error)),
        };
        let complete = text.rfind('\n').map_or(0, |end| end + 1);
        if complete < text.len() {
            page_files::replace(&path, &text.as_bytes()[..complete])?;
        }
        let records = parse(&path, &text[..complete]).map_err(Failure::input)?;
        for record in &records {
            check(&path, record)?;
        }
        let file = OpenOptions::new().create(true).append(true).open(&path);
        Ok(Self {
            file: file.map_err(|error| Failure::file(&path, "cannot be written", error))?,
            path,
            records,
        })
    }

    /// Returns whether there is such a record.
    pub fn has(&self, is_wanted: impl Fn(&R) -> bool) -> bool {
        self.records.iter().any(is_wanted)
    }

    /// Adds a record.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn add(&mut self, record: R) -> Result<(), Failure> {
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
    pub fn records(&self) -> &[R] {
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
