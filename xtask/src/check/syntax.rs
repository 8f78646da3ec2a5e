//! Syntax trees of source files, without their tests.

use anyhow::anyhow;
use proc_macro2::{Span, TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, ImplItem, Item, Lit, Meta, Token, TraitItem, Visibility};

use super::sources::Source;

/// Parses a file and leaves out what is compiled for tests only.
///
/// # Errors
/// If the file is no Rust program text; the error names the file and the line.
pub fn parse(source: &Source) -> anyhow::Result<syn::File> {
    let mut file = syn::parse_file(&source.text).map_err(|error| {
        let line = error.span().start().line;
        anyhow!("{}:{line}: {error}", source.path.display())
    })?;
    if is_for_tests(&file.attrs) {
        file.items.clear();
    }
    leave_out_tests(&mut file.items);
    Ok(file)
}

fn leave_out_tests(items: &mut Vec<Item>) {
    items.retain(|item| !is_for_tests(attributes(item)));
    for item in items {
        match item {
            Item::Mod(module) => {
                if let Some((_, items)) = &mut module.content {
                    leave_out_tests(items);
                }
            }
            Item::Impl(block) => block.items.retain(|item| match item {
                ImplItem::Const(it) => !is_for_tests(&it.attrs),
                ImplItem::Fn(it) => !is_for_tests(&it.attrs),
                ImplItem::Type(it) => !is_for_tests(&it.attrs),
                _ => true,
            }),
            Item::Trait(block) => block.items.retain(|item| match item {
                TraitItem::Const(it) => !is_for_tests(&it.attrs),
                TraitItem::Fn(it) => !is_for_tests(&it.attrs),
                TraitItem::Type(it) => !is_for_tests(&it.attrs),
                _ => true,
            }),
            _ => {}
        }
    }
}

/// Checks whether one of the attributes is a `cfg` that holds in tests only.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<Meta>()
                .is_ok_and(|condition| needs_test(&condition))
    })
}

/// Checks whether a condition is false wherever `test` is.
fn needs_test(condition: &Meta) -> bool {
    let parts = |list: &syn::MetaList| {
        list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
            .unwrap_or_default()
    };
    match condition {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => parts(list).iter().any(needs_test),
        Meta::List(list) if list.path.is_ident("any") => parts(list).iter().all(needs_test),
        _ => false,
    }
}

/// The attributes of an item.
pub fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(it) => &it.attrs,
        Item::Enum(it) => &it.attrs,
        Item::ExternCrate(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::ForeignMod(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        Item::Macro(it) => &it.attrs,
        Item::Mod(it) => &it.attrs,
        Item::Static(it) => &it.attrs,
        Item::Struct(it) => &it.attrs,
        Item::Trait(it) => &it.attrs,
        Item::TraitAlias(it) => &it.attrs,
        Item::Type(it) => &it.attrs,
        Item::Union(it) => &it.attrs,
        Item::Use(it) => &it.attrs,
        _ => &[],
    }
}

/// The visibility of an item, if its kind has one.
pub fn visibility(item: &Item) -> Option<&Visibility> {
    match item {
        Item::Const(it) => Some(&it.vis),
        Item::Enum(it) => Some(&it.vis),
        Item::ExternCrate(it) => Some(&it.vis),
        Item::Fn(it) => Some(&it.vis),
        Item::Mod(it) => Some(&it.vis),
        Item::Static(it) => Some(&it.vis),
        Item::Struct(it) => Some(&it.vis),
        Item::Trait(it) => Some(&it.vis),
        Item::TraitAlias(it) => Some(&it.vis),
        Item::Type(it) => Some(&it.vis),
        Item::Union(it) => Some(&it.vis),
        Item::Use(it) => Some(&it.vis),
        _ => None,
    }
}

