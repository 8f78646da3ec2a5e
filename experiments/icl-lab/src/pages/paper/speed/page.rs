//! Tables 3 and 4: speed-ups of all methods.

use icl_report::RunRecord;
use icl_report::chart::{ChartRow, Figure, Legend, Palette, RowChart};
use icl_report::document::{Block, TableCell};
use icl_report::summary::{Outcome, Rule, SpeedUp};
use icl_report::text::number::{factor, plural, speed_up};
use icl_train::REFERENCE;

use crate::pages::paper::group::{Cell, Group, Reproduction};
use crate::pages::paper::numbers::{PAPER_METHODS, SOURCE, paper_speed_up};
use crate::pages::paper::speed::table::{Agreement, HOW_TO_READ, WARNING, table};

/// Patience of the paper's rule, in epochs.
const PATIENCE: usize = 50;

/// Returns the page's body: the answer, a chart for each data set and growth ratio, and the tables.
pub(crate) fn blocks(of: &Reproduction<'_>) -> Vec<Block> {
    let groups = of.groups();
    let by_rule = agreements(&groups, Rule::LowestLossTime);
    let to_target = agreements(&groups, Rule::TargetTime);
    let mut blocks = vec![
        Block::Headline(headline(&by_rule, &to_target).into()),
        Block::Figure(figure(&groups)),
        Block::List(
            groups
                .iter()
                .map(|group| (group.title().into(), verdict(group).into()))
                .collect(),
        ),
        Block::text(format!(
            "Speed-ups of time that the paper gives for methods other than retraining, against ours. \
             Under the paper's rule, {}. By time to target, {}.",
            counted(&by_rule),
            counted(&to_target)
        )),
        Block::heading("The numbers"),
        Block::Warning(WARNING.into()),
        Block::text(HOW_TO_READ),
    ];
    let source = format!("{SOURCE}, {}", of.target.title());
    for group in &groups {
        let title = format!("{} · {}", group.title(), group.seeds());
        blocks.push(Block::Subheading(title.into()));
        blocks.push(Block::Table(table(group, &source)));
        blocks.extend(cut(group).map(Block::text));
    }
    blocks
}

/// Compares the paper's speed-ups of time with ours by a rule.
fn agreements(groups: &[Group<'_>], rule: Rule) -> Vec<Agreement> {
    let of_group = |group: &Group<'_>| -> Vec<Agreement> {
        let methods = PAPER_METHODS.iter().filter(|(_, own)| *own != REFERENCE);
        methods
            .filter_map(|(_, method)| {
                let paper = paper_speed_up(group.data, group.alpha, method)?;
                let seeds = group.outcomes(rule, method);
                Agreement::new(paper.time, &seeds)
            })
            .collect()
    };
    groups.iter().flat_map(of_group).collect()
}

fn n_of(found: &[Agreement], what: &[Agreement]) -> usize {
    found.iter().filter(|of| what.contains(of)).count()
}

/// Says how many of the paper's speed-ups are found again.
fn headline(by_rule: &[Agreement], to_target: &[Agreement]) -> String {
    const AGREE: [Agreement; 2] = [Agreement::Yes, Agreement::YesWithin];
    if by_rule.is_empty() && to_target.is_empty() {
        return "No speed-up of the paper could be compared.".to_owned();
    }
    format!(
        "{} of {} of the paper's speed-ups of time go the same way here by time to target, and {} of {} \
         by the paper's own rule.",
        n_of(to_target, &AGREE),
        to_target.len(),
        n_of(by_rule, &AGREE),
        by_rule.len(),
    )
}

/// Says how many speed-ups go the paper's way and in how many seeds.
fn counted(found: &[Agreement]) -> String {
    format!(
        "{} compared: in {} the median goes the paper's way ({} of them in every seed), in {} it does \
         not ({} of them in no seed), and in {} there was nothing to speed up",
        plural(found.len(), "speed-up"),
        n_of(found, &[Agreement::Yes, Agreement::YesWithin]),
        n_of(found, &[Agreement::Yes]),
        n_of(found, &[Agreement::No, Agreement::NoWithin]),
        n_of(found, &[Agreement::No]),
        n_of(found, &[Agreement::Nothing]),
    )
}

/// Draws the speed-ups of time to target of each group next to the paper's.
fn figure(groups: &[Group<'_>]) -> Figure {
    let chart = |group: &Group<'_>| {
        let methods = group.methods();
        let palette = Palette::new(methods.iter().copied());
        let bar = |method: &&str| {
            let of = group.speed_up(Rule::TargetTime, method);
            let paper = paper_speed_up(group.data, group.alpha, method);
            ChartRow::bar(
                *method,
                palette.colour(method),
                of.and_then(|of| of.median_ratio()),
                of.as_ref().and_then(bounds),
                of.map_or_else(|| "–".to_owned(), |of| speed_up(of.median)),
            )
            .diamond(paper.map(|paper| paper.time))
        };
        let title = group.title();
        let x_label = format!("{title}: speed-up of time to target");
        RowChart::new(&title, &x_label, methods.iter().map(bar).collect())
            .reference(Some((1.0, "retraining")))
            .svg()
    };
    Figure::new(
        "Longer is quicker than retraining: medians over the seeds, with a line from the slowest to the quickest, from \
         0 if a seed never arrived. A diamond is the paper's speed-up of time under its own rule.",
        Legend::default(),
        groups.iter().map(chart).collect(),
    )
}

