//! The folder of a command that trains one encoder.

use std::path::Path;

use icl_core::InputFile;
use icl_report::Scalar;
use icl_train::{Callbacks, Identity, read_checkpoint, write_checkpoint};
use serde::Serialize;

use crate::files::destination::Destination;
use crate::files::whole;
use crate::files::work_folder::{INPUT, WorkFolder};
use crate::files::work_place::CONFIG;
use crate::process::failure::Failure;
use crate::process::interrupt;
use crate::process::progress::Display;

/// The encoder.
pub const ENCODER: &str = "encoder.safetensors";
/// The updated encoder, where it is worse than the one that came in.
pub const REJECTED: &str = "rejected.safetensors";
/// The record, as JSON.
pub const RECORD: &str = "record.json";
/// The page of an update.
pub const REPORT: &str = "report.html";
/// The course of the training, for TensorBoard.
pub const EVENTS: &str = "events.out.tfevents.0.icl";
/// The state of the training run.
const STATE: &str = "training";
/// Size of the largest state that is copied, in bytes: 16 GiB.
const MAX_BYTES: u64 = 16 << 30;
/// The state of a training run that its budget ended.
pub const CHECKPOINT: &str = "training.checkpoint";

/// Whether such a command writes a file of this name.
fn is_result(name: &str) -> bool {
    [
        CONFIG, ENCODER, REJECTED, RECORD, REPORT, EVENTS, CHECKPOINT,
    ]
    .contains(&name)
}

/// Continues the work that was interrupted in `folder`, if there is one.
///
/// # Errors
/// If another process is at work there, or the folder cannot be written.
pub fn resumed(folder: Option<&Path>) -> Result<Option<WorkFolder>, Failure> {
    folder
        .map(|folder| WorkFolder::resume(folder, is_result))
        .transpose()
}

/// Begins to work in `destination`, unless interrupted work continues there, and checks that the
/// work has the same input as when it was begun.
///
/// The facts about the input are no state: with them alone there is nothing to continue.
///
/// # Errors
/// If the folder cannot be written, may not be replaced, or was begun with another input.
pub fn begin(
    resumed: Option<WorkFolder>,
    destination: Destination,
    config: &str,
    input: &[(&str, String)],
) -> Result<WorkFolder, Failure> {
    let work = match resumed {
        Some(work) => work,
        None => WorkFolder::begin(destination, is_result)?.with_options(config)?,
    };
    let facts = input.iter().cloned();
    let identity = Identity::new(facts.map(|(name, value)| (name.to_owned(), value)));
    let path = work.state(STATE).with_extension(INPUT);
    let known = read_checkpoint::<()>(&path, &identity)?;
    if known.is_none() {
        write_checkpoint(&path, &identity, &())?;
    }
    Ok(work)
}

/// Lets a training run show its progress, stop on request, and continue from its last state.
pub fn callbacks<'a>(work: &WorkFolder, display: &'a Display) -> Callbacks<'a> {
    Callbacks::new()
        .on_progress(|progress| display.advance(&progress))
        .stop_when(interrupt::requested)
        .with_checkpoint(work.state(STATE))
}

/// Keeps the state of a training run that its budget ended among the results, for a larger budget. The first
/// member of a group saves it.
///
/// # Errors
/// If it cannot be copied.
pub fn keep_state(work: &WorkFolder) -> Result<(), Failure> {
    copy(&work.state(STATE), &work.results().join(CHECKPOINT))
}

/// Continues from the state that an earlier update kept in a folder.
///
/// # Errors
/// If it cannot be copied.
pub fn take_state(folder: &Path, work: &WorkFolder) -> Result<(), Failure> {
    copy(&folder.join(CHECKPOINT), &work.state(STATE))
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let read = InputFile::open(from, MAX_BYTES).and_then(InputFile::bytes);
    let bytes = read.map_err(|error| Failure::file(from, "cannot be read", error))?;
    whole::write(to, &bytes)
}

/// Writes the options with every default, and the record.
///
/// # Errors
/// If a file cannot be written.
pub fn write_results(
    work: &WorkFolder,
    config: &str,
    record: &impl Serialize,
) -> Result<(), Failure> {
    let mut json = serde_json::to_vec(record).map_err(|error| Failure::Other(error.into()))?;
    json.push(b'\n');
    whole::write(&work.results().join(CONFIG), config.as_bytes())?;
    whole::write(&work.results().join(RECORD), &json)
}

/// Writes the course of the training for TensorBoard. Every event has the time 0: like the record, the file depends on the
/// seed alone.
///
/// # Errors
/// If the file cannot be written.
pub fn write_events(work: &WorkFolder, scalars: &[Scalar]) -> Result<(), Failure> {
    let events = icl_report::tensorboard_events(0.0, scalars);
    whole::write(&work.results().join(EVENTS), &events)
}
