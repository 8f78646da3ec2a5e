//! Names that a module defines, brings into scope and mentions.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Item, Meta, UseTree, Visibility};

use crate::check::syntax;

/// Names of one module, those of the modules inside it left out.
#[derive(Debug, Default)]
pub struct Names {
    /// Items that are defined here.
    pub items: BTreeSet<String>,
    /// Leaves of the `use` declarations, also of those within functions.
    pub imports: Vec<Import>,
    /// Paths in the code.
    pub paths: Vec<Mention>,
    /// Whether there is more than modules and `use` declarations.
    pub has_code: bool,
}

/// One name that a `use` declaration brings into scope.
#[derive(Debug)]
pub struct Import {
    /// The name in this module; `None` for `*`.
    pub name: Option<String>,
    /// The name's full path as it is written.
    pub from: Mention,
    /// Whether others can import the name from here.
    pub is_reexport: bool,
}

/// A path in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Mention {
    /// Its segments, which may begin with `crate`, `self` or `super`.
    pub segments: Vec<String>,
    /// The number of its line.
    pub line: usize,
}

/// Words before the name of an item that is defined by a macro.
const DEFINING: [&str; 8] = [
    "const", "enum", "fn", "static", "struct", "trait", "type", "union",
];

impl Names {
    /// Collects the names of these items.
    ///
    /// The contents of macros are not parsed: every sequence of names joined by `::` in them is
    /// taken for a path, and every name behind a word such as `struct` for an item.
    pub fn of(items: &[Item]) -> Self {
        let mut names = Self::default();
        for item in items {
            names.has_code |= match item {
                Item::Mod(_) | Item::Use(_) | Item::ExternCrate(_) => false,
                // Stops the build where no feature is chosen; tables of contents have it, too.
                Item::Macro(it) => !it.mac.path.is_ident("compile_error"),
                _ => true,
            };
            names.items.extend(defined(item));
            names.visit_item(item);
        }
        names
    }

    fn add_use(&mut self, tree: &UseTree, path: &[String], is_reexport: bool) {
        let joined = |name: String| [path, &[name]].concat();
        let (name, segments) = match tree {
            UseTree::Path(it) => {
                return self.add_use(&it.tree, &joined(it.ident.to_string()), is_reexport);
            }
            UseTree::Group(it) => {
                for tree in &it.items {
                    self.add_use(tree, path, is_reexport);
                }
                return;
            }
            UseTree::Name(it) if it.ident == "self" => (path.last().cloned(), path.to_vec()),
            UseTree::Name(it) => (Some(it.ident.to_string()), joined(it.ident.to_string())),
            UseTree::Rename(it) if it.ident == "self" => {
                (Some(it.rename.to_string()), path.to_vec())
            }
            UseTree::Rename(it) => (Some(it.rename.to_string()), joined(it.ident.to_string())),
            UseTree::Glob(_) => (None, path.to_vec()),
        };
        let line = syntax::line(tree.span());
        self.imports.push(Import {
            name,
            from: Mention { segments, line },
            is_reexport,
        });
    }

    /// Adds every sequence of names joined by `::`.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let is = |at: usize, mark: char| matches!(tokens.get(at), Some(TokenTree::Punct(it)) if it.as_char() == mark);
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => self.add_tokens(group.stream()),
                // A field, a method or a macro's variable is no path.
                TokenTree::Ident(first)
                    if at == 0 || !(is(at - 1, '.') || is(at - 1, '$') && first != "crate") =>
                {
                    let mut segments = vec![first.to_string()];
                    while let (true, true, Some(TokenTree::Ident(next))) =
                        (is(at + 1, ':'), is(at + 2, ':'), tokens.get(at + 3))
                    {
                        segments.push(next.to_string());
                        at += 3;
                    }
                    let line = syntax::line(first.span());
                    self.paths.push(Mention { segments, line });
                }
                _ => {}
            }
            at += 1;
        }
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item_mod(&mut self, _: &'ast syn::ItemMod) {}

    fn visit_item_use(&mut self, it: &'ast syn::ItemUse) {
        // A path from `::` is another crate's.
        if it.leading_colon.is_none() {
            let is_reexport = !matches!(it.vis, Visibility::Inherited);
            self.add_use(&it.tree, &[], is_reexport);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let segments = path.segments.iter().map(|it| it.ident.to_string());
            self.paths.push(Mention {
                segments: segments.collect(),
                line: syntax::line(path.span()),
            });
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, it: &'ast syn::Macro) {
        self.visit_path(&it.path);
        self.add_tokens(it.tokens.clone());
    }

    fn visit_attribute(&mut self, it: &'ast syn::Attribute) {
        if let Meta::List(list) = &it.meta {
            self.add_tokens(list.tokens.clone());
        }
    }
}

/// Names of the items that an item defines: its own, or those in a macro's arguments.
fn defined(item: &Item) -> Vec<String> {
    let ident = match item {
        Item::Const(it) => &it.ident,
        Item::Enum(it) => &it.ident,
        Item::Fn(it) => &it.sig.ident,
        Item::Static(it) => &it.ident,
        Item::Struct(it) => &it.ident,
        Item::Trait(it) => &it.ident,
        Item::TraitAlias(it) => &it.ident,
        Item::Type(it) => &it.ident,
        Item::Union(it) => &it.ident,
        Item::Macro(it) => match &it.ident {
            Some(ident) => ident,
            None => return defined_in(it.mac.tokens.clone()),
        },
        _ => return Vec::new(),
    };
    vec![ident.to_string()]
}

fn defined_in(tokens: TokenStream) -> Vec<String> {
    let tokens = syntax::flat(tokens);
    let pairs = tokens.windows(2).filter_map(|pair| match pair {
        [TokenTree::Ident(word), TokenTree::Ident(name)]
            if DEFINING.contains(&word.to_string().as_str()) =>
        {
            Some(name.to_string())
        }
        _ => None,
    });
    pairs.collect()
}
