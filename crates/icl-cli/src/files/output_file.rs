//! The single file that a command writes, and files beside it.

use std::path::{Path, PathBuf};

use anyhow::anyhow;

use crate::files::whole;
use crate::process::failure::Failure;

/// File that a command writes as a whole.
#[derive(Debug, Clone)]
pub struct OutputFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Whether an earlier file is replaced.
    pub force: bool,
}

impl OutputFile {
    /// Returns the file beside this one whose name has `part` before its ending.
    pub fn beside(&self, part: &str) -> Self {
        let ending = self.path.extension().unwrap_or_default().to_string_lossy();
        Self {
            path: self.path.with_extension(format!("{part}.{ending}")),
            force: self.force,
        }
    }

    /// Checks that the file may be written, as far as can be known beforehand. `inputs` are files that must not be replaced, with
    /// their names in the message.
    ///
    /// # Errors
    /// If it may not.
    pub fn check(&self, inputs: &[(&Path, &str)]) -> Result<(), Failure> {
        let out = &self.path;
        let wrong = |found: &str, expected: &str| {
            Err(Failure::input(anyhow!(
                "out: found {found} {}, expected {expected}",
                out.display()
            )))
        };
        if out.is_dir() {
            return wrong("a folder at", "a file or nothing");
        }
        if !self.force && out.symlink_metadata().is_ok() {
            return wrong("a file at", "nothing there (--force replaces it)");
        }
        if let Some((_, name)) = inputs.iter().find(|(input, _)| is_same_file(out, input)) {
            return wrong(&format!("{name} itself at"), "another file");
        }
        if !whole::folder_of(out).is_dir() {
            return wrong("no folder for", "an existing one");
        }
        Ok(())
    }

    /// Writes the file.
    ///
    /// # Errors
    /// If a file has the name that must not be replaced, or this one cannot be written.
    pub fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        match self.force {
            true => whole::replace(&self.path, bytes),
            false => whole::create(&self.path, bytes),
        }
    }
}

/// Returns whether two paths are those of one file.
fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
