//! Figure 5 of the paper: stages of a training, in which predictions come closer to the labels.

use icl_core::Error;
use icl_report::NegativesAdvice;
use icl_report::chart::Figure;
use icl_report::document::{Block, Column, Row, Table, TableCell};

use crate::pages::ans::figures::best_k::{BestK, of_course, of_stage};
use crate::pages::ans::figures::printed_claim::{PrintedClaim, claims_table, tally};
use crate::pages::ans::figures::stage_charts;

/// Largest K of the searches.
const MAX_K: usize = 2000;
/// Separations of the labels: those of the paper's two tasks.
const LABELS: [f64; 2] = [1.0, 2.4];
/// Separations of the labels at which the end of a training is looked at.
const ENDS: [f64; 4] = [0.5, 1.0, 1.5, 2.4];
/// Separations of the predictions, as shares of that of the labels.
const STAGES: [f64; 7] = [0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 1.0];

/// Searches for the labels of one task.
struct OfTask {
    label: f64,
    stages: Vec<NegativesAdvice>,
    whole: NegativesAdvice,
}

impl OfTask {
    fn new(label: f64) -> Result<Self, Error> {
        let stage = |share: f64| of_stage(label, share * label, MAX_K);
        Ok(Self {
            label,
            stages: STAGES.into_iter().map(stage).collect::<Result<_, _>>()?,
            // The optimum of the whole course lies far below.
            whole: of_course(label, 3.0, 100)?,
        })
    }

    fn at(&self, stage: usize, lambda: f64) -> BestK {
        BestK::of(&self.stages[stage], lambda)
    }

    /// Returns whether the best K of a weight λ is larger in some stage than in the stage before, before the end.
    fn rises(&self, lambda: f64) -> bool {
        let before_end = 0..STAGES.len() - 1;
        let ks: Vec<usize> = before_end.map(|stage| self.at(stage, lambda).0.k).collect();
        ks.windows(2).any(|pair| pair[1] > pair[0])
    }

    fn list(&self, lambda: f64) -> String {
        let all: Vec<String> = (0..STAGES.len() - 1)
            .map(|stage| match self.at(stage, lambda).0 {
                best if best.is_at_bound => format!("none up to {}", best.k),
                best => best.k.to_string(),
            })
            .collect();
        all.join(", ")
    }
}

/// Returns the blocks of the page.
///
/// # Errors
/// [`Error`] never for these separations.
pub(super) fn blocks() -> Result<Vec<Block>, Error> {
    let tasks = LABELS
        .map(OfTask::new)
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    let claims = claims(&tasks)?;
    let headline = format!(
        "A training begins with fewer negatives than are best over all of it, as printed; towards its end the best K rises \
         instead of falling to 1. {}.",
        tally(&claims)
    );
    let mut blocks = vec![
        Block::Headline(headline.into()),
        Block::Figure(effectiveness(&tasks)),
        Block::heading("Claims"),
        Block::text(
            "Everything follows from the paper's equations; nothing is trained. λ is 0.9 unless stated otherwise.",
        ),
        Block::Table(claims_table(&claims)),
        Block::heading("Best K in stages of a training"),
        Block::text(
            "μ′ is the separation of the predictions. At λ = 1 and μ′ = μ the effectiveness P(A) − P(B) is 0 for every K, \
             so that none is better than another.",
        ),
        Block::Table(table(&tasks)),
    ];
    for task in &tasks {
        let text = format!("Shares of samples at μ = {}", task.label);
        blocks.push(Block::heading(text));
        let stages = [0, 2, STAGES.len() - 1];
        let of = stages.map(|stage| (name(stage), task.stages[stage].shares().collect()));
        blocks.push(Block::Figure(stage_charts::shares(of.into())));
    }
    Ok(blocks)
}

/// Returns the name of a stage.
fn name(stage: usize) -> String {
    match STAGES[stage] {
        0.0 => "μ′ = 0".to_owned(),
        1.0 => "μ′ = μ".to_owned(),
        share => format!("μ′ = {share} μ"),
    }
}

fn effectiveness(tasks: &[OfTask]) -> Figure {
    let of_task = |task: &OfTask| {
        let of = |stage: usize| (name(stage), task.stages[stage].effectiveness(0.9));
        let title = format!("Training effectiveness in stages, μ = {}", task.label);
        (title, (0..STAGES.len()).map(of).collect())
    };
    stage_charts::effectiveness(tasks.iter().map(of_task).collect())
}

fn table(tasks: &[OfTask]) -> Table {
    let columns = tasks
        .iter()
        .flat_map(|task| Column::group(format!("μ = {}", task.label), &["λ = 0.9", "λ = 1"]));
    let value = |best: BestK| TableCell::Value(best.to_string(), None);
    let row = |stage: usize| {
        let cells = tasks
            .iter()
            .flat_map(|task| [0.9, 1.0].map(|lambda| value(task.at(stage, lambda))));
        Row::new(name(stage), cells.collect())
    };
    let whole = tasks
        .iter()
        .flat_map(|task| [0.9, 1.0].map(|lambda| value(BestK::of(&task.whole, lambda))));
    let whole = Row::new("whole course", whole.collect()).floor();
    Table {
        corner: "stage".into(),
        columns: columns.collect(),
        rows: (0..STAGES.len()).map(row).chain([whole]).collect(),
    }
}

/// Returns the smallest K above 1 that is better than 1 at the end of a training, and whether there is one.
fn better_than_one(label: f64) -> Result<Option<usize>, Error> {
    let values = of_stage(label, label, MAX_K)?.effectiveness(0.9);
    Ok(values.iter().position(|v| *v > values[0]).map(|at| at + 1))
}

fn claims(tasks: &[OfTask]) -> Result<Vec<PrintedClaim>, Error> {
    let better = ENDS
        .map(better_than_one)
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    let from: Vec<String> = ENDS
        .iter()
        .zip(&better)
        .map(|(label, k)| match k {
            Some(k) => format!("at μ = {label} up to K = {}", k - 1),
            None => format!("at μ = {label} up to K = {MAX_K} at least"),
        })
        .collect();
    let begins = |task: &OfTask, lambda: f64| {
        let (first, whole) = (task.at(0, lambda), BestK::of(&task.whole, lambda));
        (
            first.0.k < whole.0.k,
            format!("{} against {}", first.0.k, whole.0.k),
        )
    };
    let beginnings = tasks
        .iter()
        .flat_map(|task| [begins(task, 0.9), begins(task, 1.0)]);
    let (are_smaller, words): (Vec<bool>, Vec<String>) = beginnings.unzip();
    Ok(vec![
        PrintedClaim::new(
            "beginning",
            format!("at λ = 0.9 and 1: {}", words.join(", ")),
            are_smaller.contains(&false),
        ),
        PrintedClaim::new(
            "convergence",
            format!(
                "at λ = 0.9: {}; {}; at λ = 1: {}; {}",
                tasks[0].list(0.9),
                tasks[1].list(0.9),
                tasks[0].list(1.0),
                tasks[1].list(1.0)
            ),
            tasks.iter().all(|task| task.rises(0.9) && task.rises(1.0)),
        ),
        PrintedClaim::new(
            "end",
            format!(
                "{}; beyond, the effectiveness rises again to 1 − λ, the artefact of Fig. 4",
                from.join(", ")
            ),
            better.iter().any(Option::is_some),
        ),
    ])
}
