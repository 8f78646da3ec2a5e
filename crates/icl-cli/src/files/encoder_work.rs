//! The folder of a command that trains one encoder: begun, gone on with, filled.

use std::path::Path;

use icl_core::write_atomically;
use icl_train::{Callbacks, Identity, read_checkpoint, write_checkpoint};
use serde::Serialize;

use crate::files::work_folder::{CONFIG, INPUT, Target, WorkFolder};
use crate::options::training::{Training, TrainingOptions};
use crate::options::values::parse_toml;
use crate::process::failure::Failure;
use crate::process::interrupt;
use crate::process::progress::Display;

/// The encoder.
pub const ENCODER: &str = "encoder.safetensors";
/// What happened, as JSON.
pub const RECORD: &str = "record.json";
/// The page of an update.
pub const REPORT: &str = "report.html";
/// The training run's state.
const STATE: &str = "training";

/// The options of the command over their file; or, where interrupted work is to go on, those that it
/// was begun with, and its folder.
///
/// # Errors
/// If there is no such work, or options cannot be read.
pub fn options<O: TrainingOptions>(options: O) -> Result<(O, Option<WorkFolder>), Failure> {
    let Some(folder) = options.resume() else {
        return Ok((options.over_file()?, None));
    };
    let (work, config) = WorkFolder::resume(folder, is_ours)?;
    Ok((parse_toml(folder, &config)?, Some(work)))
}

/// The folder to work in, which only goes on if the input is the same. The facts about it are kept
/// outside of the states: without a state there is nothing to go on with.
///
/// # Errors
/// If the folder cannot be written, may not be replaced, or was begun with another input.
pub fn folder<O: TrainingOptions>(
    resumed: Option<WorkFolder>,
    training: &Training,
    options: &O,
    input: &[(&str, String)],
) -> Result<WorkFolder, Failure> {
    let work = match resumed {
        Some(work) => work,
        None => {
            let target = Target::Named(training.out.clone());
            WorkFolder::begin(target, training.force, &config(options)?, is_ours)?
        }
    };
    let facts = input.iter().cloned();
    let identity = Identity::new(facts.map(|(name, value)| (name.to_owned(), value)));
    let path = work.state(STATE).with_extension(INPUT);
    let known = read_checkpoint::<()>(&path, &identity).map_err(Failure::checkpoint)?;
    if known.is_none() {
        write_checkpoint(&path, &identity, &()).map_err(Failure::checkpoint)?;
    }
    Ok(work)
}

/// Lets a training run show how far it is, stop on request, and go on from where it was.
pub fn callbacks<'a>(work: &WorkFolder, display: &'a Display) -> Callbacks<'a> {
    Callbacks::new()
        .on_progress(|progress| display.advance(&progress))
        .stop_when(interrupt::requested)
        .with_checkpoint(work.state(STATE))
}

/// Writes the options with every default, and the record.
///
/// # Errors
/// If a file cannot be written.
pub fn write_results<O: TrainingOptions>(
    work: &WorkFolder,
    options: &O,
    record: &impl Serialize,
) -> Result<(), Failure> {
    let mut json = serde_json::to_vec(record).map_err(|error| Failure::Other(error.into()))?;
    json.push(b'\n');
    write(&work.results().join(CONFIG), config(options)?.as_bytes())?;
    write(&work.results().join(RECORD), &json)
}

/// Writes one of the results.
///
/// # Errors
/// If it cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_atomically(path, bytes).map_err(|error| Failure::file(path, "cannot be written", error))
}

fn config<O: TrainingOptions>(options: &O) -> Result<String, Failure> {
    toml::to_string(options).map_err(Failure::input)
}

fn is_ours(name: &str) -> bool {
    [CONFIG, ENCODER, RECORD, REPORT].contains(&name)
}
