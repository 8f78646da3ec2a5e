//! `cargo xtask check`.

mod arrows;
mod house;
mod pages;
mod sources;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use cargo_metadata::{Metadata, MetadataCommand};

use crate::cargo;

/// What the checks look at.
struct Repository {
    root: PathBuf,
    metadata: Metadata,
}

/// What a check found.
#[derive(Debug, Default, PartialEq)]
struct Findings {
    /// Each fails the check.
    problems: Vec<String>,
    /// Each is shown and fails nothing.
    warnings: Vec<String>,
}

type Check = fn(&Repository) -> anyhow::Result<Findings>;

/// The checks, those first that answer at once.
const CHECKS: [(&str, Check); 6] = [
    ("dependency arrows", |repository| {
        Ok(Findings::of(arrows::problems(&arrows::packages(
            &repository.metadata,
        ))))
    }),
    ("house rules", |repository| house::check(&repository.root)),
    ("book and links", |repository| {
        pages::check(&repository.root)
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

/// Runs all checks, one line each, and says whether all passed.
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

/// A check that cargo makes; what it complains about, it prints itself.
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

impl Findings {
    fn of(problems: Vec<String>) -> Self {
        Self {
            problems,
            ..Self::default()
        }
    }

    /// One line with the verdict, and one for each finding.
    fn report(&self, name: &str) -> String {
        let verdict = if self.problems.is_empty() {
            "ok"
        } else {
            "FAILED"
        };
        let mut report = format!("{verdict:<7}{name}\n");
        for problem in &self.problems {
            report += &format!("       {problem}\n");
        }
        for warning in &self.warnings {
            report += &format!("       warning: {warning}\n");
        }
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_fails_nothing() {
        let mut findings = Findings::default();
        assert_eq!(findings.report("lints"), "ok     lints\n");
        findings.warnings.push("long".into());
        assert_eq!(
            findings.report("lints"),
            "ok     lints\n       warning: long\n"
        );
        findings.problems.push("wrong".into());
        assert_eq!(
            findings.report("lints"),
            "FAILED lints\n       wrong\n       warning: long\n"
        );
    }
}
