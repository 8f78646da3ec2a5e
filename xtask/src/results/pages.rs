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
    let mut places: BTreeMap<_, Vec<&Figure>> = BTreeMap::new();
    for figure in figures {
        let place = (&figure.page, &figure.words, &figure.value.text);
        places.entry(place).or_default().push(figure);
    }
    let mut problems = Vec::new();
    for ((page, words, value), figures) in places {
        let text = std::fs::read_to_string(root.join(page));
        let text = text.with_context(|| page.display().to_string())?;
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
    let is_whole = |(at, _): (usize, &str)| {
        !line[..at].ends_with(is_word) && !line[at + words.len()..].starts_with(is_word)
    };
    words.is_empty() || line.match_indices(words).any(is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_on_the_lines_of_their_methods() {
        let root = tempfile::tempdir().unwrap();
        let page = "Updating costs 0.87 nats on new data.\n\n| method | old | new |\n|---|---|---|\n\
                    | `icl` | 0.87 | 0.87 |\n| `icl-corrected` | 0.91 | 0.95 |\n";
        std::fs::write(root.path().join("a.md"), page).unwrap();
        let problems_of = |figures: &[(&str, &str)]| {
            let figure = |(method, value): &(&str, &str)| Figure::of("a.md", method, value, "0");
            let figures: Vec<Figure> = figures.iter().map(|it| figure(it).unwrap()).collect();
            problems(root.path(), &figures).unwrap()
        };
        let there = [("icl", "0.87"), ("icl", "0.87"), ("icl-corrected", "0.95")];
        assert_eq!(problems_of(&there), [""; 0]);
        assert_eq!(problems_of(&[("nats on new data", "0.87")]), [""; 0]);
        // On the page, but of another method.
        assert_eq!(
            problems_of(&[("icl", "0.95")]),
            ["a.md: icl/held_out_risk.new: found 0.95 0 times on lines with \"icl\", expected 1"]
        );
        // Three that are equal, of which two are there.
        assert_eq!(problems_of(&[("icl", "0.87"); 3]).len(), 1);
        let absent = Figure::of("b.md", "icl", "0.87", "0").unwrap();
        assert!(problems(root.path(), &[absent]).is_err());
    }

    #[test]
    fn words_are_whole() {
        assert!(has_words("| `icl` | 1 |", "icl") && has_words("icl", "icl"));
        assert!(!has_words("| icl-corrected |", "icl") && !has_words("particl", "icl"));
        assert!(has_words("anything", ""));
    }
}
