//! Figure 4: the speed-up of the unbiased methods over the growth ratio.

use icl_report::chart::{Figure, Palette};
use icl_report::document::{Block, Column, Row, Table, TableCell};
use icl_report::summary::{Outcome, Rule, outcome};
use icl_report::text::number::factor;

use crate::pages::paper::data_set::DataSet;
use crate::pages::paper::group::{Group, Reproduction};
use crate::pages::paper::numbers::{SOURCE, span};
use crate::pages::paper::speed::sweep_chart::{SweepChart, SweepLine};
use crate::pages::paper::speed::table::{Direction, HOW_TO_READ, WARNING};

/// Unbiased methods, the published one first.
const METHODS: [&str; 3] = ["icl-published", "icl", "warm"];

const RULES: [(Rule, &str); 4] = [
    (Rule::LowestLossTime, "paper's rule: time"),
    (Rule::LowestLossEpoch, "paper's rule: epoch"),
    (Rule::TargetTime, "to target: seconds"),
    (Rule::TargetPasses, "to target: passes"),
];

/// Returns the page's body: the answer, a chart for each data set, and the tables.
pub(crate) fn blocks(of: &Reproduction<'_>) -> Vec<Block> {
    let groups = of.groups();
    let mut sets: Vec<DataSet> = Vec::new();
    for group in &groups {
        if !sets.contains(&group.data) {
            sets.push(group.data);
        }
    }
    let of_set = |data: DataSet| -> Vec<&Group<'_>> {
        let mut of: Vec<&Group<'_>> = groups.iter().filter(|g| g.data == data).collect();
        of.sort_by(|a, b| a.alpha.total_cmp(&b.alpha));
        of
    };
    let printed = |quantity: &str| {
        let of = span(quantity);
        format!("{}–{}", factor(of.low), factor(of.high))
    };
    let mut blocks = vec![Block::Headline(headline(&groups).into())];
    for &data in &sets {
        blocks.push(Block::Figure(figure(data, &of_set(data))));
    }
    blocks.extend([
        Block::text(format!(
            "The paper ({SOURCE}, Figure 4) draws curves; its text says that ICL's speed-up over \
             retraining for α from 0.1 to 0.9, over all four data sets, is {} in time and {} in the \
             convergence epoch, that it becomes smaller as α grows, and that at α = 0.9 it still is \
             {}.",
            printed("speed-up of time for α from 0.1 to 0.9"),
            printed("speed-up of the epoch for α from 0.1 to 0.9"),
            printed("speed-up at α = 0.9")
        )),
        Block::List(
            sets.iter()
                .flat_map(|&data| verdicts(data, &of_set(data)))
                .map(|(term, text)| (term.into(), text.into()))
                .collect(),
        ),
        Block::heading("The numbers"),
        Block::Warning(WARNING.into()),
        Block::text(HOW_TO_READ),
    ]);
    for data in sets {
        let groups = of_set(data);
        blocks.push(Block::Subheading(data.name().into()));
        for method in present(&groups) {
            blocks.push(Block::Table(table(&groups, method)));
        }
    }
    blocks
}

