//! The command line, as it is written.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::run::RunOptions;

/// Keeps a contrastive encoder up to date as data arrives.
///
/// Without a command it does what `icl run` does: it trains an encoder on the old part of the
/// embedded MUTAG graphs, lets the new part arrive, updates the encoder by every method and shows
/// which of them reached the quality of retraining, and how soon.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compare methods on a data set
    #[command(after_help = RUN)]
    Run(Box<RunOptions>),
    /// Tell how far the noise distribution has moved, from embeddings of any framework
    #[command(after_help = DIAGNOSE)]
    Diagnose(DiagnoseArguments),
    /// List the methods with their four choices
    Methods(MethodsArguments),
    /// Rebuild the report of an earlier run
    Report(ReportArguments),
}

const RUN: &str = "\
For each seed it trains an encoder on the old part of the data, lets the new part arrive, updates the \
encoder by every method, and compares them by the exact risk. It ends with a table and writes a folder \
with the report, the record, the encoders and the options used. A TOML file for --config holds the \
same options without the dashes: learning-rate = 0.003";

const DIAGNOSE: &str = "\
Embeddings are NumPy files of f32 or f64, [n, d]. Row i of the positives is another view of what row i \
of the anchors is a view of. Every row of the old and of the new embeddings is a sample of that noise \
distribution. Losses and biases are in nats; a negative bias of inference says that the old loss \
judges the encoder more kindly than retraining's would.";

#[derive(Debug, Args)]
pub struct DiagnoseArguments {
    /// Embeddings of the anchors
    #[arg(long, value_name = "A.npy")]
    pub anchors: PathBuf,
    /// Embeddings of their positives
    #[arg(long, value_name = "P.npy")]
    pub positives: PathBuf,
    /// Embeddings of old data, samples of p(X)
    #[arg(long, value_name = "O.npy")]
    pub old: PathBuf,
    /// Embeddings of new data, samples of p(ΔX)
    #[arg(long, value_name = "N.npy")]
    pub new: PathBuf,
    /// Growth ratio, from 0 to 1 [default: rows of N / (rows of O + rows of N)]
    #[arg(long, allow_negative_numbers = true)]
    pub alpha: Option<f64>,
    /// Temperature τ
    #[arg(long, default_value_t = 0.1, allow_negative_numbers = true)]
    pub temperature: f64,
    /// K, the number of negatives in the formulas
    #[arg(
        long,
        visible_alias = "k",
        value_name = "K",
        default_value_t = 31.0,
        allow_negative_numbers = true
    )]
    pub negatives: f64,
    /// Add every anchor's values
    #[arg(long)]
    pub per_sample: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct MethodsArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The folder that `icl run` wrote
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}
