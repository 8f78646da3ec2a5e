//! `icl align`: fits a map from old to new embeddings, and applies it.

mod fitted;
mod map_file;

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use icl_core::Seed;
use icl_data::Found;
use icl_eval::{AlignmentForm, AlignmentSettings, Matrix};
use icl_report::CommandOutcome;
use serde::Deserialize;

use crate::files::embedding_format::EmbeddingFormat;
use crate::files::embeddings;
use crate::files::embeddings::{StoredEmbeddings, check_same_samples};
use crate::files::output_files::OutputFiles;
use crate::files::row_facts::RowFacts;
use crate::options::choice;
use crate::options::execution::DEFAULT_SEED;
use crate::options::output::print_outcome;
use crate::process::failure::Failure;
use crate::process::terminal::{print, tell};

use fitted::Fitted;
use map_file::StoredMap;

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
        conflicts_with_all = ["form", "rank", "ridge", "hidden", "seed", "json"],
        help_heading = "Data"
    )]
    map: Option<PathBuf>,
    /// Form of the map: a rotation (procrustes), weights and an offset by least squares with a penalty (affine), a
    /// hidden layer on top of these (residual-mlp), or the one that fits best by cross-validation of the fitted rows
    /// (auto)
    #[arg(
        long,
        value_name = "FORM",
        value_parser = choice::any::<FormOption>(),
        default_value = "auto",
        help_heading = "Map"
    )]
    form: FormOption,
    /// Largest rank of an affine map. Without it, full rank
    #[arg(long, value_name = "R", help_heading = "Map")]
    rank: Option<usize>,
    /// Penalty of an affine map, relative to the mean square of a column. Without it, the one of 8 from 1e-8 to 1
    /// with the least error on every tenth of the fitted rows
    #[arg(long, value_name = "LAMBDA", help_heading = "Map")]
    ridge: Option<f64>,
    /// Number of hidden units of a residual MLP. Without it, 64
    #[arg(long, value_name = "H", help_heading = "Map")]
    hidden: Option<usize>,
    /// Root seed of the draw of held-out rows and of the weights with which a hidden layer starts
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

/// Form of a map, or the choice of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FormOption {
    Procrustes,
    Affine,
    ResidualMlp,
    Auto,
}

impl AlignOptions {
    /// Returns the settings of the map; with `auto` those of every form.
    ///
    /// # Errors
    /// If an option has no meaning for the form.
    fn settings(&self) -> Result<AlignmentSettings, Failure> {
        let form = match self.form {
            FormOption::Procrustes => AlignmentForm::Procrustes,
            FormOption::Affine => AlignmentForm::Affine,
            FormOption::ResidualMlp | FormOption::Auto => AlignmentForm::ResidualMlp,
        };
        let unless = |is_meant: bool, options: &str, expected: &str| match is_meant {
            true => Ok(()),
            false => Err(Failure::input(anyhow!(
                "form: found {} with {options}, expected {expected}",
                choice::name(&self.form)
            ))),
        };
        let is_rotation = form == AlignmentForm::Procrustes;
        let is_affine = self.rank.is_some() || self.ridge.is_some();
        unless(
            !(is_rotation && is_affine),
            "--rank or --ridge",
            "affine, residual-mlp or auto",
        )?;
        let has_hidden = form == AlignmentForm::ResidualMlp;
        unless(
            has_hidden || self.hidden.is_none(),
            "--hidden",
            "residual-mlp or auto",
        )?;
        let settings = AlignmentSettings::new(form)
            .with_rank(self.rank)
            .with_ridge(self.ridge)
            .with_hidden(self.hidden);
        Ok(settings.with_seed(self.seed()))
    }

