//! The rows that are missing, one after the other.

use std::time::Instant;

use crate::pages::dacl::{
    DACL_SCHEMA, DaclAccuracies, DaclDataSet, DaclRecord, DaclRow, DaclTraining,
};
use anyhow::anyhow;
use icl_cli::parts::{Failure, interrupt, on_backend, tell};
use icl_core::Seed;

use crate::commands::dacl::graphs::GraphRowWork;
use crate::commands::dacl::images::ImageRowWork;
use crate::commands::dacl::options::DaclRequest;
use crate::commands::dacl::samples::{DividedSamples, Found};
use crate::commands::dacl::tables::TableRowWork;
use crate::commands::record_file::RecordFile;

/// Number of rows that were not started because the budget was spent.
pub struct NotStarted(pub usize);

/// Computes the rows that are missing, seed after seed, and adds each to the file.
///
/// # Errors
/// If a row fails, or it is interrupted.
pub fn run(
    request: &DaclRequest,
    found: &Found,
    file: &mut RecordFile<DaclRecord>,
) -> Result<NotStarted, Failure> {
    let mut to_run = Vec::new();
    for seed in 0..request.n_seeds {
        for (data, samples) in &found.samples {
            if seed >= data.n_seeds(request.n_seeds) {
                continue;
            }
            let rows: Vec<DaclRow> = request
                .target
                .rows()
                .iter()
                .copied()
                .filter(|row| !file.has(|r| (r.data, r.row, r.seed) == (*data, *row, seed)))
                .collect();
            to_run.push((*data, samples, seed, rows));
        }
    }
    let n: usize = to_run.iter().map(|(.., rows)| rows.len()).sum();
    tell(format_args!(
        "{} rows are complete, {n} to run",
        file.records().len()
    ));
    let begin = Instant::now();
    let mut n_done = 0;
    for (data, samples, seed, rows) in to_run {
        // Divided only if a row of it is missing.
        let mut divided = None;
        for row in rows {
            if interrupt::requested() {
                return Err(interrupted(file));
            }
            let elapsed = begin.elapsed().as_secs_f64();
            if request.budget_s.is_some_and(|budget| elapsed >= budget) {
                return Ok(NotStarted(n - n_done));
            }
            let began = Instant::now();
            let limit = request.settings.limit;
            let divided = match &mut divided {
                Some(divided) => divided,
                none => none.insert(samples.divided(limit, Seed::new(seed))?),
            };
            let (accuracies, training) =
                compute(request, (data, divided), row, seed).map_err(|failure| match failure {
                    Failure::Interrupted(_) => interrupted(file),
                    failure => failure,
                })?;
            let (n_training, n_test) = divided.sizes();
            let time_s = began.elapsed().as_secs_f64();
            file.add(DaclRecord {
                schema: DACL_SCHEMA,
                target: request.target,
                data,
                row,
                seed,
                settings: request.settings.clone(),
                n_training,
                n_test,
                accuracies,
                training,
                time_s,
            })?;
            n_done += 1;
            tell(format_args!(
                "row {n_done} of {n}: {}, {}, seed {seed}: {}; {time_s:.1} s",
                data.name(),
                row.title(),
                words(&accuracies),
            ));
        }
    }
    Ok(NotStarted(0))
}

fn compute(
    request: &DaclRequest,
    (data, samples): (DaclDataSet, &DividedSamples<'_>),
    row: DaclRow,
    seed: u64,
) -> Result<(DaclAccuracies, Option<DaclTraining>), Failure> {
    let settings = &request.settings;
    match samples {
        DividedSamples::Graphs(graphs) => on_backend(
            &settings.backend,
            GraphRowWork {
                data,
                graphs,
                row,
                seed,
                settings,
            },
        ),
        DividedSamples::Images(images) => on_backend(
            &settings.backend,
            ImageRowWork {
                images,
                row,
                seed,
                settings,
            },
        ),
        DividedSamples::Table(table) => on_backend(
            &settings.backend,
            TableRowWork {
                table,
                row,
                seed,
                settings,
            },
        ),
    }
}

fn interrupted(file: &RecordFile<DaclRecord>) -> Failure {
    Failure::Interrupted(anyhow!("interrupted; {}", file.how_to_continue()))
}

/// Writes the accuracies of a row in words.
fn words(of: &DaclAccuracies) -> String {
    let named = [
        ("its own", of.own),
        ("converged", of.converged),
        ("printed", of.printed),
        ("5-NN", of.neighbours),
    ];
    let words: Vec<String> = named
        .iter()
        .filter_map(|(name, accuracy)| Some(format!("{name} {:.1} %", 100.0 * (*accuracy)?)))
        .collect();
    words.join(", ")
}
