//! The state of the code that figures were measured with.

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
    let mut by_commit: BTreeMap<&str, BTreeMap<&Path, Vec<String>>> = BTreeMap::new();
    for figure in figures {
        let pages = by_commit.entry(&figure.commit).or_default();
        pages.entry(&figure.page).or_default().push(figure.name());
    }
    let mut sentences = Vec::new();
    for (commit, pages) in by_commit {
        let since = match git(root, &["diff", "--quiet", commit, "--", CODE])?
            .status
            .code()
        {
            Some(0) => continue,
            Some(1) => format!("{CODE}/ has changed since {commit}"),
            _ => format!("the commit {commit} is not known here"),
        };
        for (page, names) in pages {
            let names = names.join(", ");
            sentences.push(format!("{}: stale, as {since}: {names}", page.display()));
        }
    }
    Ok(sentences)
}

fn git(root: &Path, arguments: &[&str]) -> anyhow::Result<Output> {
    Command::new("git")
        .current_dir(root)
        .args(arguments)
        .output()
        .context("git could not be started")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_stale_after_a_change_of_the_code() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let run = |arguments: &[&str]| {
            let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
            let output = git(root, &[&identity, arguments].concat()).unwrap();
            assert!(output.status.success(), "{output:?}");
        };
        let write = |text: &str| std::fs::write(root.join("crates/a.rs"), text).unwrap();
        std::fs::create_dir(root.join(CODE)).unwrap();
        write("one");
        run(&["init", "--quiet"]);
        run(&["add", "."]);
        run(&["commit", "--quiet", "--message", "one"]);
        let first = state(root).unwrap();
        assert!(!first.is_changed && first.commit.len() == 40);
        let mut figure = Figure::made_up("a.md", "icl", "0.87");
        figure.commit = first.commit.clone();
        let figures = [figure.clone(), figure];
        assert!(stale(root, &figures).unwrap().is_empty());

        write("two");
        assert!(state(root).unwrap().is_changed);
        run(&["commit", "--all", "--quiet", "--message", "two"]);
        let second = state(root).unwrap();
        assert!(!second.is_changed && second.commit != first.commit);
        let name = "icl/held_out_risk.new";
        let expected = format!(
            "a.md: stale, as crates/ has changed since {}: {name}, {name}",
            first.commit
        );
        assert_eq!(stale(root, &figures).unwrap(), [expected]);

        let mut unknown = Figure::made_up("a.md", "icl", "0.87");
        unknown.commit = "0123456".into();
        let sentences = stale(root, &[unknown]).unwrap();
        assert!(sentences[0].contains("the commit 0123456 is not known here"));
    }
}