    fn seed(&self) -> Seed {
        Seed::new(self.seed.unwrap_or(DEFAULT_SEED))
    }
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
    let settings = options.settings()?;
    let file = OutputFiles::begin(out, &[], options.force)?;
    let (of_old, of_new) = (embeddings::read(from)?, embeddings::read(to)?);
    if of_old.n_rows == of_new.n_rows {
        check_same_samples(&of_new, &of_old)?;
    }
    let encoders = [of_old.facts.encoder.clone(), of_new.facts.encoder.clone()];
    let (old, new) = (rows(of_old)?, rows(of_new)?);
    if old.n_rows() != new.n_rows() {
        return Err(Failure::input(anyhow!(
            "{}: found {} rows, expected {}, the same samples as in {}",
            to.display(),
            new.n_rows(),
            old.n_rows(),
            from.display()
        )));
    }
    let is_auto = options.form == FormOption::Auto;
    let fitted = Fitted::of(&settings, is_auto, &old, &new, options.seed())?;
    let digests = encoders.each_ref().map(Option::as_deref);
    file.write(out, &map_file::bytes(&fitted, digests)?)?;
    file.publish()?;
    if let [Some(old), Some(new)] = digests
        && old == new
    {
        tell(format_args!(
            "note: both files are by the encoder {old}: there is no other space to map to"
        ));
    }
    note_faults(from, &old);
    note_faults(to, &new);
    match options.json {
        true => {
            let outcome = CommandOutcome {
                further: fitted.json()?,
                ..CommandOutcome::of("align")
            };
            let file = out.file_name().unwrap_or_default().to_string_lossy();
            let folder = out.parent().unwrap_or(Path::new(""));
            print_outcome(outcome, folder, vec![file.into_owned()])
        }
        false => print(format_args!(
            "{}\n\nmap written to {}",
            fitted.text(),
            out.display()
        )),
    }
}

/// Applies a map and writes the mapped embeddings.
fn apply(options: &AlignOptions, out: &Path, from: &Path, map: &Path) -> Result<(), Failure> {
    let format = EmbeddingFormat::of(out)?;
    let next_to_it: Vec<PathBuf> = format.facts_file(out).into_iter().collect();
    let files = OutputFiles::begin(out, &next_to_it, options.force)?;
    let stored = map_file::read(map)?;
    let of_old = embeddings::read(from)?;
    let facts = facts_of_mapped(&of_old, &stored, map)?;
    let old = rows(of_old)?;
    let mapped = stored
        .map
        .apply(&old)
        .map_err(|error| Failure::input(anyhow!("{}: {error}", from.display())))?;
    let values: Vec<f32> = mapped.rows().flatten().map(|value| *value as f32).collect();
    let rows = (&values[..], mapped.n_columns());
    format.write(&files, out, rows, &facts)?;
    files.publish()?;
    note_faults(from, &old);
    print(format_args!(
        "{} embeddings of width {} written to {}",
        mapped.n_rows(),
        mapped.n_columns(),
        out.display()
    ))
}

/// Returns the facts about mapped rows: those about the old ones, and as encoder `OLD->NEW`, since they are by neither.
///
/// # Errors
/// If the map is that of another encoder than the rows are by. `map` is its path.
fn facts_of_mapped(
    old: &StoredEmbeddings,
    stored: &StoredMap,
    map: &Path,
) -> Result<RowFacts, Failure> {
    let [from, to] = &stored.encoders;
    let found = old.facts.encoder.as_ref();
    if let (Some(found), Some(from)) = (found, from)
        && found != from
    {
        return Err(Failure::input(anyhow!(
            "{}: found embeddings by the encoder {}, expected {}, the old encoder of the map {}",
            old.path.display(),
            Found::new(found),
            Found::new(from),
            map.display()
        )));
    }
    let to = to.as_deref().unwrap_or("unknown");
    let name = old.path.file_name().unwrap_or_default().to_string_lossy();
    let places = || (0..old.n_rows).map(|row| row.to_string()).collect();
    let ids = found.and(old.facts.ids.clone());
    Ok(RowFacts {
        encoder: found.map(|from| format!("{from}->{to}")),
        data: old.facts.data.clone().or(Some(name.into_owned())),
        ids: Some(ids.unwrap_or_else(places)),
        ..found.map_or_else(RowFacts::default, |_| old.facts.clone())
    })
}

/// Reports rows that do not distinguish samples. Called last: an error is the only message on standard error.
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
            "note: {name}: all {n} rows are equal and distinguish no samples"
        ));
    }
}

/// Returns embeddings as a matrix.
fn rows(stored: StoredEmbeddings) -> Result<Matrix, Failure> {
    Matrix::try_new(stored.values, stored.n_columns).map_err(Failure::input)
}
