//! The book's table of contents, the links between pages, and the paths that pages name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{Event, Parser, Tag};

use super::anchors::anchors;
use super::sources::{self, Source};
use crate::findings::Findings;

/// Path of the book's table of contents.
const SUMMARY: &str = "docs/book/src/SUMMARY.md";
/// Files and folders with pages.
const STARTS: [&str; 10] = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    ".github",
    "crates",
    "docs",
    "examples",
    "experiments",
    "fuzz",
];

/// Beginnings by which a text in backquotes is taken for a path.
const FOLDERS: [&str; 6] = [
    "crates/",
    "docs/",
    "examples/",
    "experiments/",
    "scripts/",
    "xtask/",
];

/// Checks that every page of the book is in its table of contents, that every relative link leads to a file of the
/// repository and to a heading of that page, and that every path in backquotes exists.
pub fn check(root: &Path) -> anyhow::Result<Findings> {
    let pages = read(root)?;
    let mut problems = unlisted(&pages);
    let headings = pages.iter().map(|it| (it.path.clone(), anchors(&it.text)));
    let headings = headings.collect();
    for page in &pages {
        let links = relative_links(&page.text).into_iter();
        let broken = links.filter_map(|link| link_problem(root, &page.path, &link, &headings));
        let mentions = paths(&page.text).into_iter();
        let mentions = mentions.filter_map(|path| path_problem(root, &path));
        let of_page = broken.chain(mentions);
        problems.extend(of_page.map(|it| format!("{}: {it}", page.path.display())));
    }
    Ok(Findings::of(problems))
}

/// Returns a sentence if a link of a page leads to no file, or to no heading of a page.
fn link_problem(
    root: &Path,
    page: &Path,
    link: &str,
    headings: &BTreeMap<PathBuf, BTreeSet<String>>,
) -> Option<String> {
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let to = match file.is_empty() && !anchor.is_empty() {
        true => Some(page.to_path_buf()),
        false => target(page, file),
    };
    let Some(to) = to.filter(|it| root.join(it).exists()) else {
        return Some(format!(
            "the link to `{link}` leads to no file of the repository; correct or remove it"
        ));
    };
    let is_lost = |names: &BTreeSet<String>| !anchor.is_empty() && !names.contains(anchor);
    headings.get(&to).is_some_and(is_lost).then(|| {
        format!("the link to `{link}` leads to no heading of that page; name one that it has")
    })
}

/// Reads all pages of the repository.
///
/// # Errors
/// If a page cannot be read.
pub fn read(root: &Path) -> anyhow::Result<Vec<Source>> {
    let mut pages = Vec::new();
    for start in STARTS {
        pages.extend(sources::read(root, start, "md")?);
    }
    Ok(pages)
}

/// Returns the pages of the book that its table of contents does not name. (An entry without a page
/// is found as a broken link.)
fn unlisted(pages: &[Source]) -> Vec<String> {
    let summary = Path::new(SUMMARY);
    let listed: Vec<PathBuf> = pages
        .iter()
        .filter(|page| page.path == summary)
        .flat_map(|page| relative_links(&page.text))
        .filter_map(|link| target(summary, &link))
        .collect();
    pages
        .iter()
        .map(|page| &page.path)
        .filter(|path| path.parent() == summary.parent() && path.as_path() != summary)
        .filter(|path| !listed.contains(path))
        .map(|path| {
            format!(
                "{}: the page is not in {SUMMARY}; add it there",
                path.display()
            )
        })
        .collect()
}

/// Returns the targets of those links and images of a page that lead to files, or to headings of the page.
fn relative_links(markdown: &str) -> Vec<String> {
    Parser::new(markdown)
        .filter_map(|event| match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                Some(dest_url.into_string())
            }
            _ => None,
        })
        .filter(|link| !has_scheme(link))
        .collect()
}

