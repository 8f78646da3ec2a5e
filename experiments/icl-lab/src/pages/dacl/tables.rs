//! Tables of rows and of claims.

use icl_report::document::{Column, Row, Table, TableCell};
use icl_report::text::number::{change, nats, rounded};

use crate::pages::dacl::claims::Claim;
use crate::pages::dacl::data_set::DaclDataSet;
use crate::pages::dacl::published::printed_accuracy;
use crate::pages::dacl::record::{DaclAccuracies, DaclTraining};
use crate::pages::dacl::row::DaclRow;
use crate::pages::dacl::runs::{DaclRuns, values};
use crate::pages::dacl::seed_spread::SeedSpread;
use crate::pages::dacl::target::DaclTarget;

/// Function that returns the accuracy of a classifier.
type By = fn(&DaclAccuracies) -> Option<f64>;

/// Returns the rows of a data set: accuracies in per cent, as mean ± standard deviation over the seeds.
pub(crate) fn rows_table(runs: DaclRuns<'_>, data: DaclDataSet) -> Table {
    let classifiers: &[(&'static str, By)] = match runs.target {
        DaclTarget::Table1 | DaclTarget::Table2 => &[
            ("converged", |by| by.compared()),
            ("printed", |by| by.printed),
            ("5-NN", |by| by.neighbours),
        ],
        DaclTarget::Table4 => &[
            ("converged", |by| by.compared()),
            ("printed, best on test", |by| by.printed_best),
            ("printed, chosen", |by| by.printed),
            ("5-NN", |by| by.neighbours),
        ],
    };
    let mut columns: Vec<Column> = classifiers
        .iter()
        .enumerate()
        .map(|(i, (name, _))| Column::new(*name).priority(i))
        .collect();
    columns.extend(
        ["paper", "‖Δθ‖/‖θ‖", "exact risk", "seeds"]
            .map(Column::new)
            .map(|column| column.priority(classifiers.len())),
    );
    let rows = runs.target.rows().iter();
    let rows = rows.filter(|row| runs.of(data, **row).next().is_some());
    Table {
        corner: "row".into(),
        columns,
        rows: rows
            .map(|row| {
                let mut cells: Vec<TableCell> = classifiers
                    .iter()
                    .map(|(_, by)| spread(&values(&runs.accuracies(data, *row, by))))
                    .collect();
                cells.push(paper(runs.target, data, *row));
                cells.extend(training(runs, data, *row));
                cells.push(TableCell::Value(
                    runs.of(data, *row).count().to_string(),
                    None,
                ));
                let of = Row::new(row.title(), cells);
                match row.floor() {
                    Some(_) => of.floor(),
                    None => of,
                }
            })
            .collect(),
    }
}

/// Returns the claims with their rules, findings and verdicts.
pub(crate) fn claims_table(claims: &[Claim]) -> Table {
    Table {
        corner: "claim".into(),
        columns: vec![
            Column::new("refuted if").priority(2),
            Column::new("what we found, in points").priority(1),
            Column::new("verdict").priority(0),
        ],
        rows: claims
            .iter()
            .map(|claim| {
                let cells = vec![
                    TableCell::Word(claim.rule.to_owned()),
                    TableCell::Word(claim.finding.clone()),
                    TableCell::Word(claim.verdict.to_string()),
                ];
                Row::new(claim.claim, cells)
            })
            .collect(),
    }
}

fn spread(accuracies: &[f64]) -> TableCell {
    let Some(of) = SeedSpread::of(accuracies) else {
        return TableCell::Missing;
    };
    let digits = |accuracy: f64| rounded(100.0 * accuracy, 1);
    let sd = of.sd.map(|sd| format!("± {}", digits(sd)));
    TableCell::Value(digits(of.mean), sd)
}

fn paper(target: DaclTarget, data: DaclDataSet, row: DaclRow) -> TableCell {
    match printed_accuracy(target, data, row) {
        Some(of) => TableCell::Value(
            rounded(of.mean, 1),
            of.sd.map(|sd| format!("± {}", rounded(sd, 1))),
        ),
        None => TableCell::Missing,
    }
}

/// Returns the mean change of the parameters, and the mean exact risk before and after.
fn training(runs: DaclRuns<'_>, data: DaclDataSet, row: DaclRow) -> [TableCell; 2] {
    let mean = |by: fn(&DaclTraining) -> f64| {
        let of: Vec<f64> = runs
            .of(data, row)
            .filter_map(|r| r.training.as_ref().map(by))
            .collect();
        SeedSpread::of(&of).map(|of| of.mean)
    };
    let risks = mean(|of| of.risk_before_nats).zip(mean(|of| of.risk_after_nats));
    [
        mean(|of| of.parameter_change)
            .map_or(TableCell::Missing, |of| TableCell::number(of, change)),
        risks.map_or(TableCell::Missing, |(before, after)| {
            TableCell::Value(format!("{} → {}", nats(before), nats(after)), None)
        }),
    ]
}
