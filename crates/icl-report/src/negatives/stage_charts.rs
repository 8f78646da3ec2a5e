//! Pictures of stages of a training, as the paper's Fig. 5.

use icl_core::negatives::Shares;

use crate::chart::{Figure, FunctionChart, Stroke};
use crate::negatives::charts::{Lines, OVER_K, coloured, drawn, figure};

/// Names of stages with the effectiveness at K = 1, 2, ….
pub(super) type Stages = Vec<(String, Vec<f64>)>;

/// Draws the effectiveness over K at λ = 0.9: a chart for each title, a line for each stage.
pub(super) fn effectiveness(of: Vec<(String, Stages)>) -> Figure {
    let mut names = Vec::new();
    let mut charts = Vec::new();
    for (title, stages) in of {
        let line = |(name, values): (String, Vec<f64>)| {
            let points = drawn(values.len()).map(|k| (k as f64, values[k - 1]));
            (name, Stroke::Solid, points.collect())
        };
        let lines: Lines = stages.into_iter().map(line).collect();
        let (lines, of_chart) = coloured(lines);
        let chart = FunctionChart {
            title: &title,
            x_label: "K, negatives (logarithmic)",
            y_label: &title,
            scales: OVER_K,
            shaded: None,
            lines,
        };
        charts.push(chart.svg());
        names = of_chart;
    }
    let caption = "Effectiveness v at λ = 0.9 over the number of negatives, by the separation μ′ of the predictions.";
    figure(caption, &names, charts)
}

/// Draws the shares of samples over K: a chart for each stage, under its name.
pub(super) fn shares(stages: Vec<(String, Vec<Shares>)>) -> Figure {
    let mut names = Vec::new();
    let mut charts = Vec::new();
    for (title, all) in stages {
        let line = |name: &str, of: fn(&Shares) -> f64| {
            let points = drawn(all.len()).map(|k| (k as f64, of(&all[k - 1])));
            (name.to_owned(), Stroke::Solid, points.collect())
        };
        let (lines, of_chart) = coloured(vec![
            line("good", |shares| shares.good),
            line("bad", |shares| shares.bad),
            line("easy", |shares| shares.easy),
        ]);
        let label = format!("share of samples, {title}");
        let chart = FunctionChart {
            title: &label,
            x_label: "K, negatives (logarithmic)",
            y_label: &label,
            scales: OVER_K,
            shaded: None,
            lines,
        };
        charts.push(chart.svg());
        names = of_chart;
    }
    let caption = "At the end, where predictions are as good as labels, the lines of good and bad samples are one.";
    figure(caption, &names, charts)
}
