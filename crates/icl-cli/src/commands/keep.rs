//! `icl keep`: keeps a uniform sample of all data so far.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use icl_core::{PartialFolder, Seed};
use icl_data::Found;
use icl_report::MadeBy;
use icl_train::Reservoir;
use serde::Serialize;

use crate::domain::data::kept::{Counted, DATA, KEPT, Kept, NAME};
use crate::domain::data::{Data, absolute, sources};
use crate::files::destination::unusable;
use crate::files::whole;
use crate::options::bounds;
use crate::options::command_line::command_line;
use crate::options::data::ReadingOptions;
use crate::options::execution::DEFAULT_SEED;
use crate::options::output::{check_new, text};
use crate::process::failure::Failure;
use crate::process::terminal::{print, tell};

const DETAILS: &str = "\
It writes DIR/data, which other commands read, and DIR/kept.json, with the number of all samples so far, for which \
those in DIR/data stand. icl update takes DIR as --old-sample where the old data are gone. With --from it reads the new \
data alone, and each sample so far has the same chance to be among the kept ones (a reservoir).";

/// Options of `icl keep`.
#[derive(Debug, Clone, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(after_help = DETAILS)]
pub struct KeepOptions {
    /// Data to keep samples of: one or more data sets or paths, patterns such as 'days/*.csv', or @LIST, a file with
    /// one of them on each line; with --from those that have come since
    #[arg(long, value_name = "DATA", num_args = 1.., required = true, help_heading = "Data")]
    data: Vec<PathBuf>,
    /// Folder of the sample so far
    #[arg(long, value_name = "DIR", help_heading = "Data")]
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<PathBuf>,
    /// Number of samples to keep. Without it, that of --from
    #[arg(
        long,
        value_name = "N",
        value_parser = bounds::at_most(bounds::SAMPLES),
        required_unless_present = "from",
        help_heading = "Data"
    )]
    size: Option<usize>,
    #[command(flatten)]
    #[serde(flatten)]
    reading: ReadingOptions,
    /// Root seed of the draw
    #[arg(long, value_name = "S", default_value_t = DEFAULT_SEED, help_heading = "Execution")]
    seed: u64,
    /// New folder of the sample
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: PathBuf,
}

/// Draws the sample and writes it.
///
/// # Errors
/// If an option or the data cannot be used, the folder exists already, or it cannot be written.
pub fn keep(options: &KeepOptions) -> Result<(), Failure> {
    let out = &options.out;
    check_new(out)?;
    let new = sources("data", &options.data)?;
    let before = match &options.from {
        None => None,
        Some(folder) => Some((
            folder,
            Kept::read(folder)?.ok_or_else(|| no_sample(folder))?,
        )),
    };
    if let Some(limit) = options.reading.limit {
        return Err(Failure::input(anyhow!(
            "limit: found {limit}, expected --size: a sample that --limit draws is balanced across classes, not uniform"
        )));
    }
    let size = size(options, before.as_ref().map(|(_, kept)| kept))?;
    let reading = ReadingOptions {
        // Missing values are written as they are.
        keeps_missing: true,
        ..options.reading.clone()
    };
    let (data, n_before) = match &before {
        None => (Data::read_all(&new, &reading)?, 0),
        Some((folder, kept)) => {
            let path = folder.join(DATA);
            let path = text("from", &path)?;
            let so_far = Data::read(path, &kept.reading(&reading))?;
            let n_kept = so_far.n_samples();
            kept.check("from", folder, n_kept)?;
            let since = Data::read_all(&new, &reading)?;
            check_columns(folder, &so_far, &since)?;
            let parts = vec![(path, so_far), ("the new data", since)];
            (Data::together(parts)?, n_kept)
        }
    };
    if let Data::Interactions(_) = data {
        return Err(Failure::input(anyhow!(
            "data: found interactions, expected independent samples: the interactions of one user belong together"
        )));
    }
    let n_seen = before.as_ref().map_or(0, |(_, kept)| kept.n_seen);
    // A child for each day: with the same random numbers every day, the draws would depend on each other.
    let mut rng = Seed::new(options.seed)
        .child("keep")
        .at(n_seen as u64)
        .rng();
    let mut reservoir = Reservoir::resumed((0..n_before).collect(), size, n_seen, &mut rng);
    (n_before..data.n_samples()).for_each(|sample| reservoir.push(sample, &mut rng));
    let mut samples = reservoir.items().to_vec();
    samples.sort_unstable();
    let counted = Counted {
        sources: absolute(&new)?,
        n_samples: data.n_samples() - n_before,
    };
    let mut all = before.map_or_else(Vec::new, |(_, kept)| kept.sources);
    let mut known = all.iter().flat_map(|it| &it.sources);
    if let Some(source) = known.find(|source| counted.sources.contains(source)) {
        tell(format_args!(
            "note: data: samples of {source} were counted before; if these are the same, keep the sample of --from"
        ));
    }
    all.push(counted);
    let made_by = MadeBy::command(&command_line("keep", options)?);
    let header = data.written_header(&samples);
    let kept = Kept::new(made_by, size, samples.len(), all, header);
    if kept.n_seen > bounds::REPRESENTED {
        return Err(Failure::input(anyhow!(
            "data: found {} samples so far, expected at most {}",
            kept.n_seen,
            bounds::REPRESENTED
        )));
    }
    write(&data.with_name(NAME), &samples, &kept, out)?;
    print(format_args!(
        "{} samples, which stand for {}, written to {}",
        kept.n_kept,
        kept.n_seen,
        out.display()
    ))
}

