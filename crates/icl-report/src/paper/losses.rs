//! Figure 5: how the loss falls.

use crate::RunRecord;
use crate::Summary;
use crate::chart::{Curve, CurveChart, Palette};
use crate::document::blocks::{Block, Entry, Row, Table};
use crate::number::{Spread, axis_count, nats};
use crate::paper::group::{Group, Reproduction};
use crate::paper::wording;
use crate::paper::{Cell, Rule, speed_up};

/// The epochs over which the fall is compared.
const EARLY: usize = 10;

/// Two methods that differ in one choice, which the paper compares.
struct Pair {
    title: &'static str,
    claim: &'static str,
    /// The choice that the paper says is quicker, then the other.
    methods: [(&'static str, &'static str); 2],
}

const PAIRS: [Pair; 3] = [
    Pair {
        title: "NCE-II against NCE-I",
        claim: "NCE-II's loss falls faster than NCE-I's",
        methods: [("NCE-II", "icl-published-wo-m-lrl"), ("NCE-I", "warm")],
    },
    Pair {
        title: "Learning-rate learning against Adam at a fixed rate",
        claim: "the loss declines faster with LRL than with Adam",
        methods: [
            ("LRL", "icl-published-wo-m"),
            ("Adam", "icl-published-wo-m-lrl"),
        ],
    },
    Pair {
        title: "The same with meta-optimization",
        claim: "the loss declines faster with LRL than with Adam",
        methods: [("M + LRL", "icl-published"), ("M", "icl-published-wo-lrl")],
    },
];

/// The page's body.
pub(crate) fn blocks(of: &Reproduction<'_>) -> Vec<Block> {
    let groups = of.groups();
    let mut blocks = vec![
        Block::Heading("In short".into()),
        Block::Text(format!(
            "The paper ({}, Figure 5) draws curves without numbers. Its text says that NCE-II's loss \
             falls faster than NCE-I's, and that the loss declines faster with learning-rate \
             learning than with Adam. It does not say at which α; here it is 0.5. Training losses of \
             NCE-I and NCE-II are different functions, whose falls cannot be compared; the exact risk \
             is one function for all.",
            wording::SOURCE
        )),
    ];
    let mut details = vec![Block::Heading("How the losses fall".into())];
    let mut verdicts = Vec::new();
    for group in &groups {
        details.push(Block::Subheading(format!(
            "{} · {}",
            group.title(),
            group.seeds()
        )));
        for pair in &PAIRS {
            let methods = group.methods();
            if !pair
                .methods
                .iter()
                .all(|(_, method)| methods.contains(method))
            {
                verdicts.push((
                    format!("{}: {}", group.title(), pair.title),
                    "not run: a method of the two is missing.".to_owned(),
                ));
                continue;
            }
            verdicts.push((
                format!("{}: {}", group.title(), pair.title),
                verdict(group, pair),
            ));
            details.push(Block::Text(pair.title.into()));
            details.push(Block::Chart(charts(group, pair)));
            details.push(Block::Table(table(group, pair)));
        }
    }
    blocks.push(Block::List(verdicts));
    blocks.extend(details);
    blocks
}

/// The epochs over which a run's fall is measured: [`EARLY`], or all if there are fewer.
fn early(record: &RunRecord) -> usize {
    EARLY.min(record.epoch_losses.len())
}

/// How far the training loss fell from the first epoch to the last of the early ones, in nats.
fn fall_of_loss(record: &RunRecord) -> Option<f64> {
    let last = record.epoch_losses.get(early(record).checked_sub(1)?)?;
    Some(record.epoch_losses.first()? - last)
}

/// The exact risk at the last evaluation among the early epochs, in nats.
fn early_risk(record: &RunRecord) -> Option<f64> {
    let mut of = record.evaluations.iter().rev();
    Some(of.find(|of| of.epoch <= early(record))?.risk.all)
}

fn fall_of_risk(record: &RunRecord) -> Option<f64> {
    Some(record.start.all - early_risk(record)?)
}

