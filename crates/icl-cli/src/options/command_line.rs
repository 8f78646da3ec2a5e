//! The command line, as it is written.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::backend::PROBE;
use crate::commands::compare_backends::CompareOptions;
use crate::commands::fetch::FetchArguments;
use crate::commands::reproduce::ReproduceArguments;
use crate::commands::run::RunOptions;
use crate::commands::train::TrainOptions;
use crate::commands::update::UpdateOptions;
use crate::options::images::Classes;

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
    /// Train a first encoder
    #[command(after_help = TRAIN)]
    Train(Box<TrainOptions>),
    /// Bring an encoder up to date with new data
    #[command(after_help = UPDATE)]
    Update(Box<UpdateOptions>),
    /// Write the embeddings of a data set
    #[command(after_help = EMBED)]
    Embed(EmbedArguments),
    /// Download public data sets; without a name, list them
    #[command(after_help = FETCH)]
    Fetch(FetchArguments),
    /// Tell how far the noise distribution has moved, from embeddings of any framework
    #[command(after_help = DIAGNOSE)]
    Diagnose(DiagnoseArguments),
    /// List the methods with their four choices
    Methods(MethodsArguments),
    /// Take the same steps on several backends and compare losses, time and memory
    #[command(after_help = COMPARE_BACKENDS)]
    CompareBackends(Box<CompareOptions>),
    /// List the backends of this program with the devices that they find here
    #[command(after_help = BACKENDS)]
    Backends(BackendsArguments),
    /// Rebuild the report of an earlier run
    Report(ReportArguments),
    /// Run the grid of a table or figure of the paper and set ours beside it
    #[command(after_help = REPRODUCE)]
    Reproduce(Box<ReproduceArguments>),
    /// Compute on a device, for a process that waits for the outcome
    #[command(name = PROBE, hide = true)]
    ProbeBackend { backend: String },
}

const COMPARE_BACKENDS: &str = "\
Each backend is a process of its own that begins with the same fresh encoder and takes the first steps of the \
method with the same batches, views and random numbers, made on the CPU from the seed. It ends with a table \
and writes DIR/report.html with the loss curves, DIR/record.jsonl with a line a backend, and DIR/config.toml.";

const BACKENDS: &str = "\
Every backend is asked by a process of its own, which computes a sum on each device that it finds. What \
is missing says which feature to build with, or what to install.";

const RUN: &str = "\
For each seed it trains an encoder on the old part of the data, lets the new part arrive, updates the \
encoder by every method, and compares them by the exact risk. It ends with a table and writes a folder \
with the report, the record, the encoders and the options used. A TOML file for --config holds the \
same options without the dashes: learning-rate = 0.003";

const TRAIN: &str = "\
It trains an encoder (graphs: a GCN, images: a ResNet-18) on all of DATA and writes DIR/encoder.safetensors, DIR/record.json and \
DIR/config.toml. A TOML file for --config holds the same options without the dashes. Ctrl-C saves the \
state; icl train --resume DIR goes on.";

const UPDATE: &str = "\
It updates the encoder so that it is as good as one retrained on old and new data together, and writes \
DIR/encoder.safetensors, DIR/record.json, DIR/report.html (the encoder before and after) and \
DIR/config.toml. Node features of graphs are those of the old data; views of images are those that \
the encoder was trained on. A TOML file for --config holds the same \
options without the dashes. Ctrl-C saves the state; icl update --resume DIR goes on.";

const EMBED: &str = "\
Samples are embedded as they are, without augmentation (images: the centre view), one row a sample in the order of the data, with \
the normalisation statistics stored in the encoder. The ending of FILE says what is written: .npy (f32, \
[n, d]), .safetensors (`embeddings` and `labels`) or .csv (index, label, e0, e1, …). Labels are those \
of the data's files.";

const FETCH: &str = "\
Every file is checked by its length and MD5 sum, as far as its publisher gives them, and is whole or not \
there. Without a network it says what to fetch by other means, and where to put it.";

const DIAGNOSE: &str = "\
Embeddings are NumPy files of f32 or f64, [n, d]. Row i of the positives is another view of what row i \
of the anchors is a view of. Every row of the old and of the new embeddings is a sample of that noise \
distribution. Losses and biases are in nats; a negative bias of inference says that the old loss \
judges the encoder more kindly than retraining's would.";

#[derive(Debug, Args)]
pub struct EmbedArguments {
    /// An encoder that icl wrote
    #[arg(long, value_name = "ENCODER.safetensors")]
    pub from: PathBuf,
    /// An embedded data set, or the path of one, as for `icl train`
    #[arg(long)]
    pub data: String,
    /// Of images: only these classes, as 1,7
    #[arg(long, value_name = "NAMES")]
    pub classes: Option<Classes>,
    /// Of images: at most N, as evenly of each class as can be
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub limit: Option<usize>,
    /// Of images: leave out those that cannot be decoded
    #[arg(long)]
    pub skip_broken: bool,
    /// The file to write: its name ends in .npy, .safetensors or .csv
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// The backend to run on, and which of its devices; `icl backends` lists them [default: the
    /// first that this binary holds]
    #[arg(long, value_name = "NAME[:DEVICE]")]
    pub backend: Option<String>,
    /// Replace the file
    #[arg(long)]
    pub force: bool,
}

const REPRODUCE: &str = "\
Every data set, growth ratio and seed is a process of its own that runs all methods of the target. \
Finished ones are kept in DIR/cells and never run again with the same options, so the same command \
goes on after an interruption. It ends with DIR/TARGET.html and DIR/TARGET.md: the paper's numbers, ours \
under the paper's rule and by time to target, and what follows from them.";

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
pub struct BackendsArguments {
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
