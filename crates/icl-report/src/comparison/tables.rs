//! Tables of a comparison.

use icl_core::{ByOrigin, ExactRisk, HeldOutRisk};

use crate::chart::Palette;
use crate::comparison::protocols::{FLOORS, PARTS, by_protocol, floor_over_seeds, recorded};
use crate::comparison::runs::MethodRuns;
use crate::document::{Column, Row, Table, TableCell};
use crate::ending::rule_name;
use crate::record::RunRecord;
use crate::speed_up;
use crate::text::number::{MISSING, accuracy, change, count, nats, percent, scientific, seconds};

/// Quantity of the exact risk.
type OfRisk = fn(&ExactRisk) -> f64;
/// Quantity of a record.
type OfRecord = fn(&RunRecord) -> f64;

/// Format of a number.
type Format = fn(f64) -> String;

/// Makes the table of all methods. On a terminal it shows the cost to the target, the speed-up and the
/// final risk; without a target the risks.
pub(crate) fn comparison(methods: &[MethodRuns<'_>], palette: &Palette) -> Table {
    let has_target = methods.iter().any(|of| of.n_with_target() > 0);
    let mut columns = Column::group("to the target", &["charged passes", "seconds", "epochs"]);
    columns.extend(Column::group("speed-up", &["in passes", "in seconds"]));
    columns.push(Column::new("seeds at the target"));
    columns.extend(Column::group(
        "exact risk at the end, nats",
        &["all data", "old data", "new data", "above the target"],
    ));
    columns.extend(Column::group(
        "on old data, nats",
        &["L^{I,X} start → end", "L^{II}"],
    ));
    let has_partners = methods
        .iter()
        .any(|of| of.records.iter().any(|r| r.risk_old_partners.is_some()));
    if has_partners {
        columns.extend(Column::group(
            "exact risk at the end with partners from X, nats",
            &["all data", "old data", "new data"],
        ));
    }
    let has_held_out = methods
        .iter()
        .any(|of| of.records.iter().any(|r| r.update.held_out_risk.is_some()));
    if has_held_out {
        columns.extend(Column::group(
            "held-out risk at the end, nats",
            &["all data", "old data", "new data", "standard error"],
        ));
    }
    columns.extend(Column::group(
        "whole training",
        &[
            "epochs",
            "sample passes",
            "charged passes",
            "ended by",
            "seconds",
            "‖Δθ‖/‖θ‖",
        ],
    ));
    let most_important = if has_target { [0, 3, 6] } else { [6, 7, 8] };
    for (priority, column) in most_important.into_iter().enumerate() {
        columns[column].priority = priority;
    }
    let row = |of: &MethodRuns<'_>| {
        let over = |value: OfRecord, format: Format| {
            TableCell::of(of.over(|record| Some(value(record))), format)
        };
        let with_old_partners = |value: fn(&ByOrigin<f64>) -> f64| {
            TableCell::of(
                of.over(|record| record.risk_old_partners.as_ref().map(value)),
                nats,
            )
        };
        let mut cells = vec![
            TableCell::of(of.to_target(|record| record.charged_to_target), count),
            TableCell::of(of.to_target(|record| record.time_to_target_s), seconds),
            TableCell::of(
                of.to_target(|record| record.epochs_to_target.map(|n| n as f64)),
                count,
            ),
            speed_up::cell(of.speed_up_in_passes.as_ref()),
            speed_up::cell(of.speed_up_in_time.as_ref()),
            arrivals(of),
            over(|record| record.risk.all, nats),
            over(|record| record.risk.old, nats),
            over(|record| record.risk.new, nats),
            TableCell::of(of.gap(), percent),
            start_to_end(of),
            over(|record| record.nce2_old, nats),
        ];
        if has_partners {
            cells.extend([
                with_old_partners(|risk| risk.all),
                with_old_partners(|risk| risk.old),
                with_old_partners(|risk| risk.new),
            ]);
        }
        if has_held_out {
            let held_out = |value: fn(&HeldOutRisk) -> f64| {
                TableCell::of(
                    of.over(|record| record.update.held_out_risk.as_ref().map(value)),
                    nats,
                )
            };
            cells.extend([
                held_out(|risk| risk.mean.all),
                held_out(|risk| risk.mean.old),
                held_out(|risk| risk.mean.new),
                held_out(|risk| risk.standard_error.all),
            ]);
        }
        cells.extend([
            over(|record| record.training.epochs as f64, count),
            over(|record| record.course.sample_passes as f64, count),
            over(|record| record.training.charged_passes, count),
            ended_by(of),
            over(|record| record.training.train_s, seconds),
            over(|record| record.training.parameter_change, change),
        ]);
        Row::new(of.method, cells).coloured(palette.colour(of.method))
    };
    Table {
        corner: "method".into(),
        columns,
        rows: methods.iter().map(row).collect(),
    }
}

/// Writes in how many seeds a method reached the target, and in how many it did not stay there.
fn arrivals(of: &MethodRuns<'_>) -> TableCell {
    let (reached, left, n) = (of.n_reached(), of.n_left(), of.n_with_target());
    let ended_above = (left > 0).then(|| format!("{left} ended above"));
    match n {
        0 => TableCell::Missing,
        n => TableCell::Value(format!("{reached} of {n}"), ended_above),
    }
}

/// Writes the rules that ended a method's runs, each with its number of seeds where they differ.
fn ended_by(of: &MethodRuns<'_>) -> TableCell {
    let rules = of
        .records
        .iter()
        .filter_map(|record| record.training.stopped_by);
    let names: Vec<&str> = rules.map(rule_name).collect();
    let mut distinct = names.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let counted = |name: &&str| {
        let n = names.iter().filter(|of| *of == name).count();
        format!("{name} {n}")
    };
    match &distinct[..] {
        [] => TableCell::Missing,
        [one] => TableCell::Word((*one).to_owned()),
        several => TableCell::Word(several.iter().map(counted).collect::<Vec<_>>().join(", ")),
    }
}

