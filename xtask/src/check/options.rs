//! Options of the program: each is declared once, and its default is written by clap.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ExprLit, Field, Lit, LitStr, Meta, Token};

use super::sources::{self, Source};
use super::syntax;
use crate::findings::Findings;

/// Folder of the program.
const PROGRAM: &str = "crates/icl-cli/src";

/// Beginnings of a default in a help text.
const DEFAULTS: [&str; 2] = ["[default:", "(default:"];

/// Checks that no long name is declared twice and no help text states a default.
///
/// A name is declared by a field of a structure or of a variant that derives clap's `Args`, `Parser`
/// or `Subcommand` (`#[arg(long)]`, `#[arg(long = "name")]`, or an alias) or by a call such as
/// `.long("name")`. Options that a macro declares cannot be read, so that they fail, too.
pub fn check(root: &Path) -> anyhow::Result<Findings> {
    Ok(Findings::of(problems(&sources::read(
        root, PROGRAM, "rs",
    )?)?))
}

/// Problems in these files, a sentence each.
fn problems(sources: &[Source]) -> anyhow::Result<Vec<String>> {
    let mut declared: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut problems = Vec::new();
    for source in sources {
        let mut options = Options::default();
        options.visit_file(&syntax::parse(source)?);
        let at = |line: usize| format!("{}:{line}", source.path.display());
        for (name, line) in options.declared {
            declared.entry(name).or_default().push(at(line));
        }
        for line in options.in_macros {
            problems.push(format!(
                "{}: a macro declares options, where they cannot be checked; declare them in a structure",
                at(line)
            ));
        }
        for (text, line) in options.defaults {
            problems.push(format!(
                "{}: the default in \"{text}\" is typed by hand; let clap write it (default_value_t), or say what happens without the option",
                at(line)
            ));
        }
        if let Some(error) = options.unread {
            return Err(error).with_context(|| source.path.display().to_string());
        }
    }
    let repeated = declared.iter().filter(|(_, places)| places.len() > 1);
    problems.extend(repeated.map(|(name, places)| {
        format!(
            "--{name} is declared in {}; declare it once in an options group and flatten it",
            listed(places)
        )
    }));
    Ok(problems)
}

/// `a`, `a and b`, `a, b and c`.
fn listed(places: &[String]) -> String {
    match places {
        [some @ .., last] if !some.is_empty() => format!("{} and {last}", some.join(", ")),
        _ => places.concat(),
    }
}

/// Everything about options in one file, each with its line.
#[derive(Default)]
struct Options {
    /// Long names.
    declared: Vec<(String, usize)>,
    /// Texts with a default.
    defaults: Vec<(String, usize)>,
    /// The first option within each macro.
    in_macros: Vec<usize>,
    /// The first attribute that could not be read.
    unread: Option<syn::Error>,
}

impl Options {
    fn add_fields<'a>(&mut self, fields: impl IntoIterator<Item = &'a Field>) {
        for field in fields {
            for attribute in field.attrs.iter().filter(|it| is_of_clap(it)) {
                match long_names(attribute, field) {
                    Ok(names) => {
                        let line = field.ident.as_ref().map_or(0, |it| syntax::line(it.span()));
                        self.declared
                            .extend(names.into_iter().map(|name| (name, line)));
                    }
                    Err(error) => self.unread = self.unread.take().or(Some(error)),
                }
            }
        }
    }

    fn add_text(&mut self, text: &LitStr) {
        let value = text.value();
        let typed = DEFAULTS.iter().filter_map(|it| value.split_once(it));
        // The program fills in what stands in braces.
        if typed
            .into_iter()
            .any(|(_, default)| !default.trim_start().starts_with('{'))
        {
            let line = syntax::line(text.span());
            self.defaults.push((value.trim().to_owned(), line));
        }
    }

    fn add_tokens(&mut self, tokens: &TokenStream) {
        for token in syntax::flat(tokens.clone()) {
            if let TokenTree::Literal(literal) = token
                && let Lit::Str(text) = Lit::new(literal)
            {
                self.add_text(&text);
            }
        }
    }
}

impl<'ast> Visit<'ast> for Options {
    fn visit_item_struct(&mut self, it: &'ast syn::ItemStruct) {
        if syntax::derives(&it.attrs, &["Args", "Parser"]) {
            self.add_fields(&it.fields);
        }
        visit::visit_item_struct(self, it);
    }

    fn visit_item_enum(&mut self, it: &'ast syn::ItemEnum) {
        if syntax::derives(&it.attrs, &["Subcommand", "Args", "Parser"]) {
            self.add_fields(it.variants.iter().flat_map(|variant| &variant.fields));
        }
        visit::visit_item_enum(self, it);
    }

    fn visit_expr_method_call(&mut self, it: &'ast syn::ExprMethodCall) {
        if it.method == "long"
            && let Some(Expr::Lit(ExprLit {
                lit: Lit::Str(name),
                ..
            })) = it.args.first()
        {
            let line = syntax::line(name.span());
            self.declared.push((name.value(), line));
        }
        visit::visit_expr_method_call(self, it);
    }

    fn visit_lit_str(&mut self, it: &'ast LitStr) {
        self.add_text(it);
    }

    fn visit_attribute(&mut self, it: &'ast Attribute) {
        if let Meta::List(list) = &it.meta {
            self.add_tokens(&list.tokens);
        }
        visit::visit_attribute(self, it);
    }

