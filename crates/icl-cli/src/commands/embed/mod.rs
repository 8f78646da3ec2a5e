//! `icl embed`: writes the embeddings of a data set.

mod embeddings;

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use clap::{Arg, Args};
use icl_data::Found;

use crate::backend::{OnBackend, on_backend};
use crate::domain::Domain;
use crate::domain::data::{Data, DataSet, tell_unlabelled};
use crate::domain::encoder_choice::{OnStoredEncoder, with_stored_encoder};
use crate::domain::encoder_file::EncoderFile;
use crate::files::apart::check_apart;
use crate::files::embedding_format::EmbeddingFormat;
use crate::files::npy;
use crate::files::output_files::{OutputFiles, next_to};
use crate::files::row_facts::RowFacts;
use crate::options::bounds;
use crate::options::classes::Classes;
use crate::options::data::DataOptions;
use crate::options::execution::{BACKEND_VALUE, DEFAULT_SEED, backend_help, fill_backend};
use crate::process::failure::Failure;
use crate::process::terminal::print;

use embeddings::Embeddings;

const DETAILS: &str = "\
Samples are embedded without augmentation (images: the centre view), one row a sample in the order of the data, with \
the normalisation statistics stored in the encoder. The extension of FILE selects the format: .parquet (id, label, \
columns of --keep, encoder, embedding), .csv (the same with e0, e1, … as the embedding), .safetensors (`embeddings` \
and `labels`, the rest as metadata) or .npy (f32, [n, d]; labels in NAME.labels.npy, the rest in NAME.rows.json). \
`encoder` is the digest of the encoder, `id` the path of an image, or the place of the sample in its file, counted from \
0. Labels are names of classes; where a format holds numbers, these are places among the names. Without classes they \
are left out. With --views 2, FILE holds a random view of each sample instead, and NAME.positives.EXT a second one, as \
icl diagnose takes them.";

/// Options of `icl embed`.
#[derive(Debug, Clone, Args)]
#[command(after_help = DETAILS, mut_args(refined))]
pub struct EmbedOptions {
    /// File of the encoder, as written by icl
    #[arg(long, value_name = "ENCODER.safetensors", help_heading = "Encoder")]
    from: PathBuf,
    #[command(flatten)]
    data: DataOptions,
    /// Column of a table whose texts are the ids of the rows; it is no feature. Without it, their places in the file
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    id: Option<String>,
    /// Columns of a table that are copied next to the embeddings, comma-separated
    #[arg(long, value_name = "COLUMNS", help_heading = "Data")]
    keep: Option<Classes>,
    /// Number of views of each sample: 1 without augmentation, or 2 random ones. Random views are embedded as the
    /// losses see them, through the projection head if there is one
    #[arg(
        long,
        value_name = "1|2",
        default_value_t = 1,
        value_parser = bounds::at_most(2_usize),
        help_heading = "Views"
    )]
    views: usize,
    #[arg(long, value_name = BACKEND_VALUE, help = backend_help(), help_heading = "Execution")]
    backend: Option<String>,
    /// Root seed of random views (--views 2)
    #[arg(long, value_name = "S", help_heading = "Execution")]
    seed: Option<u64>,
    /// Output file; its name ends in .npy, .safetensors, .parquet or .csv
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    out: PathBuf,
    /// Replace the output of an earlier command
    #[arg(long, help_heading = "Output")]
    force: bool,
}

/// Returns a shared option as this command takes it.
fn refined(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "data" => option.required(true).default_value(None),
        _ => option,
    }
}

/// Checked options of `icl embed`.
struct Resolved {
    from: PathBuf,
    out: PathBuf,
    format: EmbeddingFormat,
    backend: String,
    /// Seed of two random views, or none for views without augmentation.
    pairs: Option<u64>,
    /// Column of the names of samples.
    id: Option<String>,
    /// Columns that are copied.
    keep: Vec<String>,
}

/// Reads an encoder and data, embeds the samples without augmentation and writes a row for each.
///
/// # Errors
/// If an option, the encoder or the data cannot be used, the encoder does not fit the data, or the
/// file cannot be written.
pub fn embed(mut options: EmbedOptions) -> Result<(), Failure> {
    let seed = options.seed.unwrap_or(DEFAULT_SEED);
    let pairs = match options.views {
        1 => None,
        2 => Some(seed),
        found => {
            return Err(Failure::input(anyhow!(
                "views: found {found}, expected 1 or 2"
            )));
        }
    };
    let resolved = Resolved {
        pairs,
        format: EmbeddingFormat::of(&options.out)?,
        from: options.from,
        out: options.out,
        backend: fill_backend(&mut options.backend)?.to_owned(),
        id: options.id.clone(),
        keep: options.keep.map(|Classes(names)| names).unwrap_or_default(),
    };
    options.data.reading.id = options.id;
    let positives = resolved.positives();
    let others = [
        resolved.labels(),
        resolved.format.facts_file(&resolved.out),
        positives
            .as_deref()
            .and_then(|path| resolved.format.facts_file(path)),
        positives,
    ];
    let others: Vec<PathBuf> = others.into_iter().flatten().collect();
    let inputs = [
        ("from", resolved.from.as_path()),
        ("data", Path::new(&options.data.name)),
    ];
    for file in &others {
        check_apart(file, inputs)?;
    }
    let files = OutputFiles::begin(&resolved.out, &others, options.force)?;
    let data = Data::read(&options.data.name, &options.data.reading)?;
    let work = Embed {
        resolved: &resolved,
        files,
    };
    let outliers = options.data.reading.outliers;
    with_stored_encoder(&resolved.from, [data], outliers, work)
}

