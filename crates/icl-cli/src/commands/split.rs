//! `icl split`: writes the old and the new part of a data set as two data sets.

use std::error::Error as _;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::{Arg, Args};
use icl_core::{Increment, PartialFolder, Seed};
use icl_data::{DataError, DataErrorKind, Header, RawTable, Split};

use crate::domain::data::Data;
use crate::domain::data::tell_order;
use crate::files::destination::unusable;
use crate::files::whole;
use crate::options::classes::Classes;
use crate::options::data::{DataOptions, ReadingOptions};
use crate::options::execution::DEFAULT_SEED;
use crate::options::output::check_out;
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
    check_out(Some(&options.out))?;
    let out = options.out.clone();
    if out.symlink_metadata().is_ok() {
        return Err(Failure::input(anyhow!(
            "out: found {}, expected a new folder",
            out.display()
        )));
    }
    if !whole::folder_of(&out).is_dir() {
        return Err(Failure::input(anyhow!(
            "out: found no folder for {}, expected an existing one",
            out.display()
        )));
    }
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
    write(&data, &increment, &out)?;
    let (n_old, n_new) = (increment.old().len(), increment.new_data().len());
    print(format_args!(
        "{n_old} old and {n_new} new samples (α = {:.2}) written to {} and {}",
        increment.growth_ratio().value(),
        out.join(OLD).display(),
        out.join(NEW).display()
    ))?;
    if let Data::TextPairs(pairs) = &data {
        let columns = pairs.written_columns();
        tell(format_args!(
            "note: read the parts with --texts '{}'",
            Classes::text(columns.iter().map(String::as_str))
        ));
    }
    if let Data::Tables(table) = &data {
        tell_reading(table, &increment);
    }
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

/// Reports the options that the parts of a table need to be read as the table was.
fn tell_reading(table: &RawTable, increment: &Increment) {
    let headers = [increment.old(), increment.new_data()].map(|rows| table.written_header(rows));
    if let Some(header) = headers.iter().find(|header| **header != Header::Auto) {
        tell(format_args!(
            "note: read the parts with --header {header}, since their first line could be read as something else"
        ));
    }
    for name in table.index_columns() {
        tell(format_args!(
            "note: column {name} numbers the rows of the whole table, and is written, too; read the parts with --exclude '{}'",
            Classes::text([name])
        ));
    }
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
        write_part(data, samples, &partial.results().join(name))?;
    }
    partial.publish(out).map_err(failure)
}

/// Creates a folder, and returns the path of the file of this name in it.
fn in_new_folder(folder: &Path, name: &str) -> Result<PathBuf, Failure> {
    let failure = |error| Failure::file(folder, "cannot be written", error);
    std::fs::create_dir(folder).map_err(failure)?;
    Ok(folder.join(name))
}

fn write_part(data: &Data, samples: &[usize], folder: &Path) -> Result<(), Failure> {
    match data {
        Data::Graphs(graphs) => graphs.write(samples, folder).map_err(failure),
        Data::Images(images) => images.write(samples, folder).map_err(failure),
        Data::Interactions(interactions) => {
            let path = in_new_folder(folder, &format!("{}.inter", interactions.name()))?;
            interactions.write(samples, path).map_err(failure)
        }
        Data::Tables(table) => {
            let path = in_new_folder(folder, &format!("{}.csv", table.name()))?;
            table.write(samples, path).map_err(failure)
        }
        Data::TextPairs(pairs) => {
            let path = in_new_folder(folder, &format!("{}.csv", pairs.name()))?;
            pairs.write(samples, path).map_err(failure)
        }
    }
}

/// Returns the failure to write a part: in our own folder, that of the machine, unless the names in the data cannot be
/// those of files.
fn failure(error: DataError) -> Failure {
    use std::io::ErrorKind::{AlreadyExists, InvalidFilename, InvalidInput};

    let source = error.source().and_then(|source| source.downcast_ref());
    match source.map(std::io::Error::kind) {
        Some(kind)
            if error.kind() == DataErrorKind::Unwritable
                && !matches!(kind, AlreadyExists | InvalidFilename | InvalidInput) =>
        {
            Failure::Other(error.into())
        }
        _ => Failure::input(error),
    }
}
