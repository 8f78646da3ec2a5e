//! Rules on a file's name and length, on `lib.rs`, and on direct writes.

use std::path::Path;

use super::sources::{self, CODE, Source};
use crate::findings::Findings;

/// Names that say nothing about the content of a file.
const EMPTY_NAMES: [&str; 5] = ["utils", "helpers", "common", "base", "misc"];
/// Number of lines before a file's tests above which there is a warning.
const LONG: usize = 300;
/// Number of lines above which there is an error.
const TOO_LONG: usize = 400;
/// Words that begin an item that is code, not an entry of a table of contents.
const ITEMS: [&str; 10] = [
    "fn",
    "struct",
    "enum",
    "union",
    "impl",
    "trait",
    "type",
    "static",
    "const",
    "macro_rules!",
];
/// Words that may stand before such a word.
const MODIFIERS: [&str; 5] = ["pub", "async", "unsafe", "extern", "default"];

/// Crates whose files are written through a few functions alone, which leave them whole or absent.
const WRITE_RESULTS: [&str; 4] = [
    "crates/icl-core/src",
    "crates/icl-train/src",
    "crates/icl-cli/src",
    "experiments/icl-lab/src",
];
/// Ends of the paths of their files that write to the disk themselves: these functions, downloads, and a record to
/// which lines are added one by one.
const WRITE_DIRECTLY: [&str; 5] = [
    "icl-core/src/atomic_file.rs",
    "icl-core/src/partial_folder.rs",
    "files/whole.rs",
    "commands/fetch/download.rs",
    "record_file.rs",
];
/// Operations of the standard library that write files.
const WRITES: [&str; 5] = [
    "fs::write(",
    "fs::copy(",
    "File::create",
    "File::options(",
    "OpenOptions::",
];

/// Checks all rules on all Rust files.
pub fn check(root: &Path) -> anyhow::Result<Findings> {
    let mut findings = Findings::default();
    for start in CODE {
        for source in sources::read(root, start, "rs")? {
            findings.problems.extend(name_problem(&source.path));
            findings.problems.extend(table_of_contents_problem(&source));
            findings.problems.extend(direct_write_problem(&source));
            length(&source, &mut findings);
        }
    }
    Ok(findings)
}

fn name_problem(path: &Path) -> Option<String> {
    let is_empty = |name: &&&str| {
        path.with_extension("")
            .components()
            .any(|part| part.as_os_str() == **name)
    };
    EMPTY_NAMES.iter().find(is_empty).map(|name| {
        format!(
            "{}: `{name}` says nothing about its content; name the concept",
            path.display()
        )
    })
}

/// `lib.rs` is a table of contents: modules and what is exported from them, no code.
fn table_of_contents_problem(source: &Source) -> Option<String> {
    if source.path.file_name()? != "lib.rs" {
        return None;
    }
    let (line, text) = source
        .text
        .lines()
        .enumerate()
        .find(|(_, line)| begins_item(line))?;
    Some(format!(
        "{}:{}: `{}` is code, and lib.rs is a table of contents; move it to a file of its own and export it",
        source.path.display(),
        line + 1,
        text.trim()
    ))
}

fn begins_item(line: &str) -> bool {
    let mut words = line.split_whitespace().map(|word| {
        // `fn(`, `impl<T>` and `pub(crate)` begin with the word.
        let end = word.find(['(', '<', '{']).unwrap_or(word.len());
        &word[..end]
    });
    words
        .find(|word| !MODIFIERS.contains(word))
        .is_some_and(|word| ITEMS.contains(&word))
}

/// Files are written by the functions for it.
fn direct_write_problem(source: &Source) -> Option<String> {
    let writes_results = WRITE_RESULTS.iter().any(|it| source.path.starts_with(it));
    let may_write = WRITE_DIRECTLY.iter().any(|it| source.path.ends_with(it));
    if !writes_results || may_write || source.is_test() {
        return None;
    }
    let code = source.text.lines().take(source.n_lines_before_tests());
    let is_code = |line: &str| !line.trim_start().starts_with("//");
    let writes = |line: &str| WRITES.iter().any(|write| line.contains(write));
    code.enumerate()
        .find(|(_, line)| is_code(line) && writes(line))
        .map(|(line, text)| {
            format!(
                "{}:{}: `{}` writes to the disk directly; use AtomicFile of icl_core, or files::whole",
                source.path.display(),
                line + 1,
                text.trim()
            )
        })
}

