//! Circles of imports between the files of a crate, and between its folders.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, Package};

use super::imports::{Imports, Modules};
use super::sources::{self, CODE};
use crate::findings::Findings;

type Arrows<N> = BTreeMap<N, BTreeSet<N>>;

/// Remedy for a circle.
const BREAK: &str =
    "break the circle: move what both sides need to a place of its own that imports neither";

/// Checks that no file and no folder of a library, program, example or benchmark imports another in a circle.
///
/// Tests do not count, neither those in files of their own nor code under `#[cfg(test)]`.
pub fn check(root: &Path, metadata: &Metadata) -> anyhow::Result<Findings> {
    let mut sources = Vec::new();
    for start in CODE {
        sources.extend(sources::read(root, start, "rs")?);
    }
    let mut problems = Vec::new();
    for package in metadata.workspace_packages() {
        let mut arrows = Arrows::new();
        for first in first_files(root, package) {
            let modules = Modules::read(&first, &sources)?;
            let globs = modules.globs().into_iter();
            problems.extend(globs.map(|(file, line)| {
                let file = file.display();
                format!("{file}:{line}: `*` hides what is imported; name it")
            }));
            let imports = modules.imports();
            problems.extend(circles_of_files(&modules, &imports));
            add_folders(&modules, &imports, &mut arrows);
        }
        problems.extend(folder_problem(&package.name, &arrows));
    }
    // Targets may share a file.
    problems.sort();
    problems.dedup();
    Ok(Findings::of(problems))
}

/// Returns the first file of every target that is no test.
fn first_files(root: &Path, package: &Package) -> Vec<PathBuf> {
    let targets = package.targets.iter().filter(|target| !target.is_test());
    targets
        .filter_map(|target| target.src_path.strip_prefix(root).ok())
        .map(PathBuf::from)
        .collect()
}

/// Returns a sentence for each circle: `a.rs:1 imports crate::b::B -> b.rs:2 imports super::A -> a.rs`, with the
/// remedy.
fn circles_of_files(modules: &Modules, imports: &Imports<'_>) -> Vec<String> {
    let imported = |of: &BTreeMap<usize, _>| of.keys().copied().collect();
    let arrows = imports.iter().map(|(&file, of)| (file, imported(of)));
    let file = |at: usize| modules.all()[at].file.display();
    let sentence = |circle: Vec<usize>| {
        let next = circle.iter().cycle().skip(1);
        let arrows = circle.iter().zip(next).map(|(&from, to)| {
            let mention = imports[&from][to];
            let path = mention.segments.join("::");
            format!("{}:{} imports {path} -> ", file(from), mention.line)
        });
        let arrows = arrows.collect::<String>();
        format!("{arrows}{}: {BREAK}", file(circle[0]))
    };
    circles(arrows.collect())
        .into_iter()
        .map(sentence)
        .collect()
}

/// Adds the arrows between folders side by side: an import from `a/b/c.rs` to `a/d/e/f.rs` is one from `a/b` to `a/d`.
fn add_folders(modules: &Modules, imports: &Imports<'_>, arrows: &mut Arrows<PathBuf>) {
    for (&from, imported) in imports {
        for &to in imported.keys() {
            let files = [from, to].map(|at| modules.all()[at].file.as_path());
            let [from, to] = files.map(|file| file.components().collect::<Vec<_>>());
            let n_common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            // A file next to a folder is in no folder.
            if from.len().min(to.len()) > n_common + 1 {
                let [from, to] = [from, to].map(|it| it[..=n_common].iter().collect());
                arrows.entry(from).or_default().insert(to);
            }
        }
    }
}

/// Returns a sentence if arrows between folders lie on circles.
fn folder_problem(name: &str, arrows: &Arrows<PathBuf>) -> Option<String> {
    let pairs = arrows.iter();
    let pairs = pairs.flat_map(|(from, all)| all.iter().map(move |to| (from, to)));
    let on_circles = pairs.filter(|(from, to)| way(arrows, to, from).is_some());
    // The crate's folder is known by its name: `crates/NAME/src`.
    let inside = |folder: &PathBuf| folder.iter().skip(3).collect::<PathBuf>();
    let shown = on_circles.map(|(from, to)| {
        let (from, to) = (inside(from), inside(to));
        format!("{} -> {}", from.display(), to.display())
    });
    let shown: Vec<String> = shown.collect();
    (!shown.is_empty()).then(|| {
        format!(
            "{name}: {} arrows between folders lie on circles: {}; {BREAK}",
            shown.len(),
            shown.join(", ")
        )
    })
}