/// Embedding of one data set.
struct Embed<'a> {
    resolved: &'a Resolved,
    files: OutputFiles,
}

impl OnStoredEncoder<1> for Embed<'_> {
    type Output = ();

    fn run<D: Domain>(self, encoder: &EncoderFile<D>, [data]: [D::Data; 1]) -> Result<(), Failure> {
        let resolved = self.resolved;
        encoder.check_data(&data)?;
        let data = &data;
        let task = Task {
            encoder,
            data,
            pairs: resolved.pairs,
        };
        let (embeddings, positives) = on_backend(&resolved.backend, task)?;
        for of in [Some(&embeddings), positives.as_ref()]
            .into_iter()
            .flatten()
        {
            if let Some(at) = of.values.iter().position(|x| !x.is_finite()) {
                let found = format!(
                    "{} in the embedding of sample {} of {}",
                    of.values[at],
                    at / of.d,
                    Found::new(data.name())
                );
                return Err(Failure::input(
                    encoder.stored.wrong(found, "finite numbers"),
                ));
            }
        }
        tell_unlabelled(data);
        let facts = resolved.row_facts(encoder.stored.digest(), data)?;
        let files = self.files;
        let mut next_to_it = String::new();
        if let (Some(labels), Some(path)) = (&facts.labels, resolved.labels()) {
            let labels: Vec<i64> = labels.iter().map(|&label| label as i64).collect();
            files.write(&path, &npy::integer_bytes(&labels))?;
            next_to_it.push_str(&format!(", labels to {}", path.display()));
        }
        let format = resolved.format;
        let write =
            |of: &Embeddings, path: &Path| format.write(&files, path, (&of.values, of.d), &facts);
        if let (Some(positives), Some(path)) = (&positives, resolved.positives()) {
            write(positives, &path)?;
            next_to_it.push_str(&format!(", positives to {}", path.display()));
        }
        write(&embeddings, &resolved.out)?;
        files.publish()?;
        print(format_args!(
            "{} embeddings of width {} written to {}{next_to_it}",
            embeddings.rows().len(),
            embeddings.d,
            resolved.out.display()
        ))
    }
}

impl Resolved {
    /// Returns the file of labels, where the embeddings' own cannot hold them.
    fn labels(&self) -> Option<PathBuf> {
        (!self.format.holds_facts()).then(|| next_to(&self.out, "labels"))
    }

    /// Returns the facts about the rows: an encoder of this digest embeds the samples of the data.
    fn row_facts<D: DataSet>(&self, encoder: &str, data: &D) -> Result<RowFacts, Failure> {
        let ids = match &self.id {
            Some(column) => data.ids(column).map_err(|reason| {
                Failure::input(anyhow!(
                    "id: found {}, expected a column of {}: {reason}",
                    Found::new(column),
                    data.name()
                ))
            })?,
            // Images have the names of their files.
            None => data.ids("").unwrap_or_else(|_| {
                let positions = data.positions().into_iter();
                positions.map(|position| position.to_string()).collect()
            }),
        };
        let columns = self.keep.iter().map(|name| {
            let texts = data.texts(name).ok_or_else(|| {
                Failure::input(anyhow!(
                    "keep: found {}, expected a column of {} that is read",
                    Found::new(name),
                    data.name()
                ))
            })?;
            Ok((name.clone(), texts))
        });
        let facts = RowFacts {
            encoder: Some(encoder.to_owned()),
            data: Some(data.name().to_owned()),
            ids: Some(ids),
            classes: data.class_names(),
            labels: data.has_labels().then(|| data.labels()),
            columns: columns.collect::<Result<_, Failure>>()?,
        };
        facts.check_columns()?;
        Ok(facts)
    }

    /// Returns the file of positives, if there are any.
    fn positives(&self) -> Option<PathBuf> {
        self.pairs.map(|_| next_to(&self.out, "positives"))
    }
}

/// Embedding on any backend.
struct Task<'a, D: Domain> {
    encoder: &'a EncoderFile<D>,
    data: &'a D::Data,
    /// Seed of two random views, or none for views without augmentation.
    pairs: Option<u64>,
}

impl<D: Domain> OnBackend for Task<'_, D> {
    /// The embeddings, and those of a second view if there is one.
    type Output = (Embeddings, Option<Embeddings>);

    fn run<B: AutodiffBackend>(self, devices: &[B::Device]) -> Result<Self::Output, Failure> {
        let device = &devices[0];
        let encoder = self.encoder.encoder::<B>(device)?.valid();
        let domain = &self.encoder.domain;
        match self.pairs {
            None => {
                let plain = Embeddings::plain(domain, &encoder, self.data, device)?;
                Ok((plain, None))
            }
            Some(seed) => {
                let pairs = Embeddings::pairs::<D, B>(domain, &encoder, self.data, device, seed);
                let [first, second] = pairs?;
                Ok((first, Some(second)))
            }
        }
    }
}
