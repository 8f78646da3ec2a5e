//! The program `icl-lab`: makes the tables and figures of the papers, and the tables of pages of results, again.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use icl_cli::NamedProtocol;
use icl_lab::commands::{ReproduceArguments, reproduce};
use icl_lab::svm::{self, SvmProtocol};
use icl_lab::tables::{TablesArguments, tables};

/// Words that are for this program and not for `icl`.
const OWN: [&str; 6] = ["reproduce", "tables", "help", "--help", "-h", "--version"];

/// Protocols that this program adds.
static PROTOCOLS: [NamedProtocol; 1] = [NamedProtocol {
    name: svm::NAME,
    words: svm::WORDS,
    is_slow: true,
    create: || Box::new(SvmProtocol),
}];

/// Makes the tables and figures of the papers again
///
/// Every other command is that of `icl`, with the protocols of the laboratory: `icl-lab run --protocol svm`.
#[derive(Debug, Parser)]
#[command(name = "icl-lab", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Reproduce a table or figure of the paper, or of the papers of DACL and ANS
    Reproduce(Box<ReproduceArguments>),
    /// Print the tables of a page of docs/results from finished records
    Tables(TablesArguments),
}

fn main() -> ExitCode {
    icl_cli::add_protocols(&PROTOCOLS);
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let is_own = |word: &OsString| OWN.iter().any(|own| word == own);
    if arguments.get(1).is_some_and(is_own) {
        let work = |arguments: Arguments| match arguments.command {
            Command::Reproduce(of) => reproduce(&of),
            Command::Tables(of) => tables(&of),
        };
        return icl_cli::main_of(arguments, work);
    }
    icl_cli::main(arguments)
}