/// Finds circles such that every circle shares an arrow with one of them, the shortest first. No two of them share one.
///
/// A circle begins with its least node and does not repeat it at the end.
fn circles<N: Ord + Clone>(mut arrows: Arrows<N>) -> Vec<Vec<N>> {
    let mut found = Vec::new();
    loop {
        let back = arrows.iter().flat_map(|(from, all)| {
            let back = |to| way(&arrows, to, from);
            all.iter().filter_map(back)
        });
        let Some(mut circle) = back.min_by_key(Vec::len) else {
            return found;
        };
        // The way from `to` back to `from` ends at the least node, since `from` is tried in ascending order: the circle
        // is to begin there.
        circle.rotate_right(1);
        for (from, to) in circle.iter().zip(circle.iter().cycle().skip(1)) {
            if let Some(of_node) = arrows.get_mut(from) {
                of_node.remove(to);
            }
        }
        found.push(circle);
    }
}

/// Returns the nodes of a shortest way, with both ends.
fn way<N: Ord + Clone>(arrows: &Arrows<N>, from: &N, to: &N) -> Option<Vec<N>> {
    let mut before: BTreeMap<&N, &N> = BTreeMap::from([(from, from)]);
    let mut queue = VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        if node == to {
            let back = |it: &&N| before.get(*it).copied().filter(|at| at != it);
            let mut nodes: Vec<N> = std::iter::successors(Some(node), back).cloned().collect();
            nodes.reverse();
            return Some(nodes);
        }
        for next in arrows.get(node).into_iter().flatten() {
            before.entry(next).or_insert_with(|| {
                queue.push_back(next);
                node
            });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::sources::Source;

    /// Modules of a made-up crate whose root is `lib.rs` in `s/s/s`: a line for each file.
    fn modules(files: &str) -> Modules {
        let files = files
            .lines()
            .filter_map(|line| line.trim().split_once(": "));
        let source = |(path, text): (&str, &str)| Source {
            path: Path::new("s/s/s").join(path),
            text: text.replace('\\', "\n"),
        };
        let sources: Vec<Source> = files.map(source).collect();
        Modules::read(Path::new("s/s/s/lib.rs"), &sources).unwrap()
    }

    /// The files on the circles of a made-up crate.
    fn files_on_circles(files: &str) -> Vec<String> {
        let modules = modules(files);
        let sentences = circles_of_files(&modules, &modules.imports()).into_iter();
        let file = |step: &str| step.split(':').next().unwrap_or_default().to_owned();
        let files = |it: String| {
            let files = it.split(" -> ").map(file);
            files.collect::<Vec<_>>().join(" ").replace("s/s/s/", "")
        };
        sentences.map(files).collect()
    }

    #[test]
    fn circles_of_files_are_found() {
        for (files, expected) in [
            // Through several files and folders.
            (
                "lib.rs: mod a; mod b; mod c;
                 a.rs: use crate::b::inner::B; struct A(B);
                 b/mod.rs: pub mod inner;
                 b/inner.rs: use super::super::c; pub struct B(c::C);
                 c.rs: pub enum C { D(crate::a::A) }",
                "a.rs b/inner.rs c.rs a.rs",
            ),
            // Through re-exports, also by another name.
            (
                "lib.rs: mod a; mod b; pub use a::A; pub use b::{B as Renamed};
                 a.rs: use crate::{self, Renamed}; pub struct A(Renamed);
                 b/mod.rs: mod c; pub use c::B;
                 b/c.rs: use crate::{self as all, A}; pub struct B(A);",
                "a.rs b/c.rs a.rs",
            ),
            // A parent's item uses the child, by a path or by the name of a re-export.
            (
                "lib.rs: mod b; pub struct A; fn f(a: A) { b::b(a) }
                 b.rs: pub fn b(_: super::A) {}",
                "lib.rs b.rs lib.rs",
            ),
            (
                "lib.rs: mod b; pub use b::b; pub struct A; fn f(a: A) { b(a) }
                 b.rs: pub fn b(_: super::A) {}",
                "lib.rs b.rs lib.rs",
            ),
            // A parent that only declares and re-exports stands between, and is on no circle.
            (
                "lib.rs: mod a; pub use a::{B, C}; compile_error!(\"none\");
                 a/mod.rs: mod b; mod c; use b::inner; pub use b::B; pub use c::C;
                 a/b.rs: use super::C; pub struct B(C); pub fn inner() {}
                 a/c.rs: use super::inner; struct C; fn f() { inner() }",
                "a/b.rs a/c.rs a/b.rs",
            ),
            // Code next to a re-export is imported with it, from outside the folder.
            (
                "lib.rs: mod a; mod b;
                 a/mod.rs: mod i; mod j; pub use i::Inner; fn f(_: crate::b::B) {}
                 a/i.rs: pub struct Inner;
                 a/j.rs: use super::Inner;
                 b.rs: use crate::a::Inner; pub struct B(Inner);",
                "a/mod.rs b.rs a/mod.rs",
            ),
            // Names in macros and attributes, and behind the name of a module.
            (
                "lib.rs: mod a; mod b;
                 a.rs: struct A; fn f() { panic!(\"{}\", crate::b::B) }
                 b.rs: struct B; use crate::a::A; fn f(_: A) {}",
                "a.rs b.rs a.rs",
            ),
            (
                "lib.rs: mod a; mod b;
                 a.rs: struct A { #[arg(default = crate::b::B::new())] b: u8 }
                 b.rs: use crate::a; make! { struct B(a::A); }",
                "a.rs b.rs a.rs",
            ),
        ] {
            assert_eq!(files_on_circles(files), [expected], "{files}");
        }
    }

    #[test]
    fn what_is_no_circle_is_none() {
        for files in [
            // A parent that re-exports its child and does not use it.
            "lib.rs: mod b; pub use b::b; pub struct A;
             b.rs: pub fn b(_: super::A) {}",
            // Tests, and modules that are not there.
            "lib.rs: mod a; mod b; #[cfg(test)] mod absent; #[path = \"x.rs\"] mod d;
             a.rs: use crate::b::B; pub struct A(B);
             b.rs: pub struct B; #[cfg(test)] mod tests { use crate::a::A; }",
            // Names of other crates, methods and fields.
            "lib.rs: mod a; mod b;
             a.rs: use crate::b::B; pub struct A(B);
             b.rs: use ::a::A; use std::a; pub struct B; fn a() -> a::A { self.a.b(a) }",
        ] {
            assert_eq!(files_on_circles(files), [""; 0], "{files}");
        }
    }

    #[test]
    fn a_circle_is_named_with_its_imports_and_a_glob_with_its_line() {
        let modules = modules(
            "lib.rs: mod a; mod b;
             a.rs: use crate::b::B;\\use super::b::*;\\use std::fmt::*;\\struct A(B);
             b.rs: pub struct B;\\impl From<super::a::A> for B {}",
        );
        let expected = format!(
            "s/s/s/a.rs:1 imports crate::b::B -> s/s/s/b.rs:2 imports super::a::A -> s/s/s/a.rs: {BREAK}"
        );
        assert_eq!(circles_of_files(&modules, &modules.imports()), [expected]);
        assert_eq!(modules.globs(), [(Path::new("s/s/s/a.rs"), 2)]);
    }

    #[test]
    fn circles_share_no_arrow() {
        let graph = |arrows: &[(char, &str)]| {
            let arrows = arrows.iter();
            let arrows = arrows.map(|&(from, to)| (from, to.chars().collect()));
            circles(arrows.collect::<Arrows<char>>())
        };
        assert!(graph(&[('a', "bc"), ('b', "c"), ('c', "d")]).is_empty());
        let two = graph(&[('d', "e"), ('e', "d"), ('b', "c"), ('c', "a"), ('a', "b")]);
        assert_eq!(two, [vec!['d', 'e'], vec!['a', 'b', 'c']]);
        let shared = graph(&[('a', "bd"), ('b', "ca"), ('c', "a"), ('d', "b")]);
        assert_eq!(shared, [vec!['a', 'b'], vec!['a', 'd', 'b', 'c']]);
    }

    #[test]
    fn arrows_between_folders_on_circles_are_counted() {
        let modules = modules(
            "lib.rs: mod a; mod b; mod c; mod d;
             a/mod.rs: pub mod x; pub mod y;
             a/x.rs: use crate::b::B; pub struct A(B);
             a/y/mod.rs: use super::x::A; use crate::c::z::C; pub struct Y;
             b/mod.rs: pub struct B;
             c/mod.rs: pub mod z;
             c/z.rs: use crate::a::y::Y; use crate::d::D; pub struct C;
             d.rs: use crate::a::x::A; pub struct D;",
        );
        let mut arrows = Arrows::new();
        add_folders(&modules, &modules.imports(), &mut arrows);
        let found = folder_problem("n", &arrows).unwrap();
        assert_eq!(
            found,
            format!("n: 2 arrows between folders lie on circles: a -> c, c -> a; {BREAK}")
        );
        arrows.retain(|from, _| !from.ends_with("c"));
        assert_eq!(folder_problem("n", &arrows), None);
    }
}