    fn visit_macro(&mut self, it: &'ast syn::Macro) {
        self.add_tokens(&it.tokens);
        let tokens = syntax::flat(it.tokens.clone());
        let first = tokens.windows(2).find(|pair| match pair {
            [TokenTree::Punct(mark), TokenTree::Group(group)] => {
                let mut inside = group.stream().into_iter();
                mark.as_char() == '#'
                    && group.delimiter() == Delimiter::Bracket
                    && matches!(inside.next(), Some(TokenTree::Ident(it)) if it == "arg" || it == "clap")
            }
            _ => false,
        });
        self.in_macros
            .extend(first.map(|pair| syntax::line(pair[0].span())));
    }
}

fn is_of_clap(attribute: &Attribute) -> bool {
    let path = attribute.path();
    (path.is_ident("arg") || path.is_ident("clap")) && matches!(attribute.meta, Meta::List(_))
}

/// The long names in one attribute of a field: the option's own and its aliases.
fn long_names(attribute: &Attribute, field: &Field) -> syn::Result<Vec<String>> {
    let settings = Punctuated::<Meta, Token![,]>::parse_terminated;
    let mut names = Vec::new();
    for setting in attribute.parse_args_with(settings)? {
        let name = match &setting {
            Meta::Path(path) if path.is_ident("long") => {
                field.ident.as_ref().map(|it| kebab_case(&it.to_string()))
            }
            Meta::NameValue(it)
                if ["long", "alias", "visible_alias"]
                    .iter()
                    .any(|name| it.path.is_ident(name)) =>
            {
                match &it.value {
                    Expr::Lit(ExprLit {
                        lit: Lit::Str(name),
                        ..
                    }) => Some(name.value()),
                    _ => None,
                }
            }
            _ => None,
        };
        names.extend(name);
    }
    Ok(names)
}

/// A field's name as clap makes it an option's.
fn kebab_case(name: &str) -> String {
    name.trim_start_matches("r#").replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let source = |(path, text): &(&str, &str)| Source {
            path: path.into(),
            text: (*text).to_owned(),
        };
        let sources: Vec<Source> = files.iter().map(source).collect();
        problems(&sources).unwrap()
    }

    const NONE: [&str; 0] = [];

    #[test]
    fn an_option_that_is_declared_twice_is_named_with_its_places() {
        let a = "#[derive(Debug, Args)]\nstruct A {\n    #[arg(long)]\n    batch_size: usize,\n}\n";
        let b = "#[derive(clap::Parser)]\nstruct B {\n    #[arg(long = \"batch-size\")]\n    b: usize,\n}\n";
        assert_eq!(found(&[("a.rs", a)]), NONE);
        let expected = "--batch-size is declared in a.rs:4 and b.rs:4; declare it once in an \
                        options group and flatten it";
        assert_eq!(found(&[("a.rs", a), ("b.rs", b)]), [expected]);
    }

    #[test]
    fn places_are_listed() {
        let places = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(listed(&places[..1]), "a");
        assert_eq!(listed(&places), "a, b and c");
    }

    #[test]
    fn every_way_to_declare_an_option_counts() {
        let group = "#[derive(Args)] struct A { #[arg(long, value_parser = f::<A>)] seed: u64 }";
        for second in [
            "#[derive(Subcommand)] enum B { Run { #[arg(short, long)] seed: u64 } }",
            "#[derive(Args)] struct B { #[arg(long, visible_alias = \"seed\")] root: u64 }",
            "#[derive(Args)] struct B { #[clap(long, num_args = 0..=1)] r#seed: u64 }",
            "fn f() -> Arg { Arg::new(\"b\").long(\"seed\") }",
        ] {
            let found = found(&[("a.rs", group), ("b.rs", second)]);
            assert_eq!(found.len(), 1, "{second}");
            assert!(found[0].starts_with("--seed is declared in a.rs:1 and b.rs:1;"));
        }
    }

    #[test]
    fn positional_and_flattened_arguments_are_no_declarations() {
        let a = "#[derive(Args)] struct A { #[arg(value_name = \"DIR\")] seed: u64, #[arg(long)] b: u8 }";
        let b = "#[derive(Args)] struct B { #[command(flatten)] seed: A, #[arg(short)] b: u8 }\n\
                 struct C { #[arg(long)] b: u8 }\n\
                 #[cfg(test)] mod tests { #[derive(Parser)] struct D { #[arg(long)] b: u8 } }";
        assert_eq!(found(&[("a.rs", a), ("b.rs", b)]), NONE);
    }

    #[test]
    fn defaults_are_not_typed_by_hand() {
        let typed = "is typed by hand; let clap write it (default_value_t), or say what happens without the option";
        for text in [
            "#[derive(Args)] struct A {\n/// Rate [default: 0.1]\n#[arg(long)] a: f64 }",
            "#[derive(Args)] struct A {\n#[arg(long, help = \"Rate [default: 0.1]\")] a: f64 }",
            "const HELP: &str =\n\"Rate [default: 0.1]\";",
        ] {
            let expected = format!("a.rs:2: the default in \"Rate [default: 0.1]\" {typed}");
            assert_eq!(found(&[("a.rs", text)]), [expected]);
        }
        let filled = "fn f(x: u8) -> String { format!(\"Rate [default: {x}]\") }";
        assert_eq!(found(&[("a.rs", filled)]), NONE);
    }

    #[test]
    fn options_within_a_macro_fail() {
        let text = "options! {\n    struct A {\n        #[arg(long)]\n        a: u8,\n        #[arg(long)] b: u8\n    }\n}";
        let found = found(&[("a.rs", text)]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("a.rs:3: a macro declares options"));
    }

    #[test]
    fn without_a_program_there_is_nothing_to_look_at() {
        assert_eq!(found(&[]), NONE);
    }
}
