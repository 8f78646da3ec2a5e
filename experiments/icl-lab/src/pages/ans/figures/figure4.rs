//! Figure 4 of the paper, and the claims on which it rests.

use icl_core::Error;
use icl_core::negatives::separation;
use icl_report::NegativesAdvice;
use icl_report::document::{Block, Column, Row, Table, TableCell};
use icl_report::negatives::{BestAt, SEPARATIONS, best_k};
use icl_report::text::number::rounded;

use crate::pages::ans::figures::best_k::{BestK, LAMBDA, of_course};
use crate::pages::ans::figures::printed_claim::{PrintedClaim, claims_table, tally};

/// Largest K of the searches.
const MAX_K: usize = 500;
/// End of the course in the paper.
const END: f64 = 3.0;
/// Separations of the paper's two tasks.
const TASKS: [f64; 2] = [1.0, 2.4];
/// Ends of the course next to that of the paper.
const ENDS: [f64; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 8.0];
/// Weights λ next to that of the paper.
const LAMBDAS: [f64; 5] = [0.5, 0.8, 0.9, 0.95, 1.0];

/// Returns the blocks of the page.
///
/// # Errors
/// [`Error`] never for these separations.
pub(super) fn blocks() -> Result<Vec<Block>, Error> {
    let of_separations = SEPARATIONS.map(|mu| of_course(mu, END, MAX_K));
    let of_separations = of_separations.into_iter().collect::<Result<Vec<_>, _>>()?;
    let of_task = |end: f64| -> Result<Vec<NegativesAdvice>, Error> {
        let search = |mu: f64| of_course(mu, end, MAX_K);
        TASKS.into_iter().map(search).collect()
    };
    let tasks = of_task(END)?;
    let ends = ENDS
        .map(of_task)
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    let claims = claims(&of_separations, &tasks, &ends)?;
    let best: Vec<BestAt> = SEPARATIONS
        .into_iter()
        .zip(&of_separations)
        .map(|(separation, of)| BestAt {
            separation,
            k: of.optimum(LAMBDA).k,
            without_easy: of.optimum(1.0).k,
        })
        .collect();
    let headline = format!(
        "The best K rises with the separation of reliable labels, as printed; its rise where labels say little is an \
         artefact of λ < 1. {}.",
        tally(&claims)
    );
    Ok(vec![
        Block::Headline(headline.into()),
        Block::Figure(best_k(LAMBDA, &best)),
        Block::heading("Claims"),
        Block::text(
            "Everything follows from the paper's equations; nothing is trained. Numbers in brackets are within 0.001 of \
             the best effectiveness, so that no experiment could tell them from it.",
        ),
        Block::Table(claims_table(&claims)),
        Block::heading("Best K over the separation of the labels"),
        Block::Table(best_table(
            "μ",
            &["λ = 0.9", "λ = 0.95", "λ = 1"],
            SEPARATIONS.map(|mu| mu.to_string()),
            |row| {
                [0.9, 0.95, 1.0]
                    .map(|lambda| BestK::of(&of_separations[row], lambda).to_string())
                    .into()
            },
        )),
        Block::heading("Best K over the weight λ"),
        Block::Table(best_table(
            "λ",
            &["μ = 1", "μ = 2.4"],
            LAMBDAS.map(|lambda| lambda.to_string()),
            |row| {
                tasks
                    .iter()
                    .map(|of| BestK::of(of, LAMBDAS[row]).to_string())
                    .collect()
            },
        )),
        Block::heading("Best K over the end of the simulated course, λ = 0.9"),
        Block::Table(best_table(
            "t ends at",
            &["μ = 1", "μ = 2.4"],
            ENDS.map(|end| end.to_string()),
            |row| {
                ends[row]
                    .iter()
                    .map(|of| BestK::of(of, LAMBDA).to_string())
                    .collect()
            },
        )),
    ])
}

/// Returns a table of best numbers of negatives.
fn best_table<const N: usize>(
    corner: &'static str,
    columns: &[&'static str],
    heads: [String; N],
    cells: impl Fn(usize) -> Vec<String>,
) -> Table {
    let row = |(at, head): (usize, String)| {
        let cells = cells(at).into_iter();
        Row::new(
            head,
            cells.map(|text| TableCell::Value(text, None)).collect(),
        )
    };
    Table {
        corner: corner.into(),
        columns: columns.iter().map(|name| Column::new(*name)).collect(),
        rows: heads.into_iter().enumerate().map(row).collect(),
    }
}

/// Returns the claims: on the searches over all separations, for the two tasks, and for the two tasks at all ends.
fn claims(
    of_separations: &[NegativesAdvice],
    tasks: &[NegativesAdvice],
    ends: &[Vec<NegativesAdvice>],
) -> Result<Vec<PrintedClaim>, Error> {
    let at = |mu: f64| SEPARATIONS.iter().position(|of| *of == mu).unwrap_or(0);
    let of = |mu: f64, lambda: f64| BestK::of(&of_separations[at(mu)], lambda);
    let of_auc = |auc: f64| separation(auc);
    let [low, high] = [of_auc(0.75)?, of_auc(0.95)?];
    let [news, films] = [BestK::of(&tasks[0], LAMBDA), BestK::of(&tasks[1], LAMBDA)];
    let listed = |task: usize| -> String {
        let all: Vec<String> = ends
            .iter()
            .map(|of| BestK::of(&of[task], LAMBDA).to_string())
            .collect();
        all.join(", ")
    };
    let leaves = |task: usize| {
        let best = &BestK::of(&tasks[task], LAMBDA);
        ends.iter().any(|of| {
            let other = BestK::of(&of[task], LAMBDA);
            other.0.is_at_bound || !best.is_as_good(other.0.k)
        })
    };
    let is_decided_by_lambda = [0, 1].iter().any(|&task: &usize| {
        let other = BestK::of(&tasks[task], 0.8);
        other.0.is_at_bound || !BestK::of(&tasks[task], LAMBDA).is_as_good(other.0.k)
    });
    Ok(vec![
        PrintedClaim::new("auc-news", rounded(low, 4), (low - 1.0).abs() > 0.1),
        PrintedClaim::new("auc-films", rounded(high, 4), (high - 2.4).abs() > 0.1),
        PrintedClaim::new("best-news", news.to_string(), !news.is_as_good(4)),
        PrintedClaim::new("best-films", films.to_string(), !films.is_as_good(20)),
        PrintedClaim::new(
            "large-lambda",
            format!(
                "at λ = 0.8: {} and {}",
                BestK::of(&tasks[0], 0.8),
                BestK::of(&tasks[1], 0.8)
            ),
            !is_decided_by_lambda,
        ),
        PrintedClaim::new(
            "large-separation",
            format!(
                "{} → {}; at λ = 1 {} → {}",
                of(1.0, 0.9),
                of(3.0, 0.9),
                of(1.0, 1.0),
                of(3.0, 1.0)
            ),
            [0.9, 1.0]
                .iter()
                .any(|&lambda| of(3.0, lambda).0.k <= of(1.0, lambda).0.k),
        ),
        PrintedClaim::new(
            "small-separation",
            format!(
                "{}; at λ = 1 {}: an artefact of counting samples as easy that are wrong in label and prediction",
                of(0.05, 0.9),
                of(0.05, 1.0)
            ),
            of(0.05, 1.0).0.k <= of(1.0, 1.0).0.k,
        ),
        PrintedClaim::new(
            "course",
            format!("μ = 1: {}; μ = 2.4: {}", listed(0), listed(1)),
            leaves(0) || leaves(1),
        ),
    ])
}
