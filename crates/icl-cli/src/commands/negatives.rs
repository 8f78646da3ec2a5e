//! `icl negatives`: the number of negatives that the model of label noise advises.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use anyhow::anyhow;
use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use icl_core::negatives::{
    FLAT, MAX_K, NegativesError, Optimum, Shares, course, effectiveness_by_k, reliability,
    separation,
};
use serde::Serialize;

use crate::options::bounds;
use crate::options::output::JsonOption;
use crate::process::failure::Failure;
use crate::process::terminal::{print, tell};

const DETAILS: &str = "\
The score of a positive is drawn from N(μ, 1) and those of its K negatives from N(0, 1); μ follows from the AUC. A step \
is effective if the label is reliable and the prediction not yet right (Wu et al., 2022). Without a validation AUC the \
predictions take the course of a whole training, μ(1 − exp(−t)) for t from 0 to 3. K negatives are K + 1 candidates.";

/// Options of `icl negatives`.
#[derive(Debug, Args)]
#[command(after_help = DETAILS)]
pub struct NegativesOptions {
    /// AUC of positives against negatives in training with one negative, before it overfits: how reliable the labels are
    #[arg(long, value_name = "AUC", help_heading = "Negatives")]
    train_auc: f64,
    /// AUC on validation data: advises for this stage of the training instead of all of it
    #[arg(long, value_name = "AUC", help_heading = "Negatives")]
    validation_auc: Option<f64>,
    /// Weight λ of good and bad samples against easy ones; 0.9 is the published one, 1 leaves the easy ones out
    #[arg(
        long,
        value_name = "SHARE",
        default_value_t = 0.9,
        help_heading = "Negatives"
    )]
    lambda: f64,
    /// Largest number of negatives that is considered
    #[arg(
        long,
        value_name = "K",
        default_value_t = 1000,
        value_parser = bounds::at_most(MAX_K),
        help_heading = "Negatives"
    )]
    k_max: usize,
    #[command(flatten)]
    output: JsonOption,
}

/// The best number of negatives under one weight λ.
#[derive(Debug, Serialize)]
struct Advice {
    lambda: f64,
    k_opt: usize,
    k_range: [usize; 2],
    effectiveness: f64,
    /// Whether `k_opt` is the largest number that was considered.
    is_at_bound: bool,
}

impl Advice {
    fn of(lambda: f64, optimum: &Optimum) -> Self {
        Self {
            lambda,
            k_opt: optimum.k,
            k_range: [*optimum.flat.start(), *optimum.flat.end()],
            effectiveness: optimum.effectiveness,
            is_at_bound: optimum.is_at_bound,
        }
    }
}

/// Answer as it is printed in JSON.
#[derive(Debug, Serialize)]
struct Answer {
    train_auc: f64,
    validation_auc: Option<f64>,
    mu_q: f64,
    k_max: usize,
    #[serde(flatten)]
    advice: Advice,
    /// The same without easy samples.
    at_lambda_1: Advice,
}

