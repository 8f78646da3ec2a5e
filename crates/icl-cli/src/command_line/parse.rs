//! The command of a command line and of the file that it names.
//!
//! A file of options becomes arguments that stand before those of the command line, and then all
//! are parsed at once. An option of the command line wins over the file: the file's arguments for
//! it, and for options that it excludes (`--seed` and `--seeds`), are left out. So a list on the
//! command line replaces that of the file, and the parser still reports what is given twice on the
//! command line itself.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use icl_core::InputFile;

use crate::command_line::config_file::ConfigFile;
use crate::command_line::help::with_help;
use crate::command_line::inputs::check_inputs;
use crate::command_line::{Arguments, Command};
use crate::files::work_folder::{self, Begun};
use crate::files::work_place::CONFIG;
use crate::options::kind::Kind;
use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// Reason for which there is no command.
#[derive(Debug)]
pub enum ParseError {
    /// The command line asks for help, or is wrong.
    CommandLine(clap::Error),
    /// The file is wrong.
    File(Failure),
    /// The work in this folder is complete: there is nothing to continue.
    Complete(PathBuf),
}

impl From<clap::Error> for ParseError {
    fn from(error: clap::Error) -> Self {
        Self::CommandLine(error)
    }
}

impl From<Failure> for ParseError {
    fn from(failure: Failure) -> Self {
        Self::File(failure)
    }
}

/// Command of a command line without any: a comparison that takes about a minute on two cores. The digit 9 is new,
/// and every method has a tenth of what retraining costs.
const FIRST_RUN: &str = "run --data digits --split class:0,1,2,3,4,5,6,7,8 --budget 10% --hold-out 0.3 --seeds 5 \
                         --temperature 0.2 --negatives 31 --batch-size 128 --epochs 120 --stop never --protocol none \
                         --method inference --method fine-tuning --method icl --method retraining";

/// Parses the words of a command line, of which the first is the program's name. Without any other it is
/// a first run, which is reported.
///
/// # Errors
/// If the command line or the file that it names is wrong, the command line asks for help, or the work that it
/// continues is complete.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Command, ParseError> {
    let mut words: Vec<OsString> = with_hyphens(words).collect();
    if words.len() == 1 {
        tell(format_args!(
            "note: without arguments this is icl {FIRST_RUN}"
        ));
        words.extend(FIRST_RUN.split_whitespace().map(OsString::from));
    }
    let mut all = program();
    let (mut matches, missing) = match all.clone().try_get_matches_from(&words) {
        // A file may hold what the command requires.
        Err(missing) if missing.kind() == ErrorKind::MissingRequiredArgument => {
            let lenient = each_option(all.clone(), |option| option.required(false));
            match lenient.try_get_matches_from(&words) {
                Ok(matches) => (matches, Some(missing)),
                Err(_) => return Err(missing.into()),
            }
        }
        parsed => (parsed?, None),
    };
    if let Some(arguments) = arguments_of_file(&all, &matches)? {
        // Behind the names of the program and of the command.
        words.splice(2..2, arguments);
        // That --resume stands alone on the command line has been checked.
        all = each_option(all, |option| option.exclusive(false));
        matches = all.clone().try_get_matches_from(words)?;
    } else if let Some(missing) = missing {
        return Err(missing.into());
    }
    if let Some((name, given)) = matches.subcommand()
        && let Some(command) = all.find_subcommand(name)
    {
        check_inputs(command, given)?;
    }
    let arguments = Arguments::from_arg_matches(&matches);
    let mut command = arguments.map_err(|error| error.format(&mut all))?.command;
    if let Command::Update(options) = &mut command {
        options.take_more()?;
    }
    Ok(command)
}

/// Returns the definition of the program.
pub fn program() -> clap::Command {
    with_help(with_negative_numbers(Arguments::command()))
}

