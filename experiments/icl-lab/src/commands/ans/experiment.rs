//! An experiment: the rows that are missing, one after the other, and the page of all of them.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::pages::ans::{
    ANS_SCHEMA, AnsExperiment, AnsRecord, AnsRow, AnsSettings, ExperimentReproduction,
    experiment_document, parse_ans_records,
};
use crate::pages::paper::Provenance;
use anyhow::anyhow;
use icl_cli::parts::{Failure, interrupt, on_backend, print, tell};
use icl_core::Seed;
use icl_data::TextPairs;

use crate::commands::ans::interactions::{DividedInteractions, InteractionsRow};
use crate::commands::ans::measured::Measured;
use crate::commands::ans::options::{ExperimentOptions, ExperimentRequest};
use crate::commands::ans::texts::{self, DividedTexts, TextsRow};
use crate::commands::machine::{VERSION, processor, today};
use crate::commands::page_files;
use crate::commands::record_file::RecordFile;

/// Data of an experiment.
enum Data {
    Interactions(Box<DividedInteractions>),
    Texts(TextPairs),
}

/// Runs what is missing of an experiment and writes its page.
///
/// # Errors
/// If an option cannot be used, a row fails, it is interrupted, or a file cannot be written.
pub fn reproduce(experiment: AnsExperiment, options: &ExperimentOptions) -> Result<(), Failure> {
    let request = options.request(experiment)?;
    let settings = &request.settings;
    let check = |path: &Path, record: &AnsRecord| check(path, record, settings);
    let mut file = RecordFile::open(&request.out, experiment.name(), parse_ans_records, check)?;
    match data(&request)? {
        Some(data) => {
            interrupt::watch()?;
            run(&request, &data, &mut file)?;
        }
        None => tell(format_args!(
            "note: {} is not there: skipped; see `icl-lab reproduce {} --help`",
            path(&request).display(),
            experiment.name()
        )),
    }
    if file.records().is_empty() {
        tell("no page was written: no row is complete");
        return Ok(());
    }
    write(&request, file.records())
}

/// Returns the file of the experiment's data.
fn path(request: &ExperimentRequest) -> PathBuf {
    request.data_dir.join(match request.experiment {
        AnsExperiment::Numbers | AnsExperiment::Courses => "ml-100k/ml-100k.inter",
        AnsExperiment::Texts => "text/ag-news-7600.csv.gz",
    })
}

/// Reads the data, if they are there.
fn data(request: &ExperimentRequest) -> Result<Option<Data>, Failure> {
    let path = path(request);
    if !path.exists() {
        return Ok(None);
    }
    Ok(Some(match request.experiment {
        AnsExperiment::Numbers | AnsExperiment::Courses => {
            Data::Interactions(Box::new(DividedInteractions::read(&path)?))
        }
        AnsExperiment::Texts => Data::Texts(texts::read(&path)?),
    }))
}