/// Checks that new rows have all columns of the kept ones: a column that is left out once would be lost for good.
///
/// # Errors
/// If they lack one.
fn check_columns(folder: &Path, kept: &Data, new: &Data) -> Result<(), Failure> {
    let (Data::Tables(kept), Data::Tables(new)) = (kept, new) else {
        return Ok(());
    };
    let of_new = new.column_names();
    let mut names = kept.column_names().into_iter();
    match names.find(|name| !of_new.contains(name)) {
        None => Ok(()),
        Some(name) => Err(Failure::input(anyhow!(
            "data: found no column {} in {}, expected the columns of the sample in {}",
            Found::new(name),
            new.name(),
            folder.display()
        ))),
    }
}

/// Returns the number of samples to keep.
///
/// # Errors
/// If it is below 2, or larger than a sample that can no longer grow.
fn size(options: &KeepOptions, before: Option<&Kept>) -> Result<usize, Failure> {
    let found = options.size.or(before.map(|kept| kept.size));
    let (size, most) = match before {
        Some(kept) if kept.n_kept < kept.n_seen => (found, kept.n_kept),
        _ => (found, usize::MAX),
    };
    match size {
        Some(size) if (2..=most).contains(&size) => Ok(size),
        _ => Err(Failure::input(anyhow!(
            "size: found {}, expected {}",
            size.unwrap_or_default(),
            match most {
                usize::MAX => "2 or more".to_owned(),
                most => format!("2 to {most}: the samples that --from has not kept are gone"),
            }
        ))),
    }
}

/// Returns the failure of a folder that holds no kept sample.
fn no_sample(folder: &Path) -> Failure {
    Failure::input(anyhow!(
        "from: found no {}, expected the folder of a sample that `icl keep` wrote",
        folder.join(KEPT).display()
    ))
}

/// Writes the sample into a folder that is whole or absent.
fn write(data: &Data, samples: &[usize], kept: &Kept, out: &Path) -> Result<(), Failure> {
    let failure = |error| unusable(out, &error);
    let partial = PartialFolder::begin(PartialFolder::next_to(out)).map_err(failure)?;
    data.write(samples, &partial.results().join(DATA))?;
    let text = serde_json::to_string_pretty(kept).map_err(Failure::input)? + "\n";
    whole::write(&partial.results().join(KEPT), text.as_bytes())?;
    partial.publish(out).map_err(failure)
}
