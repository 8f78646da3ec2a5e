//! The page of the book with all options, which is written from the help of the program.

use std::collections::BTreeMap;
use std::fs;

use crate::support::icl;
use tempfile::tempdir;

const PAGE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/book/src/options.md"
);

/// Variable with which the page is written instead of compared.
const UPDATE: &str = "UPDATE_PAGES";

/// Groups of options in the order of the page.
const GROUPS: [&str; 12] = [
    "Data",
    "Encoder",
    "Views",
    "Method",
    "Stream",
    "Training",
    "Loss",
    "Evaluation",
    "Map",
    "Negatives",
    "Execution",
    "Output",
];

/// Sets of commands that have a name, which the introduction of the page explains.
const SETS: [(&str, &[&str]); 3] = [
    (
        "all with data",
        &[
            "train",
            "update",
            "stream",
            "embed",
            "run",
            "split",
            "keep",
            "compare-backends",
        ],
    ),
    ("all that train", &["train", "update", "stream", "run"]),
    (
        "all that initialise",
        &["train", "stream", "run", "compare-backends"],
    ),
];

/// First words of the brackets at the end of the text of an option.
const KEYS: [&str; 3] = ["default", "possible values", "alias"];

/// Option as the help of a command prints it.
struct Printed {
    /// Place in [`GROUPS`].
    group: usize,
    /// Name with its value.
    name: String,
    text: String,
}

/// Commands that have an option with the same name and effect, by its default.
type Defaults = Vec<(String, Vec<String>)>;

#[test]
fn the_page_of_options_is_that_of_the_help() {
    let found = fs::read_to_string(PAGE).unwrap();
    let (introduction, _) = found.split_once("\n## ").unwrap();
    let expected = format!("{introduction}{}", tables());
    if std::env::var_os(UPDATE).is_some() {
        fs::write(PAGE, expected).unwrap();
        return;
    }
    let mut lines = found.lines().zip(expected.lines());
    let differs = lines.find(|(found, expected)| found != expected);
    assert!(
        found == expected,
        "options.md is not that of the help; first line (page, help): {differs:?}; run \
         `{UPDATE}=1 cargo test --release -p icl-cli --test tests options_page` to write it"
    );
}

