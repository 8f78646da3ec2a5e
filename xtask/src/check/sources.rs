//! Reads the files of the repository.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// Folders with Rust files.
pub const CODE: [&str; 5] = ["crates", "examples", "experiments", "fuzz", "xtask"];

/// A text file of the repository.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// Path from the repository's root.
    pub path: PathBuf,
    /// Content.
    pub text: String,
}

impl Source {
    /// Checks whether the file as a whole is for tests.
    pub fn is_test(&self) -> bool {
        let is_tests = |name: &OsStr| name == "tests" || name == "tests.rs";
        self.path.iter().any(is_tests) || self.text.lines().any(|it| it == "#![cfg(test)]")
    }

    /// Counts the lines before the first module of tests in the file.
    pub fn n_lines_before_tests(&self) -> usize {
        let lines: Vec<&str> = self.text.lines().collect();
        let begins = |pair: &[&str]| {
            let is_module = pair[1].starts_with("mod ") && pair[1].ends_with('{');
            is_module && (pair[0] == "#[cfg(test)]" || pair[0].starts_with("#[cfg(all(test"))
        };
        let tests = lines.windows(2).position(begins);
        tests.unwrap_or(lines.len())
    }
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
