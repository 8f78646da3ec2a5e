//! The rows that are missing, one after the other.

use std::time::Instant;

use anyhow::anyhow;
use icl_core::Seed;
use icl_data::{GraphDataset, embedded, read_tu};
use icl_report::dacl::{
    DACL_SCHEMA, DaclAccuracies, DaclDataSet, DaclRecord, DaclRow, DaclTarget, DaclTraining,
};

use crate::backend::on_backend;
use crate::commands::reproduce::dacl::graphs::GraphRowWork;
use crate::commands::reproduce::dacl::options::DaclRequest;
use crate::commands::reproduce::dacl::record_file::RecordFile;
use crate::commands::reproduce::dacl::tables::{
    DividedTable, TableRowWork, TableSource, read_source,
};
use crate::commands::reproduce::source::graph_files;
use crate::process::failure::Failure;
use crate::process::interrupt;
use crate::process::terminal::tell;

/// Samples of a data set in memory.
pub enum DaclSamples {
    /// Rows of a table.
    Table(TableSource),
    /// Graphs.
    Graphs(GraphDataset),
}

/// Data sets that were found, and a message for each of the others.
pub struct Found {
    /// Data sets with their samples.
    pub samples: Vec<(DaclDataSet, DaclSamples)>,
    /// Messages.
    pub missing: Vec<String>,
}

/// Reads the data sets of a request.
///
/// # Errors
/// If one cannot be read, or none is there.
pub fn find(request: &DaclRequest) -> Result<Found, Failure> {
    let mut found = Found {
        samples: Vec::new(),
        missing: Vec::new(),
    };
    for &data in &request.data_sets {
        match read(data, request)? {
            Ok(samples) => found.samples.push((data, samples)),
            Err(message) => found.missing.push(message),
        }
    }
    if found.samples.is_empty() {
        return Err(Failure::input(anyhow!("{}", found.missing.join("; "))));
    }
    Ok(found)
}

fn read(data: DaclDataSet, request: &DaclRequest) -> Result<Result<DaclSamples, String>, Failure> {
    if request.target == DaclTarget::Table1 {
        let source = read_source(data, &request.data_dir)?;
        return Ok(source.map(DaclSamples::Table));
    }
    let graphs = match data {
        DaclDataSet::Mutag => embedded::graphs(data.name()),
        _ => match graph_files(data.name(), &request.data_dir) {
            Ok(path) => read_tu(path),
            Err(message) => return Ok(Err(message)),
        },
    };
    Ok(Ok(DaclSamples::Graphs(graphs.map_err(Failure::input)?)))
}

/// Number of rows that were not started because the budget was spent.
pub struct NotStarted(pub usize);

/// Computes the rows that are missing, seed after seed, and adds each to the file.
///
/// # Errors
/// If a row fails, or it is interrupted.
pub fn run(
    request: &DaclRequest,
    found: &Found,
    file: &mut RecordFile,
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
                .filter(|row| !file.has(*data, *row, seed))
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
        let mut table = None;
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
            if let (DaclSamples::Table(source), None) = (samples, &table) {
                table = Some(DividedTable::new(source, limit, Seed::new(seed))?);
            }
            let (accuracies, training) =
                compute(request, (data, samples, table.as_ref()), row, seed).map_err(
                    |failure| match failure {
                        Failure::Interrupted(_) => interrupted(file),
                        failure => failure,
                    },
                )?;
            let (n_training, n_test) = match (samples, &table) {
                (DaclSamples::Graphs(graphs), _) => [graphs.graphs().len(); 2].into(),
                (_, Some(table)) => (table.split.training.len(), table.split.test.len()),
                (_, None) => (0, 0),
            };
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
    (data, samples, table): (DaclDataSet, &DaclSamples, Option<&DividedTable>),
    row: DaclRow,
    seed: u64,
) -> Result<(DaclAccuracies, Option<DaclTraining>), Failure> {
    let settings = &request.settings;
    match (samples, table) {
        (DaclSamples::Graphs(graphs), _) => on_backend(
            &settings.backend,
            GraphRowWork {
                data,
                graphs,
                row,
                seed,
                settings,
            },
        ),
        (DaclSamples::Table(_), Some(table)) => on_backend(
            &settings.backend,
            TableRowWork {
                table,
                row,
                seed,
                settings,
            },
        ),
        (DaclSamples::Table(_), None) => Err(Failure::Other(anyhow!("a table was not divided"))),
    }
}

fn interrupted(file: &RecordFile) -> Failure {
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