/// Returns the slowest and the quickest seed on an axis: 0 for never, and no upper end where a seed was
/// at the target before the first step.
fn bounds(of: &SpeedUp) -> Option<(f64, Option<f64>)> {
    match (of.least, of.greatest) {
        (Outcome::Ratio(low), Outcome::Ratio(high)) => Some((low, Some(high))),
        (Outcome::Ratio(low), Outcome::AtStart) => Some((low, None)),
        (Outcome::Never, Outcome::Ratio(high)) => Some((0.0, Some(high))),
        (Outcome::Never, Outcome::AtStart) => Some((0.0, None)),
        _ => None,
    }
}

/// Describes the numbers of one data set and growth ratio.
fn verdict(group: &Group<'_>) -> String {
    let mut sentences = Vec::new();
    for (name, method) in [("ICL as published", "icl-published"), ("icl, ours", "icl")] {
        let Some(by_loss) = group.speed_up(Rule::LowestLossTime, method) else {
            continue;
        };
        let paper = paper_speed_up(group.data, group.alpha, method);
        let stated = paper.map_or(String::new(), |paper| {
            let lies = match (by_loss.least, by_loss.greatest) {
                (Outcome::Ratio(low), Outcome::Ratio(high))
                    if (low..=high).contains(&paper.time) =>
                {
                    "within"
                }
                _ => "outside",
            };
            format!(
                "; the paper's {} lies {lies} the seeds' range",
                factor(paper.time)
            )
        });
        let [seconds, passes] = [Rule::TargetTime, Rule::TargetPasses]
            .map(|rule| TableCell::of_speed_up(group.speed_up(rule, method)).in_line());
        let to_target = if seconds == passes {
            format!("to the target: {seconds}")
        } else {
            format!("to the target: {seconds} in seconds, {passes} in passes")
        };
        sentences.push(format!(
            "{name}: {} under the paper's rule{stated}; {to_target}.",
            TableCell::of_speed_up(Some(by_loss)).in_line(),
        ));
    }
    sentences.extend(swallowed(group));
    sentences.push(arrivals(group));
    sentences.join(" ")
}

/// Names the methods whose seeds lie on both sides of 1 under the paper's rule.
fn swallowed(group: &Group<'_>) -> Option<String> {
    let trained: Vec<(&str, SpeedUp)> = group
        .methods()
        .into_iter()
        .filter(|method| *method != REFERENCE)
        .filter_map(|method| Some((method, group.speed_up(Rule::LowestLossTime, method)?)))
        .collect();
    let both = |of: &SpeedUp| match (of.least, of.greatest) {
        (Outcome::Ratio(low), Outcome::Ratio(high)) => low < 1.0 && high > 1.0,
        _ => false,
    };
    if group.cells.len() < 2 || trained.is_empty() {
        return None;
    }
    let swallowed: Vec<&str> = trained
        .iter()
        .filter(|(_, of)| both(of))
        .map(|(method, _)| *method)
        .collect();
    Some(match swallowed.len() {
        0 => "Under the paper's rule no method has seeds on both sides of 1.".to_owned(),
        n => format!(
            "Under the paper's rule the spread swallows the difference from retraining in {n} of {} \
             methods ({}): their seeds lie on both sides of 1.",
            trained.len(),
            swallowed.join(", ")
        ),
    })
}

/// Names the methods that reached the target, and says where there was nothing to reach.
fn arrivals(group: &Group<'_>) -> String {
    let mut always = Vec::new();
    let mut never = Vec::new();
    let mut at_start = 0;
    let mut n_at_all = 0;
    for method in group.methods() {
        let is_trained = |cell: &&Cell| {
            cell.record(method)
                .is_some_and(|record| record.training.epochs > 0)
        };
        if method == REFERENCE || !group.cells.iter().any(is_trained) {
            continue;
        }
        let records = group.cells.iter().filter_map(|cell| cell.record(method));
        let aimed: Vec<_> = records.filter(|record| record.target.is_some()).collect();
        let reached = aimed
            .iter()
            .filter(|r| r.epochs_to_target.is_some())
            .count();
        at_start += aimed
            .iter()
            .filter(|r| r.passes_to_target == Some(0))
            .count();
        n_at_all += aimed.len();
        match reached {
            _ if aimed.is_empty() => {}
            0 => never.push(method),
            n if n == aimed.len() => always.push(method),
            _ => {}
        }
    }
    let list = |of: &[&str]| match of {
        [] => "none".to_owned(),
        of => of.join(", "),
    };
    let start = match at_start {
        0 => String::new(),
        n if n == n_at_all => {
            " θ₀ was at the target before the first step in every run: speed-ups \
                                to the target mean nothing here."
                .to_owned()
        }
        n => format!(
            " In {n} of {n_at_all} runs θ₀ was at the target before the first step: nothing to \
             speed up there."
        ),
    };
    format!(
        "Methods that reached the target in every seed: {}; in no seed: {}.{start}",
        list(&always),
        list(&never)
    )
}

/// Says how many runs ended at the maximum number of epochs before the paper's rule ended them.
fn cut(group: &Group<'_>) -> Option<String> {
    let records = || group.cells.iter().flat_map(|cell| &cell.records);
    let is_cut = |record: &&RunRecord| {
        record
            .lowest_loss_epoch
            .is_some_and(|epoch| record.training.epochs < epoch + PATIENCE)
    };
    let n = records().filter(is_cut).count();
    (n > 0).then(|| {
        format!(
            "The maximum number of epochs ended {n} of {} here before {PATIENCE} epochs had gone without \
             a lower training loss; their convergence epochs are those of the lowest loss so far.",
            plural(records().filter(|r| r.training.epochs > 0).count(), "training run")
        )
    })
}
