//! Checks of pages.

use crate::document::Document;
use crate::text::wrap::width;

/// The elements of a page.
fn parse(page: &str) -> roxmltree::Document<'_> {
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..Default::default()
    };
    roxmltree::Document::parse_with_options(page, options).expect("a page is well-formed")
}

/// Asserts that no line of a whole document is wider than a terminal of this many columns.
#[track_caller]
pub fn assert_fits(document: &Document, columns: usize) {
    let terminal = document.terminal(columns, true);
    let mut lines = terminal.lines();
    assert!(lines.all(|line| width(line) <= columns), "{terminal}");
}

/// Asserts that a page is well-formed, takes nothing from outside, prints nothing that is no number,
/// describes every chart, and that no two series of a chart share a colour unless they are folded.
#[track_caller]
pub fn assert_sound(page: &str) {
    let document = parse(page);
    for outside in [
        "http:", "https:", "url(", "@import", "<link", "NaN", "inf\"",
    ] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.matches("<script").count() <= 1);
    for node in document.descendants() {
        let mut attributes = node.attributes();
        assert!(
            attributes.all(|a| !matches!(a.name(), "src" | "href") && !a.name().starts_with("on"))
        );
        let is_code = node.parent().is_some_and(|of| of.has_tag_name("script"));
        if let Some(text) = node.text().filter(|_| !is_code) {
            for wrong in ["None", "inf ", "inf×", "Some(", "^{"] {
                assert!(!text.contains(wrong), "{wrong} in {text}");
            }
        }
        if node.has_tag_name("svg") && node.attribute("role") == Some("img") {
            for name in ["title", "desc"] {
                let text = node.children().find(|of| of.has_tag_name(name));
                assert!(text.is_some_and(|of| of.text().is_some()), "{name}");
            }
            assert!(node.has_attribute("viewBox"));
            assert_own_colours(node);
        }
    }
}

#[track_caller]
fn assert_own_colours(chart: roxmltree::Node<'_, '_>) {
    let mut found: Vec<(&str, &str)> = Vec::new();
    for mark in chart.descendants() {
        let Some(series) = mark.attribute("data-series") else {
            continue;
        };
        let classes = mark.attribute("class").unwrap_or_default().split(' ');
        let is_colour = |class: &&str| class.starts_with("colour-") || *class == "reference";
        let Some(colour) = classes.clone().find(is_colour) else {
            assert!(classes.clone().any(|class| class == "folded"), "{series}");
            continue;
        };
        match found.iter().find(|(of, _)| *of == colour) {
            Some((_, other)) => assert_eq!(*other, series, "{colour}"),
            None => found.push((colour, series)),
        }
    }
}

/// Returns the text of all elements of a page.
pub fn text_of(page: &str) -> String {
    let document = parse(page);
    let texts = document.descendants().filter_map(|node| node.text());
    texts.map(str::trim).collect::<Vec<_>>().join("\n")
}

/// Returns the cells of the first row of this name on a page.
#[track_caller]
pub fn row(page: &str, name: &str) -> Vec<String> {
    let document = parse(page);
    let text = |node: roxmltree::Node<'_, '_>| -> String {
        let texts = node.descendants().filter(|node| node.is_text());
        texts.filter_map(|node| node.text()).collect()
    };
    let mut rows = document
        .descendants()
        .filter(|node| node.has_tag_name("tr"));
    let cells = rows.find_map(|row| {
        let cells: Vec<String> = row
            .children()
            .filter(|of| of.is_element())
            .map(text)
            .collect();
        (cells[0] == name).then_some(cells)
    });
    cells.unwrap_or_else(|| panic!("no row {name}"))[1..].to_vec()
}
