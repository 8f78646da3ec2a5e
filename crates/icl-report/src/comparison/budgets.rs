//! The table of quality at several budgets.

use crate::chart::Palette;
use crate::document::{Column, Row, Table, TableCell};
use crate::record::RunRecord;
use crate::summary::Comparison;
use crate::summary::budgets::{Excess, WithinBudget};
use crate::text::number::{percent, rounded};

/// Sentence above the table.
pub(crate) const WORDS: &str = "Held-out risk above that of retraining at its end, in %, on old / on new data: means \
     over the seeds, and half of their 95 % intervals below. Each run has the budget of its column. The last column \
     is the least cost, as a share of retraining's, at which a method's mean excess is at most 1 % on old and on \
     new data.";

/// Makes the table of methods at each budget. Returns `None` with fewer than two budgets.
pub(crate) fn budgets(comparison: &Comparison, palette: &Palette) -> Option<Table> {
    let all = &comparison.within_budgets;
    let (mut budgets, mut methods): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for of in all {
        let budget = of.budget.as_deref();
        budgets.extend(budget.filter(|it| !budgets.contains(it)));
        if !methods.contains(&of.method.as_str()) {
            methods.push(&of.method);
        }
    }
    let mut columns: Vec<Column> = budgets
        .iter()
        .map(|it| Column::new(format!("at {it}")))
        .collect();
    columns.push(Column::new("as good as retraining"));
    let row = |method: &&str| {
        let at = |budget: &&str| {
            let is_it = |of: &&WithinBudget| {
                of.method == *method && of.budget.as_deref().is_none_or(|it| it == *budget)
            };
            all.iter().find(is_it).map_or(TableCell::Missing, cell)
        };
        let mut cells: Vec<TableCell> = budgets.iter().map(at).collect();
        cells.push(parity(comparison, method));
        // Runs of a method have colours of their own: the row has that of the first.
        let first = all.iter().find(|of| of.method == *method);
        let budget = first.and_then(|of| of.budget.as_deref());
        let name = budget.map(|budget| RunRecord::method_within(method, budget));
        let name = name.unwrap_or_else(|| (*method).to_owned());
        Row::new(*method, cells).coloured(palette.colour(&name))
    };
    (budgets.len() > 1).then(|| Table {
        corner: "method".into(),
        columns,
        rows: methods.iter().map(row).collect(),
    })
}

fn cell(of: &WithinBudget) -> TableCell {
    let half = |of: &Excess| {
        let [low, high] = of.interval?;
        // Half of the interval, in per cent.
        Some(rounded(50.0 * (high - low), 1))
    };
    let halves = half(&of.old).zip(half(&of.new));
    TableCell::Value(
        format!("{} / {}", signed(of.old.mean), signed(of.new.mean)),
        halves.map(|(old, new)| format!("± {old} / {new}")),
    )
}

/// Writes a share in per cent with its sign.
fn signed(share: f64) -> String {
    let text = rounded(100.0 * share, 1);
    match text.starts_with('−') {
        true => text,
        false => format!("+{text}"),
    }
}

fn parity(comparison: &Comparison, method: &str) -> TableCell {
    let of = comparison.parities.iter().find(|of| of.method == method);
    match of.map(|of| of.share_of_cost) {
        None => TableCell::Missing,
        Some(None) => TableCell::Word("at none".to_owned()),
        Some(Some(share)) => TableCell::Word(format!("at {}", percent(share))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use icl_train::REFERENCE;

    use crate::fixture::{held_out, record};
    use crate::text::number::MISSING;

    fn run(method: &str, budget: Option<&str>, risks: [f64; 2], passes: f64) -> Vec<RunRecord> {
        let of = |seed: u64| {
            let name = budget.map_or(method.to_owned(), |it| RunRecord::method_within(method, it));
            let risks = risks.map(|it| it * (1.0 + 0.001 * seed as f64));
            let mut record = held_out(record(&name, seed), risks);
            record.budget = budget.map(str::to_owned);
            record.training.charged_passes = passes;
            record
        };
        (0..2).map(of).collect()
    }

    fn table(records: &[RunRecord]) -> Option<Table> {
        let comparison = Comparison::of(records).unwrap();
        let palette = Palette::new(comparison.methods.iter().map(|of| of.method.as_str()));
        budgets(&comparison, &palette)
    }

    #[test]
    fn each_method_has_a_row_and_each_budget_a_column() {
        let records = [
            run(REFERENCE, None, [1.0, 2.0], 1000.0),
            run("inference", None, [1.0, 2.6], 0.0),
            run("icl", Some("5%"), [1.02, 2.0], 50.0),
            run("icl", Some("25%"), [0.99, 2.0], 250.0),
            run(REFERENCE, Some("5%"), [1.5, 3.0], 50.0),
        ]
        .concat();
        let table = table(&records).unwrap();
        let names: Vec<String> = table.columns.iter().map(|it| it.name.plain()).collect();
        assert_eq!(names, ["at 5%", "at 25%", "as good as retraining"]);
        let cells = |at: usize| -> Vec<String> {
            table.rows[at]
                .cells
                .iter()
                .map(TableCell::in_line)
                .collect()
        };
        assert_eq!(table.rows[0].head.plain(), "inference");
        assert_eq!(cells(0)[..2], ["+0.0 / +30.0 ± 0.0 / 0.0"; 2]);
        assert_eq!(cells(0)[2], "at none");
        assert_eq!(table.rows[1].head.plain(), "icl");
        assert_eq!(cells(1)[1..], ["−1.0 / +0.0 ± 0.0 / 0.0", "at 25.0 %"]);
        assert_eq!(table.rows[2].head.plain(), REFERENCE);
        assert_eq!(cells(2)[1..], [MISSING, "at none"]);
    }

    #[test]
    fn one_budget_has_no_table() {
        let records = [
            run(REFERENCE, None, [1.0, 2.0], 1000.0),
            run("icl", Some("5%"), [1.02, 2.0], 50.0),
        ];
        assert!(table(&records.concat()).is_none());
    }
}
