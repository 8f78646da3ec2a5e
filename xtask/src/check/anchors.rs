//! The places of a page to which links lead.

use std::collections::BTreeSet;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

/// Returns the anchors of the headings of a page, as mdBook and GitHub name them: the text in lower case without
/// punctuation, with `-` for a space, and with `-1` at the end for the second heading of the same text.
pub fn anchors(markdown: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut heading: Option<String> = None;
    for event in Parser::new(markdown) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) => {
                heading = heading.map(|it| it + &text);
            }
            Event::End(TagEnd::Heading(_)) => {
                let name = anchor(&heading.take().unwrap_or_default());
                let numbered = (1..).map(|n| format!("{name}-{n}"));
                let mut names = std::iter::once(name.clone()).chain(numbered);
                // The first name that is free.
                names.find(|it| found.insert(it.clone()));
            }
            _ => {}
        }
    }
    found
}

fn anchor(text: &str) -> String {
    let with_hyphens = text.trim().to_lowercase().replace(' ', "-");
    let is_kept = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_');
    with_hyphens.chars().filter(is_kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_have_the_names_of_mdbook() {
        let page = "# Which θ?\n\nText\n\n## `icl run` and [others](a.md)\n\n```sh\n# no heading\n```\n\n## A, b\n\n### A b\n";
        let expected = ["a-b", "a-b-1", "icl-run-and-others", "which-θ"];
        assert!(anchors(page).iter().eq(expected.iter()));
    }
}
