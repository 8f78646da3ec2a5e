//! Options as the command line that gives them.

use clap::{Arg, Args, Command};
use serde::Serialize;
use serde_json::Value;

use crate::process::failure::Failure;

/// Returns the command line of these options: those that differ from their defaults, without those of the output and
/// of the verdict, which change nothing in the encoder.
///
/// # Errors
/// If the options cannot be written as JSON.
pub fn command_line<O: Args + Serialize>(
    name: &'static str,
    options: &O,
) -> Result<String, Failure> {
    let values = serde_json::to_value(options).map_err(Failure::input)?;
    let command = O::augment_args(Command::new(name));
    let of_encoder = command
        .get_arguments()
        .filter(|option| option.get_help_heading() != Some("Output"))
        .filter(|option| !["accept", "exit_code"].contains(&option.get_id().as_str()));
    let mut words = vec!["icl".to_owned(), name.to_owned()];
    for option in of_encoder {
        let Some((long, value)) = option.get_long().and_then(|it| Some((it, values.get(it)?)))
        else {
            continue;
        };
        let texts = match value {
            Value::Null => continue,
            Value::Array(values) => values.iter().map(text).collect(),
            value => vec![text(value)],
        };
        if !is_default(option, &texts) {
            words.extend(texts.iter().map(|text| match text.as_str() {
                "true" => format!("--{long}"),
                // A word that begins with a hyphen would be an option of its own.
                text if text.starts_with('-') => format!("--{long}={}", quoted(text)),
                text => format!("--{long} {}", quoted(text)),
            }));
        }
    }
    Ok(words.join(" "))
}

/// Returns the value of an option as an argument has it.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Whether an option that is not given has these values. Numbers are compared as such: JSON has 1 as 1.0.
fn is_default(option: &Arg, values: &[String]) -> bool {
    let defaults = option.get_default_values().iter();
    let defaults: Vec<_> = defaults.filter_map(|it| it.to_str()).collect();
    let is_same = |(value, default): (&String, &&str)| {
        let numbers = [value.as_str(), default].map(|it| it.parse::<f64>().ok());
        value == default || numbers[0].is_some() && numbers[0] == numbers[1]
    };
    values.len() == defaults.len() && values.iter().zip(&defaults).all(is_same)
}

/// Returns a word as a shell reads it back.
fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || "-_./,:=%+@".contains(it);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use clap::FromArgMatches;

    use crate::options::data::DataOptions;
    use crate::options::evaluation::VerdictOptions;
    use crate::options::method::MethodOptions;

    fn line<O: Args + FromArgMatches + Serialize>(words: &str) -> String {
        let command = O::augment_args(Command::new("x").no_binary_name(true));
        let matches = command.get_matches_from(words.split_whitespace());
        command_line("x", &O::from_arg_matches(&matches).unwrap()).unwrap()
    }

    #[test]
    fn it_gives_the_options_that_differ_from_their_defaults() {
        for (words, expected) in [
            ("", "icl x"),
            ("--data MUTAG --limit 12", "icl x --limit 12"),
            (
                "--data a/b.csv --skip-broken",
                "icl x --data a/b.csv --skip-broken",
            ),
            ("--data a --classes=-1", "icl x --data a --classes=-1"),
            (
                "--data it's --classes b,a",
                "icl x --data 'it'\\''s' --classes b,a",
            ),
        ] {
            assert_eq!(line::<DataOptions>(words), expected);
        }
        assert_eq!(line::<VerdictOptions>("--accept"), "icl x");
        assert_eq!(line::<VerdictOptions>("--accept=false"), "icl x");
        let words = "--method icl --method warm --support-learning-rate 1e-2";
        let expected = "icl x --method icl --method warm --support-learning-rate 0.01";
        assert_eq!(line::<MethodOptions>(words), expected);
    }

    #[test]
    fn words_are_quoted_where_a_shell_would_split_them() {
        for (word, expected) in [
            ("a/b-1.csv", "a/b-1.csv"),
            ("", "''"),
            ("two words", "'two words'"),
            ("$HOME", "'$HOME'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
