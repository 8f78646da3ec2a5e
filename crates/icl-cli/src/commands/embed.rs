//! `icl embed`: writes the embeddings of a data set.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use burn::module::AutodiffModule;
use burn::tensor::Tensor;
use clap::{Arg, Args};
use icl_core::{Collate, Encoder, Samples, Views};
use icl_data::Found;

use crate::backend::{OnBackend, ProgramBackend, TrainingBackend, on_backend};
use crate::domain::data::Data;
use crate::domain::dispatch::{OnStoredEncoder, with_stored_encoder};
use crate::domain::encoder_file::EncoderFile;
use crate::domain::{Domain, tell_unlabelled};
use crate::files::npy;
use crate::files::tensors;
use crate::files::tensors::StoredTensor;
use crate::files::whole;
use crate::options::data::DataOptions;
use crate::options::encoder::FromOption;
use crate::options::execution::BackendOption;
use crate::options::output::OutputOptions;
use crate::process::failure::Failure;
use crate::process::terminal::print;

const DETAILS: &str = "\
Samples are embedded without augmentation (images: the centre view), one row a sample in the order of the data, \
with the normalisation statistics stored in the encoder. The extension of FILE selects the format: .npy (f32, \
[n, d]), .safetensors (`embeddings` and `labels`) or .csv (index, label, e0, e1, …). Labels are those of the \
files of the data; without any, they are left out.";

/// Options of `icl embed`.
#[derive(Debug, Args)]
#[command(after_help = DETAILS, mut_args(refined))]
pub struct EmbedOptions {
    #[command(flatten)]
    from: FromOption,
    #[command(flatten)]
    data: DataOptions,
    #[command(flatten)]
    backend: BackendOption,
    #[command(flatten)]
    output: OutputOptions,
}

/// Returns a shared option as this command takes it.
fn refined(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "data" => option.required(true).default_value(None),
        "out" => option
            .required(true)
            .value_name("FILE")
            .help("Output file; its name ends in .npy, .safetensors or .csv"),
        _ => option,
    }
}

/// Checked options of `icl embed`.
struct Resolved {
    from: PathBuf,
    out: PathBuf,
    force: bool,
    format: Format,
    backend: String,
}

/// Maximum number of samples per encoder pass.
const CHUNK: usize = 256;

/// Reads an encoder and data, embeds the samples without augmentation and writes a row for each.
///
/// # Errors
/// If an option, the encoder or the data cannot be used, the encoder does not fit the data, or the
/// file cannot be written.
pub fn embed(mut options: EmbedOptions) -> Result<(), Failure> {
    let out = options.output.folder.out.unwrap_or_default();
    let resolved = Resolved {
        format: Format::of(&out)?,
        from: options.from.from,
        out,
        force: options.output.force,
        backend: options.backend.fill()?.to_owned(),
    };
    resolved.check_out()?;
    let data = Data::read(&options.data.data, &options.data.reading)?;
    let work = Embed {
        resolved: &resolved,
    };
    with_stored_encoder(&resolved.from, [data], work)
}

/// Embedding of one data set.
struct Embed<'a> {
    resolved: &'a Resolved,
}

impl OnStoredEncoder<1> for Embed<'_> {
    type Output = ();

    fn run<D: Domain>(self, encoder: &EncoderFile<D>, [data]: [D::Data; 1]) -> Result<(), Failure> {
        let resolved = self.resolved;
        encoder.check_data(&data)?;
        let data = &data;
        let task = Task { encoder, data };
        let embeddings = on_backend(&resolved.backend, task)?;
        if let Some(at) = embeddings.values.iter().position(|x| !x.is_finite()) {
            let found = format!(
                "{} in the embedding of sample {} of {}",
                embeddings.values[at],
                at / embeddings.d,
                Found::new(D::name(data))
            );
            return Err(encoder.wrong(found, "finite numbers"));
        }
        tell_unlabelled::<D>(data);
        let labels = D::has_labels(data).then(|| D::original_labels(data));
        let labels = labels.as_deref();
        let bytes = resolved.format.bytes(&embeddings, labels, D::name(data))?;
        if resolved.force {
            whole::replace(&resolved.out, &bytes)?;
        } else {
            whole::create(&resolved.out, &bytes)?;
        }
        print(format_args!(
            "{} embeddings of width {} written to {}",
            embeddings.rows().len(),
            embeddings.d,
            resolved.out.display()
        ))
    }
}

