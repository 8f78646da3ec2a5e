//! Options of a program: a name means one thing, and its default is written by clap.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proc_macro2::{Delimiter, TokenTree};

use super::sources::{self, Source};
use super::syntax::{self, is_group, is_mark, is_word};
use crate::findings::Findings;

/// Folders of the programs.
const PROGRAMS: [&str; 2] = ["crates/icl-cli/src", "experiments/icl-lab/src"];

/// Folder of the groups of options that commands share.
const GROUPS: &str = "/options/";

/// Beginnings of a default in a help text.
const DEFAULTS: [&str; 2] = ["[default:", "(default:"];

/// Checks that one file of shared groups at most declares a long name, that the name takes a value everywhere or nowhere, and
/// that no help text states a default.
///
/// A name is declared by a field with `#[arg(long)]`, `#[arg(long = "name")]` or an alias, or by a call such as
/// `.long("name")`, also within a macro.
pub fn check(root: &Path) -> anyhow::Result<Findings> {
    let mut found = Vec::new();
    for program in PROGRAMS {
        found.extend(problems(&sources::read(root, program, "rs")?)?);
    }
    Ok(Findings::of(found))
}

/// Problems in the files of a program, a sentence each.
fn problems(sources: &[Source]) -> anyhow::Result<Vec<String>> {
    let mut declared: BTreeMap<String, Vec<(String, Option<bool>)>> = BTreeMap::new();
    let mut problems = Vec::new();
    for source in sources {
        let mut options = Options::default();
        options.add(&syntax::tokens(source)?);
        let at = |line: usize| format!("{}:{line}", source.path.display());
        for (name, line, kind) in options.declared {
            declared.entry(name).or_default().push((at(line), kind));
        }
        problems.extend(options.unnamed.into_iter().map(|line| {
            format!(
                "{}: the name of this option cannot be read; write it here",
                at(line)
            )
        }));
        problems.extend(options.defaults.into_iter().map(|(text, line)| {
            format!(
                "{}: the default in \"{text}\" is typed by hand; let clap write it (default_value_t), or say what happens without the option",
                at(line)
            )
        }));
    }
    for (name, places) in &declared {
        let shared = places.iter().map(|(at, _)| at.as_str());
        let shared: Vec<&str> = shared.filter(|at| at.contains(GROUPS)).collect();
        let files = shared.iter().filter_map(|at| at.rsplit_once(':'));
        let files: BTreeSet<&str> = files.map(|(file, _)| file).collect();
        if files.len() > 1 {
            problems.push(format!(
                "--{name} is declared in {}; declare it once in an options group and flatten it",
                shared.join(" and ")
            ));
        }
        let of_kind = |is_flag| places.iter().find(|(_, kind)| *kind == Some(is_flag));
        if let (Some((flag, _)), Some((other, _))) = (of_kind(true), of_kind(false)) {
            problems.push(format!(
                "--{name} takes no value in {flag} and one in {other}; a name means one thing: rename one of them"
            ));
        }
    }
    Ok(problems)
}

/// Everything about options in one file, each with its line.
#[derive(Default)]
struct Options {
    /// Long names, and whether fields of that name take no value.
    declared: Vec<(String, usize, Option<bool>)>,
    /// Options that a macro gives a name.
    unnamed: Vec<usize>,
    /// Texts with a default.
    defaults: Vec<(String, usize)>,
}

impl Options {
    fn add(&mut self, tokens: &[TokenTree]) {
        for (at, token) in tokens.iter().enumerate() {
            self.add_default(token);
            let TokenTree::Group(group) = token else {
                continue;
            };
            let inside: Vec<TokenTree> = group.stream().into_iter().collect();
            match &inside[..] {
                [word, TokenTree::Group(settings)]
                    if is_group(token, Delimiter::Bracket)
                        && (is_word(word, "arg") || is_word(word, "clap")) =>
                {
                    let settings: Vec<TokenTree> = settings.stream().into_iter().collect();
                    self.add_settings(&settings, &tokens[at + 1..]);
                }
                [name, ..]
                    if at > 1
                        && is_word(&tokens[at - 1], "long")
                        && is_mark(&tokens[at - 2], '.') =>
                {
                    let line = syntax::line(name);
                    self.declared
                        .extend(text(name).map(|name| (name, line, None)));
                }
                _ => {}
            }
            self.add(&inside);
        }
    }

    /// Adds the names in the attribute of a field: the option's own, which may be that of the field, and its aliases.
    fn add_settings(&mut self, settings: &[TokenTree], behind: &[TokenTree]) {
        let is_name = |it: &&TokenTree| matches!(it, TokenTree::Ident(_)) && !is_word(it, "pub");
        let line = behind.iter().find(is_name).map_or(0, syntax::line);
        let is_flag = is_flag(behind.iter().skip_while(|it| !is_name(it)));
        for setting in settings.split(|it| is_mark(it, ',')) {
            let name = match setting {
                [long] if is_word(long, "long") => {
                    let is_start = |it: &TokenTree| is_mark(it, '$') || is_name(&it);
                    let start = behind.iter().find(|it| is_start(it));
                    let field = start.filter(is_name).map(TokenTree::to_string);
                    field.map(|name| name.trim_start_matches("r#").replace('_', "-"))
                }
                [name, equals, value]
                    if is_mark(equals, '=')
                        && ["long", "alias", "visible_alias"]
                            .iter()
                            .any(|it| is_word(name, it)) =>
                {
                    text(value)
                }
                _ => continue,
            };
            match name {
                Some(name) => self.declared.push((name, line, is_flag)),
                None => self.unnamed.push(syntax::line(&setting[0])),
            }
        }
    }

