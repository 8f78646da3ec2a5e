//! Imports between the files of a library, program, example or benchmark.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenTree};

use super::sources::Source;
use super::syntax::{self, is_group, is_mark, is_word};

/// For each module the modules that it imports, each with the first mention that shows it.
pub type Imports<'a> = BTreeMap<usize, BTreeMap<usize, &'a Mention>>;

/// Largest number of steps on the way to an item.
const LONGEST: usize = 100;

/// Modules of one target, one for each file. The first is the root.
#[derive(Debug, Default)]
pub struct Modules(Vec<Module>);

/// Module in a file of its own, without its tests.
#[derive(Debug, Default)]
pub struct Module {
    /// Path of the file from the repository's root.
    pub file: PathBuf,
    /// Module that declares it; the root is its own parent.
    parent: usize,
    children: BTreeMap<String, usize>,
    /// Paths of the names that `use` declarations bring into scope, and whether they are re-exports.
    uses: BTreeMap<String, (Vec<String>, bool)>,
    /// Paths in the code, and those of `use` declarations that re-export nothing.
    mentions: Vec<Mention>,
    /// Whether there is more than modules and `use` declarations.
    has_code: bool,
}

/// Path in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Mention {
    /// Segments, which may begin with `crate`, `self` or `super` and end with `*`.
    pub segments: Vec<String>,
    /// Number of its line.
    pub line: usize,
}

impl Modules {
    /// Reads the first file of a target and all modules that are declared below it. A module that lies elsewhere
    /// (`#[path]`) is left out.
    ///
    /// # Errors
    /// If a file cannot be parsed.
    pub fn read(first: &Path, sources: &[Source]) -> anyhow::Result<Self> {
        let mut modules = Self::default();
        modules.add(first, first.parent().unwrap_or(first), 0, sources)?;
        Ok(modules)
    }

    /// Returns all modules.
    pub fn all(&self) -> &[Module] {
        &self.0
    }

    /// Adds the module in `file`, whose own modules lie in `folder`. Returns its index, if there is such a file.
    fn add(
        &mut self,
        file: &Path,
        folder: &Path,
        parent: usize,
        sources: &[Source],
    ) -> anyhow::Result<Option<usize>> {
        let Some(source) = sources.iter().find(|source| source.path == file) else {
            return Ok(None);
        };
        let tokens = syntax::tokens(source)?;
        let mut module = Module {
            file: file.to_path_buf(),
            parent,
            has_code: has_code(&tokens),
            ..Module::default()
        };
        module.add(&tokens);
        let index = self.0.len();
        self.0.push(module);
        for three in tokens.windows(3) {
            if is_word(&three[0], "mod") && is_mark(&three[2], ';') {
                let name = three[1].to_string();
                let inside = folder.join(&name);
                let mut child = None;
                for file in [inside.with_extension("rs"), inside.join("mod.rs")] {
                    child = child.or(self.add(&file, &inside, index, sources)?);
                }
                self.0[index].children.extend(child.map(|it| (name, it)));
            }
        }
        Ok(Some(index))
    }

    /// Returns the places of those `use` declarations of this crate that end with `*`, which cannot be followed.
    pub fn globs(&self) -> Vec<(&Path, usize)> {
        let mut globs = Vec::new();
        for (at, module) in self.0.iter().enumerate() {
            let ends = |it: &&Mention| it.segments.last().is_some_and(|it| it == "*");
            let ours = module.mentions.iter().filter(ends);
            let ours = ours.filter(|it| !self.imported(at, &it.segments).is_empty());
            globs.extend(ours.map(|glob| (module.file.as_path(), glob.line)));
        }
        globs
    }

    /// Finds the imports between all files.
    ///
    /// A `use` declaration or a path in the code imports the file that defines what it names. Files that only re-export
    /// it are passed through, with one exception: a `mod.rs` with code of its own is imported by all who take a re-export
    /// from it and lie outside its folder. A file that holds nothing but modules and `use` declarations imports nothing.
    ///
    /// Only names are followed: a method that is called without a name of its type or trait in the file is not seen.
    pub fn imports(&self) -> Imports<'_> {
        let mut imports = Imports::new();
        for (importer, module) in self.0.iter().enumerate().filter(|(_, it)| it.has_code) {
            for mention in &module.mentions {
                for imported in self.imported(importer, &mention.segments) {
                    if imported != importer {
                        let of_module = imports.entry(importer).or_default();
                        of_module.entry(imported).or_insert(mention);
                    }
                }
            }
        }
        imports
    }

    /// Returns the modules that a path imports: none if it leads to another crate or names a module alone.
    fn imported(&self, importer: usize, path: &[String]) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let (mut at, mut path, mut is_first) = (importer, path.to_vec(), true);
        // Names may lead in a circle.
        for _ in 0..LONGEST {
            let Some((name, rest)) = path.split_first() else {
                break;
            };
            let module = &self.0[at];
            let child = module.children.get(name);
            (at, path, is_first) = match (name.as_str(), child, module.uses.get(name)) {
                ("crate", ..) => (0, rest.to_vec(), false),
                ("self", ..) => (at, rest.to_vec(), false),
                ("super", ..) => (module.parent, rest.to_vec(), false),
                (_, Some(&child), _) if !rest.is_empty() => (child, rest.to_vec(), false),
                (_, _, Some((path, is_reexport))) => {
                    let is_door = *is_reexport && module.has_code && !self.is_inside(importer, at);
                    found.extend(is_door.then_some(at));
                    (at, [path, rest].concat(), true)
                }
                _ => {
                    // The compiler has found the item here.
                    found.extend((!is_first && child.is_none()).then_some(at));
                    break;
                }
            };
        }
        found
    }

    fn is_inside(&self, module: usize, other: usize) -> bool {
        module == other || module != 0 && self.is_inside(self.0[module].parent, other)
    }
}

