//! The modules of one target and the files that they are in.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use anyhow::bail;
use syn::{Expr, ExprLit, Item, ItemMod, Lit, Meta};

use super::names::Names;
use crate::check::sources::Source;
use crate::check::syntax;

/// Texts of files by their paths from the repository's root.
pub type Texts = BTreeMap<PathBuf, Source>;

/// All modules of a library, program, example or benchmark. The first is the root.
#[derive(Debug, Default)]
pub struct Modules(Vec<Module>);

/// A module, in a file of its own or within another's.
#[derive(Debug)]
pub struct Module {
    /// The index of the module that declares it.
    pub parent: Option<usize>,
    /// The file's path from the repository's root.
    pub file: PathBuf,
    /// The indices of the modules that it declares, by their names.
    pub children: BTreeMap<String, usize>,
    /// Names in its code.
    pub names: Names,
}

impl Modules {
    /// Reads the root file of a target and all modules that are declared below it.
    ///
    /// # Errors
    /// If a file cannot be parsed, or a declared module has no file.
    pub fn read(root: &Path, texts: &Texts) -> anyhow::Result<Self> {
        let mut modules = Self::default();
        let folder = root.parent().unwrap_or(Path::new("")).to_path_buf();
        modules.add_file(root.to_path_buf(), folder, None, texts)?;
        Ok(modules)
    }

    /// All modules, each of which stands after its parent.
    pub fn all(&self) -> &[Module] {
        &self.0
    }

    /// Checks whether a module is another one or lies inside it.
    pub fn is_inside(&self, module: usize, other: usize) -> bool {
        let mut ancestors = std::iter::successors(Some(module), |&it| self.0[it].parent);
        ancestors.any(|ancestor| ancestor == other)
    }

    /// Checks whether a file holds more than modules and `use` declarations.
    pub fn has_code(&self, file: &Path) -> bool {
        let mut of_file = self.0.iter().filter(|module| module.file == file);
        of_file.any(|module| module.names.has_code)
    }

    /// Adds a file whose modules lie in `folder`.
    fn add_file(
        &mut self,
        file: PathBuf,
        folder: PathBuf,
        parent: Option<usize>,
        texts: &Texts,
    ) -> anyhow::Result<usize> {
        let Some(source) = texts.get(&file) else {
            bail!("{}: this module has no file", file.display());
        };
        let items = syntax::parse(source)?.items;
        self.add(&items, file, folder, parent, texts)
    }

    fn add(
        &mut self,
        items: &[Item],
        file: PathBuf,
        folder: PathBuf,
        parent: Option<usize>,
        texts: &Texts,
    ) -> anyhow::Result<usize> {
        let index = self.0.len();
        self.0.push(Module {
            parent,
            file: file.clone(),
            children: BTreeMap::new(),
            names: Names::of(items),
        });
        for item in items {
            let Item::Mod(declared) = item else {
                continue;
            };
            let name = declared.ident.to_string();
            let inside = folder.join(&name);
            let child = match &declared.content {
                Some((_, items)) => self.add(items, file.clone(), inside, Some(index), texts)?,
                None => {
                    let (child_file, inside) = match path_attribute(declared) {
                        Some(path) => {
                            let child_file = within(file.parent().unwrap_or(Path::new("")), &path);
                            let inside = child_file.parent().unwrap_or(Path::new(""));
                            (child_file.clone(), inside.to_path_buf())
                        }
                        None => (file_of(&inside, texts), inside),
                    };
                    self.add_file(child_file, inside, Some(index), texts)?
                }
            };
            self.0[index].children.insert(name, child);
        }
        Ok(index)
    }
}

/// The file of a module whose own modules would lie in `folder`.
fn file_of(folder: &Path, texts: &Texts) -> PathBuf {
    let of_folder = folder.join("mod.rs");
    if texts.contains_key(&of_folder) {
        return of_folder;
    }
    folder.with_extension("rs")
}

/// The value of `#[path = "…"]`.
fn path_attribute(module: &ItemMod) -> Option<String> {
    module.attrs.iter().find_map(|attribute| {
        let Meta::NameValue(meta) = &attribute.meta else {
            return None;
        };
        match &meta.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(path),
                ..
            }) if meta.path.is_ident("path") => Some(path.value()),
            _ => None,
        }
    })
}

/// A path from `folder`, without `..`.
fn within(folder: &Path, path: &str) -> PathBuf {
    let mut joined = folder.to_path_buf();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => {
                joined.pop();
            }
            Component::Normal(name) => joined.push(name),
            _ => {}
        }
    }
    joined
}
