//! A TOML file as arguments of a command.
//!
//! Its keys are the long names of the command's options, or their aliases, with `-` or `_` between words. A
//! list stands for an option that is repeated. Switches without a value, such as `--force`, belong to the
//! command line alone, and so do `--config`, `--resume`, `--more` and `--rollback`.

use std::ops::Range;
use std::path::Path;

use clap::builder::ArgAction;
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, Command};
use icl_core::Error;
use icl_data::Found;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::options::kind::Kind;
use crate::options::nesting::too_deep;

/// Options with a value that belong to the command line alone.
const NOT_IN_FILES: [&str; 4] = ["config", "resume", "more", "rollback"];

/// The options of a file.
#[derive(Debug)]
pub struct ConfigFile {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    option: Arg,
    /// Values as arguments have them, each with its place.
    values: Vec<(Range<usize>, String)>,
}

impl ConfigFile {
    /// Reads the options of `command` in `text`, the contents of the file `path`.
    ///
    /// # Errors
    /// At the first place with a syntax error, a key that is no option of the command or that belongs to the
    /// command line, a value of the wrong type or one that the command does not take, or an option together with
    /// one that excludes it.
    pub fn parse(path: &Path, text: &str, command: &Command) -> Result<Self, Error> {
        let at = |span: Range<usize>, message: String| {
            let before = text.get(..span.start).unwrap_or(text);
            let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
            let line = before.matches('\n').count() + 1;
            // Counted in characters from 1.
            let column = before[line_start..].chars().count() + 1;
            let place = format!("{}, line {line}, column {column}", path.display());
            Error::new(place, message, "")
        };
        if let Some(byte) = too_deep(text) {
            let message = "found brackets that are nested too deep, expected values and lists";
            return Err(at(byte..byte, message.to_owned()));
        }
        let table = DeTable::parse(text).map_err(|error| {
            let message = error.message().replace('\n', ", ");
            at(error.span().unwrap_or_default(), message)
        })?;
        let mut pairs: Vec<_> = table.get_ref().iter().collect();
        pairs.sort_by_key(|(key, _)| key.span().start);
        let mut entries: Vec<Entry> = Vec::new();
        let read = pairs.into_iter().try_for_each(|(key, value)| {
            let option = option(key.get_ref(), command).map_err(|found| (key.span(), found))?;
            let mut others = entries.iter().map(|it| &it.option);
            if let Some(other) = others.find(|other| excludes(command, other, option)) {
                let [name, other] = [option, other].map(long_name);
                let message = if name == other {
                    format!("found {name} a second time, expected it once")
                } else {
                    format!("found both {other} and {name}, expected one of them")
                };
                return Err((key.span(), message));
            }
            let name = long_name(option);
            let values = values(value, option);
            entries.push(Entry {
                option: option.clone(),
                values: values.map_err(|(span, wrong)| (span, format!("{name}: {wrong}")))?,
            });
            Ok(())
        });
        // The first error in the order of the file: values that stand before the place where reading ended.
        let checked = check(command, &entries).and(read);
        checked.map_err(|(span, message)| at(span, message))?;
        Ok(Self { entries })
    }

    /// Returns the arguments that stand for the file, without those of the options that `is_given` on the
    /// command line or that an option which is given there excludes.
    pub fn arguments<'a>(
        &'a self,
        command: &'a Command,
        is_given: impl Fn(&Arg) -> bool + 'a,
    ) -> impl Iterator<Item = String> {
        let is_overridden = move |option: &Arg| {
            let mut given = command.get_arguments().filter(|other| is_given(other));
            given.any(|other| excludes(command, option, other))
        };
        let entries = self.entries.iter();
        let kept = entries.filter(move |entry| !is_overridden(&entry.option));
        kept.flat_map(Entry::arguments)
    }
}

impl Entry {
    fn arguments(&self) -> impl Iterator<Item = String> {
        let name = long_name(&self.option);
        self.values
            .iter()
            .map(move |(_, text)| format!("--{name}={text}"))
    }
}

/// Whether a file can hold the option.
pub fn is_key(option: &Arg) -> bool {
    option.get_long().is_some()
        && matches!(option.get_action(), ArgAction::Set | ArgAction::Append)
        && !option.is_hide_set()
        && !NOT_IN_FILES.contains(&option.get_id().as_str())
}

