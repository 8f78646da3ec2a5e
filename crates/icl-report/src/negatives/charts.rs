//! Pictures of a recommended number of negatives.

use std::ops::RangeInclusive;

use icl_core::negatives::{FLAT, Optimum, Shares, auc};

use crate::chart::{AxisScale, Figure, Line, LineChart, Palette};
use crate::negatives::advice::{BestAt, MAX_SEARCHED, NegativesAdvice, end_of_artefact};

/// Names and points of the lines of a chart.
type Lines = Vec<(String, Vec<(f64, f64)>)>;

/// Gives each name a colour. Returns the lines with the names of the legend.
fn coloured(lines: Lines) -> (Vec<Line>, Vec<String>) {
    let names: Vec<String> = lines.iter().map(|(name, _)| name.clone()).collect();
    let palette = Palette::new(names.iter().map(String::as_str));
    let line = |(name, points): (String, Vec<(f64, f64)>)| {
        let colour = palette.colour(&name);
        Line::new(name, colour, points)
    };
    (lines.into_iter().map(line).collect(), names)
}

/// Arranges charts that share a legend of names.
pub fn figure(caption: impl Into<String>, names: &[String], charts: Vec<String>) -> Figure {
    let names = || names.iter().map(String::as_str);
    Figure::new(
        caption.into(),
        Palette::new(names()).legend(names()),
        charts,
    )
}

/// Returns the numbers of negatives that are drawn: each up to 64, then about 4 % apart.
fn drawn(n: usize) -> impl Iterator<Item = usize> + Clone {
    let next = |k: &usize| Some(k + (k / 25).max(1));
    std::iter::successors(Some(1), next)
        .take_while(move |k| *k < n)
        .chain([n])
}

/// Draws lines over the number of negatives, each from its values at K = 1, 2, …, above a shaded range with its name.
/// Returns the chart and the names of its legend.
pub fn over_k(
    title: &str,
    y_label: &str,
    shaded: Option<(RangeInclusive<f64>, &str)>,
    lines: Vec<(String, Vec<f64>)>,
) -> (String, Vec<String>) {
    let line = |(name, values): (String, Vec<f64>)| {
        let points = drawn(values.len()).map(|k| (k as f64, values[k - 1]));
        (name, points.collect())
    };
    let (lines, names) = coloured(lines.into_iter().map(line).collect());
    let x = ("K, negatives (logarithmic)", AxisScale::Logarithmic);
    let chart = LineChart::new(title, x, (y_label, AxisScale::Linear), lines).shade(shaded);
    (chart.svg(), names)
}

/// Draws the shares of good, bad and easy samples over K. Returns the chart and the names of its legend.
pub fn shares_over_k(title: &str, y_label: &str, shares: &[Shares]) -> (String, Vec<String>) {
    let line =
        |name: &str, of: fn(&Shares) -> f64| (name.to_owned(), shares.iter().map(of).collect());
    let lines = vec![
        line("good", |shares| shares.good),
        line("bad", |shares| shares.bad),
        line("easy", |shares| shares.easy),
    ];
    over_k(title, y_label, None, lines)
}

/// Draws the effectiveness over K, with the range shaded whose numbers cannot be distinguished from the best.
pub(super) fn effectiveness(advice: &NegativesAdvice, optimum: &Optimum) -> Figure {
    let line = |lambda: f64| (format!("λ = {lambda}"), advice.effectiveness(lambda));
    let mut lines = vec![line(advice.lambda)];
    if advice.lambda < 1.0 {
        lines.push(line(1.0));
    }
    let flat = (*optimum.flat.start() as f64)..=(*optimum.flat.end() as f64);
    let (chart, names) = over_k(
        "Training effectiveness over the number of negatives",
        "training effectiveness v",
        Some((flat, "as good as the best")),
        lines,
    );
    let caption = format!(
        "Shaded: numbers of negatives within {FLAT} of the best at λ = {}.",
        advice.lambda
    );
    figure(caption, &names, vec![chart])
}

