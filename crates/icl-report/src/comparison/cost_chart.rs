//! Bars that answer the question of a comparison.

use crate::chart::{ChartRow, Figure, Legend, Palette, RowChart};
use crate::summary::{MethodSummary, Summary};
use crate::text::number::{AT_START, MISSING, NEVER, count, factor, nats, percent};

/// Draws the charged passes that each method needs to reach the target. Where none reaches it, draws
/// the distance of the final exact risk from the target, and without a target the final exact risk.
pub(crate) fn figure(methods: &[MethodSummary], palette: &Palette) -> Figure {
    let has_target = methods.iter().any(|of| of.n_with_target > 0);
    let is_reached = methods.iter().any(|of| of.n_reached > 0);
    let (caption, chart) = if is_reached {
        let reference = methods.iter().find(|of| of.is_reference());
        let reference = reference.and_then(|of| of.charged_to_target?.median);
        (
            "Median over the seeds, with a line from the least to the greatest seed; an arrow says that \
             a seed never arrived. At the right the speed-up over retraining. Shorter is better.",
            RowChart::new(
                "Sample passes until the quality of retraining is reached",
                "charged passes to the target",
                bars(methods, palette, 1.0, |of| of.charged_to_target, cost_text),
            )
            .reference(reference.map(|passes| (passes, "retraining"))),
        )
    } else if has_target {
        (
            "Median over the seeds, with a line from the least to the greatest seed. At 0 lies the \
             target; lower is better.",
            RowChart::new(
                "Distance of the final exact risk from the target",
                "final exact risk above the target, %",
                bars(
                    methods,
                    palette,
                    100.0,
                    |of| of.above_target,
                    |_, gap| median(gap, percent),
                ),
            ),
        )
    } else {
        (
            "Median over the seeds, with a line from the least to the greatest seed. Lower is better.",
            RowChart::new(
                "Exact risk at the end",
                "exact risk over all data at the end, nats",
                bars(
                    methods,
                    palette,
                    1.0,
                    |of| of.over("risk.all"),
                    |_, risk| median(risk, nats),
                ),
            ),
        )
    };
    Figure::new(caption, Legend::default(), vec![chart.svg()])
}

/// Makes a bar for each method, `unit` times as long as its quantity, the shortest first and those without a median
/// last.
fn bars(
    methods: &[MethodSummary],
    palette: &Palette,
    unit: f64,
    of: impl Fn(&MethodSummary) -> Option<Summary>,
    text: impl Fn(&MethodSummary, Option<Summary>) -> String,
) -> Vec<ChartRow> {
    let bar = |runs: &MethodSummary| {
        let summary = of(runs);
        let scaled = |value: f64| unit * value;
        ChartRow::bar(
            palette.label(&runs.method),
            palette.colour(&runs.method),
            summary.and_then(|of| of.median).map(scaled),
            summary.and_then(|of| Some((scaled(of.min?), of.max.map(scaled)))),
            text(runs, summary),
        )
    };
    let own = methods.iter().filter(|of| palette.is_own(&of.method));
    let mut bars: Vec<ChartRow> = own.map(bar).collect();
    let length = |bar: &ChartRow| bar.median.unwrap_or(f64::INFINITY);
    bars.sort_by(|a, b| length(a).total_cmp(&length(b)));
    bars
}

fn cost_text(runs: &MethodSummary, passes: Option<Summary>) -> String {
    let speed_up = runs.speed_up_in_passes.and_then(|of| of.median_ratio());
    match passes.and_then(|of| of.median) {
        None => NEVER.to_owned(),
        Some(0.0) => AT_START.to_owned(),
        Some(passes) if runs.is_reference() => count(passes),
        Some(passes) => match speed_up {
            Some(speed_up) => format!("{} ({})", count(passes), factor(speed_up)),
            None => count(passes),
        },
    }
}

fn median(summary: Option<Summary>, format: fn(f64) -> String) -> String {
    summary
        .and_then(|of| of.median)
        .map_or_else(|| MISSING.to_owned(), format)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{comparison, reaching, record, twenty_methods};
    use crate::record::RunRecord;
    use crate::summary::Comparison;

    fn svg(records: &[RunRecord]) -> String {
        let methods = Comparison::of(records).unwrap().methods;
        let palette = Palette::new(methods.iter().map(|of| of.method.as_str()));
        figure(&methods, &palette).charts.concat()
    }

    #[test]
    fn costs_are_shown_where_the_target_is_reached() {
        let svg = svg(&comparison());
        assert!(svg.contains("charged passes to the target") && svg.contains(">never<"));
        assert!(
            svg.find("data-series=\"warm-sub\"") < svg.find("data-series=\"retraining\""),
            "the shortest is first"
        );
        assert!(svg.contains(">retraining</text>"));
    }

    #[test]
    fn distances_are_shown_where_nothing_arrives() {
        let ours = [
            reaching("retraining", 1, None, 2.0),
            reaching("warm", 1, None, 2.1),
        ];
        assert!(
            svg(&ours).contains("final exact risk above the target")
                && svg(&ours).contains("5.0 %")
        );
        let mut alone = record("warm", 1);
        alone.target = None;
        assert!(svg(&[alone]).contains("exact risk over all data at the end"));
    }

    #[test]
    fn every_method_has_a_row() {
        assert_eq!(
            svg(&twenty_methods())
                .matches("text-anchor=\"end\"")
                .count(),
            20
        );
    }
}
