//! `icl diagnose`: measures how far the noise distribution has moved, from embeddings of any framework.

mod ranking;
mod words;

use std::path::PathBuf;

use anyhow::anyhow;
use burn::tensor::{DType, Tensor, TensorData};
use clap::{Arg, Args};
use icl_core::negatives::Ranks;
use icl_core::{
    Contrast, GrowthRatio, InfoNceConfig, NoiseLosses, Origin, Strategy, host_values, ranks_among,
};
use serde::Serialize;

use crate::backend::{BACKENDS, OnBackend, TrainingBackend, on_backend};
use crate::files::embeddings;
use crate::files::embeddings::StoredEmbeddings;
use crate::options::increment::{GrowthOption, OldNewOptions};
use crate::options::negatives::{Negatives, NegativesOption};
use crate::options::output::JsonOption;
use crate::options::training::TemperatureOption;
use crate::process::failure::Failure;
use crate::process::terminal::{print, tell};

use ranking::Ranking;
use words::{Columns, NAMES, RATIO, sentence, table};

const DETAILS: &str = "\
Embeddings are NumPy files of f32 or f64, [n, d], or tables of numbers (.csv, .tsv, also with .gz, or .parquet), \
whose columns index and label are left out, as icl embed writes them. Row i of the positives is another view of the sample of row i \
of the anchors. Every row of the old and of the new embeddings is a sample of that noise distribution. Losses \
and biases are in nats; with a negative bias of inference the old loss is lower than that of retraining. The AUC is that of positives against all noise, \
old and new; the number of negatives that it recommends is that of icl negatives --train-auc AUC --lambda 1.";

/// Options of `icl diagnose`.
#[derive(Debug, Args)]
#[command(after_help = DETAILS, mut_args(refined))]
pub struct DiagnoseOptions {
    /// Embeddings of the anchors
    #[arg(long, value_name = "A.npy", help_heading = "Data")]
    anchors: PathBuf,
    /// Embeddings of their positives
    #[arg(long, value_name = "P.npy", help_heading = "Data")]
    positives: PathBuf,
    #[command(flatten)]
    data: OldNewOptions,
    #[command(flatten)]
    growth: GrowthOption,
    #[command(flatten)]
    temperature: TemperatureOption,
    #[command(flatten)]
    negatives: NegativesOption,
    /// Print the values of every anchor, too
    #[arg(long, help_heading = "Output")]
    per_sample: bool,
    #[command(flatten)]
    output: JsonOption,
}

/// Returns a shared option as this command takes it.
fn refined(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "old" => option
            .value_name("O.npy")
            .help("Embeddings of old data, samples of p(X)"),
        "new" => option
            .value_name("N.npy")
            .help("Embeddings of new data, samples of p(ΔX)"),
        "alpha" => option.help(
            "Growth ratio α: share of the data that is new, from 0 to 1. Without it, rows of N / \
             (rows of O + rows of N)",
        ),
        "negatives" => option
            .help("Number of negatives K in the formulas")
            .value_name("K"),
        _ => option,
    }
}

/// Maximum number of similarities in memory.
const CHUNK: usize = 1 << 22;

#[derive(Serialize)]
struct Diagnosis {
    n_anchors: usize,
    n_old: usize,
    n_new: usize,
    d: usize,
    alpha: f64,
    temperature: f64,
    negatives: f64,
    mean: serde_json::Map<String, serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    per_sample: Option<serde_json::Map<String, serde_json::Value>>,
    sentence: String,
    #[serde(flatten)]
    ranking: Ranking,
}

