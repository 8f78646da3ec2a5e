//! `icl run`: compares methods on a data set, seed after seed.

mod comparison;
mod options;
mod protocol;
mod resolved;

use std::path::Path;

use anyhow::anyhow;
use icl_core::write_atomically;
use icl_report::{Document, EmbeddingMap, RunRecord};
use icl_train::{Identity, read_checkpoint, write_checkpoint};
use serde::Serialize;

use crate::backend::{OnBackend, TrainingBackend, on_backend};
use crate::domain::data::Data;
use crate::domain::{Domain, Graphs, Images};
use crate::files::checksum;
use crate::files::work_folder::{CONFIG, INPUT, Target, WorkFolder};
use crate::options::values::parse_toml;
use crate::process::failure::Failure;
use crate::process::interrupt;
use crate::process::progress::Display;
use crate::process::terminal::print;

use comparison::SeedComparison;
pub use options::RunOptions;
use resolved::Resolved;

/// One line a method and seed.
pub const RECORD: &str = "record.jsonl";
/// The report.
pub const REPORT: &str = "report.html";
/// The coordinates of the report's map.
pub const MAP: &str = "map.json";
/// The file that knows the data again; it is no state to go on from.
const DATA: &str = "data";
/// What the names of encoders begin with.
pub const ENCODER: &str = "encoder-";

/// Runs the comparison, writes its folder and prints its table.
///
/// # Errors
/// If an option or the data cannot be used, a training run fails, or somebody interrupts it.
pub fn run(options: RunOptions) -> Result<(), Failure> {
    interrupt::watch()?;
    let (resolved, resumed) = match &options.resume {
        Some(folder) => {
            let (work, config) = WorkFolder::resume(folder, is_ours)?;
            let options: RunOptions = parse_toml(folder, &config)?;
            (options.resolve()?, Some(work))
        }
        None => (options.over_file()?.resolve()?, None),
    };
    match Data::read(&resolved.data, &resolved.selection)? {
        Data::Graphs(data) => {
            resolved.encoder.check_unused(&resolved.data)?;
            run_on(&Graphs::of(&data), &data, &resolved, resumed)
        }
        Data::Images(data) => {
            let domain = Images::of(&data, &resolved.encoder)?;
            run_on(&domain, &data, &resolved, resumed)
        }
    }
}

fn run_on<D: Domain>(
    domain: &D,
    data: &D::Data,
    resolved: &Resolved,
    resumed: Option<WorkFolder>,
) -> Result<(), Failure> {
    let work = match resumed {
        Some(work) => work,
        None => {
            let config = toml::to_string(&resolved.options).map_err(Failure::input)?;
            let target = match &resolved.out {
                Some(out) => Target::Named(out.clone()),
                None => Target::Numbered(D::name(data).to_lowercase()),
            };
            WorkFolder::begin(target, resolved.force, &config, is_ours)?
        }
    };
    let task = Comparison {
        resolved,
        domain,
        data,
        work: &work,
    };
    let written = on_backend(&resolved.backend, task)
        .and_then(|(records, map)| write_results(&work, resolved, &records, &map));
    let report = match written {
        Ok(written) => written,
        Err(failure) => return Err(work.fail(failure, "run")),
    };
    let folder = work.publish()?;
    let text = report
        .as_ref()
        .map(|document| document.terminal(icl_report::DEFAULT_WIDTH, false));
    let text = text.unwrap_or_default();
    print(format_args!("{text}\nwritten to {}", folder.display()))?;
    report.map(|_| ())
}

/// Writes everything but the encoders, which are there already. A report that cannot be made must not
/// take the training with it: its failure is the inner one.
fn write_results(
    work: &WorkFolder,
    resolved: &Resolved,
    records: &[RunRecord],
    map: &EmbeddingMap,
) -> Result<Result<Document, Failure>, Failure> {
    let results = work.results();
    let config = toml::to_string(&resolved.options).map_err(Failure::input)?;
    write(&results.join(CONFIG), config.as_bytes())?;
    let mut lines = Vec::new();
    for record in records {
        lines.extend(json(record)?);
        lines.push(b'\n');
    }
    write(&results.join(RECORD), &lines)?;
    write(&results.join(MAP), &json(map)?)?;
    Ok(icl_report::comparison_document(records, Some(map))
        .map_err(|error| Failure::Other(error.into()))
        .and_then(|document| {
            write(&results.join(REPORT), document.html().as_bytes())?;
            Ok(document)
        }))
}

fn is_ours(name: &str) -> bool {
    [CONFIG, RECORD, REPORT, MAP].contains(&name)
        || name.starts_with(ENCODER) && name.ends_with(".safetensors")
}

struct Comparison<'a, D: Domain> {
    resolved: &'a Resolved,
    domain: &'a D,
    data: &'a D::Data,
    work: &'a WorkFolder,
}

impl<D: Domain> OnBackend for Comparison<'_, D> {
    type Output = (Vec<RunRecord>, EmbeddingMap);

    fn run<B: TrainingBackend>(self, device: B::Device) -> Result<Self::Output, Failure> {
        let resolved = self.resolved;
        let n_trained = resolved.methods.iter().filter(|m| m.loss.is_some()).count();
        let n_seeds = (resolved.seeds.end() - resolved.seeds.start()).saturating_add(1);
        let n_runs = n_seeds.saturating_mul(n_trained as u64 + 1);
        let display = Display::new(n_runs, resolved.settings.epochs as u64);
        let identity = Identity::new([
            ("checksum of the data".to_owned(), D::checksum(self.data)),
            (
                "checksum of the weights".to_owned(),
                checksum::of_file(resolved.encoder.weights.as_deref())?,
            ),
        ]);
        // The data are the same all along, also for the seed that was interrupted.
        let data = self.work.state(DATA).with_extension(INPUT);
        if read_checkpoint::<()>(&data, &identity)
            .map_err(Failure::checkpoint)?
            .is_none()
        {
            write_checkpoint(&data, &identity, &()).map_err(Failure::checkpoint)?;
        }
        let mut records = Vec::new();
        let mut map = None;
        for seed in resolved.seeds.clone() {
            let comparison = SeedComparison::<D, B> {
                resolved,
                domain: self.domain,
                data: self.data,
                work: self.work,
                seed,
                device: device.clone(),
                display: &display,
            };
            let done = self.work.state(&format!("seed{seed}"));
            let saved = read_checkpoint(&done, &identity).map_err(Failure::checkpoint)?;
            let (of_seed, map_of_seed) = match saved {
                Some(saved) => saved,
                None => {
                    let ran = comparison.run()?;
                    write_checkpoint(&done, &identity, &ran).map_err(Failure::checkpoint)?;
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

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_atomically(path, bytes).map_err(|error| Failure::file(path, "cannot be written", error))
}
