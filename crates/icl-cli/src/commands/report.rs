//! `icl report`: rebuilds the page of an earlier command and prints its tables.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use icl_core::InputFile;
use icl_report::document::Document;
use icl_report::{
    BACKEND_SCHEMA, Comparison, EmbeddingMap, NegativesAdvice, NegativesRecord, ReportError,
    SCHEMA, backends_document, negatives_document, parse_records,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::commands::negatives::MARKDOWN;
use crate::commands::stream::MATRIX;
use crate::files::encoder_work;
use crate::files::manifest::{MANIFEST, Manifest};
use crate::files::output_files::OutputFiles;
use crate::files::work_place::{CONFIG, MAP, RECORD, REPORT};
use crate::options::output::print_document;
use crate::process::failure::Failure;

/// Options of `icl report`.
#[derive(Debug, Clone, Args)]
pub struct ReportOptions {
    /// Folder that `icl run`, `train`, `update`, `stream`, `negatives` or `compare-backends` wrote
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Print every column of tables. Without it, the four most important ones
    #[arg(long, help_heading = "Output")]
    wide: bool,
}

/// Reads the record in a folder of a command that has a page, writes the page again and prints its tables.
///
/// # Errors
/// If the folder holds no readable record, or a report that no command wrote next to files that one did, or the report
/// cannot be written.
pub fn rebuild(options: &ReportOptions) -> Result<(), Failure> {
    let folder = &options.folder;
    let list = Manifest::read(folder)?;
    let (document, pages) = document(folder)?;
    if !list.files().is_empty() {
        list.check(folder, |name| pages.contains(&name))?;
    }
    let path = folder.join(REPORT);
    let others = pages.iter().filter(|&&name| name != REPORT);
    let next_to: Vec<PathBuf> = others
        .chain([&MANIFEST])
        .map(|name| folder.join(name))
        .collect();
    let files = OutputFiles::begin(&path, &next_to, true)?;
    if !list.files().is_empty() {
        let names = pages.iter().map(|&name| name.to_owned());
        let with_pages = list.with(&Manifest::new(names.collect()));
        files.write(&folder.join(MANIFEST), &with_pages.bytes()?)?;
    }
    for &name in pages {
        let text = match name {
            MARKDOWN => document.markdown(),
            _ => document.html(),
        };
        files.write(&folder.join(name), text.as_bytes())?;
    }
    files.publish()?;
    print_document(&document, options.wide, None, &path)
}

/// Makes the document of what a folder holds, and names its pages.
fn document(folder: &Path) -> Result<(Document, &'static [&'static str]), Failure> {
    let html: &[&str] = &[REPORT];
    let matrix = folder.join(MATRIX);
    if matrix.exists() {
        return Ok((of_record(&matrix, icl_report::stream_document)?, html));
    }
    let record = folder.join(encoder_work::RECORD);
    if record.exists() {
        let keys: Value = json(&record)?;
        if keys.get("train_auc").is_some() {
            return Ok((of_record(&record, of_negatives)?, &[REPORT, MARKDOWN]));
        }
        let document = match keys.get("trained") {
            Some(_) => of_record(&record, icl_report::training_document),
            None => of_record(&record, icl_report::update_document),
        };
        return Ok((document?, html));
    }
    if Manifest::read(folder)?.files().contains(MARKDOWN) {
        return Err(Failure::input(anyhow!(
            "{}: found no such file, expected the record of `icl negatives`, which earlier versions did not write: \
             `icl negatives --force` with the options in {CONFIG} writes it",
            record.display()
        )));
    }
    Ok((of_lines(folder)?, html))
}

/// Computes the advice again, and makes its document.
fn of_negatives(record: &NegativesRecord) -> Result<Document, ReportError> {
    negatives_document(&NegativesAdvice::of_record(record)?, &record.made_by)
}

/// Makes the document of a file with one record a line, which `icl run` and `icl compare-backends` write.
fn of_lines(folder: &Path) -> Result<Document, Failure> {
    let path = folder.join(RECORD);
    let failure = |error: ReportError| Failure::input(anyhow!("{}: {error}", path.display()));
    let text = text(&path)?;
    let first = text.lines().next().unwrap_or_default();
    let first: Value = serde_json::from_str(first).unwrap_or_default();
    if first.get("losses").is_some() {
        let records = parse_records(&path, &text, "icl compare-backends", BACKEND_SCHEMA);
        return backends_document(&records.map_err(Failure::input)?).map_err(failure);
    }
    if first.get("epoch_losses").is_none() && !text.is_empty() {
        let found = match first.get("schema") {
            Some(schema) => format!("schema {schema} of another command or version"),
            None => "no record".to_owned(),
        };
        return Err(Failure::input(anyhow!(
            "{}, line 1: found {found}, expected a record of `icl run` or `icl compare-backends`",
            path.display()
        )));
    }
    let records = parse_records(&path, &text, "icl run", SCHEMA).map_err(Failure::input)?;
    let map = read_map(&folder.join(MAP))?;
    // The records have all that the comparison has, also in folders of before `comparison.json`.
    Comparison::of(&records)
        .and_then(|of| icl_report::comparison_document(&of, &records, map.as_ref()))
        .map_err(failure)
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
    serde_json::from_str(&text(path)?).map_err(|error| {
        Failure::input(anyhow!(
            "{}: expected a record of `icl train`, `update`, `stream` or `negatives`: {error}",
            path.display()
        ))
    })
}

fn text(path: &Path) -> Result<String, Failure> {
    let read = InputFile::open(path, MAX_BYTES).and_then(InputFile::text);
    read.map_err(|error| {
        Failure::input(anyhow!(
            "{}: found no readable file ({error}), expected a record",
            path.display()
        ))
    })
}

/// Size of the largest map or record that is read, in bytes: 256 MiB.
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
