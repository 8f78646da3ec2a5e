//! Figure 4 of the paper, and the claims on which it rests.

use icl_core::negatives::{NegativesError, separation};

use crate::document::{Block, Column, Row, Table, TableCell};
use crate::negatives::charts::{self, SEPARATIONS};
use crate::negatives::printed_claim::{PrintedClaim, claims_table, tally};
use crate::negatives::search::KSearch;
use crate::text::number::rounded;

/// Largest K of the searches.
const MAX_K: usize = 500;
/// End of the course in the paper.
const END: f64 = 3.0;
/// Separations of the paper's two tasks.
const TASKS: [f64; 2] = [1.0, 2.4];
/// Ends of the course beside that of the paper.
const ENDS: [f64; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 8.0];
/// Weights λ beside that of the paper.
const LAMBDAS: [f64; 5] = [0.5, 0.8, 0.9, 0.95, 1.0];

/// Returns the blocks of the page.
///
/// # Errors
/// [`NegativesError`] never for these separations.
pub(super) fn blocks() -> Result<Vec<Block>, NegativesError> {
    let of_separations = SEPARATIONS.map(|mu| KSearch::of_course(mu, END, MAX_K));
    let of_separations = of_separations.into_iter().collect::<Result<Vec<_>, _>>()?;
    let of_task = |end: f64| -> Result<Vec<KSearch>, NegativesError> {
        let search = |mu: f64| KSearch::of_course(mu, end, MAX_K);
        TASKS.into_iter().map(search).collect()
    };
    let tasks = of_task(END)?;
    let ends = ENDS
        .map(of_task)
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    let claims = claims(&of_separations, &tasks, &ends)?;
    let best = charts::best_over_separation(0.9, MAX_K)?;
    let headline = format!(
        "The best K rises with the separation of reliable labels, as printed; its rise where labels say little is an \
         artefact of λ < 1. {}.",
        tally(&claims)
    );
    Ok(vec![
        Block::Headline(headline.into()),
        Block::Figure(charts::best_k(0.9, &best)),
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
                    .map(|lambda| of_separations[row].best(lambda).to_string())
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
                    .map(|of| of.best(LAMBDAS[row]).to_string())
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
                    .map(|of| of.best(0.9).to_string())
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
    of_separations: &[KSearch],
    tasks: &[KSearch],
    ends: &[Vec<KSearch>],
) -> Result<Vec<PrintedClaim>, NegativesError> {
    let at = |mu: f64| SEPARATIONS.iter().position(|of| *of == mu).unwrap_or(0);
    let of = |mu: f64, lambda: f64| of_separations[at(mu)].best(lambda);
    let of_auc = |auc: f64| separation(auc);
    let [low, high] = [of_auc(0.75)?, of_auc(0.95)?];
    let [news, films] = [tasks[0].best(0.9), tasks[1].best(0.9)];
    let listed = |task: usize| -> String {
        let all: Vec<String> = ends
            .iter()
            .map(|of| of[task].best(0.9).to_string())
            .collect();
        all.join(", ")
    };
    let leaves = |task: usize| {
        let best = &tasks[task].best(0.9);
        ends.iter().any(|of| {
            let other = of[task].best(0.9);
            other.0.is_at_bound || !best.is_as_good(other.0.k)
        })
    };
    let is_decided_by_lambda = [0, 1].iter().any(|&task: &usize| {
        let other = tasks[task].best(0.8);
        other.0.is_at_bound || !tasks[task].best(0.9).is_as_good(other.0.k)
    });
    Ok(vec![
        PrintedClaim {
            claim: "An AUC of 0.75 means that μ is about 1 (section 4.2)",
            rule: "μ differs by more than 0.1",
            printed: "1",
            ours: rounded(low, 4),
            is_refuted: (low - 1.0).abs() > 0.1,
        },
        PrintedClaim {
            claim: "An AUC of 0.95 corresponds to μ = 2.4 (section 4.2)",
            rule: "μ differs by more than 0.1",
            printed: "2.4",
            ours: rounded(high, 4),
            is_refuted: (high - 2.4).abs() > 0.1,
        },
        PrintedClaim {
            claim: "K = 4 is best at μ = 1 (Fig. 2b)",
            rule: "4 is not within 0.001 of the best effectiveness",
            printed: "4",
            ours: news.to_string(),
            is_refuted: !news.is_as_good(4),
        },
        PrintedClaim {
            claim: "About 20 negatives are best at μ = 2.4 (Fig. 3b)",
            rule: "20 is not within 0.001 of the best effectiveness",
            printed: "about 20",
            ours: films.to_string(),
            is_refuted: !films.is_as_good(20),
        },
        PrintedClaim {
            claim: "λ should be large (Fig. 2b, 3b)",
            rule: "at λ = 0.8 the best K of both tasks is as good as at 0.9",
            printed: "other curves do not have the measured optimum",
            ours: format!(
                "at λ = 0.8: {} and {}",
                tasks[0].best(0.8),
                tasks[1].best(0.8)
            ),
            is_refuted: !is_decided_by_lambda,
        },
        PrintedClaim {
            claim: "The best K boosts when μ is large (Fig. 4)",
            rule: "it does not rise from μ = 1 to μ = 3, at λ = 0.9 or at λ = 1",
            printed: "boosts",
            ours: format!(
                "{} → {}; at λ = 1 {} → {}",
                of(1.0, 0.9),
                of(3.0, 0.9),
                of(1.0, 1.0),
                of(3.0, 1.0)
            ),
            is_refuted: [0.9, 1.0]
                .iter()
                .any(|&lambda| of(3.0, lambda).0.k <= of(1.0, lambda).0.k),
        },
        PrintedClaim {
            claim: "The best K boosts when μ is close to 0, since many negatives counteract the noise (Fig. 4)",
            rule: "without easy samples (λ = 1) it is not larger at μ = 0.05 than at μ = 1",
            printed: "boosts",
            ours: format!(
                "{}; at λ = 1 {}: an artefact of counting samples as easy that are wrong in label and prediction",
                of(0.05, 0.9),
                of(0.05, 1.0)
            ),
            is_refuted: of(0.05, 1.0).0.k <= of(1.0, 1.0).0.k,
        },
        PrintedClaim {
            claim: "The simulated course, t from 0 to 3, has the shape of a training (footnote 9)",
            rule: "another end of the course, t from 1 to 8, moves the best K out of its range",
            printed: "similar",
            ours: format!("μ = 1: {}; μ = 2.4: {}", listed(0), listed(1)),
            is_refuted: leaves(0) || leaves(1),
        },
    ])
}
