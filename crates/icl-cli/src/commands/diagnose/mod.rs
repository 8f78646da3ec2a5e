//! `icl diagnose`: measures how far the noise distribution has moved, from embeddings of any framework, and whether chance
//! alone explains it.

mod anchors;
mod answer;
mod losses;
mod ranking;
mod sets;
mod words;

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use icl_core::drift::{AnchorDrift, DriftTestConfig, Verdict};
use icl_core::{GrowthRatio, Seed};
use icl_train::TrainingSettings;

use crate::backend::{BACKENDS, on_backend};
use crate::options::bounds;
use crate::options::execution::DEFAULT_SEED;
use crate::options::loss::Negatives;
use crate::process::failure::Failure;
use crate::process::terminal::print;

use answer::{Answer, Made};
use losses::Losses;
use ranking::Ranking;
use sets::Sets;
use words::{Columns, NAMES, RATIO};

const DETAILS: &str = "\
Embeddings are NumPy files of f16, f32 or f64, [n, d], or tables of numbers (.csv, .tsv, also with .gz, or .parquet), whose \
columns index and label are left out, as icl embed writes them. Row i of the positives is another view of the sample \
of row i of the anchors. Every row of the old and of the new embeddings is a sample of that noise distribution; rows \
that equal an anchor or its positive bit for bit are left out of its noise. Every sample is to be one row of its \
noise. The answer \"update\" is yes if the absolute bias of inference exceeds the effect and what 200 data sets without \
drift show, in which it is drawn at random which rows are old; it is no if neither it nor the 95 % quantile of these \
data sets exceeds the effect, and \"cannot tell\" otherwise. An anchor without a row that equals it or its positive may \
have its sample in the noise in other numbers: then the answer is one that holds either way, or \"cannot tell\". \
From a file with more rows than --evaluation-samples, that many are drawn at random. Equal rows and the growth ratio \
are those of all rows in any case. Figures are estimates of those of all rows then, with standard errors. \
Without --new-anchors a general two-sample test (maximum mean discrepancy) of the old and the new rows is made, too: \
if it finds a difference, there is no \"no\". Both tests together have a chance of a false alarm of at most 5 % \
(Holm's correction). Losses and biases are in nats; with a negative bias of inference the old loss is lower than that \
of retraining. The AUC is that of positives against all noise, old and new; the number of negatives that it recommends \
is that of icl negatives --train-auc AUC --lambda 1.";

/// Options of `icl diagnose`.
#[derive(Debug, Clone, Args)]
#[command(after_help = DETAILS)]
pub struct DiagnoseOptions {
    /// Embeddings of the anchors
    #[arg(long, value_name = "A.npy", help_heading = "Data")]
    anchors: PathBuf,
    /// Embeddings of their positives
    #[arg(long, value_name = "P.npy", help_heading = "Data")]
    positives: PathBuf,
    /// Embeddings of old data, samples of p(X)
    #[arg(long, value_name = "O.npy", help_heading = "Data")]
    old: PathBuf,
    /// Embeddings of new data, samples of p(ΔX)
    #[arg(long, value_name = "N.npy", help_heading = "Data")]
    new: PathBuf,
    /// Growth ratio α: share of the data that is new, from 0 to 1. Without it, rows of N / (rows of O + rows of N)
    #[arg(long, value_name = "ALPHA", help_heading = "Data")]
    alpha: Option<f64>,
    /// Temperature τ
    #[arg(
        long,
        value_name = "TAU",
        value_parser = bounds::number_in(bounds::TEMPERATURE),
        default_value_t = TrainingSettings::default().temperature,
        help_heading = "Loss"
    )]
    temperature: f64,
    /// Number of negatives K in the formulas
    #[arg(
        long,
        visible_alias = "k",
        alias = "K",
        value_name = "K",
        default_value = "31",
        help_heading = "Loss"
    )]
    negatives: Negatives,
    /// Embeddings of new anchors; with --new-positives, the drift of the new data is measured, too
    #[arg(
        long,
        value_name = "A.npy",
        requires = "new_positives",
        help_heading = "Data"
    )]
    new_anchors: Option<PathBuf>,
    /// Embeddings of the positives of new anchors
    #[arg(
        long,
        value_name = "P.npy",
        requires = "new_anchors",
        help_heading = "Data"
    )]
    new_positives: Option<PathBuf>,
    /// Smallest bias of inference that is worth an update, in nats
    #[arg(
        long,
        value_name = "NATS",
        default_value_t = 0.05,
        help_heading = "Evaluation"
    )]
    effect: f64,
    /// Largest number of rows of each file that are compared, drawn at random, from 32 up; all for all of them
    #[arg(
        long,
        value_name = "N",
        value_parser = bounds::samples_or_all,
        default_value_t = TrainingSettings::default().evaluation_samples,
        alias = "panel",
        help_heading = "Evaluation"
    )]
    evaluation_samples: usize,
    /// Root seed of all random numbers
    #[arg(long, value_name = "S", help_heading = "Execution")]
    seed: Option<u64>,
    /// Print the values of every anchor that is compared, too
    #[arg(long, help_heading = "Output")]
    per_sample: bool,
    /// Exit with code 3 if an update is advised
    #[arg(long, help_heading = "Output")]
    exit_code: bool,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Exit code that advises an update, where an option requests it.
