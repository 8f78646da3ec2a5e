//! The page and the Markdown file of a table.

use std::path::PathBuf;

use crate::pages::dacl::{DaclRecord, DaclReproduction, DaclTarget, dacl_document};
use crate::pages::paper::Provenance;
use icl_cli::parts::{Failure, choice};

use crate::commands::dacl::noise_picture::noise_picture;
use crate::commands::dacl::options::DaclRequest;
use crate::commands::machine::{VERSION, processor, today};
use crate::commands::page_files;
use crate::commands::record_file::RecordFile;

/// Writes the page of all records; the paths of its files.
///
/// # Errors
/// If a file cannot be written.
pub fn write(
    request: &DaclRequest,
    file: &RecordFile<DaclRecord>,
    mut missing: Vec<String>,
) -> Result<Vec<PathBuf>, Failure> {
    let settings = &request.settings;
    let mut shown = vec![
        ("backend".to_owned(), settings.backend.clone()),
        ("epochs".to_owned(), settings.epochs.to_string()),
        ("batch-size".to_owned(), settings.batch_size.to_string()),
        (
            "optimizer".to_owned(),
            choice::name(&settings.optimizer).to_owned(),
        ),
    ];
    if let Some(width) = settings.width {
        shown.push(("width".to_owned(), width.to_string()));
    }
    if let Some(limit) = settings.limit {
        shown.push(("limit".to_owned(), limit.to_string()));
    }
    for message in &mut missing {
        message.push('.');
    }
    let has_record = |name: &&str| file.records().iter().any(|r| r.data.name() == *name);
    let names = request.target.data_sets().iter().map(|data| data.name());
    let left_out: Vec<&str> = names.filter(|name| !has_record(name)).collect();
    if !left_out.is_empty() {
        missing.push(format!("{}, without records.", left_out.join(", ")));
    }
    let provenance = Provenance {
        date: today(),
        machine: processor(),
        command: request.command.clone(),
        version: VERSION.to_owned(),
        n_seeds: request.n_seeds,
        jobs: 1,
        settings: shown,
    };
    let noise = match request.target {
        DaclTarget::Table1 => Some(noise_picture()?),
        DaclTarget::Table2 | DaclTarget::Table4 => None,
    };
    let document = dacl_document(&DaclReproduction {
        target: request.target,
        records: file.records(),
        missing: &missing,
        noise: noise.as_ref(),
        provenance: &provenance,
    });
    page_files::write(&document, &request.out, request.target.name())
}