/// Prints the effectiveness over K and the best K.
///
/// # Errors
/// If an option is out of its range, or standard output cannot be written.
pub fn advise(options: &NegativesOptions) -> Result<(), Failure> {
    let label = of_auc("train-auc", options.train_auc)?;
    let predictions = match options.validation_auc {
        Some(auc) => vec![of_auc("validation-auc", auc)?],
        None => course(label, 3.0),
    };
    let best = |lambda| -> Result<(Vec<f64>, Optimum), Failure> {
        let values = effectiveness_by_k(label, &predictions, lambda, options.k_max);
        let values = values.map_err(of_option)?;
        let optimum = Optimum::of(&values).ok_or_else(|| {
            Failure::input(anyhow!("k-max: found no number, expected at least 1"))
        })?;
        Ok((values, optimum))
    };
    let (values, optimum) = best(options.lambda)?;
    let (_, without_easy) = best(1.0)?;
    if options.train_auc < 0.5 {
        tell("warning: an AUC below 0.5 says that negatives score higher than positives");
    }
    if optimum.is_at_bound {
        tell(bound_warning(options));
    }
    if options.output.json {
        let answer = Answer {
            train_auc: options.train_auc,
            validation_auc: options.validation_auc,
            mu_q: label,
            k_max: options.k_max,
            advice: Advice::of(options.lambda, &optimum),
            at_lambda_1: Advice::of(1.0, &without_easy),
        };
        let json = serde_json::to_string_pretty(&answer);
        return print(json.map_err(|error| Failure::Other(error.into()))?);
    }
    let table = table(label, &predictions, &values, &optimum);
    print(format_args!(
        "labels: AUC {:.4}, separation μ {label:.4}\n{}\n{}",
        options.train_auc,
        table.trim_fmt(),
        sentence(options, &optimum, &without_easy)
    ))
}

/// Returns the separation of the AUC that an option gives.
fn of_auc(option: &str, auc: f64) -> Result<f64, Failure> {
    separation(auc).map_err(|_| {
        Failure::input(anyhow!(
            "{option}: found {auc}, expected a number above 0 and below 1"
        ))
    })
}

/// Returns the failure of an option.
fn of_option(error: NegativesError) -> Failure {
    match error {
        NegativesError::MaxK { found, largest } => Failure::input(anyhow!(
            "k-max: found {found}, expected a number from 1 to {largest}"
        )),
        error => Failure::input(error),
    }
}

fn bound_warning(options: &NegativesOptions) -> String {
    let reason = match options.lambda < 1.0 {
        true => format!(
            "for large K the measure tends to 1 − λ = {:.4}, since labels and predictions that are both wrong count as \
             easy; --lambda 1 leaves them out",
            1.0 - options.lambda
        ),
        false => "a larger --k-max may find a better one".to_owned(),
    };
    format!(
        "warning: no optimum below {} negatives: {reason}",
        options.k_max
    )
}

/// Says which numbers are best.
fn sentence(options: &NegativesOptions, optimum: &Optimum, without_easy: &Optimum) -> String {
    let one = |lambda: f64, optimum: &Optimum| {
        format!("{} at λ = {lambda} ({})", optimum.k, range(&optimum.flat))
    };
    let mut best = one(options.lambda, optimum);
    if options.lambda < 1.0 {
        best = format!("{best}, {}", one(1.0, without_easy));
    }
    format!("Best number of negatives: {best}. Numbers in brackets are within {FLAT} of the best.")
}

fn range(flat: &RangeInclusive<usize>) -> String {
    match flat.start() == flat.end() {
        true => flat.start().to_string(),
        false => format!("{} to {}", flat.start(), flat.end()),
    }
}

/// Returns the table over powers of two, the best number and the ends of its range.
fn table(label: f64, predictions: &[f64], values: &[f64], optimum: &Optimum) -> Table {
    let powers = (0..).map(|power| 1 << power);
    let powers = powers.take_while(|k| *k <= values.len().min(256));
    let special = [optimum.k, *optimum.flat.start(), *optimum.flat.end()];
    let all: BTreeSet<usize> = powers.chain(special).collect();
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["K", "effectiveness", "P(A)", "P(B)", "good", "bad", "easy"]);
    for k in all {
        let p = |mu: &f64| reliability(*mu, k as f64);
        let right = predictions.iter().map(p).sum::<f64>() / predictions.len() as f64;
        let shares = Shares::new(p(&label), right);
        let mark = if k == optimum.k { "*" } else { "" };
        let numbers = [p(&label), right, shares.good, shares.bad, shares.easy];
        let cells = numbers.map(|number| format!("{number:.4}"));
        let first = [format!("{k}{mark}"), format!("{:.6}", values[k - 1])];
        table.add_row(first.into_iter().chain(cells));
    }
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