/// In how many seeds the first method of the pair fell further, of those that can be compared.
fn n_further(group: &Group<'_>, pair: &Pair, of: fn(&RunRecord) -> Option<f64>) -> (usize, usize) {
    let further: Vec<bool> = group
        .cells
        .iter()
        .filter_map(|cell: &&Cell| {
            let [claimed, other] = pair.methods.map(|(_, method)| of(cell.record(method)?));
            Some(claimed? > other?)
        })
        .collect();
    (further.iter().filter(|is| **is).count(), further.len())
}

fn verdict(group: &Group<'_>, pair: &Pair) -> String {
    let [(claimed, first), (other, second)] = pair.methods;
    let (by_loss, n) = n_further(group, pair, fall_of_loss);
    let (by_risk, _) = n_further(group, pair, fall_of_risk);
    let held = |k: usize| match k {
        k if k == n => "in every seed",
        0 => "in no seed",
        _ => "in some seeds only",
    };
    let of = |method| {
        let of = speed_up(Rule::TargetTime, method, group.cells.iter().copied());
        super::speed_table::in_words(of.as_ref())
    };
    format!(
        "The paper: {}. Ours, over the first {EARLY} epochs: by training loss {} ({by_loss} of {n}), \
         by exact risk {} ({by_risk} of {n}). Speed-up of time to target: {claimed} {}, {other} {}.",
        pair.claim,
        held(by_loss),
        held(by_risk),
        of(first),
        of(second)
    )
}

fn charts(group: &Group<'_>, pair: &Pair) -> String {
    let methods = pair.methods.map(|(_, method)| method);
    let palette = Palette::new(methods);
    let curves = |points: fn(&RunRecord) -> Vec<(f64, f64)>| -> Vec<Curve> {
        let records = group.cells.iter().flat_map(|cell| &cell.records);
        records
            .filter(|record| methods.contains(&record.method.as_str()))
            .map(|record| Curve {
                class: palette.class(&record.method),
                label: format!("{}, seed {}", record.method, record.seed),
                points: points(record),
                mark: None,
            })
            .collect()
    };
    let chart = |description, y_label, curves| {
        CurveChart {
            description,
            x_label: "epoch (logarithmic, 0 at the left)",
            y_label,
            x_format: axis_count,
            curves,
            level: None,
        }
        .svg()
    };
    format!(
        "{}<div class=\"charts\">\n{}{}</div>\n",
        palette.legend(methods),
        chart(
            "Training loss of each epoch",
            "training loss, nats",
            curves(|record| {
                let losses = record.epoch_losses.iter().enumerate();
                losses.map(|(i, loss)| ((i + 1) as f64, *loss)).collect()
            })
        ),
        chart(
            "Exact risk over the epochs",
            "exact risk over all data, nats",
            curves(|record| {
                let evaluations = record.evaluations.iter();
                evaluations
                    .map(|of| (of.epoch as f64, of.risk.all))
                    .collect()
            })
        )
    )
}

fn table(group: &Group<'_>, pair: &Pair) -> Table {
    type Of = fn(&RunRecord) -> Option<f64>;
    let columns: [(&str, Of); 6] = [
        ("first epoch", |r| r.epoch_losses.first().copied()),
        ("fall over the early epochs", fall_of_loss),
        ("lowest", |r| {
            r.epoch_losses.iter().copied().min_by(f64::total_cmp)
        }),
        ("before the first step", |r| Some(r.start.all)),
        ("fall over the early epochs", fall_of_risk),
        ("at the end", |r| Some(r.risk.all)),
    ];
    let names = |of: &[(&str, Of)]| of.iter().map(|(name, _)| (*name).to_owned()).collect();
    Table {
        corner: "method".into(),
        groups: vec![
            ("training loss, nats".into(), names(&columns[..3])),
            ("exact risk, nats".into(), names(&columns[3..])),
        ],
        rows: pair
            .methods
            .iter()
            .map(|(name, method)| Row {
                head: format!("{name} ({method})"),
                entries: columns
                    .iter()
                    .map(|(_, of)| {
                        let records = group.cells.iter().filter_map(|cell| cell.record(method));
                        let of = Summary::of_present(records.map(of));
                        let Spread { median, spread } = Spread::new(of.as_ref(), nats, "");
                        Entry {
                            main: median,
                            small: spread,
                        }
                    })
                    .collect(),
                is_floor: false,
            })
            .collect(),
    }
}
