//! Charts of a stream.

use crate::chart::{
    AxisScale, CellsChart, Colour, Figure, Legend, Line, LineChart, Palette, experiences_of_a_cell,
};
use crate::record::{Cells, StreamRecord, StreamedExperience};
use crate::stream::headline::series_of;
use crate::summary::stream::StreamSummary;

/// Series of what is compared with the encoder before.
const WITH_BEFORE: &str = "compared with the encoder before";
/// Series of what is compared with the first encoder.
const WITH_FIRST: &str = "compared with the first encoder";

/// Quantity of each experience.
type Quantity = fn(&StreamedExperience) -> Option<f64>;

/// Names and colours of the method and its controls, the same in all charts.
pub(crate) struct Series {
    names: Vec<String>,
    palette: Palette,
}

impl Series {
    /// Names the method, then the controls.
    pub(crate) fn new(record: &StreamRecord) -> Self {
        let controls = record.controls.iter().map(|of| series_of(of, record));
        let names: Vec<String> = std::iter::once(record.method.clone())
            .chain(controls)
            .collect();
        // A control with the risks and the cost of the method, or of another, has the same lines.
        let costs = record.experiences.iter();
        let costs: Vec<f64> = costs.map(|of| of.training.charged_passes).collect();
        let own = (&record.risk, &costs);
        let runs = std::iter::once(own).chain(
            record
                .controls
                .iter()
                .map(|of| (&of.risk, &of.charged_passes)),
        );
        let runs: Vec<(&Cells, &Vec<f64>)> = runs.collect();
        let same = (1..runs.len()).filter_map(|at| {
            let first = runs[..at].iter().position(|of| *of == runs[at])?;
            Some((names[at].clone(), names[first].clone()))
        });
        let palette = Palette::with_same(names.iter().map(String::as_str), same.collect());
        Self { names, palette }
    }

    /// Returns the name of the method (0) or of a control (from 1 on).
    pub(crate) fn name(&self, at: usize) -> &str {
        &self.names[at]
    }

    /// Returns the colour of the method (0) or of a control (from 1 on).
    pub(crate) fn colour(&self, at: usize) -> Colour {
        self.palette.colour(self.name(at))
    }

    /// Returns the line of a series that is not equal to an earlier one.
    fn line(&self, at: usize, values: &[Option<f64>]) -> Option<Line> {
        let name = self.name(at);
        let is_own = self.palette.is_own(name);
        is_own.then(|| line(name, self.colour(at), values).labelled(self.palette.label(name)))
    }

    fn legend(&self) -> Legend {
        self.palette.legend(self.names.iter().map(String::as_str))
    }
}

/// Makes a line over the experiences.
fn line(name: &str, colour: Colour, values: &[Option<f64>]) -> Line {
    let values = values.iter().enumerate();
    let points = values.map(|(i, value)| ((i + 1) as f64, value.unwrap_or(f64::NAN)));
    Line::new(name, colour, points.collect())
}

/// Makes a chart over the experiences.
fn over_experiences<'a>(title: &'a str, y_label: &str, lines: Vec<Line>) -> LineChart<'a> {
    let x = ("experience", AxisScale::Counted);
    LineChart::new(title, x, (y_label, AxisScale::Linear), lines)
}

/// Draws the risk that was served at each experience; `None` if none was measured.
pub(crate) fn served_risk(
    record: &StreamRecord,
    summary: &StreamSummary,
    series: &Series,
) -> Option<Figure> {
    let risk = &summary.own.served;
    let updates = record.experiences.iter().zip(risk).enumerate();
    let updates = updates.filter_map(|(i, (of, risk))| {
        let risk = risk.filter(|_| of.updated)?;
        Some(((i + 1) as f64, risk))
    });
    let own = series.line(0, risk);
    let own = own.map(|line| line.marked("updated", updates.collect()));
    let controls = summary.controls.iter().enumerate();
    let controls = controls.filter_map(|(i, control)| series.line(i + 1, &control.served));
    let chart = over_experiences(
        "Served risk over the experiences",
        "served risk, nats",
        own.into_iter().chain(controls).collect(),
    );
    let caption = "Lower is better. Risk, on the held-out samples of each experience, of the encoder that was live when \
                   it came. A ring marks an experience after which the method was updated.";
    chart
        .has_course()
        .then(|| Figure::new(caption, series.legend(), vec![chart.svg()]))
}