/// Finds the option that a key names; in words, why there is none.
fn option<'a>(key: &str, command: &'a Command) -> Result<&'a Arg, String> {
    let name = key.replace('_', "-");
    let is_named = |option: &&Arg| {
        let aliases = option.get_all_aliases().unwrap_or_default();
        option.get_long() == Some(&name) || aliases.contains(&name.as_str())
    };
    let found = Found::new(key);
    match command.get_arguments().find(is_named) {
        Some(option) if is_key(option) => Ok(option),
        Some(_) => Err(format!(
            "found the key {found}, expected it on the command line only"
        )),
        None => {
            let error = error_in(command, [format!("--{name}=")]);
            let similar = error.and_then(|error| {
                let similar = context(&error, ContextKind::SuggestedArg)?;
                Some(format!(" (did you mean {}?)", similar.trim_matches('-')))
            });
            Err(format!(
                "found the key {found}, expected an option of `icl {}`{}",
                command.get_name(),
                similar.unwrap_or_default()
            ))
        }
    }
}

fn long_name(option: &Arg) -> &str {
    option.get_long().unwrap_or_default()
}

/// Whether at most one of two options can be given, or both are the same.
pub fn excludes(command: &Command, one: &Arg, other: &Arg) -> bool {
    let conflicts = |a: &Arg, b: &Arg| {
        let all = command.get_arg_conflicts_with(a);
        all.iter().any(|option| option.get_id() == b.get_id())
    };
    one.get_id() == other.get_id() || conflicts(one, other) || conflicts(other, one)
}

/// Place and words of an error.
type Wrong = (Range<usize>, String);

/// Returns the values of an option as arguments have them, each with its place.
fn values(
    value: &Spanned<DeValue<'_>>,
    option: &Arg,
) -> Result<Vec<(Range<usize>, String)>, Wrong> {
    let kind = Kind::of(option);
    let is_list = matches!(option.get_action(), ArgAction::Append);
    let one = |value: &Spanned<DeValue<'_>>, list: &str| {
        let text = kind.text(value.get_ref()).ok_or_else(|| {
            let (found, expected) = (found(value.get_ref()), kind.expected());
            (
                value.span(),
                format!("found {found}, expected {expected}{list}"),
            )
        })?;
        Ok((value.span(), text))
    };
    match value.get_ref() {
        DeValue::Array(items) if is_list => items.iter().map(|item| one(item, "")).collect(),
        _ if is_list => Ok(vec![one(value, " or a list")?]),
        _ => Ok(vec![one(value, "")?]),
    }
}

/// Returns a value in words.
fn found(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => Found::new(text).to_string(),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// Checks that the command takes all values, in one parse.
///
/// # Errors
/// At the first that it does not take, in words what it expects instead.
fn check(command: &Command, entries: &[Entry]) -> Result<(), Wrong> {
    let Some(error) = error_in(command, entries.iter().flat_map(Entry::arguments)) else {
        return Ok(());
    };
    // The option as help has it: --stop <RULE>.
    let option = context(&error, ContextKind::InvalidArg).unwrap_or_default();
    let option = option.trim_start_matches('-').split([' ', '=', '[']).next();
    let Some(Entry { option, values }) = entries.iter().find(|it| it.option.get_long() == option)
    else {
        // The parse of file and command line together reports it.
        return Ok(());
    };
    // Of a value that is a list, the part that is wrong.
    let part = context(&error, ContextKind::InvalidValue).unwrap_or_default();
    let is_wrong = |text: &str| match option.get_value_delimiter() {
        Some(delimiter) => text.split(delimiter).any(|it| it == part),
        None => text == part,
    };
    let Some((span, text)) = values.iter().find(|(_, text)| is_wrong(text)) else {
        return Ok(());
    };
    let expected = match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(names)) if !names.is_empty() => {
            format!("one of {}", names.join(", "))
        }
        _ => match std::error::Error::source(&error) {
            Some(source) => match source.to_string().split_once("expected ") {
                Some((_, expected)) => expected.to_owned(),
                None => format!("another value ({source})"),
            },
            None => "a value".to_owned(),
        },
    };
    let (name, found) = (long_name(option), Found::new(text));
    Err((
        span.clone(),
        format!("{name}: found {found}, expected {expected}"),
    ))
}

