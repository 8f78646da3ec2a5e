//! A recommended number of negatives in words and as a table.

use std::ops::RangeInclusive;

use comfy_table::{CellAlignment, Table, presets};
use icl_core::negatives::{FLAT, Optimum, Shares};
use icl_report::NegativesAdvice;

/// Warns that the best number is the largest one that was considered.
pub fn bound_warning(advice: &NegativesAdvice) -> String {
    let reason = match advice.lambda < 1.0 {
        true => format!(
            "for large K the measure tends to 1 − λ = {:.4}, since labels and predictions that are both wrong count as \
             easy; --lambda 1 leaves them out",
            1.0 - advice.lambda
        ),
        false => "a larger --k-max may find a better one".to_owned(),
    };
    format!(
        "warning: no optimum below {} negatives: {reason}",
        advice.probabilities.len()
    )
}

/// Says which numbers are best.
pub fn sentence(advice: &NegativesAdvice, optimum: &Optimum, without_easy: &Optimum) -> String {
    let one = |lambda: f64, optimum: &Optimum| {
        format!("{} at λ = {lambda} ({})", optimum.k, range(&optimum.flat))
    };
    let mut best = one(advice.lambda, optimum);
    if advice.lambda < 1.0 {
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
pub fn table(advice: &NegativesAdvice, optimum: &Optimum) -> Table {
    let values = advice.effectiveness(advice.lambda);
    let shares: Vec<Shares> = advice.shares().collect();
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["K", "effectiveness", "P(A)", "P(B)", "good", "bad", "easy"]);
    for k in advice.shown(optimum) {
        let [label, prediction] = advice.probabilities[k - 1];
        let shares = shares[k - 1];
        let mark = if k == optimum.k { "*" } else { "" };
        let numbers = [label, prediction, shares.good, shares.bad, shares.easy];
        let cells = numbers.map(|number| format!("{number:.4}"));
        let first = [format!("{k}{mark}"), format!("{:.6}", values[k - 1])];
        table.add_row(first.into_iter().chain(cells));
    }
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