/// Reads the four files, computes in double precision where there is one, and prints.
///
/// # Errors
/// If a file or a number cannot be used.
pub fn diagnose(options: &DiagnoseOptions) -> Result<(), Failure> {
    let read = |path: &PathBuf| embeddings::read(path);
    let Negatives::Number(negatives) = options.negatives.negatives else {
        return Err(Failure::input(anyhow!(
            "negatives: found auto, expected a number"
        )));
    };
    let temperature = options.temperature.temperature;
    let task = Task {
        anchors: read(&options.anchors)?,
        positives: read(&options.positives)?,
        old: read(&options.data.old)?,
        new: read(&options.data.new)?,
        alpha: options.growth.alpha,
        temperature,
        negatives,
    };
    InfoNceConfig::new()
        .with_temperature(temperature)
        .with_negatives(Some(negatives))
        .try_init()
        .map_err(Failure::input)?;
    let alpha = task.alpha()?;
    task.check_shapes()?;
    let sizes = [&task.anchors, &task.old, &task.new].map(|it| it.n_rows);
    let d = task.anchors.n_columns;
    let (columns, ranks) = on_backend(BACKENDS[0], task)?;
    check_finite(&columns, temperature)?;
    let means = columns
        .each_ref()
        .map(|column| column.iter().sum::<f64>() / sizes[0] as f64);
    let sentence = sentence(&means);
    let ranking = Ranking::of(&ranks, sizes[1] + sizes[2]).map_err(Failure::input)?;
    if options.output.json {
        let map = |value: &dyn Fn(usize) -> serde_json::Value| {
            let entries = NAMES.iter().enumerate();
            entries
                .map(|(at, (name, _))| ((*name).to_owned(), value(at)))
                .collect()
        };
        let diagnosis = Diagnosis {
            n_anchors: sizes[0],
            n_old: sizes[1],
            n_new: sizes[2],
            d,
            alpha: alpha.value(),
            temperature,
            negatives,
            mean: map(&|at| means[at].into()),
            per_sample: options
                .per_sample
                .then(|| map(&|at| columns[at].clone().into())),
            sentence,
            ranking,
        };
        let text = serde_json::to_string_pretty(&diagnosis).map_err(Failure::input)?;
        return print(text);
    }
    print(format_args!(
        "{} anchors, {} old and {} new noise samples, d = {d}; α = {:.4}, τ = {}, K = {}\n\n\
         {}\n\n{sentence}\n\n{}",
        sizes[0],
        sizes[1],
        sizes[2],
        alpha.value(),
        temperature,
        negatives,
        table(&columns, &means, options.per_sample),
        ranking.text()
    ))
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

/// Embeddings and numbers of a computation on any backend.
struct Task {
    anchors: StoredEmbeddings,
    positives: StoredEmbeddings,
    old: StoredEmbeddings,
    new: StoredEmbeddings,
    alpha: Option<f64>,
    temperature: f64,
    negatives: f64,
}

impl Task {
    fn alpha(&self) -> Result<GrowthRatio, Failure> {
        match self.alpha {
            Some(alpha) => GrowthRatio::try_new(alpha).map_err(Failure::input),
            None => Ok(GrowthRatio::from_counts(self.old.n_rows, self.new.n_rows)),
        }
    }

    fn check_shapes(&self) -> Result<(), Failure> {
        let shape = |it: &StoredEmbeddings| format!("[{}, {}]", it.n_rows, it.n_columns);
        for other in [&self.positives, &self.old, &self.new] {
            if other.n_columns != self.anchors.n_columns {
                return Err(Failure::input(anyhow!(
                    "{}: found shape {}, expected {} columns as in {}",
                    other.path.display(),
                    shape(other),
                    self.anchors.n_columns,
                    self.anchors.path.display()
                )));
            }
        }
        if self.positives.n_rows != self.anchors.n_rows {
            return Err(Failure::input(anyhow!(
                "{}: found shape {}, expected {} rows, one for each anchor in {}",
                self.positives.path.display(),
                shape(&self.positives),
                self.anchors.n_rows,
                self.anchors.path.display()
            )));
        }
        Ok(())
    }
}

impl OnBackend for Task {
    type Output = (Columns, Ranks);

    fn run<B: TrainingBackend>(self, device: B::Device) -> Result<(Columns, Ranks), Failure> {
        let alpha = self.alpha()?;
        let dtype = if icl_core::has_double_precision::<B::InnerBackend>(&device) {
            DType::F64
        } else {
            tell(format_args!(
                "note: {} has no double precision: the numbers are those of single precision",
                BACKENDS[0]
            ));
            DType::F32
        };
        let tensor = |it: StoredEmbeddings| {
            let data = TensorData::new(it.values, [it.n_rows, it.n_columns]);
            Tensor::<B::InnerBackend, 2>::from_data(data, (&device, dtype))
        };
        let n_anchors = self.anchors.n_rows;
        let n_rows = (CHUNK / (self.old.n_rows + self.new.n_rows)).max(1);
        let [anchors, positives, old, new] =
            [self.anchors, self.positives, self.old, self.new].map(tensor);
        let noise = Tensor::cat(vec![old.clone(), new.clone()], 0);
        let mut columns = Columns::default();
        let mut ranks = Vec::with_capacity(n_anchors);
        for first in (0..n_anchors).step_by(n_rows) {
            let n = n_rows.min(n_anchors - first);
            let [anchors, positives] =
                [&anchors, &positives].map(|it| it.clone().narrow(0, first, n));
            let of_chunk = ranks_among(anchors.clone(), positives.clone(), noise.clone());
            ranks.extend_from_slice(of_chunk.of_anchors());
            let contrast = Contrast::explicit(
                anchors,
                positives,
                old.clone(),
                new.clone(),
                self.temperature,
            );
            let losses = NoiseLosses::new(&contrast, self.negatives, alpha);
            let bias = |strategy, origin| losses.bias(strategy, origin);
            let values = [
                losses.old.clone(),
                losses.new.clone(),
                losses.all.clone(),
                losses.nce_ii.clone(),
                losses.log_change_ratio.clone().exp(),
                bias(Strategy::Inference, Origin::Old),
                bias(Strategy::FineTuning, Origin::New),
            ];
            for (column, values) in columns.iter_mut().zip(values) {
                column.extend(host_values(values));
            }
        }
        Ok((columns, Ranks::new(ranks)))
    }
}