impl Resolved {
    /// Checks that the file may be written, as far as can be known beforehand.
    fn check_out(&self) -> Result<(), Failure> {
        let out = &self.out;
        let wrong = |found: &str, expected: &str| {
            Err(Failure::input(anyhow!(
                "out: found {found} {}, expected {expected}",
                out.display()
            )))
        };
        if out.is_dir() {
            return wrong("a folder at", "a file or nothing");
        }
        if !self.force && out.symlink_metadata().is_ok() {
            return wrong("a file at", "nothing there (--force replaces it)");
        }
        if is_same_file(out, &self.from) {
            return wrong("the encoder itself at", "another file");
        }
        if !whole::folder_of(out).is_dir() {
            return wrong("no folder for", "an existing one");
        }
        Ok(())
    }
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

/// Embeddings `[n, d]`, a row for each sample.
struct Embeddings {
    /// All values, row by row.
    values: Vec<f32>,
    /// Width of a row, d.
    d: usize,
}

impl Embeddings {
    /// Embeds the samples of `data` without augmentation, in their order, with the normalisation
    /// statistics of the encoder.
    ///
    /// # Errors
    /// If a sample cannot be read.
    ///
    /// # Panics
    /// If the encoder cannot take the samples.
    fn of<D: Domain, B: ProgramBackend>(
        domain: &D,
        encoder: &D::Encoder<B>,
        data: &D::Data,
        device: &B::Device,
    ) -> Result<Self, Failure> {
        let mut embeddings = Self {
            values: Vec::new(),
            d: 0,
        };
        let samples: Vec<usize> = (0..data.n_samples()).collect();
        for chunk in samples.chunks(CHUNK) {
            let mut plain = Vec::with_capacity(chunk.len());
            for &index in chunk {
                let sample = data
                    .sample(index)
                    .map_err(|error| Failure::Input(anyhow!(error)))?;
                plain.push(domain.views().plain(&sample));
            }
            let batch = domain.collate().collate::<B>(&plain, device);
            let rows: Tensor<B, 2> = encoder.embed(batch);
            embeddings.d = rows.dims()[1];
            let rows = rows.into_data().convert::<f32>();
            embeddings.values.extend(rows.iter::<f32>());
        }
        Ok(embeddings)
    }

    /// Returns the rows, in their order.
    fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(self.d)
    }
}

/// Format of a file of embeddings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Npy,
    Safetensors,
    Csv,
}

impl Format {
    /// Returns the format that the extension of a name selects.
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
        labels: Option<&[i64]>,
        data: &str,
    ) -> Result<Vec<u8>, Failure> {
        match self {
            Self::Npy => {
                let shape = [embeddings.rows().len(), embeddings.d];
                Ok(npy::bytes(shape, &embeddings.values))
            }
            Self::Safetensors => {
                let (n, d) = (embeddings.rows().len(), embeddings.d);
                let values = &embeddings.values;
                let mut tensors = vec![StoredTensor::of_f32("embeddings", vec![n, d], values)];
                if let Some(labels) = labels {
                    tensors.push(StoredTensor::of_i64("labels", vec![n], labels));
                }
                tensors::bytes(&[("data", data)], &tensors)
            }
            Self::Csv => csv(embeddings, labels).map_err(|error| Failure::Other(error.into())),
        }
    }
}

/// Writes a table with a row of names, without a column of labels where there are none. Numbers have the fewest digits
/// that preserve them; no field needs quotes.
fn csv(embeddings: &Embeddings, labels: Option<&[i64]>) -> Result<Vec<u8>, std::fmt::Error> {
    let mut text = "index".to_owned();
    if labels.is_some() {
        text.push_str(",label");
    }
    for column in 0..embeddings.d {
        write!(text, ",e{column}")?;
    }
    for (index, row) in embeddings.rows().enumerate() {
        write!(text, "\n{index}")?;
        if let Some(label) = labels.and_then(|labels| labels.get(index)) {
            write!(text, ",{label}")?;
        }
        for value in row {
            write!(text, ",{value}")?;
        }
    }
    text.push('\n');
    Ok(text.into_bytes())
}