/// Checks whether a file holds more than modules and `use` declarations.
fn has_code(tokens: &[TokenTree]) -> bool {
    // `compile_error!` stops the build where no feature is chosen; tables of contents have it, too.
    let entries = ["mod", "use", "extern", "compile_error"];
    let is_code = |item: &[TokenTree]| {
        let words = item.iter().filter(|it| matches!(it, TokenTree::Ident(_)));
        let mut words = words.filter(|it| !is_word(it, "pub"));
        words
            .next()
            .is_some_and(|word| !entries.iter().any(|it| is_word(word, it)))
    };
    tokens.split(|it| is_mark(it, ';')).any(is_code)
}

impl Module {
    /// Adds all paths, also within macros and attributes.
    fn add(&mut self, tokens: &[TokenTree]) {
        let is = |at: usize, mark: char| tokens.get(at).is_some_and(|it| is_mark(it, mark));
        let mut at = 0;
        while at < tokens.len() {
            let mut end = at + 1;
            let is_behind = |mark| at > 0 && is(at - 1, mark);
            match &tokens[at] {
                TokenTree::Group(group) => {
                    self.add(&group.stream().into_iter().collect::<Vec<_>>())
                }
                TokenTree::Ident(word) if word == "mod" => end += 1,
                TokenTree::Ident(word) if word == "use" && !is(end, '<') => {
                    let length = tokens[at..].iter().position(|it| is_mark(it, ';'));
                    end = length.map_or(tokens.len(), |length| at + length);
                    // `pub` or `pub(crate)`
                    let is_public =
                        |it: &TokenTree| is_word(it, "pub") || is_group(it, Delimiter::Parenthesis);
                    let is_reexport = at > 0 && is_public(&tokens[at - 1]);
                    self.add_use(&tokens[at + 1..end], &[], is_reexport);
                }
                // A field, a method, a macro's variable or the end of a path is no path.
                TokenTree::Ident(first)
                    if !(is_behind('.')
                        || is_behind('$') && first != "crate"
                        || is_behind(':') && at > 1 && is(at - 2, ':')) =>
                {
                    let mention = Mention::at(tokens, at, &[]);
                    end += 3 * (mention.segments.len() - 1);
                    self.mentions.push(mention);
                }
                _ => {}
            }
            at = end;
        }
    }

    /// Adds the paths of a `use` declaration, all of which begin with `start`.
    fn add_use(&mut self, trees: &[TokenTree], start: &[String], is_reexport: bool) {
        for tree in trees.split(|it| is_mark(it, ',')) {
            // A path from `::` is another crate's.
            if !matches!(
                tree.first(),
                Some(TokenTree::Ident(_) | TokenTree::Group(_))
            ) {
                continue;
            }
            let mut path = Mention::at(tree, 0, start);
            if path.segments.len() > 1 && path.segments.last().is_some_and(|it| it == "self") {
                path.segments.pop();
            }
            let name = match tree.last() {
                Some(TokenTree::Group(group)) => {
                    let inside: Vec<TokenTree> = group.stream().into_iter().collect();
                    self.add_use(&inside, &path.segments, is_reexport);
                    continue;
                }
                Some(TokenTree::Punct(_)) => {
                    path.segments.push("*".into());
                    self.mentions.push(path);
                    continue;
                }
                // The last segment, or another name behind `as`.
                Some(name) if !is_word(name, "self") => name.to_string(),
                _ => path.segments.last().cloned().unwrap_or_default(),
            };
            let import = (path.segments.clone(), is_reexport);
            self.uses.entry(name).or_insert(import);
            self.mentions.extend((!is_reexport).then_some(path));
        }
    }
}

impl Mention {
    /// Reads the names joined by `::` from this place on, behind those of `start`.
    fn at(tokens: &[TokenTree], mut at: usize, start: &[String]) -> Self {
        let line = syntax::line(&tokens[at]);
        let mut segments = start.to_vec();
        while let Some(TokenTree::Ident(name)) = tokens.get(at) {
            segments.push(name.to_string());
            let is_joined = |it: &[TokenTree]| it.iter().all(|it| is_mark(it, ':'));
            at += match tokens.get(at + 1..at + 3) {
                Some(marks) if is_joined(marks) => 3,
                _ => break,
            };
        }
        Self { segments, line }
    }
}
