//! The way back: a stream as it was after an earlier experience.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::anyhow;

use crate::commands::stream::current::serve;
use crate::commands::stream::folder::StreamFolder;
use crate::commands::stream::strategy::MEMORY;
use crate::files::encoder_work::ENCODER;
use crate::files::work_folder;
use crate::process::failure::Failure;
use crate::process::terminal::print;

/// Folder of what was taken back, in that of the stream.
const UNDONE: &str = "undone";

/// Takes a stream back to its state after the experience of this number. The folders of later ones are moved, the last
/// first: a kill leaves a stream that has been taken back in part. The stream goes through their data again when it
/// continues.
///
/// # Errors
/// If the folder is none of a stream, another process is at work there, there is no such experience or its state is
/// gone, or a folder cannot be moved.
pub fn rollback(out: &Path, last: usize) -> Result<(), Failure> {
    // Of any other folder, nothing is touched.
    work_folder::begun(out)?;
    let folder = StreamFolder::resume(out)?;
    let names = folder.names()?;
    let paths: Vec<PathBuf> = names
        .iter()
        .enumerate()
        .map(|(at, name)| folder.experience(at, name))
        .collect();
    let may_end = |at: &usize| paths[*at].join(MEMORY).exists();
    let Some(first) = (0..paths.len()).find(may_end) else {
        return Err(Failure::input(anyhow!(
            "rollback: found no experience in {}, expected at least one",
            out.display()
        )));
    };
    if !(first..paths.len()).contains(&last) {
        return Err(Failure::input(anyhow!(
            "rollback: found {last}, expected the number of an experience from {first} to {}, whose states are there",
            paths.len() - 1
        )));
    }
    let (kept, undone) = paths.split_at(last + 1);
    let encoders = kept.iter().map(|path| path.join(ENCODER));
    let encoder = encoders.rev().find(|path| path.exists());
    let encoder = encoder.ok_or_else(|| {
        Failure::input(anyhow!(
            "{}: found no encoder in the experiences up to {last}, expected that of the first",
            out.display()
        ))
    })?;
    folder.forget_work()?;
    if !undone.is_empty() {
        let target = free(&out.join(UNDONE));
        fs::create_dir_all(&target)
            .map_err(|error| Failure::file(&target, "cannot be written", error))?;
        for path in undone.iter().rev() {
            let to = target.join(path.file_name().unwrap_or_default());
            fs::rename(path, &to).map_err(|error| Failure::file(path, "cannot be moved", error))?;
        }
        print(format_args!(
            "{} experiences were moved to {}; icl stream --resume {} goes through their data again",
            undone.len(),
            target.display(),
            out.display()
        ))?;
    }
    serve(out, &encoder, kept.len())?;
    print(format_args!(
        "{} is the encoder to serve",
        encoder.display()
    ))
}

/// Returns the first folder in this one that is free, named by its number.
fn free(folder: &Path) -> PathBuf {
    let numbers = 1_usize..;
    let mut paths = numbers.map(|number| folder.join(number.to_string()));
    let free = paths.find(|path| path.symlink_metadata().is_err());
    free.expect("some number is free")
}