/// Says at how many growth ratios each method is quicker than retraining.
fn headline(groups: &[Group<'_>]) -> String {
    let all: Vec<&Group<'_>> = groups.iter().collect();
    let methods = present(&all).into_iter().map(|method| {
        let outcomes = all.iter().filter_map(|group| {
            let of = group.speed_up(Rule::TargetTime, method)?;
            Some(Direction::of(of.median))
        });
        let outcomes: Vec<Direction> = outcomes.collect();
        let faster = outcomes.iter().filter(|of| **of == Direction::Faster);
        format!("{method} at {} of {}", faster.count(), outcomes.len())
    });
    let methods: Vec<String> = methods.collect();
    match methods.as_slice() {
        [] => "No unbiased method was run.".to_owned(),
        methods => format!(
            "Quicker than retraining by time to target, over all growth ratios and data sets: {}.",
            methods.join(", ")
        ),
    }
}

/// Returns the unbiased methods that were run.
fn present(groups: &[&Group<'_>]) -> Vec<&'static str> {
    let was_run = |method: &&str| groups.iter().any(|group| group.methods().contains(method));
    METHODS.into_iter().filter(was_run).collect()
}

/// Describes each method on a data set.
fn verdicts(data: DataSet, groups: &[&Group<'_>]) -> Vec<(String, String)> {
    let methods = present(groups).into_iter();
    methods
        .map(|method| {
            let of = |rule| over_alpha(groups, rule, method);
            (
                format!("{}: {method}", data.name()),
                format!(
                    "Under the paper's rule {}. By time to target {}.",
                    of(Rule::LowestLossTime),
                    of(Rule::TargetTime)
                ),
            )
        })
        .collect()
}

/// Describes how a method's speed-up of time changes over the growth ratios.
fn over_alpha(groups: &[&Group<'_>], rule: Rule, method: &str) -> String {
    let medians: Vec<(f64, Outcome)> = groups
        .iter()
        .filter_map(|group| {
            let of = group.speed_up(rule, method)?;
            Some((group.alpha, of.median))
        })
        .collect();
    let n = medians.len();
    let count = |what: Direction| {
        let of = medians.iter().filter(|(_, of)| Direction::of(*of) == what);
        of.count()
    };
    let never = medians
        .iter()
        .filter(|(_, of)| *of == Outcome::Never)
        .count();
    let ratios: Vec<(f64, f64)> = medians
        .iter()
        .filter_map(|(alpha, of)| match of {
            Outcome::Ratio(ratio) => Some((*alpha, *ratio)),
            _ => None,
        })
        .collect();
    let range = match (ratios.first(), ratios.last()) {
        (Some(first), Some(last)) => {
            let low = ratios.iter().map(|of| of.1).fold(f64::INFINITY, f64::min);
            let high = ratios.iter().map(|of| of.1).fold(0.0, f64::max);
            let is_smaller = last.1 / first.1 < 0.95;
            let trend = if ratios.len() < 2 {
                String::new()
            } else {
                format!(
                    ", {} at α = {} ({}) than at {} ({})",
                    if is_smaller { "smaller" } else { "not smaller" },
                    last.0,
                    factor(last.1),
                    first.0,
                    factor(first.1)
                )
            };
            format!("; medians from {} to {}{trend}", factor(low), factor(high))
        }
        _ => String::new(),
    };
    let mut words = vec![format!(
        "quicker than retraining at {} of {n} growth ratios",
        count(Direction::Faster)
    )];
    for (n, what) in [
        (never, "never there"),
        (count(Direction::Nothing), "nothing to speed up"),
    ] {
        if n > 0 {
            words.push(format!("{what} at {n}"));
        }
    }
    format!("{}{range}", words.join(", "))
}

fn figure(data: DataSet, groups: &[&Group<'_>]) -> Figure {
    let methods = present(groups);
    let palette = Palette::new(methods.iter().copied());
    let charts = [
        (Rule::LowestLossTime, "speed-up of time, the paper's rule"),
        (Rule::TargetTime, "speed-up of time to target"),
    ]
    .into_iter()
    .map(|(rule, y_label)| {
        let lines = methods
            .iter()
            .map(|method| line(groups, rule, method, &palette));
        SweepChart {
            title: &format!("{}: {y_label}", data.name()),
            x_label: "growth ratio α",
            y_label,
            lines: lines.collect(),
        }
        .svg()
    });
    Figure::new(
        format!(
            "{}: a line joins the medians, dots are seeds, and words such as “never” have a place at the \
             edge.",
            data.name()
        ),
        palette.legend(methods.iter().copied()),
        charts.collect(),
    )
}

fn line(groups: &[&Group<'_>], rule: Rule, method: &str, palette: &Palette) -> SweepLine {
    let mut line = SweepLine {
        label: method.to_owned(),
        colour: palette.colour(method),
        medians: Vec::new(),
        seeds: Vec::new(),
    };
    for group in groups {
        let of = group.speed_up(rule, method);
        line.medians.extend(of.map(|of| (group.alpha, of.median)));
        let seeds = group.cells.iter().filter_map(|cell| {
            let of = outcome(rule, cell.record(method)?, cell.reference()?)?;
            Some((group.alpha, of))
        });
        line.seeds.extend(seeds);
    }
    line
}

fn table(groups: &[&Group<'_>], method: &str) -> Table {
    let mut names = RULES.map(|(_, name)| name).to_vec();
    names.push("seeds");
    let row = |group: &&Group<'_>| {
        let of = |rule| group.speed_up(rule, method);
        let mut cells: Vec<TableCell> = RULES
            .iter()
            .map(|(rule, _)| TableCell::of_speed_up(of(*rule)))
            .collect();
        let n = group
            .cells
            .iter()
            .filter(|cell| cell.record(method).is_some());
        cells.push(TableCell::Value(n.count().to_string(), None));
        Row::new(group.alpha.to_string(), cells)
    };
    Table {
        corner: "α".into(),
        columns: Column::group(format!("ours: {method}"), &names),
        rows: groups.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spans_of_the_paper_are_written_as_there() {
        let time = span("speed-up of time for α from 0.1 to 0.9");
        assert_eq!(factor(time.high), "18.3×");
        assert_eq!(factor(span("speed-up at α = 0.9").low), "2.2×");
    }
}