/// Draws the matrices of the method.
pub(crate) fn matrices(record: &StreamRecord) -> Figure {
    let chart = |title, label, cells: &Cells, low_is_dark| {
        CellsChart {
            title,
            label,
            names: &record.names,
            cells,
            low_is_dark,
        }
        .svg()
    };
    let risk = chart(
        "Risk of every encoder on every experience",
        "risk, nats",
        &record.risk,
        false,
    );
    let accuracy = record.accuracy.iter().map(|cells| {
        let title = "Accuracy of every encoder on every experience";
        chart(title, "accuracy", cells, true)
    });
    let charts: Vec<String> = std::iter::once(risk).chain(accuracy).collect();
    let merged = match experiences_of_a_cell(record.names.len()) {
        1 => String::new(),
        size => format!(" A cell is the mean of {size} by {size} experiences."),
    };
    Figure::new(
        format!(
            "Darker is worse. From top to bottom a column shows one experience under later and later encoders; the cell \
             right of the diagonal is what was served. An empty cell was not measured.{merged}"
        ),
        Legend::default(),
        charts,
    )
}

/// Draws the gap to each control and the cumulated cost; `None` after one experience.
pub(crate) fn gap_and_cost(
    record: &StreamRecord,
    summary: &StreamSummary,
    series: &Series,
) -> Option<Figure> {
    let gaps = record.controls.iter().enumerate();
    let gaps = gaps.filter_map(|(i, control)| series.line(i + 1, &control.gap));
    let gap = over_experiences(
        "Gap to each control over the experiences",
        "risk above that of the control, nats",
        gaps.collect(),
    )
    .level(Some((0.0, "as good as the control")));
    let costs = summary.controls.iter().enumerate();
    let costs = costs.filter_map(|(i, control)| series.line(i + 1, &control.cumulated));
    let own = series.line(0, &summary.own.cumulated);
    let cost = over_experiences(
        "Charged passes so far over the experiences",
        "charged passes so far",
        own.into_iter().chain(costs).collect(),
    );
    let caption = match gap.has_course() {
        true => {
            "Gap: mean over the experiences so far of the method's risk less that of the control; above the broken line the \
             method is worse. Cost: with the training on the first experience."
        }
        false => "With the training on the first experience.",
    };
    let drawn = [gap, cost].into_iter().filter(LineChart::has_course);
    let charts: Vec<String> = drawn.map(|chart| chart.svg()).collect();
    (!charts.is_empty()).then(|| Figure::new(caption, series.legend(), charts))
}

