//! The command line: its commands, and how arguments and a file become the options of one.

mod config_file;
mod help;
mod inputs;
pub mod parse;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use clap_complete::Shell;

use crate::backend::PROBE;
use crate::commands::align::AlignOptions;
use crate::commands::backends;
use crate::commands::compare_backends::CompareOptions;
use crate::commands::completions;
use crate::commands::diagnose::DiagnoseOptions;
use crate::commands::embed::EmbedOptions;
use crate::commands::export::ExportOptions;
use crate::commands::fetch::FetchOptions;
use crate::commands::keep::KeepOptions;
use crate::commands::man::ManOptions;
use crate::commands::negatives::NegativesOptions;
use crate::commands::report::ReportOptions;
use crate::commands::run::RunOptions;
use crate::commands::show::ShowOptions;
use crate::commands::split::PartsOptions;
use crate::commands::stream::StreamOptions;
use crate::commands::train::TrainOptions;
use crate::commands::update::UpdateOptions;
use crate::options::execution::ExecutionOptions;

/// Keeps a contrastive encoder up to date as data arrives
///
/// Without a command, it compares methods on the embedded handwritten digits: it trains an encoder on the digits
/// 0 to 8, updates it by each method at a tenth of the cost of retraining when the digit 9 arrives, and reports how
/// good each is on samples that it has not seen.
#[derive(Debug, Parser)]
#[command(
    name = "icl",
    version,
    max_term_width = 100,
    subcommand_required = false,
    arg_required_else_help = false
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

// Help lists the commands in the order in which a user meets them, since that is how a stranger finds the next one: an
// encoder is trained, kept up to date, and used; next is whether an update would pay, and which method is
// best; public data, for whoever has none, the machine and the shell are last.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// Train a first encoder
    Train(Box<TrainOptions>),
    /// Update an encoder with new data
    Update(Box<UpdateOptions>),
    /// Update an encoder as increments arrive, one after the other
    Stream(Box<StreamOptions>),
    /// Print what the file of an encoder holds: its training, its data and the encoders before it
    Show(ShowOptions),
    /// Write the embeddings of a data set
    Embed(Box<EmbedOptions>),
    /// Write an encoder for torchvision, PyTorch, NumPy or ONNX
    Export(ExportOptions),
    /// Fit a map from old to new embeddings, or apply one, for what was stored before an update
    Align(Box<AlignOptions>),
    /// Measure how far the noise distribution has moved, from embeddings of any framework
    Diagnose(Box<DiagnoseOptions>),
    /// Advise how many negatives to train with, from an AUC
    Negatives(NegativesOptions),
    /// Compare methods on a data set
    Run(Box<RunOptions>),
    /// Rebuild the page of an earlier command
    Report(ReportOptions),
    /// List the methods
    Methods {
        /// Print JSON
        #[arg(long, help_heading = "Output")]
        json: bool,
    },
    /// Write the old and the new part of a data set as two data sets
    Split(Box<PartsOptions>),
    /// Keep a uniform sample of all data so far, for updates without them
    Keep(Box<KeepOptions>),
    /// Download public data sets, or list them
    Fetch(FetchOptions),
    /// List the backends and their devices
    #[command(after_help = backends::DETAILS)]
    Backends {
        /// Print JSON
        #[arg(long, help_heading = "Output")]
        json: bool,
    },
    /// Take the same training steps on several backends and compare losses, time and memory
    CompareBackends(Box<CompareOptions>),
    /// Print the completions of commands and options for a shell
    #[command(after_help = completions::DETAILS)]
    Completions {
        /// Shell
        shell: Shell,
    },
    /// Write the manual pages of the program and of its commands
    Man(ManOptions),
    /// Compute on a device, for a process that waits for the outcome
    #[command(name = PROBE, hide = true)]
    ProbeBackend { backend: String },
}

impl Command {
    /// Returns the execution and the output folder of a command that trains an encoder.
    pub fn training(&mut self) -> Option<(&mut ExecutionOptions, &mut Option<PathBuf>)> {
        match self {
            Self::Run(options) => Some((&mut options.execution, &mut options.output.out)),
            Self::Stream(options) => Some((&mut options.execution, &mut options.out)),
            Self::Train(options) => Some((&mut options.execution, &mut options.output.folder.out)),
            Self::Update(options) => Some((&mut options.execution, &mut options.output.folder.out)),
            _ => None,
        }
    }
}
