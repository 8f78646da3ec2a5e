//! The check that the output of a command line is none of its inputs.

use std::any::TypeId;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command};

use crate::files::apart::check_apart;
use crate::process::failure::Failure;

/// Options with a path that is no input.
const NO_INPUTS: [&str; 4] = ["out", "resume", "more", "data_dir"];
/// Option of a data set: its name, or its path.
const DATA: &str = "data";

/// Whether the values of an option are inputs.
fn is_input(option: &Arg) -> bool {
    let id = option.get_id().as_str();
    let is_path = option.get_value_parser().type_id() == TypeId::of::<PathBuf>();
    id == DATA || is_path && !NO_INPUTS.contains(&id)
}

/// Checks that the output, of whichever command, is none of the inputs, holds none and lies in none.
///
/// # Errors
/// At the first input of which that is not so.
pub fn check_inputs(command: &Command, given: &ArgMatches) -> Result<(), Failure> {
    let path = |option: &str| given.try_get_one::<PathBuf>(option).ok().flatten();
    let Some(out) = ["resume", "more", "out"].into_iter().find_map(path) else {
        return Ok(());
    };
    let options = command.get_arguments().filter(|option| is_input(option));
    let inputs = options.flat_map(|option| {
        let id = option.get_id().as_str();
        let values = given.get_raw(id).into_iter().flatten();
        values.map(move |value| (option.get_long().unwrap_or(id), Path::new(value)))
    });
    check_apart(out, inputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    use clap::CommandFactory;

    use crate::command_line::Arguments;

    /// An option that names a file or a folder is an input, or known to be none.
    #[test]
    fn every_path_is_an_input_or_an_output() {
        let all = Arguments::command();
        let mut n_inputs = 0;
        for command in all.get_subcommands() {
            for option in command.get_arguments() {
                let names: Vec<&str> = option
                    .get_value_names()
                    .unwrap_or_default()
                    .iter()
                    .map(|it| it.as_str())
                    .collect();
                let is_named = names.iter().any(|name| {
                    ["FILE", "DIR", "DATA", "OLD", "NEW"].contains(name) || name.contains('.')
                });
                let id = option.get_id().as_str();
                let is_known =
                    is_input(option) || NO_INPUTS.contains(&id) || command.get_name() == "report";
                let at = format!("{} {id}: {names:?}", command.get_name());
                assert!(!is_named || is_known, "{at}");
                n_inputs += usize::from(is_input(option));
            }
        }
        assert!(n_inputs > 20, "{n_inputs}");
    }
}
