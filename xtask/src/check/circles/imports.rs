//! Imports between the files of one target.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::modules::Modules;
use super::names::{Import, Mention};

/// For each file the files that it imports, each with the first mention that shows it.
pub type Imports = BTreeMap<PathBuf, BTreeMap<PathBuf, Mention>>;

/// Finds the imports between all files.
///
/// A `use` declaration or a path in the code imports the file that defines what it names. Files that
/// only re-export it are passed through, with one exception: a `mod.rs` with code of its own is
/// imported by all who take a re-export from it and lie outside its folder. A file that holds
/// nothing but modules and `use` declarations imports nothing.
///
/// Only names are followed: a method that is called without a name of its type or trait in the file
/// is not seen.
pub fn imports(modules: &Modules) -> Imports {
    let mut imports = Imports::new();
    for (index, module) in modules.all().iter().enumerate() {
        if !modules.has_code(&module.file) {
            continue;
        }
        let names = &module.names;
        let declared = names.imports.iter().filter(|it| !it.is_reexport);
        for mention in declared.map(|it| &it.from).chain(&names.paths) {
            for imported in Search::new(modules, index).imported(mention) {
                let file = &modules.all()[imported].file;
                if *file != module.file {
                    let of_file = imports.entry(module.file.clone()).or_default();
                    let first = of_file.entry(file.clone());
                    first.or_insert_with(|| mention.clone());
                }
            }
        }
    }
    imports
}

/// Target of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    /// A module.
    Module(usize),
    /// An item that is defined in a module.
    Item(usize),
    /// An item of another crate.
    Elsewhere,
}

/// Search for the target of one path.
struct Search<'a> {
    modules: &'a Modules,
    /// The module that holds the path.
    importer: usize,
    /// Modules with code of their own whose re-exports were followed from outside.
    doors: BTreeSet<usize>,
    /// Names that are being looked up, and whether as the last of a path.
    open: BTreeSet<(usize, String, bool)>,
}

impl<'a> Search<'a> {
    fn new(modules: &'a Modules, importer: usize) -> Self {
        Self {
            modules,
            importer,
            doors: BTreeSet::new(),
            open: BTreeSet::new(),
        }
    }

    /// Returns the modules that a path in the importer imports an item from.
    fn imported(mut self, mention: &Mention) -> BTreeSet<usize> {
        match self.resolve(self.importer, &mention.segments) {
            Some(Place::Item(module)) => {
                self.doors.insert(module);
                self.doors
            }
            Some(Place::Elsewhere) => self.doors,
            // The name of a module alone imports nothing of what is in it.
            Some(Place::Module(_)) | None => BTreeSet::new(),
        }
    }

    /// Follows a path that is written in `module`.
    fn resolve(&mut self, module: usize, path: &[String]) -> Option<Place> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.follow(0, rest),
            "self" => self.follow(module, rest),
            "super" => self.follow(self.modules.all()[module].parent?, rest),
            name => match self.look_up(module, name, rest.is_empty())? {
                Place::Module(next) => self.follow(next, rest),
                other => Some(other),
            },
        }
    }

    /// Follows the rest of a path that has led to `module`.
    fn follow(&mut self, module: usize, rest: &[String]) -> Option<Place> {
        let Some((name, rest)) = rest.split_first() else {
            return Some(Place::Module(module));
        };
        if name == "super" {
            return self.follow(self.modules.all()[module].parent?, rest);
        }
        match self.look_up(module, name, rest.is_empty()) {
            Some(Place::Module(next)) => self.follow(next, rest),
            Some(other) => Some(other),
            // The compiler has found it here: a macro defines it.
            None => Some(Place::Item(module)),
        }
    }

    /// Looks up a name in a module. The last name of a path may be a function's or a constant's,
    /// which a module may share.
    fn look_up(&mut self, module: usize, name: &str, is_last: bool) -> Option<Place> {
        let key = (module, name.to_owned(), is_last);
        // Re-exports may lead back here; another way may lead further.
        if !self.open.insert(key.clone()) {
            return None;
        }
        let place = self.look_up_in(module, name, is_last);
        self.open.remove(&key);
        place
    }

    fn look_up_in(&mut self, module: usize, name: &str, is_last: bool) -> Option<Place> {
        let found = &self.modules.all()[module];
        let child = found.children.get(name).copied().map(Place::Module);
        if child.is_some() && !is_last {
            return child;
        }
        if found.names.items.contains(name) {
            return Some(Place::Item(module));
        }
        let of_name = |import: &&Import| import.name.as_deref() == Some(name);
        if let Some(import) = found.names.imports.iter().find(of_name) {
            let place = self.resolve(module, &import.from.segments);
            self.pass(module, import);
            return place.or(Some(Place::Elsewhere));
        }
        if child.is_some() {
            return child;
        }
        let globs = found.names.imports.iter().filter(|it| it.name.is_none());
        let mut leads_elsewhere = false;
        for import in globs {
            match self.resolve(module, &import.from.segments) {
                Some(Place::Module(from)) => match self.look_up(from, name, is_last) {
                    // Perhaps: another crate's names are not known.
                    Some(Place::Elsewhere) => leads_elsewhere = true,
                    Some(place) => {
                        self.pass(module, import);
                        return Some(place);
                    }
                    None => {}
                },
                // All variants of an enumeration, which was imported by its name.
                Some(Place::Item(_)) => {}
                Some(Place::Elsewhere) | None => leads_elsewhere = true,
            }
        }
        leads_elsewhere.then_some(Place::Elsewhere)
    }

    /// Notes that an import of `module` was followed.
    fn pass(&mut self, module: usize, import: &Import) {
        let has_code = || self.modules.has_code(&self.modules.all()[module].file);
        if import.is_reexport && !self.modules.is_inside(self.importer, module) && has_code() {
            self.doors.insert(module);
        }
    }
}