/// Returns words with `-` for each `_` in the names of options, as files of options may have them, too: a name is what
/// begins with two dashes, before its `=` and before a word that is these dashes alone.
pub fn with_hyphens(words: impl IntoIterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    let mut are_options = true;
    words.into_iter().map(move |word| {
        are_options &= word != "--";
        match word.to_str() {
            Some(text) if are_options && text.starts_with("--") => {
                let end = text.find('=').unwrap_or(text.len());
                let (name, value) = text.split_at(end);
                format!("{}{value}", name.replace('_', "-")).into()
            }
            _ => word,
        }
    })
}

/// Returns a program whose commands take negative numbers as values of their options that are numbers.
pub fn with_negative_numbers(all: clap::Command) -> clap::Command {
    each_option(all, |option| {
        let kind = Kind::of(&option);
        let is_number = matches!(kind, Kind::Number | Kind::Count | Kind::NumberOrWord);
        option.allow_negative_numbers(is_number)
    })
}

fn each_option(
    all: clap::Command,
    change: impl Fn(clap::Arg) -> clap::Arg + Copy,
) -> clap::Command {
    all.mut_subcommands(|command| command.mut_args(change))
}

/// Returns the arguments that stand for the file of options that the command line names, if it names one.
fn arguments_of_file(
    all: &clap::Command,
    matches: &ArgMatches,
) -> Result<Option<Vec<OsString>>, ParseError> {
    let Some((name, given)) = matches.subcommand() else {
        return Ok(None);
    };
    let (Some((path, text)), Some(command)) = (options_file(given)?, all.find_subcommand(name))
    else {
        return Ok(None);
    };
    let file = ConfigFile::parse(&path, &text, command).map_err(Failure::input)?;
    let is_given = |option: &clap::Arg| {
        given.value_source(option.get_id().as_str()) == Some(ValueSource::CommandLine)
    };
    let arguments = file.arguments(command, is_given).map(OsString::from);
    Ok(Some(arguments.collect()))
}

/// Reads the file of options that the command line names; its path and its text.
fn options_file(given: &ArgMatches) -> Result<Option<(PathBuf, String)>, ParseError> {
    // Of a command that has no such option there is no such file.
    let path = |option| given.try_get_one::<PathBuf>(option).ok().flatten();
    if let Some(folder) = path("resume") {
        return match work_folder::begun(folder)? {
            Begun::Interrupted(path, text) => Ok(Some((path, text))),
            Begun::Complete => Err(ParseError::Complete(folder.clone())),
        };
    }
    let complete = path("more").map(|folder| complete(folder)).transpose()?;
    let file = complete.as_ref().or(path("config"));
    Ok(file.map(|path| read(path)).transpose()?)
}

/// Returns the file of the options of the complete work in a folder.
fn complete(folder: &Path) -> Result<PathBuf, Failure> {
    let found = match work_folder::begun(folder) {
        Ok(Begun::Complete) => return Ok(folder.join(CONFIG)),
        // Files of its list may have been removed.
        Err(_) if folder.join(CONFIG).is_file() => return Ok(folder.join(CONFIG)),
        Ok(Begun::Interrupted(..)) => "interrupted work, which --resume continues,",
        Err(_) => "no complete update",
    };
    Err(Failure::input(anyhow!(
        "more: found {found} in {}, expected an update that reached its budget",
        folder.display()
    )))
}

