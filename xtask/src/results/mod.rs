//! The command `cargo xtask results`: figures of the pages of results, checked and measured again.

mod figure;
mod history;
mod measured;
mod pages;
mod runs;
mod table;
mod written;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use cargo_metadata::MetadataCommand;
use clap::Args;

use crate::findings::Findings;
use figure::Figure;

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
    let figures = table::read(root)?;
    Ok(Findings::of(pages::problems(root, &figures)?))
}

/// Runs the command. The exit code is 1 if a figure is missing on its page, or another value is measured.
///
/// # Errors
/// If the table or a page cannot be read, git does not answer, or no figure is asked for.
pub fn run(options: &ResultsOptions) -> anyhow::Result<ExitCode> {
    let metadata = MetadataCommand::new()
        .no_deps()
        .exec()
        .context("cargo metadata failed")?;
    let root: PathBuf = metadata.workspace_root.into();
    let figures = asked(table::read(&root)?, options)?;
    let findings = if options.check {
        Findings {
            problems: pages::problems(&root, &figures)?,
            warnings: history::stale(&root, &figures)?,
        }
    } else {
        let folder = metadata
            .target_directory
            .into_std_path_buf()
            .join("results");
        let runs = runs::Runs {
            folder,
            state: history::state(&root)?,
        };
        Findings::of(runs.problems(&figures, &mut |work| runs::icl(&root, work))?)
    };
    print!("{}", findings.report(&format!("{} figures", figures.len())));
    Ok(match findings.problems.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Returns the figures that are asked for.
fn asked(figures: Vec<Figure>, options: &ResultsOptions) -> anyhow::Result<Vec<Figure>> {
    let is_target = |figure: &Figure| {
        options.target.as_deref().is_none_or(|target| {
            figure.page == Path::new(target)
                || figure.page.file_stem().is_some_and(|stem| stem == target)
        })
    };
    let mut figures = figures;
    figures.retain(is_target);
    if let Some(target) = &options.target {
        ensure!(
            !figures.is_empty(),
            "found no figure of the page {target} in {}, expected one",
            table::PATH
        );
    }
    if options.quick {
        figures.retain(|figure| figure.is_quick);
        if figures.is_empty() {
            bail!("found no quick figure in {}, expected one", table::PATH);
        }
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_asked_for_by_page_and_by_mark() {
        let figures = || {
            vec![Figure::made_up("docs/results/a.md", "warm", "1.0"), {
                let mut quick = Figure::made_up("docs/results/b.md", "icl", "2.0");
                quick.is_quick = true;
                quick
            }]
        };
        let options = |quick, target: Option<&str>| ResultsOptions {
            check: false,
            quick,
            target: target.map(str::to_owned),
        };
        let methods = |options: &ResultsOptions| -> Vec<String> {
            let asked = asked(figures(), options).unwrap();
            asked.into_iter().map(|figure| figure.method).collect()
        };
        assert_eq!(methods(&options(false, None)), ["warm", "icl"]);
        assert_eq!(methods(&options(true, None)), ["icl"]);
        assert_eq!(methods(&options(false, Some("a"))), ["warm"]);
        assert_eq!(methods(&options(false, Some("docs/results/b.md"))), ["icl"]);
        assert!(asked(figures(), &options(false, Some("c"))).is_err());
        assert!(asked(figures(), &options(true, Some("a"))).is_err());
    }
}
