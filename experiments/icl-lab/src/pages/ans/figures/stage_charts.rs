//! Pictures of stages of a training, as the paper's Fig. 5.

use icl_core::negatives::Shares;
use icl_report::chart::Figure;
use icl_report::negatives::{figure, over_k, shares_over_k};

/// Names of stages with the effectiveness at K = 1, 2, ….
pub(super) type Stages = Vec<(String, Vec<f64>)>;

/// Draws the effectiveness over K at λ = 0.9: a chart for each title, a line for each stage.
pub(super) fn effectiveness(of: Vec<(String, Stages)>) -> Figure {
    let caption = "Effectiveness v at λ = 0.9 over the number of negatives, by the separation μ′ of the predictions.";
    let charts = of.into_iter();
    of_charts(
        caption,
        charts.map(|(title, stages)| over_k(&title, &title, None, stages)),
    )
}

/// Draws the shares of samples over K: a chart for each stage, under its name.
pub(super) fn shares(stages: Vec<(String, Vec<Shares>)>) -> Figure {
    let caption = "At the end, where predictions are as good as labels, the lines of good and bad samples are one.";
    let charts = stages.into_iter().map(|(stage, shares)| {
        let label = format!("share of samples, {stage}");
        shares_over_k(&label, &label, &shares)
    });
    of_charts(caption, charts)
}

/// Arranges charts, all with the names of the last one's legend.
fn of_charts(caption: &str, charts: impl Iterator<Item = (String, Vec<String>)>) -> Figure {
    let (charts, names): (Vec<String>, Vec<Vec<String>>) = charts.unzip();
    figure(caption, names.last().map_or(&[], Vec::as_slice), charts)
}
