//! Wording of pages, documentation and texts: the field's words instead of the project's own.

use std::path::Path;

use proc_macro2::TokenTree;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::pages;
use super::sources::{self, CODE, Source};
use super::syntax::{self, is_mark, is_word};
use crate::findings::Findings;

/// A private word, or several that follow each other, and what to write instead.
type Entry = (&'static [&'static str], &'static str);

/// All private words.
const WORDS: [Entry; 15] = [
    (&["told"], "reported, or distinguished"),
    (&["asked"], "requested, or queried"),
    (&["anew"], "again"),
    (&["beside"], "next to, or during"),
    (&["lane"], "strategy, or element of a vector"),
    (&["lanes"], "strategies, or elements of a vector"),
    (&["steering"], "monitoring"),
    (&["judged"], "evaluated"),
    (&["goes", "on"], "continues"),
    (&["went", "on"], "continued"),
    (&["it", "is", "said"], "stated"),
    (&["said", "so"], "stated it, or reported it"),
    (&["no", "stranger"], "expected, or known"),
    (&["panel"], "evaluation samples"),
    (&["panels"], "evaluation samples"),
];

/// Beginnings of the paths of files in which `panel` is a word of the field: a part of a figure, or a packed block of a
/// matrix product.
const PANELS: [&str; 6] = [
    "crates/icl-kernels/src/graph/flex",
    "crates/icl-kernels/src/image/flex",
    "crates/icl-kernels/src/rows",
    "crates/icl-report/src/chart/map.rs",
    "crates/icl-report/src/comparison/charts.rs",
    "experiments/icl-lab/src/pages/dacl/noise_picture.rs",
];

/// Checks that no page, no documentation and no text of a program has a private word. Code on pages and in
/// documentation is left out, and so are tests.
pub fn check(root: &Path) -> anyhow::Result<Findings> {
    let mut problems = Vec::new();
    for page in pages::read(root)? {
        problems.extend(of_text(&page.path, 1, &prose(&page.text)));
    }
    for start in CODE {
        for source in sources::read(root, start, "rs")? {
            if !source.is_test() {
                problems.extend(of_source(&source)?);
            }
        }
    }
    Ok(Findings::of(problems))
}

/// Problems in the documentation and the texts of a file, a sentence each.
fn of_source(source: &Source) -> anyhow::Result<Vec<String>> {
    let mut problems = of_text(&source.path, 1, &prose(&documentation(source)));
    for (line, text) in texts(&syntax::tokens(source)?) {
        problems.extend(of_text(&source.path, line, &text));
    }
    Ok(problems)
}

/// Problems in a text that begins on this line of a file, a sentence each.
fn of_text(path: &Path, first_line: usize, text: &str) -> Vec<String> {
    let words = words(text);
    let mut problems = Vec::new();
    for (at, (line, _)) in words.iter().enumerate() {
        let begins = |(phrase, _): &&Entry| {
            let here = words[at..].iter().take(phrase.len());
            here.map(|(_, word)| word.as_str())
                .eq(phrase.iter().copied())
        };
        let Some((phrase, remedy)) = WORDS.iter().find(begins) else {
            continue;
        };
        if phrase[0].starts_with("panel") && PANELS.iter().any(|it| path.starts_with(it)) {
            continue;
        }
        problems.push(format!(
            "{}:{}: \"{}\" is a private word; write for instance: {remedy}",
            path.display(),
            first_line + line,
            phrase.join(" ")
        ));
    }
    problems
}

/// Splits a text into words in lower case and single marks, each with the number of line breaks before it. A backslash
/// is no mark: it continues a string on the next line.
fn words(text: &str) -> Vec<(usize, String)> {
    let mut words: Vec<(usize, String)> = Vec::new();
    let (mut line, mut is_in_word) = (0, false);
    for c in text.chars() {
        let is_letter = c.is_alphanumeric() || c == '_';
        match words.last_mut() {
            Some((_, word)) if is_in_word && is_letter => word.extend(c.to_lowercase()),
            _ if c.is_whitespace() || c == '\\' => {}
            _ => words.push((line, c.to_lowercase().collect())),
        }
        is_in_word = is_letter;
        line += usize::from(c == '\n');
    }
    words
}

/// Returns a page with a dot in the place of each character that is code or markup.
fn prose(markdown: &str) -> String {
    let mut is_prose = vec![false; markdown.len()];
    let mut is_code = false;
    for (event, place) in Parser::new(markdown).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(_)) => is_code = true,
            Event::End(TagEnd::CodeBlock) => is_code = false,
            Event::Text(_) if !is_code => is_prose[place].fill(true),
            _ => {}
        }
    }
    let shown = |(at, c): (usize, char)| match is_prose[at] || c.is_whitespace() {
        true => c,
        false => '.',
    };
    markdown.char_indices().map(shown).collect()
}