/// Draws how the encoder itself changed; `None` after one experience.
pub(crate) fn encoder(record: &StreamRecord) -> Option<Figure> {
    let method = record.method.as_str();
    let palette = Palette::new([method, WITH_BEFORE, WITH_FIRST]);
    let line = |name: &str, of: Quantity| {
        let values: Vec<Option<f64>> = record.experiences.iter().map(of).collect();
        self::line(name, palette.colour(name), &values)
    };
    let charts = [
        over_experiences(
            "Norm of the parameters over the experiences",
            "‖θ‖, norm of the trained parameters",
            vec![line(method, |of| Some(of.parameter_norm))],
        ),
        over_experiences(
            "Effective rank over the experiences",
            "effective rank of the embeddings",
            vec![line(method, |of| of.effective_rank)],
        ),
        over_experiences(
            "Nearest neighbours kept over the experiences",
            "share of the nearest neighbours kept",
            vec![
                line(WITH_BEFORE, |of| of.neighbours_kept),
                line(WITH_FIRST, |of| of.neighbours_kept_of_first),
            ],
        ),
        over_experiences(
            "Cross-version recall over the experiences",
            "cross-version recall",
            vec![line(WITH_BEFORE, |of| of.cross_version_recall)],
        ),
    ];
    let drawn: Vec<&LineChart<'_>> = charts.iter().filter(|of| of.has_course()).collect();
    let has = |name: &str| {
        let mut lines = drawn.iter().flat_map(|chart| chart.lines());
        lines.any(|line| line.series() == name)
    };
    let names = [method, WITH_BEFORE, WITH_FIRST].into_iter();
    (!drawn.is_empty()).then(|| {
        Figure::new(
            "Measured on held-out samples, after each experience.",
            palette.legend(names.filter(|name| has(name))),
            drawn.iter().map(|chart| chart.svg()).collect(),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::stream;

    fn served_risk(record: &StreamRecord, series: &Series) -> Option<Figure> {
        super::served_risk(record, &StreamSummary::of(record), series)
    }

    fn gap_and_cost(record: &StreamRecord, series: &Series) -> Option<Figure> {
        super::gap_and_cost(record, &StreamSummary::of(record), series)
    }

    #[test]
    fn a_control_of_the_method_has_a_series_of_its_own() {
        let mut record = stream(5);
        record.controls[1].method = "warm".to_owned();
        let series = Series::new(&record);
        assert_eq!(series.names, ["warm", "retraining", "warm, control"]);
        assert_ne!(series.colour(0), series.colour(2));
        assert_eq!(series.legend().entries.len(), 3);
        // With the same risks at the same cost it is the same line.
        record.controls[1].risk = record.risk.clone();
        let costs = record
            .experiences
            .iter()
            .map(|of| of.training.charged_passes);
        record.controls[1].charged_passes = costs.collect();
        let series = Series::new(&record);
        assert_eq!(series.colour(0), series.colour(2));
        let names: Vec<String> = series.legend().entries.into_iter().map(|of| of.1).collect();
        assert_eq!(names, ["warm = warm, control", "retraining"]);
        let figure = served_risk(&record, &series).unwrap();
        assert_eq!(figure.charts[0].matches("class=\"curve ").count(), 2);
    }

    #[test]
    fn charts_without_values_are_left_out() {
        let record = stream(5);
        let series = Series::new(&record);
        assert!(served_risk(&record, &series).is_some());
        assert_eq!(matrices(&record).charts.len(), 2);
        assert_eq!(gap_and_cost(&record, &series).unwrap().charts.len(), 2);
        assert_eq!(encoder(&record).unwrap().charts.len(), 4);

        let mut bare = stream(1);
        bare.accuracy = None;
        bare.controls.clear();
        let series = Series::new(&bare);
        assert!(served_risk(&bare, &series).is_none());
        assert_eq!(matrices(&bare).charts.len(), 1);
        // One experience has one value of each quantity, which is no course.
        assert_eq!(gap_and_cost(&bare, &series), None);
        assert_eq!(encoder(&bare), None);
    }

    #[test]
    fn updates_are_marked_and_squares_are_reported() {
        let record = stream(5);
        let figure = served_risk(&record, &Series::new(&record)).unwrap();
        let html = figure.html();
        let (_, rest) = html.split_once("class=\"mark").unwrap();
        let (_, rest) = rest.split_once(" d=\"").unwrap();
        let rings = rest.split_once('"').unwrap().0.matches('M').count();
        let mut n = 0;
        for (i, experience) in record.experiences.iter().enumerate() {
            n += usize::from(i > 0 && experience.updated);
        }
        assert_eq!(rings, n);
        assert!(!matrices(&record).html().contains("is the mean of"));
        let caption = matrices(&stream(61)).html();
        assert!(caption.contains("A cell is the mean of 2 by 2 experiences."));
    }
}