/// A file of tests is as long as all of it, and has no warning.
fn length(source: &Source, findings: &mut Findings) {
    let (n_lines, counted, most) = match source.is_test() {
        true => (source.text.lines().count(), "", TOO_LONG),
        false => (source.n_lines_before_tests(), " before its tests", LONG),
    };
    let message = || {
        let path = source.path.display();
        format!(
            "{path}: {n_lines} lines{counted}, expected at most about {most}; split it by its concepts"
        )
    };
    if n_lines > TOO_LONG {
        findings.problems.push(message());
    } else if n_lines > LONG && !source.is_test() {
        findings.warnings.push(message());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source {
            path: path.into(),
            text: text.into(),
        }
    }

    #[test]
    fn empty_names_are_found_in_files_and_folders() {
        for path in ["crates/a/src/utils.rs", "crates/a/src/common/mod.rs"] {
            assert!(name_problem(Path::new(path)).is_some(), "{path}");
        }
        for path in ["crates/a/src/database.rs", "crates/a/src/lib.rs"] {
            assert_eq!(name_problem(Path::new(path)), None);
        }
    }

    #[test]
    fn a_table_of_contents_has_no_code() {
        let table = "//! Doc with fn in it.\n\n/// fn in a comment\nmod a;\n#[cfg(feature = \"b\")]\n\
                     pub mod b;\npub(crate) mod c;\n\npub use a::{\n    Const, function,\n};\n\
                     compile_error!(\"no backend\");\n";
        assert_eq!(
            table_of_contents_problem(&source("crates/a/src/lib.rs", table)),
            None
        );
        for code in [
            "fn f() {}",
            "pub(crate) const N: usize = 1;",
            "impl<T> A for T {}",
            "    pub async unsafe fn g() {}",
            "pub struct S;",
            "macro_rules! m {",
        ] {
            let text = format!("{table}{code}\n");
            let problem = table_of_contents_problem(&source("crates/a/src/lib.rs", &text));
            let expected = format!("crates/a/src/lib.rs:13: `{}` is code", code.trim());
            assert!(
                problem.is_some_and(|it| it.starts_with(&expected)),
                "{code}"
            );
            assert_eq!(
                table_of_contents_problem(&source("crates/a/src/a.rs", &text)),
                None
            );
        }
    }

    #[test]
    fn direct_writes_are_found_before_tests() {
        let tests = "#[cfg(test)]\nmod tests {\n    std::fs::write(path, b\"\");\n}\n";
        let direct = "//! Doc.\n/// std::fs::write(path)\nlet file = File::create_new(path)?;\n";
        for (path, text, is_wrong) in [
            ("crates/icl-cli/src/files/a.rs", direct, true),
            ("crates/icl-cli/src/files/a.rs", tests, false),
            ("crates/icl-core/src/atomic_file.rs", direct, false),
            ("crates/icl-cli/tests/a.rs", direct, false),
            ("crates/icl-data/src/a.rs", direct, false),
        ] {
            let problem = direct_write_problem(&source(path, text));
            let expected = format!("{path}:3: `let file = File::create_new(path)?;` writes");
            assert_eq!(problem.is_some(), is_wrong, "{path}");
            assert!(problem.is_none_or(|it| it.starts_with(&expected)));
        }
    }

    #[test]
    fn length_is_counted_up_to_the_tests() {
        let lines = |n: usize, tail: &str| "x\n".repeat(n) + tail;
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", lines(500, ""));
        let declared = "#[cfg(test)]\nmod tests;\n";
        for (path, text, expected) in [
            ("crates/a/src/a.rs", lines(300, &tests), (0, 0)),
            ("crates/a/src/a.rs", lines(301, &tests), (0, 1)),
            ("crates/a/src/a.rs", lines(398, declared), (0, 1)),
            (
                "crates/a/src/a.rs",
                declared.to_owned() + &lines(401, ""),
                (1, 0),
            ),
            ("crates/a/tests/a.rs", lines(400, ""), (0, 0)),
            ("crates/a/tests/a.rs", lines(401, ""), (1, 0)),
            ("crates/a/src/b/tests.rs", lines(401, ""), (1, 0)),
        ] {
            let mut findings = Findings::default();
            length(&source(path, &text), &mut findings);
            let found = (findings.problems.len(), findings.warnings.len());
            assert_eq!(found, expected, "{path}");
        }
    }
}