/// Returns the error of a command with these arguments alone, whatever it requires.
fn error_in(command: &Command, arguments: impl IntoIterator<Item = String>) -> Option<clap::Error> {
    let command = command.clone().mut_args(|option| option.required(false));
    let line = [command.get_name().to_owned()].into_iter().chain(arguments);
    command.try_get_matches_from(line).err()
}

/// Returns what an error says of its context.
fn context(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use clap::Args;

    use crate::options::data::ReadingOptions;
    use crate::options::method::MethodOptions;
    use crate::options::training::TrainingOptions;

    fn command() -> Command {
        let command = TrainingOptions::augment_args(Command::new("train"));
        let command = MethodOptions::augment_args(ReadingOptions::augment_args(command));
        command.mut_arg("patience", |patience| patience.conflicts_with("epochs"))
    }

    fn arguments(text: &str) -> Result<Vec<String>, String> {
        let command = command();
        let file = ConfigFile::parse(Path::new("c.toml"), text, &command);
        let file = file.map_err(|error| error.to_string())?;
        let arguments = file.arguments(&command, |option| option.get_id() == "stop");
        Ok(arguments.collect())
    }

    /// The parser's own limit does not hold after an error, here the value that no comma ends.
    #[test]
    fn deep_brackets_are_one_error() {
        let error = arguments(&"method ={ [\"warm\"]\n".repeat(13_000)).unwrap_err();
        assert_eq!(
            error,
            "c.toml, line 16, column 11: found brackets that are nested too deep, expected values and lists"
        );
    }

    #[test]
    fn values_become_arguments_in_the_order_of_the_file() {
        for (text, expected) in [
            ("", &[][..]),
            ("epochs = 0x1_0\nK = 8", &["--epochs=16", "--negatives=8"]),
            (
                "learning_rate = 1_0.5e-3\nmethods = \"warm\"",
                &["--learning-rate=10.5e-3", "--method=warm"],
            ),
            (
                "method = [\"warm\", \"icl\"]\nskip-broken = false",
                &["--method=warm", "--method=icl", "--skip-broken=false"],
            ),
            ("classes = [1, 7]", &["--classes=1,7"]),
            ("classes = [\"a,b\", \"c\"]", &["--classes=a\\,b,c"]),
            // What the command line gives is left out.
            ("stop = \"never\"\nlimit = 3", &["--limit=3"]),
        ] {
            assert_eq!(arguments(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn errors_tell_their_place() {
        for (text, expected) in [
            (
                "limit = 3\nepoch = 3",
                "line 2, column 1: found the key \"epoch\", expected an option of `icl train` (did you \
                 mean epochs?)",
            ),
            (
                "qq = 3",
                "line 1, column 1: found the key \"qq\", expected an option of `icl train`",
            ),
            (
                "[train]\nx = 3",
                "line 1, column 2: found the key \"train\", expected an option of `icl train`",
            ),
            (
                "epochs = 2.5",
                "line 1, column 10: epochs: found 2.5, expected a whole number, 0 or more",
            ),
            (
                "epochs = -2",
                "line 1, column 10: epochs: found -2, expected a whole number, 0 or more",
            ),
            (
                "\n  stop = \"now\"",
                "line 2, column 10: stop: found \"now\", expected one of doubling, slope, exact-risk, training-loss, never",
            ),
            (
                "temperature = \"ä\"",
                "line 1, column 15: temperature: found \"ä\", expected a number",
            ),
            (
                "method = 3",
                "line 1, column 10: method: found 3, expected a string or a list",
            ),
            (
                "method = [\"ä\", 3]",
                "line 1, column 16: method: found 3, expected a string",
            ),
            (
                "skip-broken = 1",
                "line 1, column 15: skip-broken: found 1, expected true or false",
            ),
            (
                "batch_size = 8\nbatch-size = 9",
                "line 2, column 1: found batch-size a second time, expected it once",
            ),
            (
                "epochs = 8\npatience = 9",
                "line 2, column 1: found both epochs and patience, expected one of them",
            ),
        ] {
            let error = arguments(text).unwrap_err();
            assert_eq!(error, format!("c.toml, {expected}"), "{text}");
        }
        let error = arguments("epochs = = 3").unwrap_err();
        assert!(error.starts_with("c.toml, line 1, column 1"), "{error}");
    }
}
