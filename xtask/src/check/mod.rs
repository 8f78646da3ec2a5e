//! The command `cargo xtask check`.

mod arrows;
mod circles;
mod dependencies;
mod house;
mod options;
mod pages;
mod sources;
mod summaries;
mod syntax;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use cargo_metadata::{Metadata, MetadataCommand};

use crate::findings::Findings;
use crate::{cargo, results};

/// The repository that is checked.
struct Repository {
    root: PathBuf,
    metadata: Metadata,
}

type Check = fn(&Repository) -> anyhow::Result<Findings>;

/// All checks, the quick ones first.
const CHECKS: [(&str, Check); 11] = [
    ("dependency arrows", |repository| {
        Ok(Findings::of(arrows::problems(&arrows::packages(
            &repository.metadata,
        ))))
    }),
    ("circles of imports", |repository| {
        circles::check(&repository.root, &repository.metadata)
    }),
    ("house rules", |repository| house::check(&repository.root)),
    ("options", |repository| options::check(&repository.root)),
    ("first words of summaries", |repository| {
        summaries::check(&repository.root)
    }),
    ("book and links", |repository| {
        pages::check(&repository.root)
    }),
    ("figures of results", |repository| {
        results::changed_by_hand(&repository.root)
    }),
    ("dependencies", |repository| {
        dependencies::check(&repository.root)
    }),
    ("format", |repository| {
        of_cargo(&repository.root, ["fmt", "--all", "--", "--check"], &[])
    }),
    ("lints", |repository| {
        let arguments = [
            "clippy",
            "--release",
            "--workspace",
            "--all-targets",
            "--keep-going",
            "--",
            "-D",
            "warnings",
        ];
        of_cargo(&repository.root, arguments, &[])
    }),
    ("documentation", |repository| {
        let arguments = ["doc", "--release", "--workspace", "--no-deps"];
        let flags = [("RUSTDOCFLAGS", "-D warnings")];
        of_cargo(&repository.root, arguments, &flags)
    }),
];

/// Runs all checks and prints one line for each, with its findings below. The exit code is 1 if one
/// of them failed.
///
/// # Errors
/// If the workspace cannot be read.
pub fn run() -> anyhow::Result<ExitCode> {
    // Without the dependencies of dependencies: it needs no network, and arrows are between ours.
    let metadata = MetadataCommand::new()
        .no_deps()
        .exec()
        .context("cargo metadata failed")?;
    let repository = Repository {
        root: metadata.workspace_root.clone().into(),
        metadata,
    };
    let mut n_failed = 0;
    for (name, check) in CHECKS {
        let findings = check(&repository).unwrap_or_else(|error| Findings {
            problems: vec![format!("{error:#}")],
            ..Findings::default()
        });
        n_failed += usize::from(!findings.problems.is_empty());
        print!("{}", findings.report(name));
    }
    if n_failed == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    println!("{n_failed} of {} checks failed", CHECKS.len());
    Ok(ExitCode::FAILURE)
}

/// Runs a check of cargo, which prints its findings itself.
fn of_cargo<const N: usize>(
    root: &Path,
    arguments: [&str; N],
    environment: &[(&str, &str)],
) -> anyhow::Result<Findings> {
    let mut command = cargo::command(arguments);
    command.current_dir(root).envs(environment.iter().copied());
    let status = cargo::status(&mut command)?;
    let problem = (!status.success()).then(|| format!("`cargo {}`: {status}", arguments.join(" ")));
    Ok(Findings::of(problem.into_iter().collect()))
}
