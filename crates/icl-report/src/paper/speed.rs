//! Tables 3 and 4: speed-ups of all methods.

use crate::document::blocks::Block;
use crate::number::plural;
use crate::paper::group::{Group, Reproduction};
use crate::paper::speed_table::{Agreement, in_words, table};
use crate::paper::wording;
use crate::paper::{Outcome, PAPER_METHODS, Rule, SpeedUp, outcomes, paper_speed_up, speed_up};
use icl_train::REFERENCE;

/// The paper's patience, in epochs.
const PATIENCE: usize = 50;

/// The page's body.
pub(crate) fn blocks(of: &Reproduction<'_>) -> Vec<Block> {
    let groups = of.groups();
    let mut blocks = vec![
        Block::Heading("In short".into()),
        Block::Text(overall(&groups)),
        Block::List(
            groups
                .iter()
                .map(|group| (group.title(), verdict(group)))
                .collect(),
        ),
        Block::Heading("The numbers".into()),
        Block::Warning(wording::WARNING.into()),
        Block::Text(wording::HOW_TO_READ.into()),
    ];
    let source = format!("{}, {}", wording::SOURCE, of.target.title());
    for group in &groups {
        blocks.push(Block::Subheading(format!(
            "{} · {}",
            group.title(),
            group.seeds()
        )));
        blocks.push(Block::Table(table(group, &source)));
        blocks.extend(cut(group).map(Block::Text));
    }
    blocks
}

fn of_rule(rule: Rule, method: &str, group: &Group<'_>) -> Option<SpeedUp> {
    speed_up(rule, method, group.cells.iter().copied())
}

/// How many of the paper's numbers are found again, and in which direction.
fn overall(groups: &[Group<'_>]) -> String {
    let sentence = |rule| {
        let found: Vec<Agreement> = groups
            .iter()
            .flat_map(|group| {
                PAPER_METHODS.iter().filter_map(|(_, method)| {
                    let paper = paper_speed_up(group.data, group.alpha, method)?;
                    let seeds = outcomes(rule, method, group.cells.iter().copied());
                    Agreement::new(paper.time, &seeds).filter(|_| *method != REFERENCE)
                })
            })
            .collect();
        let n = |what: &[Agreement]| found.iter().filter(|of| what.contains(of)).count();
        format!(
            "{} compared: in {} the median goes the paper's way ({} of them in every seed), in {} \
             it does not ({} of them in no seed), and in {} there was nothing to speed up",
            plural(found.len(), "speed-up"),
            n(&[Agreement::Yes, Agreement::YesWithin]),
            n(&[Agreement::Yes]),
            n(&[Agreement::No, Agreement::NoWithin]),
            n(&[Agreement::No]),
            n(&[Agreement::Nothing]),
        )
    };
    format!(
        "Speed-ups of time that the paper gives for methods other than retraining, against ours. \
         Under the paper's rule, {}. By time to target, {}.",
        sentence(Rule::LowestLossTime),
        sentence(Rule::TargetTime)
    )
}

/// What the numbers of one data set and growth ratio say.
fn verdict(group: &Group<'_>) -> String {
    let mut sentences = Vec::new();
    for (name, method) in [("ICL as published", "icl-published"), ("icl, ours", "icl")] {
        let Some(by_loss) = of_rule(Rule::LowestLossTime, method, group) else {
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
                super::speed_table::factor(paper.time)
            )
        });
        let [seconds, passes] = [Rule::TargetTime, Rule::TargetPasses]
            .map(|rule| in_words(of_rule(rule, method, group).as_ref()));
        let to_target = if seconds == passes {
            format!("to the target: {seconds}")
        } else {
            format!("to the target: {seconds} in seconds, {passes} in passes")
        };
        sentences.push(format!(
            "{name}: {} under the paper's rule{stated}; {to_target}.",
            in_words(Some(&by_loss)),
        ));
    }
    sentences.extend(swallowed(group));
    sentences.push(arrivals(group));
    sentences.join(" ")
}

/// The methods whose seeds lie on both sides of 1 under the paper's rule.
fn swallowed(group: &Group<'_>) -> Option<String> {
    let trained: Vec<(&str, SpeedUp)> = group
        .methods()
        .into_iter()
        .filter(|method| *method != REFERENCE)
        .filter_map(|method| Some((method, of_rule(Rule::LowestLossTime, method, group)?)))
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

/// Who reached the target, and where there was nothing to reach.
fn arrivals(group: &Group<'_>) -> String {
    let mut always = Vec::new();
    let mut never = Vec::new();
    let mut at_start = 0;
    let mut n_at_all = 0;
    for method in group.methods() {
        let is_trained = |cell: &&crate::paper::Cell| {
            cell.record(method).is_some_and(|record| record.epochs > 0)
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
            .filter(|r| r.epochs_to_target == Some(0))
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

/// Which runs the most epochs ended before the paper's rule did.
fn cut(group: &Group<'_>) -> Option<String> {
    let records = || group.cells.iter().flat_map(|cell| &cell.records);
    let is_cut = |record: &&crate::RunRecord| {
        record
            .lowest_loss_epoch
            .is_some_and(|epoch| record.epochs < epoch + PATIENCE)
    };
    let n = records().filter(is_cut).count();
    (n > 0).then(|| {
        format!(
            "The most epochs ended {n} of {} here before {PATIENCE} epochs had gone without a lower \
             training loss; their convergence epochs are those of the lowest loss so far.",
            plural(records().filter(|r| r.epochs > 0).count(), "training run")
        )
    })
}