/// Computes the rows that are missing, seed after seed, until the budget is spent.
fn run(
    request: &ExperimentRequest,
    data: &Data,
    file: &mut RecordFile<AnsRecord>,
) -> Result<(), Failure> {
    let settings = &request.settings;
    let rows = request.experiment.rows(settings.peak, settings.epochs);
    let begin = Instant::now();
    for seed in 0..request.n_seeds {
        let divided = match data {
            Data::Texts(pairs) => Some(DividedTexts::new(pairs, Seed::new(seed))),
            Data::Interactions(_) => None,
        };
        for row in &rows {
            if file.has(|record| record.row == *row && record.seed == seed) {
                continue;
            }
            if interrupt::requested() {
                return Err(Failure::Interrupted(anyhow!(file.how_to_continue())));
            }
            let elapsed = begin.elapsed().as_secs_f64();
            if request.budget_s.is_some_and(|budget| elapsed >= budget) {
                tell(format_args!(
                    "the budget is spent; {}",
                    file.how_to_continue()
                ));
                return Ok(());
            }
            let began = Instant::now();
            let (measured, name, sizes) = match (data, &divided) {
                (Data::Interactions(data), _) => {
                    let work = InteractionsRow {
                        data,
                        row,
                        seed,
                        settings,
                    };
                    let sizes = (data.train.samples().len(), data.test.samples().len());
                    (
                        on_backend(&settings.backend, work),
                        data.name.clone(),
                        sizes,
                    )
                }
                (Data::Texts(pairs), Some(data)) => {
                    let work = TextsRow {
                        data,
                        row,
                        seed,
                        settings,
                    };
                    let sizes = (data.train.len(), data.test.len());
                    (
                        on_backend(&settings.backend, work),
                        pairs.name().to_owned(),
                        sizes,
                    )
                }
                (Data::Texts(_), None) => unreachable!("texts are divided for each seed"),
            };
            let measured = measured.map_err(|failure| match failure {
                Failure::Interrupted(_) => Failure::Interrupted(anyhow!(file.how_to_continue())),
                other => other,
            })?;
            let time_s = began.elapsed().as_secs_f64();
            let record = record(request, (row, seed), measured, (name, sizes, time_s));
            tell(format_args!(
                "{}, seed {seed}: test AUC {:.4}, nDCG {:.4}; {time_s:.1} s",
                row.title(settings.epochs),
                record.test.auc,
                record.test.ndcg
            ));
            file.add(record)?;
        }
    }
    Ok(())
}

fn record(
    request: &ExperimentRequest,
    (row, seed): (&AnsRow, u64),
    of: Measured,
    (data, (n_training, n_test), time_s): (String, (usize, usize), f64),
) -> AnsRecord {
    AnsRecord {
        schema: ANS_SCHEMA,
        target: request.experiment,
        data,
        row: *row,
        seed,
        settings: request.settings.clone(),
        n_training,
        n_test,
        training_auc: of.training_auc,
        validation: of.validation,
        test: of.test,
        sampled: of.sampled,
        untrained: of.untrained,
        parameter_change: of.parameter_change,
        n_steps: of.n_steps,
        n_scored: of.step_negatives.iter().sum::<f64>() * n_training as f64,
        step_negatives: of.step_negatives,
        time_s,
    }
}

/// Checks that a record was made with the same settings: numbers of others are neither used nor replaced.
fn check(path: &Path, record: &AnsRecord, settings: &AnsSettings) -> Result<(), Failure> {
    if record.settings == *settings {
        return Ok(());
    }
    let written = |of: &AnsSettings| {
        format!(
            "epochs {}, batch size {}, peak {} and backend {}",
            of.epochs, of.batch_size, of.peak, of.backend
        )
    };
    Err(Failure::input(anyhow!(
        "{}: found a record with {}, expected {}: choose another folder with --out, or remove the file",
        path.display(),
        written(&record.settings),
        written(settings)
    )))
}

/// Writes the page of all records, and prints the paths of its files.
fn write(request: &ExperimentRequest, records: &[AnsRecord]) -> Result<(), Failure> {
    let settings = &request.settings;
    let shown = [
        ("backend", settings.backend.clone()),
        ("epochs", settings.epochs.to_string()),
        ("batch size", settings.batch_size.to_string()),
        ("width", settings.width.to_string()),
        ("learning rate", settings.learning_rate.to_string()),
        ("temperature", settings.temperature.to_string()),
        ("peak", settings.peak.to_string()),
    ];
    let document = experiment_document(&ExperimentReproduction {
        target: request.experiment,
        records,
        provenance: &Provenance {
            date: today(),
            machine: processor(),
            command: request.command.clone(),
            version: VERSION.to_owned(),
            n_seeds: request.n_seeds,
            jobs: 1,
            settings: shown.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        },
    });
    let paths = page_files::write(&document, &request.out, request.experiment.name())?;
    paths.iter().try_for_each(|path| print(path.display()))
}
