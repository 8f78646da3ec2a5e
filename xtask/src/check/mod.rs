//! The command `cargo xtask check`.

mod anchors;
mod arrows;
mod circles;
mod dependencies;
mod house;
mod imports;
mod lines;
mod options;
mod pages;
mod sources;
mod summaries;
mod syntax;
mod wording;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use cargo_metadata::{Metadata, MetadataCommand};

use crate::findings::Findings;
use crate::{cargo, results};

pub use lines::{LinesOptions, lines};

/// The repository that is checked.
struct Repository {
    root: PathBuf,
    metadata: Metadata,
}

type Check = fn(&Repository) -> anyhow::Result<Findings>;

/// All checks, the quick ones first.
const CHECKS: [(&str, Check); 13] = [
    ("dependency arrows", |it| Ok(arrows::check(&it.metadata))),
    ("circles of imports", |it| {
        circles::check(&it.root, &it.metadata)
    }),
    ("house rules", |it| house::check(&it.root)),
    ("options", |it| options::check(&it.root)),
    ("first words of summaries", |it| summaries::check(&it.root)),
    ("book and links", |it| pages::check(&it.root)),
    ("figures of results", |it| {
        results::changed_by_hand(&it.root)
    }),
    ("wording", |it| wording::check(&it.root)),
    ("dependencies", |it| dependencies::check(&it.root)),
    ("format", |it| {
        of_cargo(it, "fmt --all -- --check", "run `cargo fmt --all`")
    }),
    ("crates without a backend", |it| {
        of_cargo(it, ALONE, "put what needs Burn behind a feature")
    }),
    ("lints", |it| of_cargo(it, LINTS, FOLLOW)),
    ("documentation", |it| {
        of_cargo(it, "doc --release --workspace --no-deps", FOLLOW)
    }),
];

// Alone, since features that other crates turn on would hide what is missing; it brings icl-core without its own.
const ALONE: &str = "check --release --package icl-eval";

/// Remedy for findings that the compiler explains.
const FOLLOW: &str = "its messages name the place and the remedy";

const LINTS: &str = "clippy --release --workspace --all-targets --keep-going -- -D warnings";

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

/// Runs a check of cargo, which prints its findings itself. A failure names the remedy.
fn of_cargo(repository: &Repository, arguments: &str, remedy: &str) -> anyhow::Result<Findings> {
    let mut command = cargo::command([]);
    command
        .args(arguments.split(' '))
        .current_dir(&repository.root);
    let status = cargo::status(command.env("RUSTDOCFLAGS", "-D warnings"))?;
    let problem = (!status.success()).then(|| format!("`cargo {arguments}`: {status}; {remedy}"));
    Ok(Findings::of(problem.into_iter().collect()))
}
