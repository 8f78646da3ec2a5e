//! `icl align`: fits a map from old to new embeddings, and applies it.

mod fitted;
mod map_file;

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use icl_core::Seed;
use icl_eval::{AlignmentForm, AlignmentSettings, Matrix};
use icl_report::CommandOutcome;

use crate::files::embedding_format::EmbeddingFormat;
use crate::files::embeddings;
use crate::files::output_files::OutputFiles;
use crate::files::row_facts::RowFacts;
use crate::options::choice;
use crate::options::execution::DEFAULT_SEED;
use crate::options::output::print_outcome;
use crate::process::failure::Failure;
use crate::process::terminal::{print, tell};

use fitted::Fitted;

const DETAILS: &str = "\
Row i of both files of embeddings is the same sample. A tenth of the rows, drawn by the seed, is held out: on them it measures what a \
query of the new encoder finds among embeddings of the old one, unmapped and mapped. The map, its offset, and the order in which \
to embed the rows again, most moved first, are written as .safetensors. With --map in place of --to it applies a map to --from.";

/// Options of `icl align`.
#[derive(Debug, Clone, Args)]
#[command(after_help = DETAILS)]
pub struct AlignOptions {
    /// Embeddings by the old encoder
    #[arg(long, value_name = "OLD", help_heading = "Data")]
    from: PathBuf,
    /// Embeddings of the same samples by the new encoder: fit a map to them
    #[arg(
        long,
        value_name = "NEW",
        required_unless_present = "map",
        conflicts_with = "map",
        help_heading = "Data"
    )]
    to: Option<PathBuf>,
    /// Map that an earlier command fitted: apply it
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["form", "rank", "ridge", "seed", "json"],
        help_heading = "Data"
    )]
    map: Option<PathBuf>,
    /// Form of the map: a rotation (procrustes), or weights and an offset by least squares with a penalty (affine)
    #[arg(
        long,
        value_name = "FORM",
        value_parser = choice::any::<AlignmentForm>(),
        default_value = "procrustes",
        help_heading = "Map"
    )]
    form: AlignmentForm,
    /// Largest rank of an affine map. Without it, full rank
    #[arg(long, value_name = "R", help_heading = "Map")]
    rank: Option<usize>,
    /// Penalty of an affine map, relative to the mean square of a column. Without it, the one of 8 from 1e-8 to 1 that serves
    /// every tenth of the fitted rows best
    #[arg(long, value_name = "LAMBDA", help_heading = "Map")]
    ridge: Option<f64>,
    /// Root seed of the draw of held-out rows
    #[arg(long, value_name = "S", help_heading = "Execution")]
    seed: Option<u64>,
    /// Output file: the map (.safetensors), or with --map the mapped embeddings (.npy, .safetensors, .parquet, .csv)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    out: PathBuf,
    /// Replace the output of an earlier command
    #[arg(long, help_heading = "Output")]
    force: bool,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Fits a map, measures it on held-out rows and writes it; or applies one.
///
/// # Errors
/// If a file or an option cannot be used, or the output cannot be written.
pub fn align(options: AlignOptions) -> Result<(), Failure> {
    let (out, from) = (&options.out, &options.from);
    match (&options.to, &options.map) {
        (_, Some(map)) => apply(&options, out, from, map),
        (Some(to), None) => fit(&options, out, from, to),
        (None, None) => Err(Failure::input(anyhow!(
            "to: found nothing, expected embeddings by the new encoder, or --map"
        ))),
    }
}

/// Fits a map and writes it.
fn fit(options: &AlignOptions, out: &Path, from: &Path, to: &Path) -> Result<(), Failure> {
    let ending = out.extension().and_then(|ending| ending.to_str());
    if !ending.is_some_and(|ending| ending.eq_ignore_ascii_case("safetensors")) {
        return Err(Failure::input(anyhow!(
            "out: found {}, expected a name that ends in .safetensors",
            out.display()
        )));
    }
    let file = OutputFiles::begin(out, &[], options.force)?;
    let (old, new) = (rows(from)?, rows(to)?);
    if old.n_rows() != new.n_rows() {
        return Err(Failure::input(anyhow!(
            "{}: found {} rows, expected {}, the same samples as in {}",
            to.display(),
            new.n_rows(),
            old.n_rows(),
            from.display()
        )));
    }
    if options.form == AlignmentForm::Procrustes
        && (options.rank.is_some() || options.ridge.is_some())
    {
        return Err(Failure::input(anyhow!(
            "form: found procrustes with --rank or --ridge, expected affine"
        )));
    }
    let settings = AlignmentSettings::new(options.form)
        .with_rank(options.rank)
        .with_ridge(options.ridge);
    let seed = Seed::new(options.seed.unwrap_or(DEFAULT_SEED));
    let fitted = Fitted::of(&settings, &old, &new, seed)?;
    let form = choice::name(&options.form);
    file.write(out, &map_file::bytes(form, &fitted)?)?;
    file.publish()?;
    note_faults(from, &old);
    note_faults(to, &new);
    match options.json {
        true => {
            let outcome = CommandOutcome {
                further: fitted.json(form)?,
                ..CommandOutcome::of("align")
            };
            let file = out.file_name().unwrap_or_default().to_string_lossy();
            let folder = out.parent().unwrap_or(Path::new(""));
            print_outcome(outcome, folder, vec![file.into_owned()])
        }
        false => print(format_args!(
            "{}\n\nmap written to {}",
            fitted.text(form),
            out.display()
        )),
    }
}

/// Applies a map and writes the mapped embeddings.
fn apply(options: &AlignOptions, out: &Path, from: &Path, map: &Path) -> Result<(), Failure> {
    let format = EmbeddingFormat::of(out)?;
    let file = OutputFiles::begin(out, &[], options.force)?;
    let stored = map_file::read(map)?;
    let old = rows(from)?;
    let mapped = stored
        .apply(&old)
        .map_err(|error| Failure::input(anyhow!("{}: {error}", from.display())))?;
    let values: Vec<f32> = mapped.rows().flatten().map(|value| *value as f32).collect();
    let name = from.file_name().unwrap_or_default().to_string_lossy();
    let index = (0..mapped.n_rows()).map(|row| row.to_string());
    let facts = RowFacts {
        data: Some(name.into_owned()),
        ids: Some(index.collect()),
        ..RowFacts::default()
    };
    let rows = (&values[..], mapped.n_columns());
    file.write(out, &format.bytes(rows, &facts)?)?;
    file.publish()?;
    note_faults(from, &old);
    print(format_args!(
        "{} embeddings of width {} written to {}",
        mapped.n_rows(),
        mapped.n_columns(),
        out.display()
    ))
}

/// Says which rows do not tell samples apart, once they have been used: an error is alone on standard error.
fn note_faults(path: &Path, rows: &Matrix) {
    let (name, n) = (path.display(), rows.n_rows());
    let n_zeros = rows
        .rows()
        .filter(|row| row.iter().all(|x| *x == 0.0))
        .count();
    if n_zeros > 0 {
        tell(format_args!(
            "note: {name}: {n_zeros} of {n} rows are zeros, which have no direction and are similar to nothing"
        ));
    } else if n > 1 && rows.rows().all(|row| row == rows.row(0)) {
        tell(format_args!(
            "note: {name}: all {n} rows are equal and tell no samples apart"
        ));
    }
}

/// Reads embeddings as a matrix.
fn rows(path: &Path) -> Result<Matrix, Failure> {
    let stored = embeddings::read(path)?;
    Matrix::try_new(stored.values, stored.n_columns).map_err(Failure::input)
}
