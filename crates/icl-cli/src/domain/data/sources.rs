//! Several sources that are one data set: files and folders, patterns of names, and lists of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use icl_core::InputFile;
use icl_data::{Found, embedded, looks_like_table};

use crate::files::work_folder::MAX_OPTIONS_BYTES;
use crate::process::failure::Failure;

/// Returns the sources that the values of an option name, in their order: a data set or a path, a pattern such as
/// `days/*.csv` the paths that it matches in the order of their names, `@LIST` those in a file, one on each line.
///
/// # Errors
/// If a pattern matches nothing or is none, a list cannot be read or is empty, or a source occurs twice.
pub fn sources(option: &str, given: &[PathBuf]) -> Result<Vec<String>, Failure> {
    let mut all = Vec::new();
    for value in given {
        let text = value.to_str().ok_or_else(|| {
            Failure::input(anyhow!(
                "{option}: found {}, expected a name in UTF-8",
                value.display()
            ))
        })?;
        match text.strip_prefix('@') {
            Some(list) if !value.exists() => all.extend(listed(option, Path::new(list))?),
            _ => all.extend(matched(option, text)?),
        }
    }
    let mut known = BTreeSet::new();
    match all.iter().find(|source| !known.insert(*source)) {
        None => Ok(all),
        Some(source) => Err(Failure::input(anyhow!(
            "{option}: found {} twice, expected each source once",
            Found::new(source)
        ))),
    }
}

/// Returns the sources in a list. Paths are relative to its folder.
fn listed(option: &str, path: &Path) -> Result<Vec<String>, Failure> {
    let text = InputFile::open(path, MAX_OPTIONS_BYTES).and_then(InputFile::text);
    let text = text.map_err(|error| {
        Failure::input(anyhow!(
            "{option}: {}: found no readable file ({error}), expected a list of data sets, one on each line",
            path.display()
        ))
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let lines = text.lines().map(str::trim);
    let mut sources = Vec::new();
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let next_to = folder.join(line);
        match next_to.to_str().filter(|_| !is_embedded(line)) {
            Some(path) => sources.extend(matched(option, path)?),
            None => sources.push(line.to_owned()),
        }
    }
    match sources.is_empty() {
        false => Ok(sources),
        true => Err(Failure::input(anyhow!(
            "{option}: {}: found no line, expected a data set on each",
            path.display()
        ))),
    }
}

/// Returns what a pattern matches, in the order of names; a text that is none, or the name of something, is itself.
fn matched(option: &str, text: &str) -> Result<Vec<String>, Failure> {
    if !text.contains(['*', '?', '[']) || Path::new(text).exists() {
        return Ok(vec![text.to_owned()]);
    }
    let wrong = |found: String| {
        Failure::input(anyhow!(
            "{option}: found {found}, expected files or folders"
        ))
    };
    let paths = glob::glob(text).map_err(|error| wrong(format!("the pattern {text} ({error})")))?;
    let mut matched = Vec::new();
    for path in paths {
        let path = path.map_err(|error| wrong(error.to_string()))?;
        let path = path.to_str().map(str::to_owned);
        matched.push(path.ok_or_else(|| wrong(format!("a name under {text} that is not UTF-8")))?);
    }
    match matched.is_empty() {
        false => Ok(matched),
        true => Err(wrong(format!("nothing that the pattern {text} matches"))),
    }
}

/// Whether a name is that of an embedded data set.
fn is_embedded(name: &str) -> bool {
    embedded::names()
        .iter()
        .any(|it| it.eq_ignore_ascii_case(name))
}

/// Returns sources as they are found again from any folder: absolute paths, and names of embedded data sets.
///
/// # Errors
/// If the current folder is not known.
pub fn absolute(sources: &[String]) -> Result<Vec<String>, Failure> {
    let absolute = sources.iter().map(|source| match is_embedded(source) {
        true => Ok(source.clone()),
        false => {
            let path = std::path::absolute(source);
            let path =
                path.map_err(|error| Failure::file(Path::new(source), "cannot be found", error))?;
            Ok(path.to_string_lossy().into_owned())
        }
    });
    absolute.collect()
}

/// Returns the tables in a folder that holds nothing else, in the order of their names; none for any other folder, and
/// for a single one, which is a table by itself.
pub(super) fn tables_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_hidden = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with('.'))
    };
    let paths = entries.map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| !is_hidden(path)).collect();
    paths.sort_unstable();
    let are_tables = paths
        .iter()
        .all(|path| path.is_file() && looks_like_table(path));
    let texts = paths.iter().map(|path| path.to_str().map(str::to_owned));
    match texts.collect::<Option<Vec<String>>>() {
        Some(texts) if are_tables && texts.len() > 1 => texts,
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use tempfile::tempdir;

    #[test]
    fn values_name_their_sources_in_order() {
        let at = tempdir().unwrap();
        for name in ["b.csv", "a.csv", "c.csv"] {
            std::fs::write(at.path().join(name), "x,y\n1,2\n3,4\n").unwrap();
        }
        std::fs::write(at.path().join("list"), "# days\nc.csv\n\n a*.csv \nMUTAG\n").unwrap();
        let path = |name: &str| at.path().join(name).to_str().unwrap().to_owned();
        let of = |values: &[String]| {
            let values: Vec<PathBuf> = values.iter().map(PathBuf::from).collect();
            sources("old", &values).map_err(|error| error.to_string())
        };
        let all = [path("a.csv"), path("b.csv"), path("c.csv")];
        assert_eq!(of(&[path("*.csv")]).unwrap(), all);
        let list = format!("@{}", path("list"));
        let expected = [path("c.csv"), path("a.csv"), "MUTAG".to_owned()];
        assert_eq!(of(std::slice::from_ref(&list)).unwrap(), expected);
        assert_eq!(of(&["digits".to_owned()]).unwrap(), ["digits"]);
        let twice = of(&[list, path("c.csv")]).unwrap_err();
        assert!(
            twice.starts_with("old: found ") && twice.contains(" twice"),
            "{twice}"
        );
        for (value, message) in [
            (path("*.tsv"), "nothing that the pattern"),
            (path("***"), "the pattern "),
            (
                "@nowhere".to_owned(),
                "old: nowhere: found no readable file",
            ),
        ] {
            let error = of(&[value]).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
        std::fs::remove_file(at.path().join("list")).unwrap();
        assert_eq!(tables_in(at.path()), all);
        std::fs::write(at.path().join("notes.md"), "").unwrap();
        assert_eq!(tables_in(at.path()), [""; 0]);
    }
}
