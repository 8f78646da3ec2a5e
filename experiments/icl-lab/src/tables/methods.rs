//! Risks, costs and accuracies of all methods, a table for each cell.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use icl_cli::parts::Failure;
use icl_core::ByOrigin;
use icl_report::RunRecord;

use super::markdown::table;
use super::seeds::{Floor, MISSING, Protocol, methods, of_method, records, with_range};

/// Value of a record in a column; `None` where the record has none.
type Value = fn(&RunRecord) -> Option<f64>;

/// Columns: head, value, and whether it is a number of passes.
const COLUMNS: [(&str, Value, bool); 8] = [
    (
        "held-out, old",
        |run| Some(run.update.held_out_risk?.mean.old),
        false,
    ),
    (
        "held-out, new",
        |run| Some(run.update.held_out_risk?.mean.new),
        false,
    ),
    ("training, all", |run| Some(run.risk.all), false),
    ("old, partners from X′", |run| Some(run.risk.old), false),
    (
        "old, partners from X",
        |run| Some(run.risk_old_partners?.old),
        false,
    ),
    (
        "charged passes",
        |run| Some(run.training.charged_passes),
        true,
    ),
    ("kNN, all", |run| run.knn?.accuracy.all, false),
    ("linear, all", |run| run.linear_probe?.accuracy.all, false),
];

/// Protocols whose floors are the last rows of a table.
const PROTOCOLS: [Protocol; 2] = [|run| run.knn, |run| run.linear_probe];

/// Floors by their names.
const FLOORS: [(&str, Floor); 4] = [
    ("majority", |floors| floors.majority.all),
    ("size", |floors| floors.size.all),
    ("raw", |floors| floors.raw.all),
    ("untrained", |floors| floors.untrained.all),
];

/// Returns the tables of all cells.
///
/// # Errors
/// If a record cannot be read.
pub fn tables(folders: &[PathBuf]) -> Result<String, Failure> {
    folders.iter().map(|folder| cell(folder)).collect()
}

fn cell(folder: &Path) -> Result<String, Failure> {
    let runs = records(folder)?;
    let first = &runs[0];
    let mut seeds: Vec<u64> = runs.iter().map(|run| run.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
    let held_out = first.update.n_held_out.unwrap_or(ByOrigin::default());
    let mut text = format!(
        "## {}, split {}, α = {:.2}\n\n{} old and {} new rows in training, {} and {} held out; seeds {}.\n\n",
        first.data,
        first.split,
        first.update.alpha,
        first.update.n_old,
        first.update.n_new,
        held_out.old,
        held_out.new,
        seeds.join(", ")
    );
    let names = methods(&runs);
    let mut rows = Vec::new();
    for method in &names {
        let own = of_method(&runs, method);
        let values = COLUMNS.iter().map(|(_, value, is_passes)| {
            let values: Vec<f64> = own.iter().filter_map(|run| value(run)).collect();
            shown(&values, *is_passes)
        });
        rows.push(
            std::iter::once((*method).to_owned())
                .chain(values)
                .collect(),
        );
    }
    for (name, floor) in FLOORS {
        let own = of_method(&runs, names[0]);
        let values = PROTOCOLS.map(|protocol| {
            let of = |run: &&RunRecord| floor(&protocol(run)?.floors);
            shown(&own.iter().filter_map(of).collect::<Vec<f64>>(), false)
        });
        if values.iter().any(|value| value != MISSING) {
            let mut row = vec![format!("*floor: {name}*")];
            row.extend(vec![MISSING.to_owned(); COLUMNS.len() - PROTOCOLS.len()]);
            row.extend(values);
            rows.push(row);
        }
    }
    let head: Vec<&str> = ["method"]
        .into_iter()
        .chain(COLUMNS.map(|(head, ..)| head))
        .collect();
    let _ = write!(text, "{}", table(&head, "---:", &rows));
    Ok(text)
}

fn shown(values: &[f64], is_passes: bool) -> String {
    with_range(values, |value| match is_passes {
        true if value >= 10_000.0 => format!("{:.0}k", value / 1000.0),
        true => format!("{value:.0}"),
        false => format!("{value:.3}"),
    })
}
