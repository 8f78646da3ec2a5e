//! Reads the files of the repository.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// A text file of the repository.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// Path from the repository's root.
    pub path: PathBuf,
    /// Content.
    pub text: String,
}

/// Reads all files with this extension at or below `start`, a path from `root`, in the order of their
/// paths. Hidden folders and cargo's `target` are left out; if `start` does not exist, there are none.
///
/// # Errors
/// If a file or folder cannot be read, or a file is not UTF-8.
pub fn read(root: &Path, start: &str, extension: &str) -> anyhow::Result<Vec<Source>> {
    let mut paths = Vec::new();
    collect(&root.join(start), extension, &mut paths)?;
    paths.sort();
    let source = |path: PathBuf| {
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let path = path.strip_prefix(root).unwrap_or(&path).to_path_buf();
        Ok(Source { path, text })
    };
    paths.into_iter().map(source).collect()
}

fn collect(path: &Path, extension: &str, found: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    if !path.is_dir() {
        if path.is_file() && path.extension().is_some_and(|it| it == extension) {
            found.push(path.to_path_buf());
        }
        return Ok(());
    }
    for entry in fs::read_dir(path).with_context(|| path.display().to_string())? {
        let entry = entry.with_context(|| path.display().to_string())?;
        let name = entry.file_name();
        if name != "target" && !name.to_string_lossy().starts_with('.') {
            collect(&entry.path(), extension, found)?;
        }
    }
    Ok(())
}
