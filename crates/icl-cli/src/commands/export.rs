//! `icl export`: writes an encoder for other programs.

use std::path::PathBuf;

use clap::Args;
use icl_models::{ExportFormat, StoredEncoder};

use crate::files::output_files::OutputFiles;
use crate::options::choice;
use crate::process::failure::Failure;
use crate::process::terminal::print;

const DETAILS: &str = "\
The file computes what icl embed writes: the embeddings, with the normalisation statistics of the encoder and without \
its projection head. torchvision: a .safetensors file of a ResNet-18 with the names of torchvision's resnet18, without \
fc. onnx: a model of an MLP, a ConvNet or a ResNet-18 for any number of samples; it standardises the rows of a table \
itself, and takes normalised images. safetensors: the weights of an MLP, ConvNet, GCN or GIN as PyTorch has them. The \
book describes names, inputs and metadata (An encoder for other programs).";

/// Options of `icl export`.
#[derive(Debug, Clone, Args)]
#[command(after_help = DETAILS)]
pub struct ExportOptions {
    /// File of the encoder, as written by icl
    #[arg(long, value_name = "ENCODER.safetensors", help_heading = "Encoder")]
    from: PathBuf,
    /// Format of the file
    #[arg(long, value_name = "FORMAT", value_parser = choice::any::<ExportFormat>(), help_heading = "Output")]
    format: ExportFormat,
    /// Output file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    out: PathBuf,
    /// Replace the output of an earlier command
    #[arg(long, help_heading = "Output")]
    force: bool,
}

/// Reads an encoder and writes it in a format of other programs.
///
/// # Errors
/// If the encoder cannot be read or has not this format, or the file cannot be written.
pub fn export(options: &ExportOptions) -> Result<(), Failure> {
    let files = OutputFiles::begin(&options.out, &[], options.force)?;
    let encoder = StoredEncoder::open(&options.from).map_err(Failure::input)?;
    let export = encoder.export(options.format).map_err(Failure::input)?;
    files.write(&options.out, &export.bytes)?;
    files.publish()?;
    let kind = encoder.kind().map_err(Failure::input)?;
    print(format_args!(
        "{kind} written to {}: {}",
        options.out.display(),
        export.note
    ))
}
