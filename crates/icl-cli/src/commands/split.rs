//! `icl split`: writes the old and the new part of a data set as two data sets.

use std::path::{Path, PathBuf};

use clap::{Arg, Args};
use icl_core::{Increment, PartialFolder, Seed};
use icl_data::Split;

use crate::domain::data::Data;
use crate::domain::data::tell_order;
use crate::files::destination::unusable;
use crate::options::data::{DataOptions, ReadingOptions};
use crate::options::execution::DEFAULT_SEED;
use crate::options::output::check_new;
use crate::options::split::SplitOptions;
use crate::process::failure::Failure;
use crate::process::terminal::{print, tell};

const DETAILS: &str = "\
It writes DIR/old and DIR/new, which icl train --data, icl update --old and --new and other commands read: graphs \
as TU data sets, images as IDX files, PNG files or copies of their files, tables as .csv with the fields of their rows, to the \
byte, interactions as .inter, pairs of texts as .csv. The parts \
are those of icl run with the same split and seed. A column that orders rows is written, too; --exclude leaves it \
out when the parts are read.";

/// Options of `icl split`.
#[derive(Debug, Clone, Args)]
#[command(after_help = DETAILS, mut_args(refined))]
pub struct PartsOptions {
    #[command(flatten)]
    data: DataOptions,
    #[command(flatten)]
    increment: SplitOptions,
    /// Root seed of all random numbers
    #[arg(long, value_name = "S", default_value_t = DEFAULT_SEED, help_heading = "Execution")]
    seed: u64,
    /// New folder that holds both parts
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: PathBuf,
}

/// Returns a shared option as this command takes it.
fn refined(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "data" => option.required(true).default_value(None),
        _ => option,
    }
}

/// Writes both parts of a data set.
///
/// # Errors
/// If an option or the data cannot be used, the folder exists already, or it cannot be written.
pub fn split(options: &PartsOptions) -> Result<(), Failure> {
    options.data.check()?;
    let out = &options.out;
    check_new(out)?;
    let (split, alpha) = (&options.increment.split, options.increment.growth_ratio()?);
    let seed = Seed::new(options.seed).child("data");
    let reading = ReadingOptions {
        // Missing values are written as they are.
        keeps_missing: true,
        ..options.data.reading.clone()
    };
    let data = Data::read(&options.data.name, &reading)?;
    let increment = match &data {
        Data::Graphs(graphs) => graphs.increment(split.clone(), alpha, seed),
        Data::Images(images) => images.increment(split.clone(), alpha, seed),
        Data::Interactions(interactions) => interactions.increment(split.clone(), alpha, seed),
        Data::Tables(table) => table.increment(split.clone(), alpha, seed),
        Data::TextPairs(pairs) => pairs.increment(split.clone(), alpha, seed),
    };
    let increment = increment.map_err(Failure::input)?;
    write(&data, &increment, out)?;
    let (n_old, n_new) = (increment.old().len(), increment.new_data().len());
    print(format_args!(
        "{n_old} old and {n_new} new samples (α = {:.2}) written to {} and {}",
        increment.growth_ratio().value(),
        out.join(OLD).display(),
        out.join(NEW).display()
    ))?;
    data.tell_reading(&[increment.old(), increment.new_data()]);
    if let Split::Column(name) = split {
        if let Data::Tables(table) = &data {
            tell_order(table, name);
        }
        tell(format_args!(
            "note: column {name} is written, too; read the parts with --exclude {name} if it is no feature"
        ));
    }
    Ok(())
}

/// Folder of the old part.
const OLD: &str = "old";
/// Folder of the new part.
const NEW: &str = "new";

/// Writes both parts into a folder that is whole or absent.
fn write(data: &Data, increment: &Increment, out: &Path) -> Result<(), Failure> {
    let failure = |error| unusable(out, &error);
    let partial = PartialFolder::begin(PartialFolder::next_to(out)).map_err(failure)?;
    for (name, samples) in [(OLD, increment.old()), (NEW, increment.new_data())] {
        data.write(samples, &partial.results().join(name))?;
    }
    partial.publish(out).map_err(failure)
}
