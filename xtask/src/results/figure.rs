//! One figure of a page of results.

use std::path::PathBuf;

use anyhow::{Context, ensure};
use serde::Deserialize;

use super::written::{Tolerance, Written};

/// Figure of a page, and the run that it is of.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Page, as a path from the repository's root.
    pub page: PathBuf,
    /// Method whose record has the value.
    pub method: String,
    /// Place of the value in the record: keys and positions with points between them.
    pub key: String,
    /// Words on the figure's line of the page: the method, unless the table says otherwise.
    pub words: String,
    /// Arguments of `icl` for the run, without its folder.
    pub command: String,
    /// Seeds, over which the value is the median.
    pub seeds: Vec<u64>,
    /// Value as the page has it.
    pub value: Written,
    /// Distance at which a measured value counts as equal.
    pub tolerance: Tolerance,
    /// Commit at which the value was measured.
    pub commit: String,
    /// Whether the run takes minutes at most, on data that come with the program.
    pub is_quick: bool,
}

/// Line of the table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    figure: String,
    command: String,
    seed: String,
    value: String,
    tolerance: String,
    commit: String,
    date: String,
    quick: String,
}

impl Line {
    /// Reads the figure of the line.
    ///
    /// # Errors
    /// At the first column that cannot be read.
    pub fn into_figure(self) -> anyhow::Result<Figure> {
        let named = || {
            format!(
                "found the figure {:?}, expected PAGE#METHOD/KEY or PAGE#METHOD/KEY|WORDS",
                self.figure
            )
        };
        let (page, rest) = self.figure.split_once('#').with_context(named)?;
        let (rest, words) = match rest.split_once('|') {
            Some((rest, words)) => (rest, Some(words)),
            None => (rest, None),
        };
        let (method, key) = rest.rsplit_once('/').with_context(named)?;
        let command = self.command.strip_prefix("icl ").filter(|arguments| {
            let first = arguments.split_whitespace().next();
            let names_folder =
                |word: &str| word.starts_with("--out") || word.starts_with("--resume");
            first == Some("run") && !arguments.split_whitespace().any(names_folder)
        });
        let command = command.with_context(|| {
            format!(
                "found the command {:?}, expected `icl run` without --out and --resume",
                self.command
            )
        })?;
        let seeds = self.seed.split_whitespace().map(str::parse);
        let seeds: Vec<u64> = seeds.collect::<Result<_, _>>().with_context(|| {
            format!(
                "found the seeds {:?}, expected numbers with spaces between them",
                self.seed
            )
        })?;
        ensure!(!seeds.is_empty(), "found no seed, expected at least one");
        ensure!(
            !self.date.is_empty(),
            "found no date, expected one such as 2026-11-22"
        );
        Ok(Figure {
            page: page.into(),
            method: method.to_owned(),
            key: key.to_owned(),
            words: words.unwrap_or(method).to_owned(),
            command: command.to_owned(),
            seeds,
            value: self.value.parse()?,
            tolerance: self.tolerance.parse()?,
            commit: self.commit,
            is_quick: match self.quick.as_str() {
                "yes" => true,
                "" => false,
                found => {
                    anyhow::bail!("found {found:?} in the column quick, expected yes or nothing")
                }
            },
        })
    }
}

impl Figure {
    /// Returns the name of the figure on its page.
    pub fn name(&self) -> String {
        format!("{}/{}", self.method, self.key)
    }
}

#[cfg(test)]
impl Figure {
    /// Returns the held-out risk on new data of a method with seed 1.
    pub fn made_up(page: &str, method: &str, value: &str) -> Self {
        Self {
            page: page.into(),
            method: method.into(),
            key: "held_out_risk.new".into(),
            words: method.into(),
            command: "run --data digits".into(),
            seeds: vec![1],
            value: value.parse().unwrap(),
            tolerance: Tolerance::Absolute(0.0),
            commit: "HEAD".into(),
            is_quick: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(figure: &str, command: &str, seed: &str, quick: &str) -> Line {
        Line {
            figure: figure.into(),
            command: command.into(),
            seed: seed.into(),
            value: "0.871".into(),
            tolerance: "1 %".into(),
            commit: "740119a".into(),
            date: "2026-11-22".into(),
            quick: quick.into(),
        }
    }

    #[test]
    fn a_line_names_page_method_key_and_words() {
        let figure = line(
            "docs/results/digits.md#sampling=share:0.2,rate=cosine/held_out_risk.new",
            "icl run --data digits",
            "0 1 2",
            "yes",
        );
        let figure = figure.into_figure().unwrap();
        assert_eq!(figure.page, PathBuf::from("docs/results/digits.md"));
        assert_eq!(figure.method, "sampling=share:0.2,rate=cosine");
        assert_eq!(
            figure.name(),
            "sampling=share:0.2,rate=cosine/held_out_risk.new"
        );
        assert_eq!(figure.words, figure.method);
        assert_eq!(figure.command, "run --data digits");
        assert_eq!((figure.seeds, figure.is_quick), (vec![0, 1, 2], true));
        let figure = line(
            "README.md#warm/charged_passes|the warm start",
            "icl run",
            "1",
            "",
        );
        let figure = figure.into_figure().unwrap();
        assert_eq!(
            (figure.words.as_str(), figure.key.as_str()),
            ("the warm start", "charged_passes")
        );
    }

    #[test]
    fn lines_that_cannot_be_read_are_errors() {
        for (figure, command, seed, quick, expected) in [
            ("README.md", "icl run", "1", "", "found the figure"),
            ("README.md#warm", "icl run", "1", "", "found the figure"),
            ("a.md#warm/risk", "cargo run", "1", "", "found the command"),
            ("a.md#warm/risk", "icl update", "1", "", "found the command"),
            (
                "a.md#warm/risk",
                "icl run --out x",
                "1",
                "",
                "found the command",
            ),
            ("a.md#warm/risk", "icl run", "one", "", "found the seeds"),
            ("a.md#warm/risk", "icl run", "", "", "found no seed"),
            (
                "a.md#warm/risk",
                "icl run",
                "1",
                "no",
                "in the column quick",
            ),
        ] {
            let error = line(figure, command, seed, quick)
                .into_figure()
                .unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
