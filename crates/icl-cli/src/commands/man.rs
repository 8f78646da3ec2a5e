//! `icl man`: writes the manual pages of the program and of its commands.

use std::path::PathBuf;

use clap::{Args, Command};
use clap_mangen::Man;

use crate::files::destination::unusable;
use crate::files::new_folders::NewFolders;
use crate::files::output_files::OutputFiles;
use crate::process::failure::Failure;
use crate::process::terminal::print;

const DETAILS: &str = "\
It writes DIR/icl.1 and a page for each command, such as DIR/icl-train.1: all of them, or none. Other files of DIR stay as they \
are. In a folder man1 of the search path of man, such as ~/.local/share/man/man1, man icl-train shows them.";

/// Options of `icl man`.
#[derive(Debug, Clone, Args)]
#[command(after_help = DETAILS)]
pub struct ManOptions {
    /// Folder of the pages
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: PathBuf,
    /// Replace pages that are there
    #[arg(long, help_heading = "Output")]
    force: bool,
}

/// Page of the program.
const MAIN: &str = "icl.1";

/// Writes the manual pages of a program into a folder, which is created if it is missing.
///
/// # Errors
/// If a page is there and may not be replaced, or one cannot be written.
pub fn write(options: &ManOptions, program: Command) -> Result<(), Failure> {
    let folder = &options.out;
    let pages = pages(program)?;
    // Removed again if it stays empty.
    let _created = NewFolders::create(folder).map_err(|error| unusable(folder, &error))?;
    let names = pages.iter().map(|(name, _)| name.as_str());
    let of_commands: Vec<PathBuf> = names
        .filter(|name| *name != MAIN)
        .map(|name| folder.join(name))
        .collect();
    let files = OutputFiles::begin(&folder.join(MAIN), &of_commands, options.force)?;
    for (name, page) in &pages {
        files.write(&folder.join(name), page)?;
    }
    files.publish()?;
    print(format_args!(
        "{} pages written to {}",
        pages.len(),
        folder.display()
    ))
}

/// Returns the pages, each with its name: that of the program, and those of its commands.
///
/// # Errors
/// If one cannot be rendered.
fn pages(program: Command) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    // A page holds what `--help` prints; clap_mangen would leave out the help of options that `-h` does not print.
    let all = program.mut_subcommands(|command| command.mut_args(|it| it.hide_short_help(false)));
    // The pages are what the command `help` prints.
    let mut all = all.disable_help_subcommand(true);
    // Gives the commands their names with that of the program.
    all.build();
    let shown = all
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    let pages = [&all].into_iter().chain(shown).map(|command| {
        let man = Man::new(command.clone());
        let mut page = Vec::new();
        man.render(&mut page)
            .map_err(|error| Failure::Other(error.into()))?;
        Ok((man.get_filename(), page))
    });
    pages.collect()
}