    fn add_default(&mut self, token: &TokenTree) {
        let Some(text) = text(token) else {
            return;
        };
        let typed = DEFAULTS.iter().filter_map(|it| text.split_once(it));
        // The program fills in what stands in braces.
        if typed
            .into_iter()
            .any(|(_, default)| !default.trim_start().starts_with('{'))
        {
            let line = syntax::line(token);
            self.defaults.push((text.trim().to_owned(), line));
        }
    }
}

/// Returns whether a field that begins with its name is a `bool`; `None` if it is no field.
fn is_flag<'t>(field: impl Iterator<Item = &'t TokenTree>) -> Option<bool> {
    let mut behind = field.skip(1);
    let is_field = is_mark(behind.next()?, ':');
    let kind = behind.next().filter(|_| is_field)?;
    Some(is_word(kind, "bool"))
}

/// Returns the text of a literal.
fn text(token: &TokenTree) -> Option<String> {
    let literal = token.to_string();
    let text = literal.trim_start_matches(['r', '#']).strip_prefix('"')?;
    Some(text.trim_end_matches('#').trim_end_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let source = |(path, text): &(&str, &str)| Source {
            path: path.into(),
            text: (*text).to_owned(),
        };
        problems(&files.iter().map(source).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn an_option_that_is_declared_twice_is_named_with_its_places() {
        let first = "#[derive(Args)]\nstruct A {\n#[arg(long, value_parser = f::<A>)]\npub batch_size: u8,\n}";
        assert_eq!(found(&[("a.rs", first)]), [""; 0]);
        for second in [
            "#[derive(clap::Parser)]\nstruct B {\n#[arg(long = \"batch-size\")]\nb: u8 }",
            "#[derive(Subcommand)] enum B { Run {\n\n#[arg(short, long)]\nbatch_size: u8 } }",
            "\n\nstruct B { #[arg(long, visible_alias = \"batch-size\")]\nroot: u8 }",
            "\n\nstruct B { #[clap(long, num_args = 0..=1)] /// Doc\n r#batch_size: u8 }",
            "options! {\n\nstruct B {\n#[arg(long)] #[serde(a)] batch_size: u8 } }",
            "\n\n\nfn f() -> Arg { Arg::new(\"b\").long(\"batch-size\") }",
        ] {
            let expected = "--batch-size is declared in src/options/a.rs:4 and src/options/b.rs:4; declare it once in an \
                            options group and flatten it";
            let of_command = found(&[("src/options/a.rs", first), ("src/commands/b.rs", second)]);
            assert_eq!(of_command, [""; 0], "{second}");
            assert_eq!(
                found(&[("src/options/a.rs", first), ("src/options/b.rs", second)]),
                [expected],
                "{second}"
            );
        }
        let other = "struct B {\n#[arg(long)] batch_size: bool, c: u8 }";
        assert_eq!(
            found(&[("src/options/a.rs", first), ("src/commands/b.rs", other)]),
            [
                "--batch-size takes no value in src/commands/b.rs:2 and one in src/options/a.rs:4; a name means one thing: rename \
                 one of them"
            ]
        );
        let unnamed = found(&[(
            "a.rs",
            "macro_rules! m {\n($n:ident) => {{ #[arg(long)] $n: u8 }} }",
        )]);
        assert_eq!(
            unnamed,
            ["a.rs:2: the name of this option cannot be read; write it here"]
        );
    }

    #[test]
    fn positional_and_flattened_arguments_are_no_declarations() {
        let a = "struct A { #[arg(value_name = \"DIR\")] seed: u64, #[arg(long)] b: u8 }";
        let b = "struct B { #[command(flatten)] seed: A, #[arg(short)] b: u8 }\n\
                 #[cfg(test)] mod tests { struct D { #[arg(long)] b: u8 } }";
        assert_eq!(found(&[("a.rs", a), ("b.rs", b)]), [""; 0]);
    }

    #[test]
    fn defaults_are_not_typed_by_hand() {
        let typed = "is typed by hand; let clap write it (default_value_t), or say what happens without the option";
        for text in [
            "struct A {\n/// Rate [default: 0.1]\n#[arg(long)] a: f64 }",
            "struct A {\n#[arg(long, help = \"Rate [default: 0.1]\")] a: f64 }",
            "const HELP: &str =\n\"Rate [default: 0.1]\";",
        ] {
            let expected = format!("a.rs:2: the default in \"Rate [default: 0.1]\" {typed}");
            assert_eq!(found(&[("a.rs", text)]), [expected]);
        }
        let filled = "fn f(x: u8) -> String { format!(\"Rate [default: {x}]\") }";
        assert_eq!(found(&[("a.rs", filled)]), [""; 0]);
    }
}
