//! The command `cargo xtask results`: figures of the pages of results, checked and measured again.

mod figure;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};

use anyhow::{Context, ensure};
use cargo_metadata::MetadataCommand;
use clap::Args;
use serde_json::Value;

use crate::cargo;
use crate::findings::Findings;
use figure::Figure;

/// Path of the table of expected figures from the repository's root.
const TABLE: &str = "docs/results/expected.csv";

/// Options of `cargo xtask results`.
#[derive(Debug, Args)]
pub struct ResultsOptions {
    /// Measure only the figures that are marked as quick
    #[arg(long)]
    quick: bool,
    /// Page whose figures are measured, as its path. Without it, all pages
    page: Option<PathBuf>,
}

/// Checks that each figure of the table is on its page as it is written in the table: on a line with its
/// words, as often as the table has it there.
///
/// # Errors
/// If the table or a page cannot be read.
pub fn changed_by_hand(root: &Path) -> anyhow::Result<Findings> {
    let mut problems = Vec::new();
    let figures = read(root)?;
    for figure in &figures {
        let Figure {
            page, words, value, ..
        } = figure;
        let is_same =
            |it: &&Figure| (&it.page, &it.words, &it.value) == (&figure.page, words, value);
        let text = fs::read_to_string(root.join(page));
        let text = text.with_context(|| page.display().to_string())?;
        let lines = text.lines().filter(|line| line.contains(words.as_str()));
        let n_found: usize = lines.map(|line| figure.n_in(line)).sum();
        let n_expected = figures.iter().filter(is_same).count();
        if n_found < n_expected {
            let (page, name) = (page.display(), figure.name());
            problems.push(format!(
                "{page}: {name}: found {value} {n_found} times on lines with {words:?}, expected {n_expected}"
            ));
        }
    }
    Ok(Findings::of(problems))
}

/// Measures the figures again. The exit code is 1 if another value is measured.
///
/// # Errors
/// If the table cannot be read, no figure is asked for, or a run fails.
pub fn run(options: &ResultsOptions) -> anyhow::Result<ExitCode> {
    let metadata = MetadataCommand::new().no_deps().exec();
    let metadata = metadata.context("cargo metadata failed")?;
    let root: PathBuf = metadata.workspace_root.into();
    let mut figures = read(&root)?;
    figures.retain(|it| it.quick || !options.quick);
    figures.retain(|it| options.page.as_ref().is_none_or(|page| *page == it.page));
    ensure!(
        !figures.is_empty(),
        "found no such figure in {TABLE}, expected one"
    );
    let folder: PathBuf = metadata.target_directory.join("results").into();
    let commands: BTreeSet<&str> = figures.iter().map(|it| it.command.as_str()).collect();
    let mut records = BTreeMap::new();
    for command in commands {
        eprintln!("icl {command}");
        records.insert(command, of_run(&root, &folder, command)?);
    }
    let problem = |it: &Figure| it.problem(&records[it.command.as_str()]);
    let findings = Findings::of(figures.iter().filter_map(problem).collect());
    print!("{}", findings.report(&format!("{} figures", figures.len())));
    Ok(match findings.problems.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Reads the figures of the table.
fn read(root: &Path) -> anyhow::Result<Vec<Figure>> {
    let mut reader = csv::Reader::from_path(root.join(TABLE)).context(TABLE)?;
    let figures: Result<_, _> = reader.deserialize().collect();
    figures.context(TABLE)
}

/// Runs the program of the repository in a new folder and returns its records: one for each method and seed.
fn of_run(root: &Path, folder: &Path, command: &str) -> anyhow::Result<Vec<Value>> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let program = ["run", "--release", "--quiet", "--package", "icl-cli", "--"];
    let mut icl = cargo::command(program);
    // An earlier measurement that was interrupted has left its work there.
    icl.args(command.split(' '))
        .args(["--force", "--out"])
        .arg(folder);
    // Its tables are not shown.
    let status = cargo::status(icl.current_dir(root).stdout(Stdio::null()))?;
    ensure!(status.success(), "`icl {command}`: {status}");
    let path = folder.join("record.jsonl");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let records: Result<_, _> = text.lines().map(serde_json::from_str).collect();
    records.with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &str = "page,words,method,key,command,seeds,value,tolerance,commit,date,quick";

    fn root(table: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(TABLE);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{COLUMNS}\n{table}")).unwrap();
        root
    }

    #[test]
    fn figures_are_on_the_lines_of_their_methods() {
        let page = "Updating costs 0.87 nats on new data.\n\n| method | old | new |\n|---|---|---|\n\
                    | `icl` | 0.87 | 0.87 |\n| `icl-corrected` | 0.91 | 0.95 |\n";
        let line =
            |words: &str, value: &str| format!("a.md,{words},icl,risk,run,1,{value},0,c,d,true\n");
        for (table, expected) in [
            (line("`icl`", "0.87").repeat(2), 0),
            (line("nats on new data", "0.87"), 0),
            (line("`icl-corrected`", "0.95"), 0),
            // On the page, but of another method.
            (line("`icl`", "0.95"), 1),
            // Three that are equal, of which two are there.
            (line("`icl`", "0.87").repeat(3), 3),
        ] {
            let root = root(&table);
            fs::write(root.path().join("a.md"), page).unwrap();
            let problems = changed_by_hand(root.path()).unwrap().problems;
            assert_eq!(problems.len(), expected, "{problems:?}");
        }
        assert!(changed_by_hand(root(&line("", "1")).path()).is_err());
    }

    #[test]
    fn an_error_names_the_line() {
        let good = "a.md,,icl,risk,run,1,1,0.01,c,d,true\n";
        for wrong in [
            "a.md,1\n",
            &good.replace("0.01", "1 %"),
            &good.replace("true", "yes"),
        ] {
            let root = root(&format!("{good}{wrong}"));
            let error = format!("{:#}", read(root.path()).unwrap_err());
            assert!(error.contains("line: 3"), "{error}");
        }
    }
}
