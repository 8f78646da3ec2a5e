//! The command `cargo xtask lines`: how large the code is.

use std::collections::BTreeSet;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};

use clap::Args;
use proc_macro2::Delimiter;

use super::imports::Modules;
use super::sources::{self, Source};
use super::syntax::{self, is_group, is_word};

/// Names of the groups of crates with the number of lines that each should have at most.
const GOALS: [(&str, usize); 3] = [
    ("product", 46_000),
    ("kernels", 7_500),
    ("laboratory", 11_500),
];

/// Options of `cargo xtask lines`.
#[derive(Debug, Args)]
pub struct LinesOptions {
    /// Root of a repository, such as a worktree of an older commit
    #[arg(default_value = ".")]
    root: PathBuf,
}

/// Size of code without its tests.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Size([usize; COLUMNS.len()]);

/// Names of what is counted. An error is a type that derives `Error`.
const COLUMNS: [&str; 5] = ["lines", "files", "structs", "enums", "errors"];

impl AddAssign for Size {
    fn add_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(n, it)| *n += it);
    }
}

/// Prints the size of each crate of the product and the laboratory, and of each group of them next to its goal.
///
/// # Errors
/// If a file cannot be read or parsed.
pub fn lines(options: &LinesOptions) -> anyhow::Result<()> {
    print!("{}", table(&options.root)?);
    Ok(())
}

fn table(root: &Path) -> anyhow::Result<String> {
    let row = |name: &str, cells: &[String]| {
        let cells = cells.iter().map(|cell| format!("{cell:>8}"));
        format!("{name:<14}{}\n", cells.collect::<String>())
    };
    let cells = |size: Size| size.0.map(|n| n.to_string());
    let mut text = row("", &COLUMNS.map(str::to_owned));
    let mut groups = [Size::default(); GOALS.len()];
    for (at, start) in [(0, "crates"), (2, "experiments")] {
        let sources = sources::read(root, start, "rs")?;
        let folders = sources.iter().map(|it| it.path.iter().take(2).collect());
        for folder in folders.collect::<BTreeSet<PathBuf>>() {
            let size = size(&folder.join("src"), &sources)?;
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            text += &row(&name, &cells(size));
            groups[if name == "icl-kernels" { 1 } else { at }] += size;
        }
    }
    text += "\n";
    for (size, (name, goal)) in groups.into_iter().zip(GOALS) {
        text += row(name, &cells(size)).trim_end();
        text += &format!("   goal: {goal} lines\n");
    }
    Ok(text)
}

/// Measures a library and a program: the files that are no tests, up to the tests in each.
fn size(folder: &Path, sources: &[Source]) -> anyhow::Result<Size> {
    let mut files = BTreeSet::new();
    for first in ["lib.rs", "main.rs"] {
        let modules = Modules::read(&folder.join(first), sources)?;
        files.extend(modules.all().iter().map(|module| module.file.clone()));
    }
    let mut size = Size::default();
    for source in sources.iter().filter(|it| files.contains(&it.path)) {
        size += of_file(source)?;
    }
    Ok(size)
}

fn of_file(source: &Source) -> anyhow::Result<Size> {
    let mut size = Size([source.n_lines_before_tests(), 1, 0, 0, 0]);
    for token in syntax::tokens(source)? {
        let is_error = || {
            let inside = syntax::flat([token.clone()]);
            is_word(&inside[1], "derive") && inside.iter().any(|it| is_word(it, "Error"))
        };
        size.0[2] += usize::from(is_word(&token, "struct"));
        size.0[3] += usize::from(is_word(&token, "enum"));
        size.0[4] += usize::from(is_group(&token, Delimiter::Bracket) && is_error());
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn tests_do_not_count_and_crates_are_summed_by_group() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        for (path, text) in [
            (
                "crates/a/src/lib.rs",
                "mod b;\n#[cfg(test)]\nmod c;\n#[cfg(doctest)]\nmod d;\n",
            ),
            (
                "crates/a/src/b.rs",
                "struct A;\n#[derive(Debug, Error)]\nenum B {}\n#[cfg(test)]\nmod tests {\n    struct C;\n}\n",
            ),
            ("crates/a/src/c.rs", "struct D;\n"),
            ("crates/a/src/d.rs", "struct E;\n"),
            ("crates/a/src/main.rs", "fn main() {}\n"),
            ("crates/icl-kernels/src/lib.rs", "//! Doc.\n"),
            ("experiments/e/src/main.rs", "fn main() {}\n"),
            ("crates/a/tests/t.rs", "struct F;\n"),
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let table = table(root).unwrap();
        let row = |name: &str| -> Vec<&str> {
            let mut rows = table.lines().map(str::split_whitespace);
            let row = rows.find(|row| row.clone().next() == Some(name));
            row.unwrap().skip(1).collect()
        };
        assert_eq!(row("a"), ["9", "3", "1", "1", "1"]);
        let product = ["9", "3", "1", "1", "1", "goal:", "46000", "lines"];
        assert_eq!(row("product"), product);
        assert_eq!(row("kernels")[..2], ["1", "1"]);
        assert_eq!(row("laboratory")[..2], ["1", "1"]);
    }
}
