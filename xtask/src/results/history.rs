//! State of the code that figures were measured with.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use anyhow::{Context, ensure};

use super::figure::Figure;

/// Folder whose code decides the figures.
const CODE: &str = "crates";

/// State of the code: the last commit that changed it.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Commit.
    pub commit: String,
    /// Whether the code has been changed since without a commit.
    pub is_changed: bool,
}

/// Returns the state of the code.
///
/// # Errors
/// If git cannot be run, or the folder is no repository.
pub fn state(root: &Path) -> anyhow::Result<State> {
    let commit = git(root, &["log", "-1", "--format=%H", "--", CODE])?;
    ensure!(
        commit.status.success(),
        "git log failed in {}",
        root.display()
    );
    let changes = git(root, &["status", "--porcelain", "--", CODE])?;
    Ok(State {
        commit: String::from_utf8_lossy(&commit.stdout).trim().to_owned(),
        is_changed: !changes.stdout.is_empty(),
    })
}

/// Returns a sentence for each page and commit with figures whose code has changed since they were measured.
///
/// # Errors
/// If git cannot be run.
pub fn stale(root: &Path, figures: &[Figure]) -> anyhow::Result<Vec<String>> {
    let mut names: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for figure in figures {
        let place = (&figure.commit, &figure.page);
        names.entry(place).or_default().push(figure.name());
    }
    let mut sentences = Vec::new();
    for ((commit, page), names) in names {
        let changes = git(root, &["diff", "--quiet", commit, "--", CODE])?;
        let since = match changes.status.code() {
            Some(0) => continue,
            Some(1) => format!("{CODE}/ has changed since {commit}"),
            _ => format!("the commit {commit} is not known here"),
        };
        let names = names.join(", ");
        sentences.push(format!("{}: stale, as {since}: {names}", page.display()));
    }
    Ok(sentences)
}

fn git(root: &Path, arguments: &[&str]) -> anyhow::Result<Output> {
    let mut command = Command::new("git");
    command.current_dir(root).args(arguments);
    command.output().context("git could not be started")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_stale_after_a_change_of_the_code() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let commit = |text: &str| {
            std::fs::write(root.join("crates/a.rs"), text).unwrap();
            let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
            let add = ["add", "."];
            let commit = [&identity[..], &["commit", "--quiet", "--message", text]].concat();
            for arguments in [&["init", "--quiet"][..], &add, &commit] {
                assert!(git(root, arguments).unwrap().status.success());
            }
            state(root).unwrap()
        };
        std::fs::create_dir(root.join(CODE)).unwrap();
        let first = commit("one");
        assert!(!first.is_changed && first.commit.len() == 40);
        let mut figure = Figure::of("a.md", "icl", "0.87", "0").unwrap();
        let unknown = [figure.clone()];
        figure.commit = first.commit.clone();
        let figures = [figure.clone(), figure];
        assert!(stale(root, &figures).unwrap().is_empty());

        std::fs::write(root.join("crates/a.rs"), "not committed").unwrap();
        assert!(state(root).unwrap().is_changed);
        let second = commit("two");
        assert!(!second.is_changed && second.commit != first.commit);
        let name = "icl/held_out_risk.new";
        let since = first.commit;
        let expected = format!("a.md: stale, as crates/ has changed since {since}: {name}, {name}");
        assert_eq!(stale(root, &figures).unwrap(), [expected]);
        let sentences = stale(root, &unknown).unwrap();
        assert!(sentences[0].contains("the commit 740119a is not known here"));
    }
}
