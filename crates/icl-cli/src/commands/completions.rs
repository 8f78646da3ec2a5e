//! `icl completions`: prints the completions of commands and options for a shell.

use clap::Command;
use clap_complete::Shell;

use crate::process::failure::Failure;
use crate::process::terminal::print_bytes;

/// Places where shells look for completions.
pub const DETAILS: &str = "\
bash: eval \"$(icl completions bash)\" in ~/.bashrc; zsh: icl completions zsh > _icl in a folder of $fpath; fish: icl \
completions fish > ~/.config/fish/completions/icl.fish.";

/// Prints the completions of a program for a shell.
///
/// # Errors
/// If standard output cannot be written.
pub fn print(shell: Shell, program: &Command) -> Result<(), Failure> {
    let mut completions = Vec::new();
    clap_complete::generate(shell, &mut visible(program), "icl", &mut completions);
    print_bytes(&completions)
}

/// Returns a program without what its help hides, since shells would offer that, too.
fn visible(all: &Command) -> Command {
    let shown = all
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    let commands = shown.map(|command| {
        let options = command
            .get_arguments()
            .filter(|option| !option.is_hide_set());
        let about = command.get_about().cloned().unwrap_or_default();
        let name = command.get_name().to_owned();
        Command::new(name).about(about).args(options)
    });
    Command::new("icl")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommands(commands)
}
