//! Circles of imports between the files of a crate.

mod graph;
mod imports;
mod modules;
mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cargo_metadata::Metadata;

use super::sources;
use crate::findings::Findings;
use imports::Imports;
use modules::{Modules, Texts};

/// Folders with Rust files.
const STARTS: [&str; 5] = ["crates", "examples", "experiments", "fuzz", "xtask"];

/// Checks that no file of a library, program, example or benchmark imports another in a circle.
///
/// Tests do not count, neither those in files of their own nor code under `#[cfg(test)]`.
pub fn check(root: &Path, metadata: &Metadata) -> anyhow::Result<Findings> {
    let mut texts = Texts::new();
    for start in STARTS {
        for source in sources::read(root, start, "rs")? {
            texts.insert(source.path.clone(), source);
        }
    }
    let mut problems = Vec::new();
    for first in first_files(root, metadata) {
        problems.extend(of_target(&first, &texts)?);
    }
    // Targets may share a file.
    problems.sort();
    problems.dedup();
    Ok(Findings::of(problems))
}

/// The first file of every target that is no test.
fn first_files(root: &Path, metadata: &Metadata) -> Vec<PathBuf> {
    let packages = metadata.workspace_packages();
    let targets = packages.iter().flat_map(|package| &package.targets);
    targets
        .filter(|target| !target.is_test())
        .filter_map(|target| target.src_path.strip_prefix(root).ok())
        .map(PathBuf::from)
        .collect()
}

/// The circles among the files of a target, a sentence each.
fn of_target(first: &Path, texts: &Texts) -> anyhow::Result<Vec<String>> {
    let imports = imports::imports(&Modules::read(first, texts)?);
    let arrows: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> = imports
        .iter()
        .map(|(file, imported)| (file, imported.keys().collect()))
        .collect();
    let circles = graph::circles(arrows);
    Ok(circles.iter().map(|it| sentence(it, &imports)).collect())
}

/// `src: a.rs -> b.rs -> a.rs (a.rs:1 imports crate::b::B; b.rs:2 imports super::A)`.
fn sentence(circle: &[&PathBuf], imports: &Imports) -> String {
    let folder = common_folder(circle);
    let short = |file: &Path| {
        let file = file.strip_prefix(&folder).unwrap_or(file);
        file.display().to_string()
    };
    let next = circle.iter().cycle().skip(1);
    let arrows: Vec<String> = circle
        .iter()
        .zip(next)
        .filter_map(|(file, imported)| {
            let mention = imports.get(*file)?.get(*imported)?;
            let path = mention.segments.join("::");
            Some(format!("{}:{} imports {path}", short(file), mention.line))
        })
        .collect();
    let files: Vec<String> = circle
        .iter()
        .chain(circle.first())
        .map(|file| short(file.as_path()))
        .collect();
    format!(
        "{}: {} ({})",
        folder.display(),
        files.join(" -> "),
        arrows.join("; ")
    )
}