const UPDATE_ADVISED: u8 = 3;

/// Reads the files, computes in double precision, prints, and returns the exit code.
///
/// # Errors
/// If a file or a number cannot be used.
pub fn diagnose(options: &DiagnoseOptions) -> Result<u8, Failure> {
    let Negatives::Number(negatives) = options.negatives else {
        return Err(Failure::input(anyhow!(
            "negatives: found auto, expected a number"
        )));
    };
    let temperature = options.temperature;
    let alpha = options.alpha.map(GrowthRatio::try_new).transpose();
    let alpha = alpha.map_err(Failure::input)?;
    let seed = options.seed.unwrap_or(DEFAULT_SEED);
    // `all` is read as the largest number.
    let samples = Some(options.evaluation_samples).filter(|it| *it < bounds::SAMPLES);
    let test = DriftTestConfig::new(temperature, negatives)
        .with_alpha(alpha)
        .with_effect(options.effect)
        .with_samples(samples)
        .with_seed(Seed::new(seed))
        .try_init()
        .map_err(Failure::input)?;
    let new_pairs = options.new_anchors.as_deref();
    let sets = Sets::read(
        [&options.anchors, &options.positives],
        [&options.old, &options.new],
        new_pairs
            .zip(options.new_positives.as_deref())
            .map(Into::into),
    )?;
    let (n_old, n_new) = (sets.data.n_old(), sets.data.n_new());
    // All errors that are left are about anchors with too few noise rows besides their own, and do not name the files.
    let drift = test.measure(&sets.data).map_err(|error| {
        let [old, new] = [&options.old, &options.new].map(|path| path.display());
        Failure::input(anyhow!("{old}, {new}: {error}"))
    })?;
    let alpha = alpha.unwrap_or_else(|| GrowthRatio::from_counts(n_old, n_new));
    let losses = |of: &AnchorDrift| {
        of.estimates(|terms| {
            let losses = Losses {
                terms,
                alpha,
                negatives,
            };
            let columns = on_backend(BACKENDS[0], losses)?;
            check_finite(&columns, temperature)?;
            Ok::<_, Failure>(columns.into())
        })
    };
    let (old, new) = (
        losses(&drift.old)?,
        drift.new.as_ref().map(losses).transpose()?,
    );
    let made = Made {
        n_anchors: drift.old.n_anchors,
        n_old,
        n_new,
        d: sets.d,
        alpha,
        temperature,
        negatives,
        effect: options.effect,
        evaluation_samples: samples,
        seed,
    };
    let ranking = Ranking::of(&drift.old).map_err(Failure::input)?;
    let answer = Answer::new(made, &drift, old, new, ranking);
    if options.json {
        print(answer.json(options.per_sample)?)?;
    } else {
        print(answer.text(options.per_sample))?;
    }
    Ok(match drift.verdict() {
        Verdict::Update if options.exit_code => UPDATE_ADVISED,
        _ => 0,
    })
}

/// Checks that all quantities but the change ratio are finite. They are differences of logarithms,
/// which leave the range only when similarities are divided by a temperature close to 0.
///
/// # Errors
/// If one is not.
fn check_finite(columns: &Columns, temperature: f64) -> Result<(), Failure> {
    let mut in_nats = columns
        .iter()
        .zip(NAMES)
        .filter(|(_, (name, _))| *name != RATIO);
    if in_nats.all(|(column, _)| column.iter().all(|value| value.is_finite())) {
        return Ok(());
    }
    Err(Failure::input(anyhow!(
        "temperature: found {temperature:e}, expected one at which similarities over it are finite"
    )))
}
