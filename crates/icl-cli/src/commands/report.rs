//! `icl report`: rebuilds the report of an earlier run and prints its tables.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use icl_core::InputFile;
use icl_report::{Comparison, EmbeddingMap};

use crate::files::manifest::{MANIFEST, Manifest};
use crate::files::output_files::OutputFiles;
use crate::files::work_place::{MAP, RECORD, REPORT};
use crate::options::output::print_document;
use crate::process::failure::Failure;

/// Options of `icl report`.
#[derive(Debug, Clone, Args)]
pub struct ReportOptions {
    /// Folder that `icl run` wrote
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Print every column of tables. Without it, the four most important ones
    #[arg(long, help_heading = "Output")]
    wide: bool,
}

/// Reads the record and the map in a folder, writes the report again and prints its tables.
///
/// # Errors
/// If the folder holds no readable record, or a report that no command wrote next to files that one did, or the report cannot be written.
pub fn rebuild(options: &ReportOptions) -> Result<(), Failure> {
    let folder = &options.folder;
    let list = Manifest::read(folder)?;
    if !list.files().is_empty() {
        list.check(folder, |name| name == REPORT)?;
    }
    let records = icl_report::read_records(&folder.join(RECORD)).map_err(Failure::input)?;
    let map = read_map(&folder.join(MAP))?;
    // The records have all that the comparison has, also in folders of before `comparison.json`.
    let document = Comparison::of(&records)
        .and_then(|of| icl_report::comparison_document(&of, &records, map.as_ref()))
        .map_err(|error| Failure::input(anyhow!("{}: {error}", folder.join(RECORD).display())))?;
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

/// Size of the largest map that is read, in bytes: 256 MiB.
const MAX_MAP_BYTES: u64 = 256 << 20;

fn read_map(path: &Path) -> Result<Option<EmbeddingMap>, Failure> {
    let read = InputFile::open(path, MAX_MAP_BYTES).and_then(InputFile::text);
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
