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
use serde_json::Value;

use super::figure::Figure;
use super::history::State;
use crate::cargo;

/// Records in the folder of a complete run.
const RECORDS: &str = "record.jsonl";
/// Options in the folder of a run that was interrupted.
const INTERRUPTED: &str = ".checkpoint/config.toml";
/// Key of the last entry of a list.
const LAST: &str = "last";

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
    pub fn problems(
        &self,
        figures: &[Figure],
        run: &mut dyn FnMut(&Work<'_>) -> anyhow::Result<()>,
    ) -> Vec<String> {
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
        problems
    }

    /// Returns the records of a command, which is run if it must: one for each method and seed.
    fn records(
        &self,
        command: &str,
        run: &mut dyn FnMut(&Work<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<Vec<Value>> {
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
        let lines = text.lines().map(serde_json::from_str);
        let records: Result<Vec<Value>, _> = lines.collect();
        records.with_context(|| path.display().to_string())
    }
}

/// Returns a sentence on a figure whose measured value is another one.
fn problem(figure: &Figure, records: &[Value]) -> Option<String> {
    let words = match median(figure, records) {
        Ok(found) if figure.is_met(found) => return None,
        Ok(found) => format!("found {found}, expected {}", figure.value.text),
        Err(error) => error,
    };
    let seeds: Vec<String> = figure.seeds.iter().map(u64::to_string).collect();
    let (page, name, seeds) = (figure.page.display(), figure.name(), seeds.join(" "));
    Some(format!("{page}: {name}, seeds {seeds}: {words}"))
}

/// Returns the measured value of a figure: the median over its seeds.
///
/// # Errors
/// A sentence, if a seed has no record of the method, or the record no number at the key.
fn median(figure: &Figure, records: &[Value]) -> Result<f64, String> {
    let Figure { method, key, .. } = figure;
    let of_seed = |&seed: &u64| {
        let is_it = |it: &&Value| it["method"] == method.as_str() && it["seed"] == seed;
        let record = records.iter().find(is_it);
        let record = record.ok_or(format!("found no record of {method} with seed {seed}"))?;
        let value = key.split('.').try_fold(record, |value, key| match value {
            Value::Array(items) if key == LAST => items.last(),
            Value::Array(items) => items.get(key.parse::<usize>().ok()?),
            value => value.get(key),
        });
        let value = value.and_then(Value::as_f64);
        value.ok_or(format!(
            "found no number at {key} in the record of {method} with seed {seed}"
        ))
    };
    let mut values: Vec<f64> = figure.seeds.iter().map(of_seed).collect::<Result<_, _>>()?;
    values.sort_by(f64::total_cmp);
    let n = values.len();
    Ok((values[(n - 1) / 2] + values[n / 2]) / 2.0)
}

/// Runs the program of the repository to its end. Its tables are not shown.
///
/// # Errors
/// If it cannot be started, or fails.
pub fn icl(root: &Path, work: &Work<'_>) -> anyhow::Result<()> {
    let program = [
        "run",
        "--release",
        "--quiet",
        "--package",
        "icl-cli",
        "--bin",
        "icl",
        "--",
    ];
    let mut command = cargo::command(program);
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

    fn runs(folder: &Path, commit: &str, is_changed: bool) -> Runs {
        let commit = commit.into();
        Runs {
            folder: folder.join("results"),
            state: State { commit, is_changed },
        }
    }

    fn figure(method: &str, value: &str) -> Figure {
        Figure::of("a.md", method, value, "0").unwrap()
    }

    fn complete(work: &Work<'_>) -> anyhow::Result<()> {
        fs::create_dir_all(&work.folder)?;
        let records = r#"{"method":"warm","seed":1,"held_out_risk":{"new":0.8},"losses":[3,2.5]}
{"method":"icl","seed":1,"held_out_risk":{"new":0.5},"charged_passes":null}
{"method":"icl","seed":2,"held_out_risk":{"new":0.7}}
{"method":"icl","seed":3,"held_out_risk":{"new":0.9}}
"#;
        Ok(fs::write(work.folder.join(RECORDS), records)?)
    }

    #[test]
    fn a_complete_run_is_kept_until_command_or_commit_change() {
        let folder = tempfile::tempdir().unwrap();
        let (good, bad) = (figure("icl", "0.5"), figure("warm", "0.95"));
        let mut other = good.clone();
        other.command = "run --data letter".into();
        let expected = "a.md: warm/held_out_risk.new, seeds 1: found 0.8, expected 0.95";
        let mut n_runs = 0;
        for (commit, is_changed, figures, n_expected) in [
            // Both figures are of one run, which is not repeated.
            ("one", false, [&good, &bad], 1),
            ("one", false, [&good, &bad], 1),
            ("two", false, [&good, &bad], 2),
            // Code without a commit has no name by which its runs could be found again.
            ("two", true, [&good, &bad], 3),
            ("two", true, [&good, &bad], 4),
            ("one", false, [&other, &bad], 5),
            ("one", false, [&good, &bad], 5),
        ] {
            let mut run = |work: &Work<'_>| {
                n_runs += 1;
                assert!(!work.is_begun);
                complete(work)
            };
            let problems = runs(folder.path(), commit, is_changed)
                .problems(&figures.map(Figure::clone), &mut run);
            assert_eq!((n_runs, problems), (n_expected, vec![expected.to_owned()]));
        }
    }

    #[test]
    fn an_interrupted_run_continues_and_a_failure_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let (runs, figures) = (runs(folder.path(), "one", false), [figure("icl", "0.5")]);
        let mut interrupted = |work: &Work<'_>| {
            let config = work.folder.join(INTERRUPTED);
            fs::create_dir_all(config.parent().unwrap())?;
            fs::write(config, "")?;
            anyhow::bail!("stopped after step 3")
        };
        let problems = runs.problems(&figures, &mut interrupted);
        assert_eq!(problems, ["`icl run --data digits`: stopped after step 3"]);
        let mut continued = |work: &Work<'_>| {
            assert!(work.is_begun);
            complete(work)
        };
        assert_eq!(runs.problems(&figures, &mut continued), [""; 0]);
    }

    #[test]
    fn a_value_is_the_median_over_the_seeds() {
        let folder = tempfile::tempdir().unwrap();
        let risk = "held_out_risk.new";
        for (method, key, seeds, expected) in [
            ("warm", risk, &[1][..], Ok("0.8")),
            ("icl", risk, &[3, 1, 2], Ok("0.7")),
            ("icl", risk, &[1, 2], Ok("0.6")),
            ("warm", "losses.0", &[1], Ok("3")),
            ("warm", "losses.last", &[1], Ok("2.5")),
            ("cold", risk, &[1], Err("no record of cold with seed 1")),
            ("icl", risk, &[1, 4], Err("no record of icl with seed 4")),
            (
                "warm",
                "held_out_risk",
                &[1],
                Err("no number at held_out_risk"),
            ),
            ("warm", "losses.2", &[1], Err("no number at losses.2")),
            (
                "icl",
                "charged_passes",
                &[1],
                Err("no number at charged_passes"),
            ),
        ] {
            let mut figure = figure(method, expected.unwrap_or("1"));
            (figure.key, figure.seeds) = (key.into(), seeds.to_vec());
            let runs = runs(folder.path(), "one", false);
            let problems = runs.problems(&[figure], &mut complete).concat();
            match expected {
                Ok(_) => assert_eq!(problems, "", "{method} {key}"),
                Err(words) => assert!(problems.contains(words), "{problems}"),
            }
        }
    }
}
