//! `icl embed`: writes the embeddings of a data set.

use std::fmt::Write;
use std::path::Path;

use anyhow::anyhow;
use burn::module::AutodiffModule;

use crate::backend::{OnBackend, TrainingBackend, on_backend};
use crate::commands::embeddings::Embeddings;
use crate::domain::data::Data;
use crate::domain::encoder_file;
use crate::domain::encoder_file::EncoderFile;
use crate::domain::{Domain, Graphs, Images};
use crate::files::atomic;
use crate::files::tensors;
use crate::files::tensors::StoredTensor;
use crate::options::command_line::EmbedArguments;
use crate::options::images::Selection;
use crate::options::values;
use crate::process::failure::Failure;
use crate::process::terminal::print;

/// Reads an encoder and data, embeds the samples as they are and writes one row a sample.
///
/// # Errors
/// If an argument, the encoder or the data cannot be used, the encoder does not fit the data, or the
/// file cannot be written.
pub fn embed(arguments: &EmbedArguments) -> Result<(), Failure> {
    let format = Format::of(&arguments.out)?;
    check_out(arguments)?;
    let backend = values::backend(arguments.backend.clone())?;
    let selection = Selection {
        classes: arguments.classes.clone(),
        limit: arguments.limit,
        skip_broken: arguments.skip_broken,
    };
    match Data::read(&arguments.data, &selection)? {
        Data::Graphs(data) => embed_on::<Graphs>(&data, arguments, format, &backend),
        Data::Images(data) => embed_on::<Images>(&data, arguments, format, &backend),
    }
}

fn embed_on<D: Domain>(
    data: &D::Data,
    arguments: &EmbedArguments,
    format: Format,
    backend: &str,
) -> Result<(), Failure> {
    let encoder = encoder_file::read::<D>(&arguments.from)?;
    encoder.check_data(data)?;
    let task = Task {
        encoder: &encoder,
        data,
    };
    let embeddings = on_backend(backend, task)?;
    if let Some(at) = embeddings.values.iter().position(|x| !x.is_finite()) {
        return Err(Failure::input(anyhow!(
            "{}: found {} in the embedding of sample {} of {}, expected finite numbers",
            encoder.path.display(),
            embeddings.values[at],
            at / embeddings.d,
            D::name(data)
        )));
    }
    let bytes = format.bytes(&embeddings, &D::original_labels(data), D::name(data))?;
    if arguments.force {
        atomic::replace(&arguments.out, &bytes)?;
    } else {
        atomic::create(&arguments.out, &bytes)?;
    }
    print(format_args!(
        "{} embeddings of width {} written to {}",
        embeddings.rows().len(),
        embeddings.d,
        arguments.out.display()
    ))
}

/// Whether the file may be written, as far as can be told beforehand.
fn check_out(arguments: &EmbedArguments) -> Result<(), Failure> {
    let out = &arguments.out;
    let wrong = |found: &str, expected: &str| {
        Err(Failure::input(anyhow!(
            "out: found {found} {}, expected {expected}",
            out.display()
        )))
    };
    if out.is_dir() {
        return wrong("a folder at", "a file or nothing");
    }
    if !arguments.force && out.symlink_metadata().is_ok() {
        return wrong("a file at", "nothing there (--force replaces it)");
    }
    if is_same_file(out, &arguments.from) {
        return wrong("the encoder itself at", "another file");
    }
    if !atomic::folder_of(out).is_dir() {
        return wrong("no folder for", "one that is there");
    }
    Ok(())
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

struct Task<'a, D: Domain> {
    encoder: &'a EncoderFile<D>,
    data: &'a D::Data,
}

impl<D: Domain> OnBackend for Task<'_, D> {
    type Output = Embeddings;

    fn run<B: TrainingBackend>(self, device: B::Device) -> Result<Embeddings, Failure> {
        let encoder = self.encoder.encoder::<B>(&device)?.valid();
        Embeddings::of(&self.encoder.domain, &encoder, self.data, &device)
    }
}

/// What a file of embeddings can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Npy,
    Safetensors,
    Csv,
}

impl Format {
    /// The one that the ending of a name says.
    fn of(path: &Path) -> Result<Self, Failure> {
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        match ending.as_deref().and_then(|ending| ending.to_str()) {
            Some("npy") => Ok(Self::Npy),
            Some("safetensors") => Ok(Self::Safetensors),
            Some("csv") => Ok(Self::Csv),
            _ => Err(Failure::input(anyhow!(
                "out: found {}, expected a name that ends in .npy, .safetensors or .csv",
                path.display()
            ))),
        }
    }

    fn bytes(
        self,
        embeddings: &Embeddings,
        labels: &[i64],
        data: &str,
    ) -> Result<Vec<u8>, Failure> {
        match self {
            Self::Npy => npy(embeddings).map_err(|error| Failure::Other(error.into())),
            Self::Safetensors => {
                let (n, d) = (labels.len(), embeddings.d);
                let tensors = [
                    StoredTensor::of_f32("embeddings", vec![n, d], &embeddings.values),
                    StoredTensor::of_i64("labels", vec![n], labels),
                ];
                tensors::bytes(&[("data", data)], &tensors)
            }
            Self::Csv => csv(embeddings, labels).map_err(|error| Failure::Other(error.into())),
        }
    }
}

fn npy(embeddings: &Embeddings) -> std::io::Result<Vec<u8>> {
    use npyz::WriterBuilder;

    let mut bytes = Vec::new();
    let shape = [embeddings.rows().len() as u64, embeddings.d as u64];
    let mut writer = npyz::WriteOptions::new()
        .default_dtype()
        .shape(&shape)
        .writer(&mut bytes)
        .begin_nd()?;
    writer.extend(&embeddings.values)?;
    writer.finish()?;
    Ok(bytes)
}

/// A table with a row of names. Numbers have as few digits as give them back; none of its fields
/// needs quotes.
fn csv(embeddings: &Embeddings, labels: &[i64]) -> Result<Vec<u8>, std::fmt::Error> {
    let mut text = "index,label".to_owned();
    for column in 0..embeddings.d {
        write!(text, ",e{column}")?;
    }
    for (index, (row, label)) in embeddings.rows().zip(labels).enumerate() {
        write!(text, "\n{index},{label}")?;
        for value in row {
            write!(text, ",{value}")?;
        }
    }
    text.push('\n');
    Ok(text.into_bytes())
}
