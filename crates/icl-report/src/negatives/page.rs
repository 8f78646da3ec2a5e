//! Page of a recommended number of negatives.

use std::ops::RangeInclusive;

use icl_core::Error;
use icl_core::negatives::{Optimum, Shares};

use crate::document::{Block, Column, Document, Row, Table, TableCell};
use crate::negatives::advice::{BestAt, NegativesAdvice, PredictionCourse, end_of_artefact};
use crate::negatives::charts;
use crate::record::MadeBy;
use crate::text::number::{plural, rounded};

/// Terms of the page.
const TERMS: [(&str, &str); 6] = [
    (
        "K",
        "Number of negatives of a positive; a prediction chooses among K + 1 candidates.",
    ),
    (
        "μ",
        "Separation of scores: those of positives are drawn from N(μ, 1), those of negatives from N(0, 1). \
         μ = √2·Φ⁻¹(AUC).",
    ),
    (
        "P(A)",
        "Probability that a label is reliable: that its positive has the highest score of all K + 1.",
    ),
    (
        "P(B)",
        "Probability that a prediction is right, mean over the course of the predictions.",
    ),
    (
        "v",
        "Training effectiveness, λ(good − bad) + (1 − λ)·easy. At λ = 1 it is P(A) − P(B), which does not need label \
         and prediction to be independent.",
    ),
    (
        "λ",
        "Weight of good and bad samples against easy ones. The paper takes 0.9; the answer depends on it.",
    ),
];

/// Makes the document of a recommended number of negatives: the answer, the effectiveness and the shares of samples
/// over K, the probabilities, the best K over the separation of the labels, and the command that made it.
///
/// # Errors
/// [`Error`] if the weight λ is not from 0 to 1, or there are no probabilities.
pub fn negatives_document(advice: &NegativesAdvice, made_by: &MadeBy) -> Result<Document, Error> {
    let lambda = advice.lambda;
    let (optimum, without_easy) = (advice.optimum(lambda), advice.optimum(1.0));
    let max_k = advice.probabilities.len();
    let best = advice.best_over_separation()?;
    let mut blocks = vec![
        Block::Headline(headline(lambda, &optimum, &without_easy).into()),
        Block::Figure(charts::effectiveness(advice, &optimum)),
    ];
    if optimum.is_at_bound {
        blocks.push(Block::Warning(bound(lambda, max_k).into()));
    }
    let [first, shares] = tables(advice, &optimum);
    let mut others = vec![Block::Figure(charts::best_k(lambda, &best))];
    others.extend(artefact(lambda, &best).map(Block::text));
    blocks.extend([
        Block::Table(first),
        Block::Details(
            "Good, bad and easy samples".into(),
            vec![Block::Figure(charts::shares(advice)), Block::Table(shares)],
        ),
        Block::Details(
            "Labels and predictions".into(),
            vec![
                Block::text(predictions(&advice.course)),
                Block::Figure(charts::probabilities(advice)),
                Block::Figure(charts::auc_over_separation()),
            ],
        ),
        Block::Details("Other separations".into(), others),
    ]);
    blocks.push(Block::guide(&TERMS));
    let facts = format!(
        "labels: AUC {}, separation μ {} · λ = {lambda} · K up to {max_k}",
        rounded(advice.train_auc, 4),
        rounded(advice.label, 4)
    );
    Ok(Document::new("How many negatives", facts, blocks).made_by(made_by.words()))
}

/// Returns the answer in one sentence.
fn headline(lambda: f64, optimum: &Optimum, without_easy: &Optimum) -> String {
    let one = |lambda: f64, optimum: &Optimum| match optimum.is_at_bound {
        true => format!("no optimum up to {} at λ = {lambda}", optimum.k),
        false => format!("{} at λ = {lambda} ({})", optimum.k, range(&optimum.flat)),
    };
    let mut best = one(lambda, optimum);
    if lambda < 1.0 {
        best = format!("{best}, {}", one(1.0, without_easy));
    }
    format!("Best number of negatives: {best}.")
}

fn range(flat: &RangeInclusive<usize>) -> String {
    match flat.start() == flat.end() {
        true => "no other is as good".to_owned(),
        false => format!("{} to {} are as good", flat.start(), flat.end()),
    }
}

/// Says why there is no optimum below the bound of the search.
fn bound(lambda: f64, max_k: usize) -> String {
    match lambda < 1.0 {
        true => format!(
            "No finite optimum up to K = {max_k}: at λ < 1 the measure tends to 1 − λ = {} for large K, since labels and \
             predictions that are both wrong count as easy. λ = 1 leaves them out.",
            rounded(1.0 - lambda, 4)
        ),
        false => format!("No optimum up to K = {max_k}: a larger number may be better."),
    }
}

/// Says which predictions the answer is for.
fn predictions(course: &PredictionCourse) -> String {
    match course {
        PredictionCourse::Simulated => {
            "Predictions take the simulated course of a whole training: separations μ(1 − exp(−t)), t from 0 to 3."
                .to_owned()
        }
        PredictionCourse::Stage(auc) => format!(
            "Predictions have a validation AUC of {}: the answer is for this stage of a training, not for all of it.",
            rounded(*auc, 4)
        ),
        PredictionCourse::Measured(aucs) => format!(
            "Predictions take a measured course of {}, from an AUC of {} to {}, each of which counts the same.",
            plural(aucs.len(), "evaluation"),
            rounded(aucs.first().copied().unwrap_or(f64::NAN), 4),
            rounded(aucs.last().copied().unwrap_or(f64::NAN), 4)
        ),
    }
}