/// Draws the shares of samples over K, as the paper's Fig. 5.
pub(super) fn shares(advice: &NegativesAdvice) -> Figure {
    let (chart, names) = shares_over_k(
        "Good, bad and easy samples over the number of negatives",
        "share of samples",
        &advice.shares().collect::<Vec<_>>(),
    );
    let caption = "Good: reliable label, wrong prediction. Bad: unreliable label, right prediction. Easy: the rest. \
                   Mean over the course of the predictions (Fig. 5 of the paper).";
    figure(caption, &names, vec![chart])
}

/// Draws the probabilities over K.
pub(super) fn probabilities(advice: &NegativesAdvice) -> Figure {
    let line = |name: &str, at: usize| {
        let values = advice.probabilities.iter().map(|of| of[at]);
        (name.to_owned(), values.collect())
    };
    let (chart, names) = over_k(
        "Reliable labels and right predictions over the number of negatives",
        "probability",
        None,
        vec![
            line("P(A), reliable label", 0),
            line("P(B), right prediction", 1),
        ],
    );
    let caption = "By the model of two Gaussians of equal variance. Measured on recommendations, P(B) is within 3 % of it \
                   up to K = 8 and up to 29 % lower at K = 100.";
    figure(caption, &names, vec![chart])
}

/// Draws the AUC over the separation, as the paper's Fig. 9.
pub(super) fn auc_over_separation() -> Figure {
    let points = (0..=80)
        .map(|i| f64::from(i) / 20.0)
        .map(|mu| (mu, auc(mu)));
    let (lines, names) = coloured(vec![("AUC = Φ(μ/√2)".to_owned(), points.collect())]);
    let chart = LineChart::new(
        "AUC over the separation",
        ("separation μ", AxisScale::Linear),
        ("AUC", AxisScale::Linear),
        lines,
    );
    figure(
        "Fig. 9 of the paper, in closed form.",
        &names,
        vec![chart.svg()],
    )
}

/// Draws the best K over the separation, as the paper's Fig. 4, with the artefact as a dashed line.
pub fn best_k(lambda: f64, best: &[BestAt]) -> Figure {
    let of_lambda = |at: &BestAt| (at.separation, at.k as f64);
    let end = end_of_artefact(best);
    let name = format!("λ = {lambda}");
    let mut lines = vec![(name.clone(), best[end..].iter().map(of_lambda).collect())];
    if lambda < 1.0 {
        let of_1 = |at: &BestAt| (at.separation, at.without_easy as f64);
        lines.push(("λ = 1".to_owned(), best.iter().map(of_1).collect()));
    }
    let (mut lines, names) = coloured(lines);
    if end > 0 {
        let falling = best[..=end].iter().map(of_lambda).collect();
        let colour = Palette::new(names.iter().map(String::as_str)).colour(&name);
        lines.push(Line::new(name, colour, falling).dashed());
    }
    let chart = LineChart::new(
        "Best number of negatives over the separation of the labels",
        ("separation μ of the labels", AxisScale::Linear),
        ("best K (logarithmic)", AxisScale::Logarithmic),
        lines,
    );
    let dashed = match end > 0 {
        true => " Dashed: an artefact, see below.",
        false => "",
    };
    let caption = format!(
        "Predictions take the simulated course, and at most {MAX_SEARCHED} negatives are considered (Fig. 4 of the \
         paper).{dashed}"
    );
    figure(caption, &names, vec![chart.svg()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_artefact_is_dashed() {
        let of = |label| NegativesAdvice::of_course(label, 3.0, 0.9, 200).unwrap();
        let best = of(1.0).best_over_separation().unwrap();
        let html = best_k(0.9, &best).html();
        assert_eq!(html.matches("class=\"curve dashed").count(), 1);
        let without_easy: Vec<BestAt> = best
            .iter()
            .map(|at| BestAt {
                k: at.without_easy,
                ..*at
            })
            .collect();
        let html = best_k(1.0, &without_easy).html();
        assert_eq!(html.matches("class=\"curve").count(), 1);
    }

    #[test]
    fn few_numbers_are_drawn_and_the_last_is() {
        let of = |n| drawn(n).collect::<Vec<_>>();
        assert_eq!((of(1), of(3)), (vec![1], vec![1, 2, 3]));
        let many = of(100_000);
        assert!(many.len() < 350 && many.last() == Some(&100_000));
        assert!(many.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
