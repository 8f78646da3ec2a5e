//! Tables of a comparison.

use crate::chart::Palette;
use crate::document::{Column, Row, Table, TableCell};
use crate::stop_reason::rule_name;
use crate::summary::protocols::{FLOORS, PARTS};
use crate::summary::{Comparison, MethodSummary, Summary};
use crate::text::number::{MISSING, accuracy, change, count, nats, percent, scientific, seconds};

/// Format of a number.
type Format = fn(f64) -> String;
/// Cell of a column for each method.
type Cell = Box<dyn Fn(&MethodSummary) -> TableCell>;
/// Heading of neighbouring columns, which may be empty, and each column.
type Group = (&'static str, Vec<(&'static str, Cell)>);

/// Makes the table of all methods. On a terminal it shows the cost to the target, the speed-up and the
/// final risk; without a target the risks.
pub(crate) fn comparison(methods: &[MethodSummary], palette: &Palette) -> Table {
    let has = |quantity| methods.iter().any(|of| of.over(quantity).is_some());
    let mut risk = by_origin("risk");
    let above = cell(|of| TableCell::of(of.above_target, percent));
    risk.push(("above the target", above));
    let mut groups: Vec<Group> = vec![
        (
            "to the target",
            vec![
                (
                    "charged passes",
                    cell(|of| TableCell::of(of.charged_to_target, count)),
                ),
                (
                    "seconds",
                    cell(|of| TableCell::of(of.time_to_target_s, seconds)),
                ),
                (
                    "epochs",
                    cell(|of| TableCell::of(of.epochs_to_target, count)),
                ),
            ],
        ),
        (
            "speed-up",
            vec![
                (
                    "in passes",
                    cell(|of| TableCell::of_speed_up(of.speed_up_in_passes)),
                ),
                (
                    "in seconds",
                    cell(|of| TableCell::of_speed_up(of.speed_up_in_time)),
                ),
            ],
        ),
        ("", vec![("seeds at the target", cell(arrivals))]),
        ("exact risk at the end, nats", risk),
        (
            "on old data, nats",
            vec![
                ("L^{I,X} start → end", cell(start_to_end)),
                ("L^{II}", over("nce2_old", nats)),
            ],
        ),
    ];
    if has("risk_old_partners.all") {
        groups.push((
            "exact risk at the end with partners from X, nats",
            by_origin("risk_old_partners"),
        ));
    }
    if has("held_out_risk.all") {
        let mut risk = by_origin("held_out_risk");
        let error = over("held_out_risk.standard_error.all", nats);
        risk.push(("standard error", error));
        groups.push(("held-out risk at the end, nats", risk));
    }
    groups.push((
        "whole training",
        vec![
            ("epochs", over("epochs", count)),
            ("sample passes", over("sample_passes", count)),
            ("charged passes", over("charged_passes", count)),
            ("ended by", cell(ended_by)),
            ("seconds", over("train_s", seconds)),
            ("‖Δθ‖/‖θ‖", over("parameter_change", change)),
        ],
    ));
    let recall = (
        "cross-version recall",
        over("cross_version_recall", percent),
    );
    groups.extend(has("cross_version_recall").then(|| ("", vec![recall])));
    let mut table = table_of(methods.iter(), palette, groups);
    let has_target = methods.iter().any(|of| of.n_with_target > 0);
    let most_important = if has_target { [0, 3, 6] } else { [6, 7, 8] };
    for (priority, column) in most_important.into_iter().enumerate() {
        table.columns[column].priority = priority;
    }
    table
}

/// Writes in how many seeds a method reached the target, and in how many it did not stay there.
fn arrivals(of: &MethodSummary) -> TableCell {
    let (reached, left) = (of.n_reached, of.n_left);
    let ended_above = (left > 0).then(|| format!("{left} ended above"));
    match of.n_with_target {
        0 => TableCell::Missing,
        n => TableCell::Value(format!("{reached} of {n}"), ended_above),
    }
}

/// Writes the rules that ended a method's runs, each with its number of seeds where they differ.
fn ended_by(of: &MethodSummary) -> TableCell {
    let rules = of.stopped_by.iter();
    let mut rules: Vec<(&str, usize)> = rules.map(|(rule, n)| (rule_name(*rule), *n)).collect();
    rules.sort_unstable();
    let counted = |(name, n): &(&str, usize)| format!("{name} {n}");
    match &rules[..] {
        [] => TableCell::Missing,
        [(one, _)] => TableCell::Word((*one).to_owned()),
        several => TableCell::Word(several.iter().map(counted).collect::<Vec<_>>().join(", ")),
    }
}

fn start_to_end(of: &MethodSummary) -> TableCell {
    let start = TableCell::of(of.over("start.nce1_old"), nats);
    match TableCell::of(of.over("nce1_old"), nats) {
        TableCell::Value(end, range) => {
            TableCell::Value(format!("{} → {end}", start.main()), range)
        }
        other => other,
    }
}