/// Names the artefact where labels say little; `None` if there is none.
fn artefact(lambda: f64, best: &[BestAt]) -> Option<String> {
    let end = end_of_artefact(best);
    let [first, .., lowest] = best.get(..=end)? else {
        return None;
    };
    Some(format!(
        "From μ = {} down to {} the best K at λ = {lambda} rises from {} to {} or more. The paper reads it as advice: \
         \"we need many negative samples to counteract the noise\". It is an artefact of counting samples as easy whose label and prediction \
         are both wrong, of which many negatives make all samples. At λ = 1 the best K there is {} to {}.",
        lowest.separation,
        first.separation,
        lowest.k,
        first.k,
        first.without_easy,
        lowest.without_easy
    ))
}

/// Returns the tables over powers of two, the best number and the ends of its range: effectiveness and probabilities,
/// and shares of samples.
fn tables(advice: &NegativesAdvice, optimum: &Optimum) -> [Table; 2] {
    let cell = |value: f64| TableCell::number(value, |value| rounded(value, 4));
    let head = |k: usize| match k == optimum.k {
        true => format!("{k}, the best"),
        false => k.to_string(),
    };
    let rows = |cells: &dyn Fn([f64; 2], Shares) -> Vec<TableCell>| {
        let row = |k: usize| {
            let of @ [label, prediction] = advice.probabilities[k - 1];
            Row::new(head(k), cells(of, Shares::new(label, prediction)))
        };
        advice.shown(optimum).into_iter().map(row).collect()
    };
    let effectiveness = |shares: &Shares| {
        let value = shares.effectiveness(advice.lambda);
        TableCell::number(value, |value| rounded(value, 6))
    };
    let table = |names: [&'static str; 3], rows| Table {
        corner: "K".into(),
        columns: names.map(Column::new).into(),
        rows,
    };
    [
        table(
            ["v", "P(A)", "P(B)"],
            rows(&|of, shares| {
                let probabilities = of.map(cell);
                std::iter::once(effectiveness(&shares))
                    .chain(probabilities)
                    .collect()
            }),
        ),
        table(
            ["good", "bad", "easy"],
            rows(&|_, shares| [shares.good, shares.bad, shares.easy].map(cell).into()),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::fixture::{assert_fits, assert_sound, row, text_of};

    fn document(auc: f64, of: Option<PredictionCourse>, lambda: f64, max_k: usize) -> Document {
        let of = of.unwrap_or(PredictionCourse::Simulated);
        let advice = NegativesAdvice::of_aucs(auc, of, lambda, max_k).unwrap();
        negatives_document(&advice, &MadeBy::command("icl negatives")).unwrap()
    }

    #[test]
    fn a_page_begins_with_the_answer_and_its_picture() {
        let document = document(0.95, None, 0.9, 120);
        let (html, markdown) = (document.html(), document.markdown());
        assert_sound(&html);
        let answer = "Best number of negatives: 18 at λ = 0.9 (14 to 24 are as good), 20 at λ = 1 (16 to 26 are as good).";
        assert!(
            text_of(&html).contains(answer) && markdown.contains(answer),
            "{markdown}"
        );
        assert!(html.find("headline") < html.find("<svg class=\"chart\""));
        assert_eq!(html.matches("<svg class=\"chart\"").count(), 5);
        assert_eq!(html.matches("class=\"shade\"").count(), 1);
        let (before, _) = html.split_once("<details class=\"card\">").unwrap();
        assert_eq!(before.matches("<svg class=\"chart\"").count(), 1);
        assert_eq!(before.matches("<table class=\"few\">").count(), 1);
        assert!(markdown.contains("It is an artefact of counting samples as easy"));
        assert!(markdown.contains("simulated course of a whole training"));
        // Those of the model at μ = 2.326174: P(A) by SciPy, v as in the test of `icl negatives`.
        let expected = ["0.261087", "0.6752"];
        assert_eq!(row(&html, "18, the best").len(), 3);
        assert_eq!(row(&html, "18, the best")[..2], expected);
        assert_fits(&document, 90);
    }

    #[test]
    fn a_bound_is_no_optimum() {
        let markdown = document(0.53, None, 0.9, 60).markdown();
        assert!(
            markdown.contains("no optimum up to 60 at λ = 0.9, 2 at λ = 1"),
            "{markdown}"
        );
        assert!(markdown.contains("No finite optimum up to K = 60"));
        let markdown = document(0.9999, None, 1.0, 60).markdown();
        assert!(markdown.contains("No optimum up to K = 60: a larger number may be better."));
        assert!(!markdown.contains("artefact of counting"));
    }

    #[test]
    fn predictions_of_a_stage_and_of_a_run() {
        let stage = document(0.9, Some(PredictionCourse::Stage(0.7)), 1.0, 1);
        assert_sound(&stage.html());
        assert!(stage.markdown().contains("validation AUC of 0.7000"));
        let measured = PredictionCourse::Measured(vec![0.5, 0.8, 0.85]);
        let measured = document(0.9, Some(measured), 0.95, 40).markdown();
        let words = "measured course of 3 evaluations, from an AUC of 0.5000 to 0.8500";
        assert!(measured.contains(words), "{measured}");
    }
}
