//! The tables of the pages under `docs/results` that no paper prints: Markdown from finished records, on
//! standard output. `icl-lab tables KIND FOLDER …`; each page names the command that makes its tables.

mod classes;
mod headline;
mod markdown;
mod methods;
mod seeds;
mod streams;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use icl_cli::parts::{Failure, print};

/// Options of `icl-lab tables`.
#[derive(Debug, Args)]
pub struct TablesArguments {
    #[command(subcommand)]
    kind: Kind,
}

/// Kind of tables.
#[derive(Debug, Subcommand)]
enum Kind {
    /// Cost at parity and quality at a budget: docs/results/headline.md
    Headline {
        /// Folders that scripts/headline.sh has filled, a cell each
        #[arg(required = true)]
        cells: Vec<PathBuf>,
    },
    /// Risks, costs and accuracies of all methods: docs/results/tables.md
    Methods {
        /// Output folders of `icl run`, a cell each
        #[arg(required = true)]
        folders: Vec<PathBuf>,
    },
    /// Accuracies over numbers of negatives: docs/results/negatives.md
    Classes {
        /// Folder that holds NAME-FORM-K, the output of `icl run --method inference`
        folder: PathBuf,
        /// First part of the names of those folders
        name: String,
        /// Sum of the squared shares of the classes: chance that a negative is of the anchor's class
        share: f64,
    },
    /// Streams of one data set: a section of docs/results/streams.md
    Streams {
        /// Folder that scripts/streams.sh has filled, for any number of seeds
        folder: PathBuf,
        /// First part of the names of its folders
        name: String,
    },
    /// Total cost of service and updates under rules for the moment of an update: docs/results/streams.md
    Schedules {
        /// Folder that scripts/streams.sh has filled, for any number of seeds
        folder: PathBuf,
        /// First part of the names of its folders
        name: String,
    },
    /// Streams of several data sets: docs/results/streams.md
    StreamsOverview {
        /// Folder and first part of the names in it, in turn
        #[arg(required = true, num_args = 2.., value_names = ["FOLDER", "NAME"])]
        streams: Vec<String>,
    },
}

/// Prints the tables.
///
/// # Errors
/// If a record cannot be read, or does not hold what a table needs.
pub fn tables(arguments: &TablesArguments) -> Result<(), Failure> {
    let text = match &arguments.kind {
        Kind::Headline { cells } => headline::tables(cells)?,
        Kind::Methods { folders } => methods::tables(folders)?,
        Kind::Classes {
            folder,
            name,
            share,
        } => classes::table_of(folder, name, *share)?,
        Kind::Streams { folder, name } => streams::page(folder, name)?,
        Kind::Schedules { folder, name } => streams::schedules(folder, name)?,
        Kind::StreamsOverview { streams } => streams::overview(streams)?,
    };
    print(text.trim_end())
}