/// A table of each group, with a heading.
fn tables() -> String {
    let at = tempdir().unwrap();
    let help = |arguments: &[&str]| icl(at.path(), arguments).succeeded().stdout;
    let commands = commands(&help(&["--help"]));
    let mut rows: BTreeMap<(usize, String, String), Defaults> = BTreeMap::new();
    for command in &commands {
        for option in options(&help(&[command.as_str(), "--help"])) {
            let key = (option.group, option.names(), option.effect().to_owned());
            let defaults = rows.entry(key).or_default();
            let default = option.default();
            match defaults.iter().position(|it| it.0 == default) {
                Some(same) => defaults[same].1.push(command.clone()),
                None => defaults.push((default, vec![command.clone()])),
            }
        }
    }
    assert!(rows.len() > 100, "{} options", rows.len());
    let mut page = String::new();
    let mut group = None;
    for ((place, names, effect), defaults) in &rows {
        if group != Some(place) {
            group = Some(place);
            page.push_str(&format!(
                "\n## {}\n\n| option | default | effect | commands |\n|---|---|---|---|\n",
                GROUPS[*place]
            ));
        }
        let with_it = |command: &&String| defaults.iter().any(|it| it.1.contains(command));
        let with_it: Vec<String> = commands.iter().filter(with_it).cloned().collect();
        let cells = [
            names.clone(),
            by_commands(defaults),
            effect.clone(),
            listed(&with_it),
        ];
        let cells = cells.map(|cell| cell.replace('|', "\\|"));
        page.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    page
}

/// The commands that the help of the program lists.
fn commands(help: &str) -> Vec<String> {
    let (_, list) = help.split_once("\nCommands:\n").unwrap();
    let (list, _) = list.split_once("\n\n").unwrap();
    let lines = list.lines().filter_map(|line| line.strip_prefix("  "));
    // Lines of words are indented further.
    let names = lines.filter(|line| !line.starts_with(' '));
    let names = names.map(|line| line.split(' ').next().unwrap().to_owned());
    names.filter(|name| name != "help").collect()
}

/// The options in the help of a command, which has the text of an option next to its name or below it.
fn options(help: &str) -> Vec<Printed> {
    let mut options: Vec<Printed> = Vec::new();
    let mut heading = "";
    let mut is_in_option = false;
    for line in help.lines().filter(|line| !line.trim().is_empty()) {
        let text = line.trim();
        let indent = line.len() - line.trim_start().len();
        if line.starts_with("      --") {
            let (name, text) = text.split_once("  ").unwrap_or((text, ""));
            options.push(Printed {
                group: group(heading),
                name: name.to_owned(),
                text: text.trim().to_owned(),
            });
            is_in_option = true;
        } else if is_in_option && indent > 6 {
            let option = options.last_mut().unwrap();
            option.text = format!("{} {text}", option.text).trim().to_owned();
        } else {
            is_in_option = false;
            heading = match indent {
                0 => line.trim_end_matches(':'),
                _ => heading,
            };
        }
    }
    options
}

/// The place of a heading's group: two headings have too few options for a table.
fn group(heading: &str) -> usize {
    let name = match heading {
        "Accuracy" => "Evaluation",
        // Options without a heading of their own.
        "Options" => "Execution",
        heading => heading,
    };
    let place = GROUPS.iter().position(|group| *group == name);
    place.unwrap_or_else(|| panic!("{name:?} is no group of the page"))
}

impl Printed {
    /// The name and its alias.
    fn names(&self) -> String {
        let name = self.name.replace("[=<BOOL>]", "");
        match self.bracket("alias") {
            Some(alias) => format!("`{name}`, `{alias}`"),
            None => format!("`{name}`"),
        }
    }

    /// The first sentence.
    fn effect(&self) -> &str {
        self.sentences()[0]
    }

    /// The default of the option, and its possible values where the effect does not name all of them.
    fn default(&self) -> String {
        let values = self.bracket("possible values");
        let is_switch = values == Some("true, false");
        let values: Vec<&str> = match values {
            Some(values) if !is_switch => values.split(", ").collect(),
            _ => Vec::new(),
        };
        let is_in_word = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        let named: Vec<&str> = self.effect().split(|c: char| !is_in_word(c)).collect();
        let are_named = values.iter().all(|value| named.contains(value));
        let default = self.bracket("default").filter(|_| !is_switch);
        let mut parts: Vec<String> = Vec::new();
        if are_named {
            parts.extend(default.map(|default| format!("`{default}`")));
        }
        let sentences = self.sentences();
        let without = sentences
            .iter()
            .filter_map(|it| it.strip_prefix("Without it, "));
        // What follows a colon is a list of what this program was built with.
        parts.extend(without.map(|it| it.split(": ").next().unwrap().to_owned()));
        if !are_named {
            let values = values.iter().map(|value| match default {
                Some(default) if default.split(',').any(|it| it == *value) => {
                    format!("**`{value}`**")
                }
                _ => format!("`{value}`"),
            });
            parts.push(values.collect::<Vec<_>>().join(", "));
        }
        parts.join("; ")
    }

    fn sentences(&self) -> Vec<&str> {
        let ends = KEYS
            .iter()
            .filter_map(|key| self.text.find(&format!(" [{key}: ")));
        let words = &self.text[..ends.min().unwrap_or(self.text.len())];
        words
            .split(". ")
            .map(|it| it.trim_end_matches('.'))
            .collect()
    }

    /// The value of one of [`KEYS`].
    fn bracket(&self, key: &str) -> Option<&str> {
        let (_, rest) = self.text.split_once(&format!(" [{key}: "))?;
        rest.split(']').next()
    }
}

/// The defaults of an option, each with its commands if there are several.
fn by_commands(defaults: &[(String, Vec<String>)]) -> String {
    if let [(default, _)] = defaults {
        return default.clone();
    }
    let known = defaults.iter().filter(|(default, _)| !default.is_empty());
    let known = known.map(|(default, commands)| format!("{default} ({})", listed(commands)));
    known.collect::<Vec<_>>().join("; ")
}

/// Names of commands, the first set of [`SETS`] among them by its own name.
fn listed(commands: &[String]) -> String {
    let is_there = |name: &&str| commands.iter().any(|command| command == name);
    let set = SETS
        .iter()
        .find(|(_, members)| members.iter().all(is_there));
    let is_other = |command: &&String| match set {
        Some((_, members)) => !members.contains(&command.as_str()),
        None => true,
    };
    let others = commands.iter().filter(is_other);
    let others = others.map(|command| format!("`{command}`"));
    let name = set.map(|(name, _)| (*name).to_owned());
    let names: Vec<String> = name.into_iter().chain(others).collect();
    names.join(", ")
}
