//! `icl report`: rebuilds the page of an earlier command and prints its tables.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use icl_core::InputFile;
use icl_report::document::Document;
use icl_report::{Comparison, EmbeddingMap, ReportError};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::commands::stream::MATRIX;
use crate::files::encoder_work;
use crate::files::manifest::{MANIFEST, Manifest};
use crate::files::output_files::OutputFiles;
use crate::files::work_place::{MAP, RECORD, REPORT};
use crate::options::output::print_document;
use crate::process::failure::Failure;

/// Options of `icl report`.
#[derive(Debug, Clone, Args)]
pub struct ReportOptions {
    /// Folder that `icl run`, `train`, `update` or `stream` wrote
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Print every column of tables. Without it, the four most important ones
    #[arg(long, help_heading = "Output")]
    wide: bool,
}

/// Reads the record in a folder of `icl run`, `train`, `update` or `stream`, writes the page again and prints its
/// tables.
///
/// # Errors
/// If the folder holds no readable record, or a report that no command wrote next to files that one did, or the report cannot be written.
pub fn rebuild(options: &ReportOptions) -> Result<(), Failure> {
    let folder = &options.folder;
    let list = Manifest::read(folder)?;
    if !list.files().is_empty() {
        list.check(folder, |name| name == REPORT)?;
    }
    let document = document(folder)?;
    let path = folder.join(REPORT);
    let files = OutputFiles::begin(&path, &[folder.join(MANIFEST)], true)?;
    if !list.files().is_empty() {
        let with_report = list.with(&Manifest::new([REPORT.to_owned()].into()));
        files.write(&folder.join(MANIFEST), &with_report.bytes()?)?;
    }
    files.write(&path, document.html().as_bytes())?;
    files.publish()?;
    print_document(&document, options.wide, None, &path)
}

/// Makes the document of what a folder holds.
fn document(folder: &Path) -> Result<Document, Failure> {
    let path = |name: &str| folder.join(name);
    if path(MATRIX).exists() {
        return of_record(&path(MATRIX), icl_report::stream_document);
    }
    let record = path(encoder_work::RECORD);
    if record.exists() {
        let keys: Value = json(&record)?;
        return match keys.get("trained") {
            Some(_) => of_record(&record, icl_report::training_document),
            None => of_record(&record, icl_report::update_document),
        };
    }
    let records = icl_report::read_records(&path(RECORD)).map_err(Failure::input)?;
    let map = read_map(&path(MAP))?;
    // The records have all that the comparison has, also in folders of before `comparison.json`.
    Comparison::of(&records)
        .and_then(|of| icl_report::comparison_document(&of, &records, map.as_ref()))
        .map_err(|error| Failure::input(anyhow!("{}: {error}", path(RECORD).display())))
}

/// Makes the document of a record of one JSON object.
fn of_record<T: DeserializeOwned>(
    path: &Path,
    document: fn(&T) -> Result<Document, ReportError>,
) -> Result<Document, Failure> {
    let of = document(&json(path)?);
    of.map_err(|error| Failure::input(anyhow!("{}: {error}", path.display())))
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    let wrong = |what: String| Failure::input(anyhow!("{}: {what}", path.display()));
    let text = InputFile::open(path, MAX_BYTES).and_then(InputFile::text);
    let text = text.map_err(|error| {
        wrong(format!(
            "found no readable file ({error}), expected a record"
        ))
    })?;
    serde_json::from_str(&text).map_err(|error| {
        wrong(format!(
            "expected a record of `icl train`, `update` or `stream`: {error}"
        ))
    })
}

/// Size of the largest map or record of one object that is read, in bytes: 256 MiB.
const MAX_BYTES: u64 = 256 << 20;

fn read_map(path: &Path) -> Result<Option<EmbeddingMap>, Failure> {
    let read = InputFile::open(path, MAX_BYTES).and_then(InputFile::text);
    match read {
        Ok(text) => serde_json::from_str(&text).map(Some).map_err(|error| {
            Failure::input(anyhow!(
                "{}: expected a map of `icl run`: {error}",
                path.display()
            ))
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::input(anyhow!(
            "{}: found no readable file ({error}), expected a map of `icl run`",
            path.display()
        ))),
    }
}
