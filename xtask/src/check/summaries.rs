//! First words of the documentation: a summary begins with a verb or a noun.

use std::path::Path;

use syn::visit::{self, Visit};
use syn::{Attribute, Item, Visibility};

use super::sources::{self, Source};
use super::syntax;
use crate::findings::Findings;

/// Words with which no summary begins, because they make it a riddle: the reader has to find out
/// which thing or action is meant ("What it should be.", "Of the rows, at least one.").
///
/// `Whether` is not among them: "Whether a bias is added." says what `true` means.
const RIDDLES: [&str; 15] = [
    "How", "It", "Of", "That", "They", "Those", "What", "Whatever", "Where", "Which", "Who",
    "Whoever", "Whom", "Whose", "Why",
];

/// Beginnings that compare a thing with another instead of naming it.
const COMPARISONS: [&str; 2] = ["As [", "As `"];

/// Derived macros that show documentation to users of the program.
const CLAP: [&str; 4] = ["Args", "Parser", "Subcommand", "ValueEnum"];

/// Checks the first words of every summary in the crates: of modules, of public items, of their
/// fields, variants and methods, and of all that the program's help shows.
///
/// Documentation that a macro makes is not seen.
pub fn check(root: &Path) -> anyhow::Result<Findings> {
    let mut problems = Vec::new();
    for source in sources::read(root, "crates", "rs")? {
        let mut parts = source.path.components().skip(2);
        if parts.next().is_some_and(|it| it.as_os_str() == "src") {
            problems.extend(of_source(&source)?);
        }
    }
    Ok(Findings::of(problems))
}

/// Problems in one file, a sentence each.
fn of_source(source: &Source) -> anyhow::Result<Vec<String>> {
    let file = syntax::parse(source)?;
    let mut summaries = Summaries::default();
    summaries.add(&file.attrs);
    summaries.visit_file(&file);
    let riddles = summaries.0.into_iter().filter(|(_, it)| is_riddle(it));
    let problem = |(line, summary): (usize, String)| {
        format!(
            "{}:{line}: \"{summary}\": begin the summary with a verb or a noun",
            source.path.display()
        )
    };
    Ok(riddles.map(problem).collect())
}

fn is_riddle(summary: &str) -> bool {
    let text = summary.trim_start_matches(['*', '_', '"', '“']);
    let end = text.find(|it: char| !it.is_alphabetic());
    let first = &text[..end.unwrap_or(text.len())];
    RIDDLES.iter().any(|it| first.eq_ignore_ascii_case(it))
        || COMPARISONS.iter().any(|it| text.starts_with(it))
}

/// Summaries that are read by others, with their lines.
#[derive(Default)]
struct Summaries(Vec<(usize, String)>);

impl Summaries {
    fn add(&mut self, attributes: &[Attribute]) {
        self.0.extend(syntax::summary(attributes));
    }

    fn add_if_public(&mut self, visibility: &Visibility, attributes: &[Attribute]) {
        if matches!(visibility, Visibility::Public(_)) {
            self.add(attributes);
        }
    }
}

impl<'ast> Visit<'ast> for Summaries {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = syntax::attributes(item);
        let is_shown = syntax::derives(attributes, &CLAP);
        let is_public = matches!(syntax::visibility(item), Some(Visibility::Public(_)));
        if is_public || is_shown {
            self.add(attributes);
        }
        match item {
            Item::Struct(it) if is_shown => it.fields.iter().for_each(|it| self.add(&it.attrs)),
            Item::Enum(it) if is_shown || is_public => {
                for variant in &it.variants {
                    self.add(&variant.attrs);
                    variant.fields.iter().for_each(|it| self.add(&it.attrs));
                }
            }
            Item::Trait(it) if is_public => {
                for item in &it.items {
                    match item {
                        syn::TraitItem::Const(it) => self.add(&it.attrs),
                        syn::TraitItem::Fn(it) => self.add(&it.attrs),
                        syn::TraitItem::Type(it) => self.add(&it.attrs),
                        _ => {}
                    }
                }
            }
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_field(&mut self, it: &'ast syn::Field) {
        self.add_if_public(&it.vis, &it.attrs);
    }

    fn visit_impl_item_const(&mut self, it: &'ast syn::ImplItemConst) {
        self.add_if_public(&it.vis, &it.attrs);
    }

    fn visit_impl_item_fn(&mut self, it: &'ast syn::ImplItemFn) {
        self.add_if_public(&it.vis, &it.attrs);
    }

    fn visit_impl_item_type(&mut self, it: &'ast syn::ImplItemType) {
        self.add_if_public(&it.vis, &it.attrs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let source = Source {
            path: "a.rs".into(),
            text: text.into(),
        };
        of_source(&source).unwrap()
    }

    #[test]
    fn riddles_are_told_from_summaries() {
        for riddle in [
            "What it should be.",
            "That a saved agent is this one.",
            "Of the rows of `training`.",
            "It never reached the target.",
            "what’s left",
            "As [`status`], as an exit code.",
            "**How** it is done.",
        ] {
            assert!(is_riddle(riddle), "{riddle}");
        }
        for summary in [
            "Returns the bias.",
            "Whether a bias is added.",
            "Items of a batch.",
            "Offsets, ascending.",
            "Assigns a class.",
            "As many rows as there are samples.",
            "`of` and `what` are words.",
            "α, the growth ratio.",
        ] {
            assert!(!is_riddle(summary), "{summary}");
        }
    }

    #[test]
    fn a_problem_names_the_line_and_the_summary() {
        let text = "//! A module.\n\n/// What is\n/// there.\n///\n/// More.\npub struct A;\n";
        let expected = "a.rs:3: \"What is there.\": begin the summary with a verb or a noun";
        assert_eq!(found(text), [expected]);
    }

    #[test]
    fn everything_public_counts() {
        for text in [
            "//! What is here.",
            "/// What\npub fn f() {}",
            "pub mod m { //! What\n }",
            "pub struct A { /** What */ pub a: u8 }",
            "pub enum A { /** What */ B }",
            "pub enum A { B { /** What */ c: u8 } }",
            "pub trait A { /** What */ fn b(); }",
            "impl A { /** What */ pub fn b() {} }",
            "impl A { /** What */ pub const B: u8 = 1; }",
            "/// What\npub const A: u8 = 1;",
            "/// What\npub type A = u8;",
        ] {
            assert_eq!(found(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn the_help_of_the_program_counts() {
        for text in [
            "#[derive(Args)] struct A { /** What */ #[arg(long)] a: u8 }",
            "#[derive(clap::Subcommand)] enum A { /** What */ B }",
            "#[derive(Subcommand)] enum A { B { /** What */ c: u8 } }",
            "#[derive(ValueEnum)] enum A { /** What */ B }",
            "#[derive(Args)] pub struct A { /** What */ pub a: u8 }",
        ] {
            assert_eq!(found(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn private_items_and_tests_are_not_read() {
        for text in [
            "/// What\nfn f() {}",
            "struct A { /** What */ a: u8 }",
            "enum A { /** What */ B }",
            "impl A for B { /** What */ fn c() {} }",
            "/// What\npub(crate) struct A;",
            "#[cfg(test)] mod tests { /** What */ pub fn f() {} }",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
    }
}
