//! The files of a page: HTML and Markdown.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use icl_cli::parts::Failure;
use icl_core::write_atomically;
use icl_report::Document;

/// Creates an output folder, if it is not there.
///
/// # Errors
/// If it cannot be written.
pub fn create_folder(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::input(anyhow!("out: cannot write {}: {error}", folder.display())))
}

/// Writes a file and replaces the one that had its name.
///
/// # Errors
/// If it cannot be written; an earlier file still exists then.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_atomically(path, bytes).map_err(|error| Failure::file(path, "cannot be written", error))
}

/// Writes the page of a target to a folder; the paths of its files.
///
/// # Errors
/// If a file cannot be written.
pub fn write(document: &Document, folder: &Path, target: &str) -> Result<Vec<PathBuf>, Failure> {
    let files = [("html", document.html()), ("md", document.markdown())];
    let written = files.map(|(ending, text)| {
        let path = folder.join(format!("{target}.{ending}"));
        replace(&path, text.as_bytes())?;
        Ok(path)
    });
    written.into_iter().collect()
}