fn start_to_end(of: &MethodRuns<'_>) -> TableCell {
    let start = TableCell::of(of.over(|record| Some(record.start.nce1_old)), nats);
    match TableCell::of(of.over(|record| Some(record.nce1_old)), nats) {
        TableCell::Value(end, range) => {
            TableCell::Value(format!("{} → {end}", start.main()), range)
        }
        other => other,
    }
}

/// Makes the table of accuracies by each recorded protocol, their floors below.
pub(crate) fn accuracies(
    records: &[RunRecord],
    methods: &[MethodRuns<'_>],
    palette: &Palette,
) -> Table {
    let protocols = recorded(records);
    let cells = |cell: &dyn Fn(usize, usize) -> TableCell| -> Vec<TableCell> {
        let columns = (0..protocols.len()).flat_map(|i| (0..PARTS.len()).map(move |j| (i, j)));
        columns.map(|(i, j)| cell(i, j)).collect()
    };
    let rows = methods.iter().map(|of| {
        let cell = |i: usize, j: usize| {
            let value =
                |record: &RunRecord| PARTS[j].1(by_protocol(record, protocols[i])?.accuracy);
            TableCell::of(of.over(value), accuracy)
        };
        Row::new(of.method, cells(&cell)).coloured(palette.colour(of.method))
    });
    let floors = FLOORS.iter().map(|(name, floor)| {
        let cell = |i: usize, j: usize| {
            let summary = floor_over_seeds(records, protocols[i], *floor, PARTS[j].1);
            TableCell::of(summary, accuracy)
        };
        Row::new(format!("floor: {name}"), cells(&cell)).floor()
    });
    let columns = protocols
        .iter()
        .flat_map(|name| Column::group(*name, &PARTS.map(|(name, _)| name)));
    Table {
        corner: "method".into(),
        columns: columns.collect(),
        rows: rows.chain(floors).collect(),
    }
}

/// Makes the table of what the change of the noise does at the end of training.
pub(crate) fn noise(methods: &[MethodRuns<'_>], palette: &Palette) -> Table {
    let mut columns = vec![Column::new("change ratio r on old data")];
    columns.extend(Column::group(
        "bias of inference, nats",
        &["old data", "new data"],
    ));
    columns.extend(Column::group("bias of fine-tuning, nats", &["new data"]));
    columns.extend([
        Column::new("Theorem 2's bound, nats"),
        Column::new("Theorem 1's residual, nats"),
    ]);
    let quantities: [(OfRisk, Format); 6] = [
        (|risk| risk.change_ratio_old, nats),
        (|risk| risk.bias_inference_old, nats),
        (|risk| risk.bias_inference_new, nats),
        (|risk| risk.bias_fine_tuning_new, nats),
        (|risk| risk.bound, nats),
        (|risk| risk.theorem1_residual, scientific),
    ];
    table_of(methods, palette, columns, |of| {
        quantities
            .iter()
            .map(|(value, format)| {
                TableCell::of(of.over(|record| Some(value(&record.end))), format)
            })
            .collect()
    })
}

/// Makes the table of the seconds that each part of the training took.
pub(crate) fn times(methods: &[MethodRuns<'_>], palette: &Palette) -> Table {
    let columns = Column::group(
        "seconds",
        &[
            "steps",
            "waiting for batches",
            "evaluation",
            "views",
            "collation",
        ],
    );
    let times: [OfRecord; 5] = [
        |record| record.seconds.steps,
        |record| record.seconds.wait,
        |record| record.seconds.evaluation,
        |record| record.seconds.views,
        |record| record.seconds.collation,
    ];
    table_of(methods, palette, columns, |of| {
        times
            .iter()
            .map(|value| TableCell::of(of.over(|record| Some(value(record))), seconds))
            .collect()
    })
}

/// Makes the table of the paper's rule; `None` if nothing was trained.
pub(crate) fn lowest_loss(methods: &[MethodRuns<'_>], palette: &Palette) -> Option<Table> {
    let trained: Vec<MethodRuns<'_>> = methods
        .iter()
        .filter(|of| of.records.iter().any(|r| r.lowest_loss_epoch.is_some()))
        .cloned()
        .collect();
    let columns = vec![
        Column::new("convergence epoch"),
        Column::new("seconds until its end"),
    ];
    (!trained.is_empty()).then(|| {
        table_of(&trained, palette, columns, |of| {
            vec![
                TableCell::of(
                    of.over(|record| record.lowest_loss_epoch.map(|n| n as f64)),
                    count,
                ),
                TableCell::of(of.over(|record| record.lowest_loss_s), seconds),
            ]
        })
    })
}

fn table_of(
    methods: &[MethodRuns<'_>],
    palette: &Palette,
    columns: Vec<Column>,
    cells: impl Fn(&MethodRuns<'_>) -> Vec<TableCell>,
) -> Table {
    let row =
        |of: &MethodRuns<'_>| Row::new(of.method, cells(of)).coloured(palette.colour(of.method));
    Table {
        corner: "method".into(),
        columns,
        rows: methods.iter().map(row).collect(),
    }
}

/// Writes a range of counts or ratios that all records share or not.
pub(crate) fn extent(values: impl Iterator<Item = f64>, format: Format) -> String {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
        (low.min(x), high.max(x))
    });
    match (low <= high, format(low), format(high)) {
        (false, ..) => MISSING.to_owned(),
        (true, low, high) if low == high => low,
        (true, low, high) => format!("{low} to {high}"),
    }
}