fn read(path: &Path) -> Result<(PathBuf, String), Failure> {
    let read = InputFile::open(path, work_folder::MAX_OPTIONS_BYTES).and_then(InputFile::text);
    let text = read.map_err(|error| {
        Failure::input(anyhow!(
            "{}: found no readable file ({error}), expected a TOML file",
            path.display()
        ))
    })?;
    Ok((path.to_owned(), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    use clap::{Arg, ArgAction};
    use tempfile::tempdir;

    use crate::command_line::config_file::{excludes, is_key};

    /// Commands that read a file, each with what it requires.
    const COMMANDS: [(&str, &[&str]); 4] = [
        ("run", &[]),
        ("train", &["--data=d", "--out=o"]),
        ("update", &["--from=e", "--old=a", "--new=b", "--out=o"]),
        ("compare-backends", &[]),
    ];

    fn parsed(words: &[&str]) -> Command {
        let words = ["icl"].iter().chain(words);
        parse(words.map(OsString::from)).unwrap()
    }

    /// Options of a command as its `config.toml` has them.
    fn config(command: &Command) -> String {
        let text = match command {
            Command::Run(options) => toml::to_string(options),
            Command::Train(options) => toml::to_string(options),
            Command::Update(options) => toml::to_string(options),
            Command::CompareBackends(options) => toml::to_string(options),
            other => panic!("{other:?} has none"),
        };
        text.unwrap()
    }

    /// All options of a command that a file can hold.
    fn keys(name: &str) -> Vec<Arg> {
        let command = Arguments::command();
        let command = command.find_subcommand(name).unwrap();
        command
            .get_arguments()
            .filter(|it| is_key(it))
            .cloned()
            .collect()
    }

    /// Two lists of values of an option; an option that takes one value has one in each.
    fn samples(option: &Arg) -> [Vec<String>; 2] {
        let names = option.get_possible_values();
        let names: Vec<&str> = names.iter().map(|name| name.get_name()).collect();
        let [one, other] = match (Kind::of(option), &names[..]) {
            (Kind::Boolean, _) => ["true", "false"],
            (_, [first, .., last]) => [*last, *first],
            (Kind::Number, _) => ["0.25", "1e-3"],
            (Kind::NumberOrWord, _) => ["0.25", "auto"],
            (Kind::Count, _) => ["7", "1024"],
            (Kind::Classes, _) => ["a\\,b,c", "1"],
            _ if option.get_long() == Some("budget") => ["25%", "900"],
            _ if option.get_long() == Some("split") => ["class:a,two words", "size"],
            (Kind::Text, _) => ["ä", "two words"],
        };
        let one = match option.get_action() {
            ArgAction::Append if option.get_long() == Some("budget") => vec![one, other],
            ArgAction::Append if names.is_empty() => vec![one, "more"],
            ArgAction::Append => vec![one, other],
            _ => vec![one],
        };
        [one, vec![other]].map(|values| values.into_iter().map(str::to_owned).collect())
    }

    /// The words that give an option its values, and before them the option that it requires.
    fn arguments(option: &Arg, values: &[String]) -> Vec<String> {
        let name = option.get_long().unwrap();
        let required = (name == "old-count").then(|| "--old-sample=s".to_owned());
        let given = values.iter().map(|it| format!("--{name}={it}"));
        required.into_iter().chain(given).collect()
    }

    /// Whether a command's option is among the words, or is excluded by one that is.
    fn is_excluded(name: &str, option: &str, given: &[String]) -> bool {
        let command = Arguments::command();
        let command = command.find_subcommand(name).unwrap();
        let find = |word: &str| {
            let long = word.trim_start_matches('-').split('=').next();
            let mut all = command.get_arguments();
            all.find(|it| it.get_long() == long).unwrap()
        };
        let option = find(option);
        given.iter().any(|it| excludes(command, option, find(it)))
    }

    /// The words of a command with what it requires, but for the options that are given or excluded.
    fn words<'a>(
        name: &'a str,
        required: &[&'a str],
        file: &'a str,
        given: &'a [String],
    ) -> Vec<&'a str> {
        let is_missing = |word: &&&str| !is_excluded(name, word, given);
        let required = required.iter().filter(is_missing).copied();
        let words = [name, "--config", file].into_iter().chain(required);
        words.chain(given.iter().map(String::as_str)).collect()
    }

    #[test]
    fn a_configuration_gives_the_same_options_again() {
        let at = tempdir().unwrap();
        let path = at.path().join("config.toml");
        let file = path.to_str().unwrap();
        for (name, required) in COMMANDS {
            let all = |options: Vec<Arg>| {
                let mut given: Vec<String> = Vec::new();
                for option in options {
                    let long = option.get_long().unwrap();
                    if !is_excluded(name, long, &given) {
                        given.extend(arguments(&option, &samples(&option)[0]));
                    }
                }
                given
            };
            let (keys, mut reversed) = (keys(name), keys(name));
            reversed.reverse();
            for given in [Vec::new(), all(keys), all(reversed)] {
                std::fs::write(&path, "").unwrap();
                let first = parsed(&words(name, required, file, &given));
                let text = config(&first);
                std::fs::write(&path, &text).unwrap();
                let second = parsed(&[name, "--config", file]);
                assert_eq!(format!("{first:?}"), format!("{second:?}"), "{text}");
                assert_eq!(text, config(&second));
            }
        }
    }

    #[test]
    fn the_command_line_wins_over_the_file() {
        let at = tempdir().unwrap();
        let path = at.path().join("config.toml");
        let file = path.to_str().unwrap();
        for (name, required) in COMMANDS {
            for option in keys(name) {
                let [in_file, given] = samples(&option).map(|it| arguments(&option, &it));
                std::fs::write(&path, "").unwrap();
                let expected = parsed(&words(name, required, file, &given));
                let other = parsed(&words(name, required, file, &in_file));
                assert_ne!(config(&expected), config(&other), "{given:?}");
                std::fs::write(&path, config(&other)).unwrap();
                let found = parsed(&words(name, required, file, &given));
                assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{given:?}");
            }
        }
    }

    #[test]
    fn one_form_of_seeds_replaces_the_other() {
        let at = tempdir().unwrap();
        let path = at.path().join("config.toml");
        let file = path.to_str().unwrap();
        for (in_file, given, expected) in [
            ("seeds = 2", "--seed=9", "seed = 9"),
            ("seed = 9", "--seeds=2", "seeds = 2"),
        ] {
            std::fs::write(&path, in_file).unwrap();
            let Command::Run(options) = parsed(&["run", "--config", file, given]) else {
                panic!("it is run")
            };
            let resolved = options.resolve().unwrap();
            let config = toml::to_string(&resolved.options).unwrap();
            let seeds: Vec<&str> = config.lines().filter(|it| it.starts_with("seed")).collect();
            assert_eq!(seeds, [expected]);
        }
    }

    #[test]
    fn without_words_it_is_the_first_run() {
        let first: Vec<&str> = FIRST_RUN.split_whitespace().collect();
        let [none, run] = [&[][..], &first].map(|words| format!("{:?}", parsed(words)));
        assert_eq!(none, run);
        assert!(!FIRST_RUN.contains("  "), "it is printed as it is written");
    }

    #[test]
    fn the_definitions_of_all_commands_are_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn names_of_options_may_have_underscores() {
        for (found, expected) in [
            ("--learning_rate 0.1", "--learning-rate 0.1"),
            ("--learning_rate=a_b", "--learning-rate=a_b"),
            ("--data_dir a_b=--c_d", "--data-dir a_b=--c_d"),
            ("a_b -c_d -- --e_f", "a_b -c_d -- --e_f"),
        ] {
            let words = with_hyphens(found.split(' ').map(OsString::from));
            let words: Vec<OsString> = words.collect();
            assert_eq!(words.join(" ".as_ref()), expected);
        }
        // No option has one in its own name.
        for command in Arguments::command().get_subcommands() {
            for option in command.get_arguments() {
                let names = option.get_long_and_visible_aliases().unwrap_or_default();
                assert!(names.iter().all(|name| !name.contains('_')), "{names:?}");
            }
        }
        let [one, other] = ["--learning_rate", "--learning-rate"]
            .map(|name| format!("{:?}", parsed(&["run", name, "0.1"])));
        assert_eq!(one, other);
    }
}
