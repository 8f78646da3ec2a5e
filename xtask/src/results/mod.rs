//! The command `cargo xtask results`: figures of the pages of results, checked and measured again.

mod figure;
mod history;
mod pages;
mod runs;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, ensure};
use cargo_metadata::MetadataCommand;
use clap::Args;

use crate::findings::Findings;
use figure::Figure;

/// Path of the table of expected figures from the repository's root.
const TABLE: &str = "docs/results/expected.csv";

/// Options of `cargo xtask results`.
#[derive(Debug, Args)]
pub struct ResultsOptions {
    /// Compare the pages with docs/results/expected.csv without running anything, and name stale figures
    #[arg(long, conflicts_with = "quick")]
    check: bool,
    /// Measure only the figures that are marked as quick
    #[arg(long)]
    quick: bool,
    /// Page whose figures are measured, as its path or its name. Without it, all pages
    target: Option<String>,
}

/// Checks that each figure of the table is on its page as it is written in the table.
///
/// # Errors
/// If the table or a page cannot be read.
pub fn changed_by_hand(root: &Path) -> anyhow::Result<Findings> {
    Ok(Findings::of(pages::problems(root, &read(root)?)?))
}

/// Runs the command. The exit code is 1 if a figure is missing on its page, or another value is measured.
///
/// # Errors
/// If the table or a page cannot be read, git does not answer, or no figure is asked for.
pub fn run(options: &ResultsOptions) -> anyhow::Result<ExitCode> {
    let metadata = MetadataCommand::new().no_deps().exec();
    let metadata = metadata.context("cargo metadata failed")?;
    let root: PathBuf = metadata.workspace_root.into();
    let figures = asked(read(&root)?, options)?;
    let findings = if options.check {
        Findings {
            problems: pages::problems(&root, &figures)?,
            warnings: history::stale(&root, &figures)?,
        }
    } else {
        let runs = runs::Runs {
            folder: metadata.target_directory.join("results").into(),
            state: history::state(&root)?,
        };
        Findings::of(runs.problems(&figures, &mut |work| runs::icl(&root, work)))
    };
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

/// Returns the figures that are asked for.
fn asked(mut figures: Vec<Figure>, options: &ResultsOptions) -> anyhow::Result<Vec<Figure>> {
    if let Some(target) = &options.target {
        let is_target = |page: &Path| {
            page == Path::new(target) || page.file_stem().is_some_and(|stem| stem == &**target)
        };
        figures.retain(|figure| is_target(&figure.page));
        ensure!(
            !figures.is_empty(),
            "found no figure of the page {target} in {TABLE}, expected one"
        );
    }
    figures.retain(|figure| figure.is_quick || !options.quick);
    ensure!(
        !figures.is_empty(),
        "found no quick figure in {TABLE}, expected one"
    );
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &str = "figure,command,seed,value,tolerance,commit,date,quick";
    const A: &str = "docs/a.md#warm/risk.all,icl run,1,0.871,1 %,740119a,2026-11-22,";
    const B: &str = "\"docs/b.md#sampling=new,rate=cosine/risk.all\",icl run,1,0.871,1 %,740119a,2026-11-22,yes";

    fn read_lines(lines: &[&str]) -> anyhow::Result<Vec<Figure>> {
        let root = tempfile::tempdir()?;
        let path = root.path().join(TABLE);
        std::fs::create_dir_all(path.parent().context("a folder")?)?;
        std::fs::write(path, lines.join("\n"))?;
        read(root.path())
    }

    #[test]
    fn an_error_names_the_line() {
        let bad = B.replace("0.871", "much");
        let error = read_lines(&[COLUMNS, A, &bad]).unwrap_err();
        let error = format!("{error:#}");
        assert!(
            error.contains("line: 3") && error.contains("\"much\""),
            "{error}"
        );
        assert!(read_lines(&["figure,value", "a,1"]).is_err());
    }

    #[test]
    fn figures_are_asked_for_by_page_and_by_mark() {
        let methods = |quick, target: Option<&str>| {
            let options = ResultsOptions {
                check: false,
                quick,
                target: target.map(str::to_owned),
            };
            let figures = asked(read_lines(&[COLUMNS, A, B])?, &options)?;
            let methods = figures.into_iter().map(|figure| figure.method);
            anyhow::Ok(methods.collect::<Vec<_>>().join(" "))
        };
        let (warm, new) = ("warm", "sampling=new,rate=cosine");
        assert_eq!(methods(false, None).unwrap(), format!("{warm} {new}"));
        assert_eq!(methods(true, None).unwrap(), new);
        assert_eq!(methods(false, Some("a")).unwrap(), warm);
        assert_eq!(methods(false, Some("docs/b.md")).unwrap(), new);
        assert!(methods(false, Some("c")).is_err());
        assert!(methods(true, Some("a")).is_err());
    }
}
