//! Runs that measure figures again, and their folders.
//!
//! ```text
//! target/results/NAME/
//!     command       the arguments and the commit of the run
//!     run/          the folder that `icl run` writes, or has begun to write
//! ```

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, ensure};

use super::figure::Figure;
use super::history::State;
use super::measured::Records;
use crate::cargo;

/// Records in the folder of a complete run.
const RECORDS: &str = "record.jsonl";
/// Options in the folder of a run that was interrupted.
const INTERRUPTED: &str = ".checkpoint/config.toml";

/// Runs of figures with the code of one state.
#[derive(Debug)]
pub struct Runs {
    /// Folder of all runs.
    pub folder: PathBuf,
    /// State of the code.
    pub state: State,
}

/// Run of `icl` that is to be begun or continued.
#[derive(Debug, PartialEq)]
pub struct Work<'a> {
    /// Arguments, without the folder.
    pub command: &'a str,
    /// Folder of the run.
    pub folder: PathBuf,
    /// Whether the run was interrupted in this folder.
    pub is_begun: bool,
}

impl Runs {
    /// Measures the figures, each command once, and returns a sentence for each that is not met. A complete
    /// run of the same command and commit is not repeated, and one that was interrupted continues. `run`
    /// runs a command to its end.
    ///
    /// # Errors
    /// If a folder cannot be written.
    pub fn problems(
        &self,
        figures: &[Figure],
        run: &mut dyn FnMut(&Work<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<Vec<String>> {
        let mut commands: Vec<&str> = Vec::new();
        for figure in figures {
            if !commands.contains(&figure.command.as_str()) {
                commands.push(&figure.command);
            }
        }
        let mut problems = Vec::new();
        for command in commands {
            let figures = figures.iter().filter(|figure| figure.command == command);
            match self.records(command, run) {
                Ok(records) => problems.extend(figures.filter_map(|it| problem(it, &records))),
                Err(error) => problems.push(format!("`icl {command}`: {error:#}")),
            }
        }
        Ok(problems)
    }

    /// Returns the records of a command, which is run if it must.
    fn records(
        &self,
        command: &str,
        run: &mut dyn FnMut(&Work<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<Records> {
        let identity = format!("{command}\n{}\n", self.state.commit);
        let name = format!("{:08x}", crc32fast::hash(identity.as_bytes()));
        let outer = self.folder.join(name);
        let known = outer.join("command");
        let is_same = fs::read_to_string(&known).is_ok_and(|found| found == identity);
        if outer.exists() && (!is_same || self.state.is_changed) {
            fs::remove_dir_all(&outer).with_context(|| outer.display().to_string())?;
        }
        fs::create_dir_all(&outer).with_context(|| outer.display().to_string())?;
        fs::write(&known, &identity).with_context(|| known.display().to_string())?;
        let folder = outer.join("run");
        let path = folder.join(RECORDS);
        if !path.exists() {
            let is_begun = folder.join(INTERRUPTED).exists();
            run(&Work {
                command,
                folder,
                is_begun,
            })?;
        }
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Records::read(&text).with_context(|| path.display().to_string())
    }
}

/// Returns a sentence on a figure whose measured value is another one.
fn problem(figure: &Figure, records: &Records) -> Option<String> {
    let words = match records.value(figure) {
        Ok(found) if figure.value.is_met(found, figure.tolerance) => return None,
        Ok(found) => format!("found {found}, expected {}", figure.value.text),
        Err(error) => format!("{error:#}"),
    };
    let seeds: Vec<String> = figure.seeds.iter().map(u64::to_string).collect();
    Some(format!(
        "{}: {}, seeds {}: {words}",
        figure.page.display(),
        figure.name(),
        seeds.join(" "),
    ))
}

/// Runs the program of the repository to its end. Its tables are not shown.
///
/// # Errors
/// If it cannot be started, or fails.
pub fn icl(root: &Path, work: &Work<'_>) -> anyhow::Result<()> {
    let mut command = cargo::command([
        "run",
        "--release",
        "--quiet",
        "--package",
        "icl-cli",
        "--bin",
        "icl",
        "--",
    ]);
    if work.is_begun {
        command.args(["run", "--resume"]).arg(&work.folder);
    } else {
        command.args(work.command.split_whitespace());
        command.arg("--out").arg(&work.folder);
    }
    eprintln!("icl {}", work.command);
    let status = cargo::status(command.current_dir(root).stdout(Stdio::null()))?;
    ensure!(
        status.success(),
        "the run failed ({status}); the same command of xtask continues it"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(commit: &str, is_changed: bool) -> State {
        State {
            commit: commit.into(),
            is_changed,
        }
    }

    fn complete(work: &Work<'_>, risk: f64) -> anyhow::Result<()> {
        fs::create_dir_all(&work.folder)?;
        let record = |method| {
            format!("{{\"method\":\"{method}\",\"seed\":1,\"held_out_risk\":{{\"new\":{risk}}}}}\n")
        };
        let records = ["icl", "warm"].map(record).concat();
        fs::write(work.folder.join(RECORDS), records)?;
        Ok(())
    }

    #[test]
    fn a_complete_run_is_kept_until_command_or_commit_change() {
        let folder = tempfile::tempdir().unwrap();
        let runs = |state| Runs {
            folder: folder.path().join("results"),
            state,
        };
        let figures = [
            Figure::made_up("a.md", "icl", "0.87"),
            Figure::made_up("a.md", "warm", "0.95"),
        ];
        let mut n_runs = 0;
        let mut measure = |state, figures: &[Figure]| {
            let mut run = |work: &Work<'_>| {
                n_runs += 1;
                assert!(!work.is_begun);
                complete(work, 0.871)
            };
            let problems = runs(state).problems(figures, &mut run).unwrap();
            (n_runs, problems)
        };
        let expected = "a.md: warm/held_out_risk.new, seeds 1: found 0.871, expected 0.95";
        // Both figures are of one run, which is not repeated.
        for _ in 0..2 {
            let (n_runs, problems) = measure(state("one", false), &figures);
            assert_eq!((n_runs, problems), (1, vec![expected.to_owned()]));
        }
        assert_eq!(measure(state("two", false), &figures).0, 2);
        // Code without a commit has no name by which its runs could be found again.
        assert_eq!(measure(state("two", true), &figures).0, 3);
        assert_eq!(measure(state("two", true), &figures).0, 4);
        let mut other = figures[0].clone();
        other.command = "run --data letter".into();
        assert_eq!(measure(state("one", false), &[other]), (5, Vec::new()));
        assert_eq!(measure(state("one", false), &figures).0, 5);
    }

    #[test]
    fn an_interrupted_run_continues_and_a_failure_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let runs = Runs {
            folder: folder.path().into(),
            state: state("one", false),
        };
        let figures = [Figure::made_up("a.md", "icl", "0.87")];
        let mut interrupted = |work: &Work<'_>| {
            let config = work.folder.join(INTERRUPTED);
            fs::create_dir_all(config.parent().unwrap())?;
            fs::write(config, "")?;
            anyhow::bail!("stopped after step 3")
        };
        let problems = runs.problems(&figures, &mut interrupted).unwrap();
        assert_eq!(problems, ["`icl run --data digits`: stopped after step 3"]);
        let mut continued = |work: &Work<'_>| {
            assert!(work.is_begun);
            complete(work, 0.87)
        };
        assert!(runs.problems(&figures, &mut continued).unwrap().is_empty());
    }

    #[test]
    fn a_record_without_the_figure_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let runs = Runs {
            folder: folder.path().into(),
            state: state("one", false),
        };
        let mut figure = Figure::made_up("a.md", "icl", "0.87");
        figure.seeds = vec![1, 4];
        let problems = runs.problems(&[figure], &mut |work| complete(work, 0.87));
        assert_eq!(
            problems.unwrap(),
            ["a.md: icl/held_out_risk.new, seeds 1 4: found no record of icl with seed 4"]
        );
    }
}
