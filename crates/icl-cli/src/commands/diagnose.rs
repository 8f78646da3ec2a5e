//! `icl diagnose`: how far the noise distribution has moved, from embeddings of any framework.

use anyhow::anyhow;
use burn::tensor::{DType, Tensor, TensorData};
use comfy_table::{CellAlignment, Table, presets};
use icl_core::{Contrast, GrowthRatio, InfoNceConfig, NoiseLosses, Origin, Strategy, host_values};
use serde::Serialize;

use crate::backend::{BACKENDS, OnBackend, TrainingBackend, on_backend};
use crate::files::npy;
use crate::files::npy::Matrix;
use crate::options::command_line::DiagnoseArguments;
use crate::process::failure::Failure;
use crate::process::terminal::{print, tell};

/// Similarities that are held at once.
const CHUNK: usize = 1 << 22;

/// The quantities of each anchor, in the order of [`NAMES`].
type Columns = [Vec<f64>; 7];

/// The one that is no logarithm, and may be beyond what a double holds.
const RATIO: &str = "change_ratio";

/// Their names, with what each is.
const NAMES: [(&str, &str); 7] = [
    ("nce1_old", "NCE-I under p(X), nats"),
    ("nce1_new", "NCE-I under p(ΔX), nats"),
    ("nce1_all", "NCE-I under p(X′), nats"),
    ("nce2", "NCE-II, nats"),
    (RATIO, "change ratio r of the noise"),
    ("bias_inference", "bias of inference, nats"),
    ("bias_fine_tuning", "bias of fine-tuning, nats"),
];

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
}

/// Reads the four files, computes in double precision where there is one, and prints.
///
/// # Errors
/// If a file or a number cannot be used.
pub fn diagnose(arguments: &DiagnoseArguments) -> Result<(), Failure> {
    let read = |path| npy::read(path).map_err(Failure::input);
    let task = Task {
        anchors: read(&arguments.anchors)?,
        positives: read(&arguments.positives)?,
        old: read(&arguments.old)?,
        new: read(&arguments.new)?,
        alpha: arguments.alpha,
        temperature: arguments.temperature,
        negatives: arguments.negatives,
    };
    InfoNceConfig::new()
        .with_temperature(arguments.temperature)
        .with_negatives(Some(arguments.negatives))
        .try_init()
        .map_err(Failure::input)?;
    let alpha = task.alpha()?;
    task.check_shapes()?;
    let sizes = [&task.anchors, &task.old, &task.new].map(|matrix| matrix.n_rows);
    let d = task.anchors.n_columns;
    let columns = on_backend(BACKENDS[0], task)?;
    check_finite(&columns, arguments.temperature)?;
    let means = columns
        .each_ref()
        .map(|column| column.iter().sum::<f64>() / sizes[0] as f64);
    let sentence = sentence(&means);
    if arguments.json {
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
            temperature: arguments.temperature,
            negatives: arguments.negatives,
            mean: map(&|at| means[at].into()),
            per_sample: arguments
                .per_sample
                .then(|| map(&|at| columns[at].clone().into())),
            sentence,
        };
        let text = serde_json::to_string_pretty(&diagnosis).map_err(Failure::input)?;
        return print(text);
    }
    print(format_args!(
        "{} anchors, {} old and {} new noise samples, d = {d}; α = {:.4}, τ = {}, K = {}\n\n\
         {}\n\n{sentence}",
        sizes[0],
        sizes[1],
        sizes[2],
        alpha.value(),
        arguments.temperature,
        arguments.negatives,
        table(&columns, &means, arguments.per_sample)
    ))
}

/// All but the change ratio are differences of logarithms, which nothing but a quotient by a
/// temperature next to 0 takes out of range.
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

/// The four matrices and the numbers, to be computed on some backend.
struct Task {
    anchors: Matrix,
    positives: Matrix,
    old: Matrix,
    new: Matrix,
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
        let shape = |matrix: &Matrix| format!("[{}, {}]", matrix.n_rows, matrix.n_columns);
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
    type Output = Columns;

    fn run<B: TrainingBackend>(self, device: B::Device) -> Result<Columns, Failure> {
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
        let tensor = |matrix: Matrix| {
            let data = TensorData::new(matrix.values, [matrix.n_rows, matrix.n_columns]);
            Tensor::<B::InnerBackend, 2>::from_data(data, (&device, dtype))
        };
        let n_anchors = self.anchors.n_rows;
        let n_rows = (CHUNK / self.old.n_rows.max(self.new.n_rows)).max(1);
        let [anchors, positives, old, new] =
            [self.anchors, self.positives, self.old, self.new].map(tensor);
        let mut columns = Columns::default();
        for first in (0..n_anchors).step_by(n_rows) {
            let n = n_rows.min(n_anchors - first);
            let contrast = Contrast::explicit(
                anchors.clone().narrow(0, first, n),
                positives.clone().narrow(0, first, n),
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
        Ok(columns)
    }
}

fn table(columns: &Columns, means: &[f64; 7], per_sample: bool) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    if per_sample {
        table.set_header(std::iter::once("anchor").chain(NAMES.map(|(name, _)| name)));
        for row in 0..columns[0].len() {
            let values = columns.iter().map(|column| number(column[row]));
            table.add_row(std::iter::once(row.to_string()).chain(values));
        }
        let means = means.iter().map(|mean| number(*mean));
        table.add_row(std::iter::once("mean".to_owned()).chain(means));
    } else {
        table.set_header(["quantity", "mean over anchors", "what it is"]);
        for ((name, what), mean) in NAMES.iter().zip(means) {
            table.add_row([*name, &number(*mean), *what]);
        }
    }
    for column in table
        .column_iter_mut()
        .skip(1)
        .take(if per_sample { 7 } else { 1 })
    {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// A number of the table: plain up to a million, then with a power of ten.
fn number(value: f64) -> String {
    match value.abs() {
        size if size < 1e6 => format!("{value:.6}"),
        size if size.is_finite() => format!("{value:.6e}"),
        _ => "above 1e308".to_owned(),
    }
}

/// How far the noise has moved, in words. What counts is how far the loss that the encoder was
/// trained on is from the loss that it now should have, in nats. The mean change ratio would not do:
/// a few anchors whose r is great outweigh all others in it.
fn sentence(means: &[f64; 7]) -> String {
    let [_, _, _, _, _, inference, fine_tuning] = *means;
    let moved = inference.abs();
    let how_far = match moved {
        _ if moved < 0.01 => "has hardly moved",
        _ if moved < 0.1 => "has moved a little",
        _ if moved < 0.5 => "has moved",
        _ => "has moved far",
    };
    let direction = match inference {
        _ if moved < 0.01 => "",
        _ if inference < 0.0 => " towards the anchors",
        _ => " away from the anchors",
    };
    format!(
        "The noise distribution {how_far}{direction}: against the loss that retraining would \
         minimise, an encoder that is kept is judged {}, and one fine-tuned on new data alone {}.",
        judged(inference),
        judged(fine_tuning)
    )
}

/// A bias in words.
fn judged(bias: f64) -> String {
    match bias {
        _ if bias.abs() < 0.0005 => "rightly".to_owned(),
        _ if bias < 0.0 => format!("{:.3} nats too kindly", -bias),
        _ => format!("{bias:.3} nats too harshly"),
    }
}
