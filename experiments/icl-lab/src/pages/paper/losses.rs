//! Figure 5: loss curves.

use icl_report::RunRecord;
use icl_report::chart::{AxisScale, Figure, Line, LineChart, Palette};
use icl_report::document::{Block, Column, Row, Table, TableCell};
use icl_report::summary::{Rule, Summary};
use icl_report::text::number::nats;

use crate::pages::paper::group::{Cell, Group, Reproduction};
use crate::pages::paper::numbers::SOURCE;

/// Number of epochs over which the fall is compared.
const EARLY: usize = 10;

/// Two methods that differ in one choice and that the paper compares.
struct Pair {
    title: &'static str,
    claim: &'static str,
    /// Choice that is quicker according to the paper, then the other.
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

/// Returns the page's body: the answer, then charts and a table for each pair.
pub(crate) fn blocks(of: &Reproduction<'_>) -> Vec<Block> {
    let groups = of.groups();
    let mut details = vec![Block::heading("How the losses fall")];
    let mut verdicts = Vec::new();
    for group in &groups {
        let title = format!("{} · {}", group.title(), group.seeds());
        details.push(Block::Subheading(title.into()));
        for pair in &PAIRS {
            let term = format!("{}: {}", group.title(), pair.title);
            if was_run(group, pair) {
                verdicts.push((term.into(), verdict(group, pair).into()));
                details.push(Block::Figure(figure(group, pair)));
                details.push(Block::Table(table(group, pair)));
            } else {
                let missing = "not run: a method of the two is missing.";
                verdicts.push((term.into(), missing.into()));
            }
        }
    }
    let mut blocks = vec![Block::Headline(headline(&groups).into())];
    blocks.extend(details);
    blocks.extend([
        Block::heading("Pair by pair"),
        Block::text(format!(
            "The paper ({SOURCE}, Figure 5) draws curves without numbers. Its text says that NCE-II's loss \
             falls faster than NCE-I's, and that the loss declines faster with learning-rate learning \
             than with Adam. It does not say at which α; here it is 0.5. Training losses of NCE-I and \
             NCE-II are different functions, whose falls cannot be compared; the exact risk is one \
             function for all."
        )),
        Block::List(verdicts),
    ]);
    blocks
}

fn was_run(group: &Group<'_>, pair: &Pair) -> bool {
    let methods = group.methods();
    let mut names = pair.methods.iter();
    names.all(|(_, method)| methods.contains(method))
}

/// Says for each pair in how many runs the exact risk falls as the paper says.
fn headline(groups: &[Group<'_>]) -> String {
    let pairs = PAIRS.iter().filter_map(|pair| {
        let counts = groups
            .iter()
            .map(|group| n_further(group, pair, fall_of_risk));
        let (k, n) = counts.fold((0, 0), |(k, n), (more, of)| (k + more, n + of));
        let [(claimed, _), (other, _)] = pair.methods;
        (n > 0).then(|| format!("with {claimed} than with {other} in {k} of {n} runs"))
    });
    let pairs: Vec<String> = pairs.collect();
    match pairs.as_slice() {
        [] => "No pair of methods that the paper compares was run.".to_owned(),
        pairs => format!(
            "Over the first {EARLY} epochs the exact risk falls further {}.",
            pairs.join(", ")
        ),
    }
}

/// Returns the number of epochs over which a run's fall is measured: [`EARLY`], or all if there are
/// fewer.
fn early(record: &RunRecord) -> usize {
    EARLY.min(record.course.epoch_losses.len())
}

/// Returns the fall of the training loss from the first epoch to the last of the early ones, in nats.
fn fall_of_loss(record: &RunRecord) -> Option<f64> {
    let last = record
        .course
        .epoch_losses
        .get(early(record).checked_sub(1)?)?;
    Some(record.course.epoch_losses.first()? - last)
}

/// Returns the exact risk at the last evaluation among the early epochs, in nats.
fn early_risk(record: &RunRecord) -> Option<f64> {
    let mut of = record.course.evaluations.iter().rev();
    Some(of.find(|of| of.epoch <= early(record))?.risk.all)
}

fn fall_of_risk(record: &RunRecord) -> Option<f64> {
    Some(record.start.all - early_risk(record)?)
}

/// Counts the seeds in which the first method of the pair fell further, and those that can be compared.
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
    let of = |method| TableCell::of_speed_up(group.speed_up(Rule::TargetTime, method)).in_line();
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

fn figure(group: &Group<'_>, pair: &Pair) -> Figure {
    let methods = pair.methods.map(|(_, method)| method);
    let palette = Palette::new(methods);
    let lines = |points: fn(&RunRecord) -> Vec<(f64, f64)>| -> Vec<Line> {
        let records = group.cells.iter().flat_map(|cell| &cell.records);
        records
            .filter(|record| methods.contains(&record.method.as_str()))
            .map(|record| {
                let (method, seed) = (record.method.as_str(), record.seed);
                Line::new(method, palette.colour(method), points(record))
                    .labelled(format!("{method}, seed {seed}"))
            })
            .collect()
    };
    let chart = |title, y_label: &'static str, lines| {
        let epochs = "epoch (logarithmic, 0 at the left)";
        let (x, y) = ((epochs, AxisScale::FromZero), (y_label, AxisScale::Linear));
        LineChart::new(title, x, y, lines).svg()
    };
    Figure::new(
        pair.title,
        palette.legend(methods),
        vec![
            chart(
                "Training loss of each epoch",
                "training loss, nats",
                lines(|record| {
                    let losses = record.course.epoch_losses.iter().enumerate();
                    losses.map(|(i, loss)| ((i + 1) as f64, *loss)).collect()
                }),
            ),
            chart(
                "Exact risk over the epochs",
                "exact risk over all data, nats",
                lines(|record| {
                    let evaluations = record.course.evaluations.iter();
                    evaluations
                        .map(|of| (of.epoch as f64, of.risk.all))
                        .collect()
                }),
            ),
        ],
    )
}

fn table(group: &Group<'_>, pair: &Pair) -> Table {
    type Of = fn(&RunRecord) -> Option<f64>;
    let quantities: [Of; 6] = [
        |r| r.course.epoch_losses.first().copied(),
        fall_of_loss,
        |r| r.course.epoch_losses.iter().copied().min_by(f64::total_cmp),
        |r| Some(r.start.all),
        fall_of_risk,
        |r| Some(r.risk.all),
    ];
    let mut columns = Column::group(
        "training loss, nats",
        &["first epoch", "fall over the early epochs", "lowest"],
    );
    columns.extend(Column::group(
        "exact risk, nats",
        &[
            "before the first step",
            "fall over the early epochs",
            "at the end",
        ],
    ));
    let row = |(name, method): &(&str, &str)| {
        let cell = |of: &Of| {
            let records = group.cells.iter().filter_map(|cell| cell.record(method));
            TableCell::of(Summary::of_present(records.map(of)), nats)
        };
        Row::new(
            format!("{name} ({method})"),
            quantities.iter().map(cell).collect(),
        )
    };
    Table {
        corner: "method".into(),
        columns,
        rows: pair.methods.iter().map(row).collect(),
    }
}
