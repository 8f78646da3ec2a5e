//! `icl methods`: the registry as a table of five choices.

use icl_train::Method;

use crate::process::failure::Failure;
use crate::process::terminal::print;

/// The columns of the table: the name, then the five axes.
const COLUMNS: [&str; 6] = ["method", "start", "sampling", "loss", "optimizer", "rate"];

/// The values of the axes, in the words of the table.
const LEGEND: &str = "
start      trained: the encoder of yesterday, θ₀; frozen-norm: the same, whose normalisation
           statistics stay as they are, in training, too; statistics: θ₀ with those of all data;
           scratch: a fresh encoder; shrink-perturb[:L:S]: L·θ₀ + S·fresh
sampling   all: the old data X and the new data ΔX; new: ΔX; old: X; share:F: ΔX and a fresh
           fraction F of X each epoch; widening[:F]: the same, growing up to all of X; buffer: ΔX
           and a sample of X, drawn once; stratified: all, with old and new data in each batch
loss       info-nce: NCE-I (Eq. 1) under the noise of the sampling; published: Eq. 9; corrected:
           Eq. 9 with the term that it drops; +distillation: near the embeddings of θ₀; none
optimizer  plain: every gradient is applied (Eq. 10); meta: after an inner loop on old data
           (Eq. 11-12), of first or second order as --meta-order says; meta:first, meta:second
rate       fixed; cosine; warmup-cosine: linear warm-up over a tenth of the steps, then cosine;
           meta-decay: the same, with a peak that falls over the updates of a stream;
           hypergradient; learned-published: DDPG as published (Eq. 13-15); learned: DDPG with our
           state, action and reward
A method of your own: --method \"sampling=share:0.2,loss=corrected,rate=cosine\"";

/// Prints all methods with their five choices, in JSON if `json`.
///
/// # Errors
/// If standard output cannot be written.
pub fn show(json: bool) -> Result<(), Failure> {
    let rows: Vec<[String; 6]> = icl_train::methods().iter().map(row).collect();
    if json {
        let object = |row: &[String; 6]| -> serde_json::Map<String, serde_json::Value> {
            let keys = ["name"].into_iter().chain(COLUMNS[1..].iter().copied());
            let cells = keys.zip(row);
            cells
                .map(|(key, cell)| (key.into(), cell.as_str().into()))
                .collect()
        };
        let rows: Vec<_> = rows.iter().map(object).collect();
        return print(format_args!("{:#}", serde_json::json!(rows)));
    }
    let header = COLUMNS.map(str::to_owned);
    let widths: [usize; 6] = std::array::from_fn(|column| {
        let cells = rows
            .iter()
            .chain([&header])
            .map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    });
    let line = |row: &[String; 6]| {
        let cells = row.iter().zip(widths);
        let cells = cells.map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let lines: Vec<String> = [&header].into_iter().chain(&rows).map(line).collect();
    print(format_args!("{}\n{LEGEND}", lines.join("\n")))
}

/// A method's name and its five choices; those that a method without training has no use for are "–".
fn row(method: &Method) -> [String; 6] {
    let used = |choice: String| match method.loss {
        Some(_) => choice,
        None => "–".to_owned(),
    };
    let loss = method
        .loss
        .map_or("none".to_owned(), |loss| loss.to_string());
    [
        method.name.clone(),
        method.start.to_string(),
        used(method.sampling.to_string()),
        loss,
        used(method.optimizer.to_string()),
        used(method.rate.to_string()),
    ]
}