/// Checks whether a link begins with a scheme (`https:`, `mailto:`).
fn has_scheme(link: &str) -> bool {
    link.split_once(':').is_some_and(|(scheme, _)| {
        scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Returns what a page names in backquotes by a path from the repository's root: `PATH`, or `PATH::ITEM` for an item in a
/// file.
fn paths(markdown: &str) -> Vec<String> {
    Parser::new(markdown)
        .filter_map(|event| match event {
            Event::Code(code) if FOLDERS.iter().any(|folder| code.starts_with(folder)) => {
                // Arguments may follow a program's path.
                code.split_whitespace().next().map(str::to_owned)
            }
            _ => None,
        })
        .collect()
}

fn path_problem(root: &Path, path: &str) -> Option<String> {
    let Some((file, item)) = path.split_once("::") else {
        return (!root.join(path).exists())
            .then(|| format!("`{path}` does not exist; correct or remove the path"));
    };
    match std::fs::read_to_string(root.join(file)) {
        Ok(text) if names(&text, item) => None,
        Ok(_) => Some(format!(
            "`{file}` has no `{item}`; name an item that it has"
        )),
        Err(_) => Some(format!("`{file}` is no readable file; correct the path")),
    }
}

/// Checks whether a program text names each part of `a::b` as a whole word.
fn names(text: &str, item: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    item.split("::")
        .all(|part| text.split(|c| !is_word(c)).any(|word| word == part))
}

/// Returns the path from the repository's root to the target of a link on `page`, or `None` if the link
/// is empty or leads out of the repository.
fn target(page: &Path, link: &str) -> Option<PathBuf> {
    let file = link.split(['#', '?']).next().unwrap_or_default();
    if file.is_empty() || file.starts_with('/') {
        return None;
    }
    let mut path = page.parent()?.to_path_buf();
    for part in Path::new(file).components() {
        match part {
            // Above the root there is nothing to take away.
            Component::ParentDir => path.pop().then_some(())?,
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_files_are_found() {
        let page = "[a](a.md#part) ![b](b.svg) [web](https://example.org) [here](#here)\n\
                    [mail](mailto:a@b.org) `[code](c.md)` <https://example.org> [ref][r] []()\n\n\
                    ```text\n[block](d.md)\n```\n\n[r]: ../e.md\n";
        let expected = ["a.md#part", "b.svg", "#here", "../e.md", ""];
        assert_eq!(relative_links(page), expected);
    }

    #[test]
    fn a_link_leads_to_a_file_and_to_a_heading() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("a.md"), "").unwrap();
        std::fs::write(root.path().join("b.svg"), "").unwrap();
        let headings = [("a.md".into(), BTreeSet::from(["part".to_owned()]))].into();
        let problem = |link| link_problem(root.path(), Path::new("a.md"), link, &headings);
        for link in ["a.md", "a.md#part", "#part", "b.svg", "b.svg#any"] {
            assert_eq!(problem(link), None, "{link}");
        }
        for (link, expected) in [
            ("c.md", "no file"),
            ("", "no file"),
            ("a.md#b", "no heading"),
            ("#b", "no heading"),
        ] {
            assert!(problem(link).unwrap().contains(expected), "{link}");
        }
    }

    #[test]
    fn what_a_page_names_in_the_code_is_found() {
        let page = "`crates/a/src/b.rs::C::d` or crates/e, `docs/f.md --g` and `icl-core/src/g.rs`\n\n\
                    ```text\n`xtask/h`\n```\n";
        assert_eq!(paths(page), ["crates/a/src/b.rs::C::d", "docs/f.md"]);
    }

    #[test]
    fn items_are_found_as_whole_words() {
        let text = "impl Contrast<B> { pub fn in_batch(x: u8) {} }";
        assert!(names(text, "in_batch") && names(text, "Contrast::in_batch"));
        assert!(!names(text, "batch") && !names(text, "Contrast::explicit"));
    }

    #[test]
    fn links_are_resolved_from_their_page() {
        let at = |link| target(Path::new("docs/book/src/a.md"), link);
        assert_eq!(at("b.md#c"), Some("docs/book/src/b.md".into()));
        assert_eq!(at("../../adr/0001.md"), Some("docs/adr/0001.md".into()));
        assert_eq!(at("./../../../README.md"), Some("README.md".into()));
        assert_eq!(at("../../../../secret"), None);
        assert_eq!(at("/etc/hosts"), None);
        assert_eq!(at(""), None);
    }

    #[test]
    fn a_page_outside_the_table_of_contents_is_named() {
        let page = |path: &str, text: &str| Source {
            path: path.into(),
            text: text.into(),
        };
        let pages = [
            page(SUMMARY, "# Summary\n\n- [A](a.md)\n"),
            page("docs/book/src/a.md", ""),
            page("docs/book/src/lost.md", ""),
            page("docs/equations.md", ""),
        ];
        assert_eq!(
            unlisted(&pages),
            ["docs/book/src/lost.md: the page is not in docs/book/src/SUMMARY.md; add it there"]
        );
    }
}
