//! Figures on their pages.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;

use super::figure::Figure;

/// Returns a sentence for each figure that is not on its page as the table has it: on a line with its words,
/// as often as the table has it there.
///
/// # Errors
/// If a page cannot be read.
pub fn problems(root: &Path, figures: &[Figure]) -> anyhow::Result<Vec<String>> {
    let mut places: BTreeMap<(&Path, &str, &str), Vec<&Figure>> = BTreeMap::new();
    for figure in figures {
        let place = (
            figure.page.as_path(),
            figure.words.as_str(),
            figure.value.text.as_str(),
        );
        places.entry(place).or_default().push(figure);
    }
    let mut problems = Vec::new();
    for ((page, words, value), figures) in places {
        let text =
            std::fs::read_to_string(root.join(page)).with_context(|| page.display().to_string())?;
        let lines = text.lines().filter(|line| has_words(line, words));
        let n_found: usize = lines.map(|line| figures[0].value.n_in(line)).sum();
        if n_found < figures.len() {
            let names: Vec<String> = figures.iter().map(|figure| figure.name()).collect();
            problems.push(format!(
                "{}: {}: found {value} {n_found} times on lines with {words:?}, expected {}",
                page.display(),
                names.join(", "),
                figures.len(),
            ));
        }
    }
    Ok(problems)
}

/// Returns whether a line holds these words, not as a part of longer ones. No words are on every line.
fn has_words(line: &str, words: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    words.is_empty()
        || line.match_indices(words).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + words.len()..].chars().next();
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Digits\n\nUpdating costs 0.87 nats on new data.\n\n\
                        | method | old | new |\n|---|---|---|\n\
                        | `icl` | 0.87 | 0.87 |\n| `icl-corrected` | 0.91 | 0.95 |\n";

    fn problems_of(figures: &[Figure]) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("a.md"), PAGE).unwrap();
        problems(root.path(), figures).unwrap()
    }

    #[test]
    fn figures_are_on_the_lines_of_their_methods() {
        let figure = |method, value| Figure::made_up("a.md", method, value);
        let there = [
            figure("icl", "0.87"),
            figure("icl", "0.87"),
            figure("icl-corrected", "0.95"),
        ];
        assert!(problems_of(&there).is_empty());
        let mut in_words = figure("icl", "0.87");
        in_words.words = "nats on new data".into();
        assert!(problems_of(&[in_words]).is_empty());
    }

    #[test]
    fn a_figure_that_was_changed_by_hand_is_named() {
        let figure = |method, value| Figure::made_up("a.md", method, value);
        // On the page, but of another method.
        assert_eq!(
            problems_of(&[figure("icl", "0.95")]),
            ["a.md: icl/held_out_risk.new: found 0.95 0 times on lines with \"icl\", expected 1"]
        );
        // One of three that are equal.
        let three = [
            figure("icl", "0.87"),
            figure("icl", "0.87"),
            figure("icl", "0.87"),
        ];
        assert_eq!(problems_of(&three).len(), 1);
        let root = tempfile::tempdir().unwrap();
        assert!(problems(root.path(), &[figure("icl", "0.87")]).is_err());
    }

    #[test]
    fn words_are_whole() {
        assert!(has_words("| `icl` | 1 |", "icl") && has_words("icl", "icl"));
        assert!(!has_words("| icl-corrected |", "icl") && !has_words("particl", "icl"));
        assert!(has_words("anything", ""));
    }
}
