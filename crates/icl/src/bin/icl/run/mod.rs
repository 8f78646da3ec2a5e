//! `icl run`: compares methods on a data set, seed after seed.

mod comparison;
mod encoder_file;
mod options;
mod output;
mod progress;
mod protocol;
mod resolved;

use std::fs::File;
use std::io::Write;
use std::path::Path;

use burn::tensor::backend::AutodiffBackend;
use icl::data::GraphDataset;
use icl::models::GraphBackend;
use icl::{EmbeddingMap, RunRecord};
use serde::Serialize;

use crate::backend::{OnBackend, on_backend};
use crate::failure::Failure;
use crate::streams::print;

pub use options::RunOptions;
use output::{Output, Target};
use progress::Display;
use resolved::Resolved;

/// The resolved options.
pub const CONFIG: &str = "config.toml";
/// One line a method and seed.
pub const RECORD: &str = "record.jsonl";
/// The report.
pub const REPORT: &str = "report.html";
/// The coordinates of the report's map.
pub const MAP: &str = "map.json";
/// What the names of encoders begin with.
pub const ENCODER: &str = "encoder-";

/// Runs the comparison, writes its folder and prints its table.
///
/// # Errors
/// If an option or the data cannot be used, or a training run fails.
pub fn run(options: RunOptions) -> Result<(), Failure> {
    let resolved = options.over_file()?.resolve()?;
    let data = read_data(&resolved.data)?;
    let config = toml::to_string(&resolved.options).map_err(Failure::input)?;
    let target = match &resolved.out {
        Some(out) => Target::Named(out.clone()),
        None => Target::Numbered(data.name().to_lowercase()),
    };
    let output = Output::prepare(target, resolved.force)?;
    write(&output.folder().join(CONFIG), config.as_bytes())?;
    let backend = resolved.backend.clone();
    let task = Comparison {
        resolved: &resolved,
        data: &data,
        folder: output.folder(),
    };
    let (records, map) = on_backend(&backend, task)?;
    write(&output.folder().join(MAP), &json(&map)?)?;
    // A report that cannot be made must not take the training with it.
    let report = icl::report::html(&records, Some(&map))
        .map_err(|error| Failure::Other(error.into()))
        .and_then(|html| write(&output.folder().join(REPORT), html.as_bytes()));
    let folder = output.publish()?;
    let table = icl::report::terminal_table(&records);
    let table = table.trim_end();
    print(format_args!("{table}\n\nwritten to {}", folder.display()))?;
    report
}

/// An embedded data set, or one on the disk.
fn read_data(data: &str) -> Result<GraphDataset, Failure> {
    let is_embedded = icl::data::embedded::names()
        .iter()
        .any(|name| name.eq_ignore_ascii_case(data));
    let result = if is_embedded {
        icl::data::embedded::graphs(data)
    } else {
        icl::data::read_tu(data)
    };
    result.map_err(Failure::input)
}

struct Comparison<'a> {
    resolved: &'a Resolved,
    data: &'a GraphDataset,
    folder: &'a Path,
}

impl OnBackend for Comparison<'_> {
    type Output = (Vec<RunRecord>, EmbeddingMap);

    fn run<B>(self, device: B::Device) -> Result<Self::Output, Failure>
    where
        B: AutodiffBackend + GraphBackend,
        B::InnerBackend: GraphBackend,
    {
        let resolved = self.resolved;
        let path = self.folder.join(RECORD);
        let mut file = File::create(&path)
            .map_err(|error| Failure::file(&path, "cannot be written", error))?;
        let n_trained = resolved
            .methods
            .iter()
            .filter(|m| m.objective.is_some())
            .count();
        let n_seeds = (resolved.seeds.end() - resolved.seeds.start()).saturating_add(1);
        let n_runs = n_seeds.saturating_mul(n_trained as u64 + 1);
        let display = Display::new(n_runs, resolved.settings.epochs as u64);
        let mut records = Vec::new();
        let mut map = None;
        for seed in resolved.seeds.clone() {
            let comparison = comparison::SeedComparison::<B> {
                resolved,
                data: self.data,
                folder: self.folder,
                seed,
                device: device.clone(),
                display: &display,
            };
            let (of_seed, map_of_seed) = comparison.run()?;
            for record in &of_seed {
                let mut line = json(record)?;
                line.push(b'\n');
                file.write_all(&line)
                    .map_err(|error| Failure::file(&path, "cannot be written", error))?;
            }
            records.extend(of_seed);
            map.get_or_insert(map_of_seed);
        }
        display.finish();
        let map = map.ok_or_else(|| Failure::Other(anyhow::anyhow!("no seed was run")))?;
        Ok((records, map))
    }
}

fn json(value: &impl Serialize) -> Result<Vec<u8>, Failure> {
    serde_json::to_vec(value).map_err(|error| Failure::Other(error.into()))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes).map_err(|error| Failure::file(path, "cannot be written", error))
}
