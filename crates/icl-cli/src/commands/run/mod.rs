//! `icl run`: compares methods on a data set, seed after seed.

mod comparison;
mod division;
mod evaluated_samples;
mod measured;
mod options;
mod plan;
mod protocol;

use anyhow::anyhow;
use burn::tensor::backend::AutodiffBackend;
use icl_report::{CommandOutcome, Document, EmbeddingMap, RunRecord};
use icl_train::{Identity, read_checkpoint, write_checkpoint};
use serde::Serialize;

use crate::backend::{OnBackend, on_backend};
use crate::domain::Domain;
use crate::domain::data::DataSet;
use crate::domain::encoder_choice::{OnNewEncoder, with_new_encoder};
use crate::files::whole;
use crate::files::work_folder::{INPUT, WorkFolder};
use crate::files::work_place::{COMPARISON, CONFIG, MAP, RECORD, REPORT, is_result};
use crate::options::command_line::command_line;
use crate::process::failure::Failure;
use crate::process::group::group;
use crate::process::interrupt;
use crate::process::progress::Display;
use crate::process::terminal::print;

use comparison::SeedComparison;
use options::Resolved;
pub use options::RunOptions;
use plan::PlannedRun;

/// Commands for those who have seen a comparison and have data of their own.
const NEXT: &str = "\
Next, with data of your own:
  icl train --data OLD_DATA --out first
  icl update --from first/encoder.safetensors --old OLD_DATA --new NEW_DATA --out second";

/// Name of the file of facts about the data, which is no state from which a run continues.
const DATA: &str = "data";

/// Runs the comparison, writes its folder and prints its table.
///
/// # Errors
/// If an option or the data cannot be used, a training run fails, or it is interrupted.
pub fn run(options: RunOptions) -> Result<(), Failure> {
    interrupt::watch()?;
    let resumed = options.execution.resumed();
    let resumed = resumed.map(|folder| WorkFolder::resume(folder, is_result));
    let resumed = resumed.transpose()?;
    let resolved = options.resolve()?;
    let options = &resolved.options;
    let work = Run {
        resolved: &resolved,
        resumed,
    };
    with_new_encoder(&options.data, &options.encoder, &options.noise, work)
}

/// A comparison with a new encoder.
struct Run<'a> {
    resolved: &'a Resolved,
    resumed: Option<WorkFolder>,
}

impl OnNewEncoder for Run<'_> {
    type Output = ();

    fn run<D: Domain>(self, domain: &D, data: D::Data) -> Result<(), Failure> {
        let Self { resolved, resumed } = self;
        if !resolved.protocols.is_empty() {
            data.check_labels("the accuracies of icl run (--protocol none does without)")?;
        }
        let config = toml::to_string(&resolved.options).map_err(Failure::input)?;
        let work = match resumed {
            Some(work) => work,
            None => {
                let otherwise = data.name().to_lowercase();
                let destination = resolved.options.output.destination(&otherwise);
                WorkFolder::begin(destination, is_result)?.with_options(&config)?
            }
        };
        let task = Comparison {
            resolved,
            domain,
            data: &data,
            work: &work,
        };
        let written = on_backend(&resolved.backend, task).and_then(|(records, map)| {
            let written = write_results(&work, &config, &records, &map)?;
            Ok((written, CommandOutcome::of_comparison(&records)))
        });
        let (report, outcome) = match written {
            Ok(written) => written,
            Err(failure) => return Err(work.fail(failure, "run")),
        };
        let folder = work.publish(Some("run"))?;
        match report {
            Ok(document) => {
                let report = folder.join(REPORT);
                let next = format!("Report: {}\n{NEXT}", report.display());
                let document = (&document, resolved.options.output.wide);
                let json = &resolved.options.json;
                json.print(outcome, document, Some(&next), &folder)
            }
            Err(failure) => {
                print(format_args!("written to {}", folder.display()))?;
                Err(failure)
            }
        }
    }
}

/// Writes everything but the encoders, which are written already. A failure to make the report is the
/// inner one: the results stand without it.
fn write_results(
    work: &WorkFolder,
    config: &str,
    records: &[RunRecord],
    map: &EmbeddingMap,
) -> Result<Result<Document, Failure>, Failure> {
    let results = work.results();
    whole::write(&results.join(CONFIG), config.as_bytes())?;
    let mut lines = Vec::new();
    for record in records {
        lines.extend(json(record)?);
        lines.push(b'\n');
    }
    whole::write(&results.join(RECORD), &lines)?;
    whole::write(&results.join(MAP), &json(map)?)?;
    let comparison = icl_report::Comparison::of(records);
    if let Ok(comparison) = &comparison {
        whole::write(&results.join(COMPARISON), &json(comparison)?)?;
    }
    let document =
        comparison.and_then(|of| icl_report::comparison_document(&of, records, Some(map)));
    if let Ok(document) = &document {
        whole::write(&results.join(REPORT), document.html().as_bytes())?;
    }
    Ok(document.map_err(|error| Failure::Other(error.into())))
}

struct Comparison<'a, D: Domain> {
    resolved: &'a Resolved,
    domain: &'a D,
    data: &'a D::Data,
    work: &'a WorkFolder,
}

impl<D: Domain> OnBackend for Comparison<'_, D> {
    type Output = (Vec<RunRecord>, EmbeddingMap);

    fn run<B: AutodiffBackend>(self, devices: &[B::Device]) -> Result<Self::Output, Failure> {
        let resolved = self.resolved;
        let is_trained = |run: &&PlannedRun| run.method.loss.is_some();
        let n_trained = resolved.runs.iter().filter(is_trained).count();
        let n_seeds = (resolved.seeds.end() - resolved.seeds.start()).saturating_add(1);
        let n_runs = n_seeds.saturating_mul(n_trained as u64 + 1);
        let display = Display::new(n_runs, resolved.settings.epochs as u64);
        let identity = Identity::new([
            ("checksum of the data".to_owned(), self.data.checksum()),
            (
                "checksum of the weights".to_owned(),
                whole::checksum(resolved.options.encoder.weights.as_deref())?,
            ),
        ]);
        // The data are the same for all seeds, also for the one that was interrupted.
        let data = self.work.state(DATA).with_extension(INPUT);
        if read_checkpoint::<()>(&data, &identity)?.is_none() {
            write_checkpoint(&data, &identity, &())?;
        }
        let mut records = Vec::new();
        let mut map = None;
        let group = group();
        let command = command_line("run", &resolved.options)?;
        for seed in resolved.seeds.clone() {
            let comparison = SeedComparison::<D, B> {
                resolved,
                domain: self.domain,
                data: self.data,
                work: self.work,
                identity: &identity,
                seed,
                devices,
                group: &*group,
                display: &display,
                command: &command,
            };
            let done = self.work.state(&format!("seed{seed}"));
            let saved = read_checkpoint(&done, &identity)?;
            let (of_seed, map_of_seed) = match saved {
                Some(saved) => saved,
                None => {
                    let ran = comparison.run()?;
                    write_checkpoint(&done, &identity, &ran)?;
                    comparison.forget()?;
                    ran
                }
            };
            records.extend(of_seed);
            map.get_or_insert(map_of_seed);
        }
        display.finish();
        let map = map.ok_or_else(|| Failure::Other(anyhow!("no seed was run")))?;
        Ok((records, map))
    }
}

fn json(value: &impl Serialize) -> Result<Vec<u8>, Failure> {
    serde_json::to_vec(value).map_err(|error| Failure::Other(error.into()))
}
