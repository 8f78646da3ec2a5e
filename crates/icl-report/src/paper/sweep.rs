//! Figure 4: the speed-up of the unbiased methods over the growth ratio.

use crate::chart::{Palette, SweepChart, SweepLine, SweepPoint};
use crate::document::blocks::{Block, Row, Table};
use crate::paper::group::{Group, Reproduction};
use crate::paper::speed_table::{Direction, entry, factor};
use crate::paper::wording;
use crate::paper::{DataSet, FIGURE_4, Outcome, Rule, Span, outcome, speed_up};

/// The unbiased methods, the published one first.
const METHODS: [&str; 3] = ["icl-published", "icl", "warm"];

const RULES: [(Rule, &str); 4] = [
    (Rule::LowestLossTime, "paper's rule: time"),
    (Rule::LowestLossEpoch, "paper's rule: epoch"),
    (Rule::TargetTime, "to target: seconds"),
    (Rule::TargetPasses, "to target: passes"),
];

/// The page's body.
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
    let span = |Span { low, high }: Span| format!("{}–{}", factor(low), factor(high));
    let mut blocks = vec![
        Block::Heading("In short".into()),
        Block::Text(format!(
            "The paper ({}, Figure 4) draws curves; its text says that ICL's speed-up over \
             retraining for α from 0.1 to 0.9, over all four data sets, is {} in time and {} in the \
             convergence epoch, that it becomes smaller as α grows, and that at α = 0.9 it still is \
             {}.",
            wording::SOURCE,
            span(FIGURE_4[0]),
            span(FIGURE_4[1]),
            span(FIGURE_4[2])
        )),
        Block::List(
            sets.iter()
                .flat_map(|&data| verdicts(data, &of_set(data)))
                .collect(),
        ),
        Block::Heading("Speed-up over the growth ratio".into()),
        Block::Warning(wording::WARNING.into()),
        Block::Text(format!(
            "{} In the charts a line joins the medians and dots are seeds; what is no number stands \
             at the edge that names it.",
            wording::HOW_TO_READ
        )),
    ];
    for data in sets {
        let groups = of_set(data);
        blocks.push(Block::Subheading(data.name().to_owned()));
        blocks.push(Block::Chart(charts(&groups)));
        for method in present(&groups) {
            blocks.push(Block::Table(table(&groups, method)));
        }
    }
    blocks
}

/// Those of the methods that were run.
fn present(groups: &[&Group<'_>]) -> Vec<&'static str> {
    let was_run = |method: &&str| groups.iter().any(|group| group.methods().contains(method));
    METHODS.into_iter().filter(was_run).collect()
}

/// One entry a method.
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

/// How a method's speed-up of time goes over the growth ratios.
fn over_alpha(groups: &[&Group<'_>], rule: Rule, method: &str) -> String {
    let medians: Vec<(f64, Outcome)> = groups
        .iter()
        .filter_map(|group| {
            let of = speed_up(rule, method, group.cells.iter().copied())?;
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

fn charts(groups: &[&Group<'_>]) -> String {
    let methods = present(groups);
    let palette = Palette::new(methods.iter().copied());
    let charts: String = [
        (Rule::LowestLossTime, "speed-up of time, the paper's rule"),
        (Rule::TargetTime, "speed-up of time to target"),
    ]
    .into_iter()
    .map(|(rule, y_label)| {
        let lines = methods
            .iter()
            .map(|method| line(groups, rule, method, palette.class(method)));
        SweepChart {
            description: y_label,
            x_label: "growth ratio α",
            y_label,
            lines: lines.collect(),
        }
        .svg()
    })
    .collect();
    let legend = palette.legend(methods);
    format!("{legend}<div class=\"charts\">\n{charts}</div>\n")
}

fn line(groups: &[&Group<'_>], rule: Rule, method: &str, class: String) -> SweepLine {
    let mut line = SweepLine {
        class,
        label: method.to_owned(),
        medians: Vec::new(),
        seeds: Vec::new(),
    };
    let point = |of: Outcome| match of {
        Outcome::Never => SweepPoint::Never,
        Outcome::Ratio(ratio) => SweepPoint::Ratio(ratio),
        Outcome::AtStart => SweepPoint::AtStart,
    };
    for group in groups {
        let of = speed_up(rule, method, group.cells.iter().copied());
        line.medians
            .extend(of.map(|of| (group.alpha, point(of.median))));
        let seeds = group.cells.iter().filter_map(|cell| {
            let of = outcome(rule, cell.record(method)?, cell.yardstick()?)?;
            Some((group.alpha, point(of)))
        });
        line.seeds.extend(seeds);
    }
    line
}

fn table(groups: &[&Group<'_>], method: &str) -> Table {
    let columns = RULES.map(|(_, name)| name.to_owned());
    let columns = columns.into_iter().chain(["seeds".to_owned()]);
    Table {
        corner: "α".into(),
        groups: vec![(format!("ours: {method}"), columns.collect())],
        rows: groups
            .iter()
            .map(|group| {
                let of = |rule| speed_up(rule, method, group.cells.iter().copied());
                let entries = RULES.iter().map(|(rule, _)| entry(of(*rule).as_ref()));
                let n = group
                    .cells
                    .iter()
                    .filter(|cell| cell.record(method).is_some());
                let n = n.count().to_string().into();
                Row {
                    head: group.alpha.to_string(),
                    entries: entries.chain([n]).collect(),
                    is_floor: false,
                }
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spans_of_the_paper_are_written_as_there() {
        assert_eq!(factor(FIGURE_4[0].high), "18.3×");
        assert_eq!(factor(FIGURE_4[2].low), "2.2×");
    }
}