/// Makes the table of accuracies by each recorded protocol, their floors below.
pub(crate) fn accuracies(comparison: &Comparison, palette: &Palette) -> Table {
    let protocols = &comparison.protocols;
    let rows = comparison.methods.iter().map(|of| {
        let cells = protocols.iter().flat_map(|protocol| {
            let of = of.accuracies.get(&protocol.protocol);
            [0, 1, 2].map(|part| TableCell::of(of.and_then(|of| *of.as_array()[part]), accuracy))
        });
        Row::new(of.method.as_str(), cells.collect()).coloured(palette.colour(&of.method))
    });
    let floors = FLOORS.iter().enumerate().map(|(at, (name, _))| {
        let cells = protocols.iter().flat_map(|of| {
            let (_, floor) = of.floors[at];
            floor.as_array().map(|of| TableCell::of(*of, accuracy))
        });
        Row::new(format!("floor: {name}"), cells.collect()).floor()
    });
    let columns = protocols
        .iter()
        .flat_map(|of| Column::group(of.protocol.as_str(), &PARTS.map(|(name, _)| name)));
    Table {
        corner: "method".into(),
        columns: columns.collect(),
        rows: rows.chain(floors).collect(),
    }
}

/// Makes the table of what the change of the noise does at the end of training.
pub(crate) fn noise(methods: &[MethodSummary], palette: &Palette) -> Table {
    let ratio = (
        "change ratio r on old data",
        over("end.change_ratio_old", nats),
    );
    let groups = vec![
        ("", vec![ratio]),
        (
            "bias of inference, nats",
            vec![
                ("old data", over("end.bias_inference_old", nats)),
                ("new data", over("end.bias_inference_new", nats)),
            ],
        ),
        (
            "bias of fine-tuning, nats",
            vec![("new data", over("end.bias_fine_tuning_new", nats))],
        ),
        (
            "",
            vec![
                ("Theorem 2's bound, nats", over("end.bound", nats)),
                (
                    "Theorem 1's residual, nats",
                    over("end.theorem1_residual", scientific),
                ),
            ],
        ),
    ];
    table_of(methods.iter(), palette, groups)
}

/// Makes the table of the seconds that each part of the training took.
pub(crate) fn times(methods: &[MethodSummary], palette: &Palette) -> Table {
    let times = vec![
        ("steps", over("seconds.steps_s", seconds)),
        ("waiting for batches", over("seconds.wait_s", seconds)),
        ("evaluation", over("seconds.evaluation_s", seconds)),
        ("views", over("seconds.views_s", seconds)),
        ("collation", over("seconds.collation_s", seconds)),
    ];
    table_of(methods.iter(), palette, vec![("seconds", times)])
}

/// Makes the table of the paper's rule; `None` if nothing was trained.
pub(crate) fn lowest_loss(methods: &[MethodSummary], palette: &Palette) -> Option<Table> {
    let is_trained = |of: &&MethodSummary| of.over("lowest_loss_epoch").is_some();
    let columns = vec![
        ("convergence epoch", over("lowest_loss_epoch", count)),
        ("seconds until its end", over("lowest_loss_s", seconds)),
    ];
    let table = table_of(
        methods.iter().filter(is_trained),
        palette,
        vec![("", columns)],
    );
    (!table.rows.is_empty()).then_some(table)
}

fn cell(of: impl Fn(&MethodSummary) -> TableCell + 'static) -> Cell {
    Box::new(of)
}

/// Makes the cells of a quantity of the records.
fn over(quantity: impl Into<String>, format: Format) -> Cell {
    let quantity = quantity.into();
    cell(move |of| TableCell::of(of.over(&quantity), format))
}

/// Makes the columns of a risk over all, old and new data.
fn by_origin(risk: &str) -> Vec<(&'static str, Cell)> {
    let keys = ["all", "old", "new"].into_iter().zip(PARTS);
    keys.map(|(key, (name, _))| (name, over(format!("{risk}.{key}"), nats)))
        .collect()
}

fn table_of<'a>(
    methods: impl Iterator<Item = &'a MethodSummary>,
    palette: &Palette,
    groups: Vec<Group>,
) -> Table {
    let columns = groups.iter().flat_map(|(group, columns)| {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        Column::group(*group, &names)
    });
    let row = |of: &MethodSummary| {
        let columns = groups.iter().flat_map(|(_, columns)| columns);
        let cells = columns.map(|(_, cell)| cell(of)).collect();
        Row::new(of.method.as_str(), cells).coloured(palette.colour(&of.method))
    };
    Table {
        corner: "method".into(),
        columns: columns.collect(),
        rows: methods.map(row).collect(),
    }
}

/// Writes a range of counts or ratios that all records share or not.
pub(crate) fn extent(of: Option<Summary>, format: Format) -> String {
    let ends = of.and_then(|of| of.min.zip(of.max));
    match ends.map(|(low, high)| (format(low), format(high))) {
        None => MISSING.to_owned(),
        Some((low, high)) if low == high => low,
        Some((low, high)) => format!("{low} to {high}"),
    }
}