/// Checks whether a `derive` names one of these macros, with or without a path.
pub fn derives(attributes: &[Attribute], macros: &[&str]) -> bool {
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("derive"))
        .filter_map(|attribute| {
            let paths = Punctuated::<syn::Path, Token![,]>::parse_terminated;
            attribute.parse_args_with(paths).ok()
        })
        .flatten()
        .filter_map(|path| path.segments.last().map(|last| last.ident.to_string()))
        .any(|name| macros.contains(&name.as_str()))
}

/// The first paragraph of a documentation on one line, and the number of its first line.
pub fn summary(attributes: &[Attribute]) -> Option<(usize, String)> {
    let mut lines = attributes
        .iter()
        .filter_map(|attribute| {
            let Meta::NameValue(meta) = &attribute.meta else {
                return None;
            };
            let Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) = &meta.value
            else {
                return None;
            };
            let is_doc = meta.path.is_ident("doc");
            is_doc.then(|| (line(attribute.span()), text.value().trim().to_owned()))
        })
        .skip_while(|(_, text)| text.is_empty());
    let (number, first) = lines.next()?;
    let rest = lines
        .map(|(_, text)| text)
        .take_while(|text| !text.is_empty());
    let paragraph: Vec<String> = std::iter::once(first).chain(rest).collect();
    Some((number, paragraph.join(" ")))
}

/// The number of the line that something begins on.
pub fn line(span: Span) -> usize {
    span.start().line
}

/// All tokens in their order, those within brackets after the bracket itself.
pub fn flat(tokens: TokenStream) -> Vec<TokenTree> {
    let mut all = Vec::new();
    for token in tokens {
        all.push(token.clone());
        if let TokenTree::Group(group) = token {
            all.extend(flat(group.stream()));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> anyhow::Result<syn::File> {
        let source = Source {
            path: "a.rs".into(),
            text: text.into(),
        };
        parse(&source)
    }

    fn names(text: &str) -> Vec<String> {
        let name = |item: &Item| match item {
            Item::Fn(it) => it.sig.ident.to_string(),
            Item::Mod(it) => it.ident.to_string(),
            _ => String::new(),
        };
        parsed(text).unwrap().items.iter().map(name).collect()
    }

    #[test]
    fn what_is_compiled_for_tests_only_is_left_out() {
        let text = "#[cfg(test)] mod a;\n#[cfg(all(unix, test))] fn b() {}\nfn c() {}\n\
                    #[cfg(any(test, feature = \"testing\"))] mod d {}\n#[cfg(not(test))] fn e() {}";
        assert_eq!(names(text), ["c", "d", "e"]);
        assert!(names("#![cfg(test)]\nfn a() {}").is_empty());
        let file = parsed("impl A { #[cfg(test)] fn b() {} fn c() {} }").unwrap();
        let Item::Impl(block) = &file.items[0] else {
            panic!("expected an impl");
        };
        assert_eq!(block.items.len(), 1);
    }

    #[test]
    fn an_error_names_file_and_line() {
        let error = parsed("fn a() {}\nfn {}\n").err().map(|it| it.to_string());
        assert!(error.is_some_and(|it| it.starts_with("a.rs:2: ")));
    }

    #[test]
    fn a_summary_is_the_first_paragraph() {
        let file = parsed("/// A\n/// b.\n///\n/// C.\n#[doc(hidden)]\nfn f() {}").unwrap();
        let found = summary(attributes(&file.items[0]));
        assert_eq!(found, Some((1, "A b.".into())));
        let file = parsed("#![doc = include_str!(\"a.md\")]").unwrap();
        assert_eq!(summary(&file.attrs), None);
    }

    #[test]
    fn derived_macros_are_known_by_their_last_name() {
        let file = parsed("#[derive(Debug, clap::Args)] struct A;").unwrap();
        let attributes = attributes(&file.items[0]);
        assert!(derives(attributes, &["Args", "Parser"]));
        assert!(!derives(attributes, &["Parser"]));
    }
}