/// The longest path that all these files lie below.
fn common_folder(files: &[&PathBuf]) -> PathBuf {
    let mut folder = files.first().map_or(Path::new(""), |file| file.as_path());
    while let Some(parent) = folder.parent() {
        folder = parent;
        if files.iter().all(|file| file.starts_with(folder)) {
            break;
        }
    }
    folder.to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::sources::Source;

    /// The circles in a made-up crate whose files lie in `a/src` and whose root is `a/src/lib.rs`.
    fn circles(files: &[(&str, &str)]) -> Vec<String> {
        let source = |(path, text): &(&str, &str)| {
            let path = Path::new("a/src").join(path);
            let text = (*text).to_owned();
            (path.clone(), Source { path, text })
        };
        let texts: Texts = files.iter().map(source).collect();
        of_target(Path::new("a/src/lib.rs"), &texts).unwrap()
    }

    /// The files of those circles.
    fn paths(files: &[(&str, &str)]) -> Vec<String> {
        let path = |it: String| it.split(" (").next().map(str::to_owned);
        circles(files).into_iter().filter_map(path).collect()
    }

    const NONE: [&str; 0] = [];

    #[test]
    fn a_direct_circle_is_named_with_its_imports() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\n"),
            ("a.rs", "use crate::b::B;\npub struct A(B);"),
            ("b.rs", "pub struct B;\nimpl From<super::a::A> for B {}"),
        ];
        assert_eq!(
            circles(&files),
            ["a/src: a.rs -> b.rs -> a.rs \
              (a.rs:1 imports crate::b::B; b.rs:2 imports super::a::A)"]
        );
    }

    #[test]
    fn a_circle_goes_through_several_files_and_folders() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::inner::B; struct A(B);"),
            ("b/mod.rs", "pub mod inner;"),
            ("b/inner.rs", "use super::super::c; pub struct B(c::C);"),
            ("c.rs", "pub enum C { D(crate::a::A) }"),
        ];
        assert_eq!(paths(&files), ["a/src: a.rs -> b/inner.rs -> c.rs -> a.rs"]);
    }

    #[test]
    fn reexports_are_followed_to_the_defining_file() {
        let files = [
            (
                "lib.rs",
                "mod a; mod b; pub use a::A; pub use b::{B as Renamed};",
            ),
            ("a.rs", "use crate::Renamed; pub struct A(Renamed);"),
            ("b/mod.rs", "mod c; pub use c::*;"),
            ("b/c.rs", "use crate::A; pub struct B(A);"),
        ];
        assert_eq!(paths(&files), ["a/src: a.rs -> b/c.rs -> a.rs"]);
    }

    #[test]
    fn globs_are_followed() {
        let files = [
            (
                "lib.rs",
                "mod a; mod b; mod c; mod d; pub use a::*; pub use b::*;",
            ),
            (
                "a.rs",
                "use crate::c::*; use crate::c::Kind::*; use crate::d::*; pub struct A(D);",
            ),
            ("b.rs", "use super::*; pub struct B(A);"),
            ("c.rs", "pub enum Kind { X } pub use std::fmt::*;"),
            ("d.rs", "pub struct D(crate::B);"),
        ];
        assert_eq!(paths(&files), ["a/src: a.rs -> d.rs -> b.rs -> a.rs"]);
        let d = ("d.rs", "pub struct D;");
        assert_eq!(paths(&[files[0], files[1], files[2], files[3], d]), NONE);
    }

    #[test]
    fn an_item_of_the_parent_that_uses_its_child_is_a_circle() {
        let child = ("a/b.rs", "pub fn b(_: super::A) {}");
        let circle = ["a/src/a: b.rs -> mod.rs -> b.rs"];
        let uses = "mod b; pub struct A; fn f(a: A) { b::b(a) }";
        assert_eq!(
            paths(&[("lib.rs", "mod a;"), ("a/mod.rs", uses), child]),
            circle
        );
        let reexports = "mod b; pub use b::b; pub struct A;";
        assert_eq!(
            paths(&[("lib.rs", "mod a;"), ("a/mod.rs", reexports), child]),
            NONE
        );
        let both = "mod b; pub use b::b; pub struct A; fn f(a: A) { b(a) }";
        assert_eq!(
            paths(&[("lib.rs", "mod a;"), ("a/mod.rs", both), child]),
            circle
        );
    }

    #[test]
    fn a_parent_that_only_declares_and_reexports_is_on_no_circle() {
        let files = [
            (
                "lib.rs",
                "mod a; pub use a::{B, C}; compile_error!(\"none\");",
            ),
            (
                "a/mod.rs",
                "mod b; mod c; use b::inner; pub use b::B; pub use c::C;",
            ),
            ("a/b.rs", "use super::C; pub struct B(C); pub fn inner() {}"),
            (
                "a/c.rs",
                "use super::inner; pub struct C; fn f() { inner() }",
            ),
        ];
        // b and c import one another, whatever stands between them.
        assert_eq!(paths(&files), ["a/src/a: b.rs -> c.rs -> b.rs"]);
        let c = ("a/c.rs", "pub struct C;");
        assert_eq!(paths(&[files[0], files[1], files[2], c]), NONE);
    }

    #[test]
    fn code_beside_a_reexport_is_imported_with_it_from_outside_the_folder() {
        let files = |parent| {
            [
                ("lib.rs", "mod a; mod b;"),
                ("a/mod.rs", parent),
                ("a/inner.rs", "pub struct Inner; pub struct Other;"),
                ("a/sibling.rs", "use super::Inner; struct Sibling(Inner);"),
                ("b.rs", "use crate::a::Inner; pub struct B(Inner);"),
            ]
        };
        let table = "mod inner; mod sibling; pub use inner::Inner;";
        assert_eq!(paths(&files(table)), NONE);
        let code = "mod inner; mod sibling; pub use inner::Inner; fn f(_: crate::b::B) {}";
        assert_eq!(paths(&files(code)), ["a/src: a/mod.rs -> b.rs -> a/mod.rs"]);
    }

    #[test]
    fn tests_are_on_no_circle() {
        let files = [
            ("lib.rs", "mod a; mod b; #[cfg(test)] mod absent;"),
            ("a.rs", "use crate::b::B; pub struct A(B);"),
            (
                "b.rs",
                "pub struct B;\n#[cfg(test)] mod tests { use super::*; use crate::a::A; }",
            ),
        ];
        assert_eq!(paths(&files), NONE);
    }

    #[test]
    fn names_in_macros_and_attributes_count() {
        let lib = ("lib.rs", "mod a; mod b;");
        let b = ("b.rs", "pub struct B; use crate::a::A; fn f(_: A) {}");
        for a in [
            "pub struct A; fn f() { panic!(\"{}\", crate::b::B) }",
            "pub struct A { #[arg(default = crate::b::B::new())] b: u8 }",
            "use crate::b; pub struct A; fn f() { assert!(b::B == 1) }",
            "use crate::b; make! { pub struct A(b::B); }",
        ] {
            assert_eq!(
                paths(&[lib, ("a.rs", a), b]),
                ["a/src: a.rs -> b.rs -> a.rs"],
                "{a}"
            );
        }
    }

    #[test]
    fn names_of_other_crates_and_of_the_same_file_are_no_imports() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            (
                "a.rs",
                "use crate::b::B; pub struct A(B); mod c { use super::A; fn f(_: A) {} }",
            ),
            (
                "b.rs",
                "use ::a::A; use std::a; pub struct B; fn a() -> a::A { self.a.b(a) }",
            ),
        ];
        assert_eq!(paths(&files), NONE);
    }

    #[test]
    fn modules_lie_where_they_are_declared() {
        let texts: Texts = [
            (
                "a/src/lib.rs",
                "#[path = \"../shared/d.rs\"] mod d; mod e { mod g; }",
            ),
            ("a/shared/d.rs", "mod h; pub struct D(h::H);"),
            ("a/shared/h.rs", "pub struct H(super::D);"),
            ("a/src/e/g.rs", ""),
        ]
        .map(|(path, text)| {
            let (path, text) = (PathBuf::from(path), text.to_owned());
            (path.clone(), Source { path, text })
        })
        .into();
        let found = of_target(Path::new("a/src/lib.rs"), &texts).unwrap();
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with("a/shared: d.rs -> h.rs -> d.rs ("),
            "{found:?}"
        );
        let error = of_target(Path::new("a/src/main.rs"), &texts).unwrap_err();
        assert!(error.to_string().starts_with("a/src/main.rs: "), "{error}");
    }
}