/// Returns the comments for documentation before the tests of a file. All other lines are empty.
fn documentation(source: &Source) -> String {
    let lines = source.text.lines().take(source.n_lines_before_tests());
    let comment = |line: &str| {
        let line = line.trim_start();
        let comment = line.strip_prefix("///").or(line.strip_prefix("//!"));
        let text = comment.unwrap_or_default();
        text.strip_prefix(' ').unwrap_or(text).to_owned() + "\n"
    };
    lines.map(comment).collect()
}

/// Returns the string literals, each with its line. One without whitespace is a name, such as a key or an option, and
/// is left out.
fn texts(tokens: &[TokenTree]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let inside: Vec<TokenTree> = group.stream().into_iter().collect();
                if !is_documentation(&inside) {
                    found.extend(texts(&inside));
                }
            }
            TokenTree::Literal(literal) => {
                // An escaped line break must not become the first letter of a word.
                let text = literal.to_string().replace("\\n", "  ");
                if text.contains('"') && text.contains(char::is_whitespace) {
                    found.push((syntax::line(token), text));
                }
            }
            _ => {}
        }
    }
    found
}

/// Checks whether the brackets of an attribute hold a comment for documentation.
fn is_documentation(attribute: &[TokenTree]) -> bool {
    matches!(attribute, [name, equals, ..] if is_word(name, "doc") && is_mark(equals, '='))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the line and the words of each problem.
    fn short(problems: &[String]) -> Vec<String> {
        let short = |it: &String| {
            let (place, _) = it.split_once(" is a private word").unwrap();
            place.split_once(':').unwrap().1.to_owned()
        };
        problems.iter().map(short).collect()
    }

    fn of_page(text: &str) -> Vec<String> {
        short(&of_text(Path::new("a.md"), 1, &prose(text)))
    }

    fn of_file(path: &str, text: &str) -> Vec<String> {
        let (path, text) = (path.into(), text.into());
        short(&of_source(&Source { path, text }).unwrap())
    }

    #[test]
    fn words_of_pages_are_found_outside_code() {
        let page = "# A Lane\n\nIt *goes\n  on*, [beside](beside.md) it.\n\n\
                    | asked | b |\n|---|---|\n| told | c |\n\n> It is said.\n";
        let expected = [
            "1: \"lane\"",
            "3: \"goes on\"",
            "4: \"beside\"",
            "6: \"asked\"",
            "8: \"told\"",
            "10: \"it is said\"",
        ];
        assert_eq!(of_page(page), expected);
        let page = "`told` asks, untold, besides, lane_width and [a](lane.md) it goes. On\n\n\
                    ```text\nbeside\n```\n\n    told\n";
        assert_eq!(of_page(page), [""; 0]);
    }

    #[test]
    fn words_of_documentation_are_found_before_tests() {
        let file = "//! Told by `asked`.\n\n/// ```\n/// let told = 1;\n/// ```\n///\n/// It goes\n/// on.\n\
                    struct A {\n    /// Steering, [`judged`].\n    b: u8,\n}\n// A lane.\nfn asked() {}\n\
                    #[cfg(test)]\nmod tests {\n    /// Told.\n    fn c() {}\n}\n";
        let expected = ["1: \"told\"", "7: \"goes on\"", "10: \"steering\""];
        assert_eq!(of_file("a.rs", file), expected);
    }

    #[test]
    fn words_of_strings_are_found_outside_tests() {
        let file = "fn a() {\n    b!(\"not\\ntold\", \"it goes \\\n       on\");\n    let c = r#\"is \"asked\"\"#;\n}\n\
                    #[cfg(test)]\nmod tests {\n    const D: &str = \"is told\";\n}\n";
        let expected = ["2: \"told\"", "2: \"goes on\"", "4: \"asked\""];
        assert_eq!(of_file("a.rs", file), expected);
        let names = "#[serde(alias = \"steering\")]\n#[arg(alias = \"steering-panel\")]\n\
                     fn a(told: u8) { b(\"judged\", '\"', \"is told_by\") }\n";
        assert_eq!(of_file("a.rs", names), [""; 0]);
    }

    #[test]
    fn panels_are_parts_of_figures_and_products() {
        let file = "/// A panel.\nconst A: &str = \"a panel beside it\";\n";
        let in_figure = of_file("crates/icl-report/src/chart/map.rs", file);
        assert_eq!(in_figure, ["2: \"beside\""]);
        for path in [
            "crates/icl-report/src/chart/rows.rs",
            "crates/icl-cli/src/a.rs",
        ] {
            let expected = ["1: \"panel\"", "2: \"panel\"", "2: \"beside\""];
            assert_eq!(of_file(path, file), expected, "{path}");
        }
    }

    #[test]
    fn a_problem_names_place_word_and_remedy() {
        assert_eq!(
            of_text(Path::new("docs/a.md"), 3, "a\nAnew"),
            ["docs/a.md:4: \"anew\" is a private word; write for instance: again"]
        );
    }
}
