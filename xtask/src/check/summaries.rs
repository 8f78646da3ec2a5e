//! First words of the documentation: a summary begins with a verb or a noun.

use std::path::Path;

use super::sources::{self, Source};
use crate::findings::Findings;

/// Words with which no summary begins, because they make it a riddle: the reader has to find out
/// which thing or action is meant ("What it should be.", "Of the rows, at least one.").
///
/// `Whether` is not among them: "Whether a bias is added." says what `true` means.
const RIDDLES: [&str; 15] = [
    "How", "It", "Of", "That", "They", "Those", "What", "Whatever", "Where", "Which", "Who",
    "Whoever", "Whom", "Whose", "Why",
];

/// Beginnings that compare a thing with another instead of naming it.
const COMPARISONS: [&str; 2] = ["As [", "As `"];

/// Checks the first words of every summary in the crates and in the laboratory: of all modules, items, fields and
/// variants that have one, which is also what the help of the programs shows.
pub fn check(root: &Path) -> anyhow::Result<Findings> {
    let mut problems = Vec::new();
    for start in ["crates", "experiments"] {
        let sources = sources::read(root, start, "rs")?;
        let is_in_src = |it: &Source| it.path.iter().nth(2).is_some_and(|it| it == "src");
        let is_read = |it: &&Source| is_in_src(it) && !it.is_test();
        problems.extend(sources.iter().filter(is_read).flat_map(of_source));
    }
    Ok(Findings::of(problems))
}

/// Problems in one file before its tests, a sentence each.
fn of_source(source: &Source) -> Vec<String> {
    let mut problems = Vec::new();
    let mut is_begun = false;
    let n_lines = source.n_lines_before_tests();
    for (at, line) in source.text.lines().take(n_lines).enumerate() {
        let line = line.trim();
        let comment = line.strip_prefix("///").or(line.strip_prefix("//!"));
        let text = comment.map_or("", str::trim);
        if !is_begun && is_riddle(text) {
            let path = source.path.display();
            problems.push(format!(
                "{path}:{}: \"{text}\": begin the summary with a verb or a noun",
                at + 1
            ));
        }
        is_begun = comment.is_some() && (is_begun || !text.is_empty());
    }
    problems
}

fn is_riddle(summary: &str) -> bool {
    let text = summary.trim_start_matches(['*', '_', '"', '“']);
    let end = text.find(|it: char| !it.is_alphabetic());
    let first = &text[..end.unwrap_or(text.len())];
    RIDDLES.iter().any(|it| first.eq_ignore_ascii_case(it))
        || COMPARISONS.iter().any(|it| text.starts_with(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn riddles_are_told_from_summaries() {
        for riddle in [
            "What it should be.",
            "That a saved agent is this one.",
            "Of the rows of `training`.",
            "It never reached the target.",
            "what’s left",
            "As [`status`], as an exit code.",
            "**How** it is done.",
        ] {
            assert!(is_riddle(riddle), "{riddle}");
        }
        for summary in [
            "Returns the bias.",
            "Whether a bias is added.",
            "Items of a batch.",
            "Offsets, ascending.",
            "Assigns a class.",
            "As many rows as there are samples.",
            "`of` and `what` are words.",
            "α, the growth ratio.",
        ] {
            assert!(!is_riddle(summary), "{summary}");
        }
    }

    #[test]
    fn a_problem_names_the_line_and_the_summary() {
        let text = "//! A module.\n//!\n//! What it has.\n\n///\n/// What is\n/// there.\npub struct A {\n    \
                    /// Of b.\n    b: u8,\n}\n#[cfg(test)]\nmod tests {\n    /// What\n    fn f() {}\n}\n";
        let expected = ["6: \"What is\"", "9: \"Of b.\""]
            .map(|it| format!("a.rs:{it}: begin the summary with a verb or a noun"));
        let (path, text) = ("a.rs".into(), text.into());
        assert_eq!(of_source(&Source { path, text }), expected);
    }
}
