//! Functions of one quantity: lines on linear or logarithmic axes, with a shaded range.

use std::ops::RangeInclusive;

use crate::chart::colour::Colour;
use crate::chart::scale::{AxisScale, Linear};
use crate::chart::svg::{frame, listed};
use crate::text::escape::escape;

const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 46.0;

/// Style of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stroke {
    /// Solid.
    Solid,
    /// Dashed: values that do not mean what those of the solid line mean.
    Dashed,
}

/// One line, or a part of one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FunctionLine {
    /// Series that the line belongs to.
    pub(crate) series: String,
    /// Colour.
    pub(crate) colour: Colour,
    /// Style.
    pub(crate) stroke: Stroke,
    /// Points, from left to right.
    pub(crate) points: Vec<(f64, f64)>,
}

/// A chart of functions.
pub(crate) struct FunctionChart<'a> {
    /// Title, for readers who cannot see the chart.
    pub(crate) title: &'a str,
    /// Name of the horizontal axis.
    pub(crate) x_label: &'a str,
    /// Name of the vertical axis.
    pub(crate) y_label: &'a str,
    /// Scales of the horizontal and of the vertical axis.
    pub(crate) scales: [AxisScale; 2],
    /// Range along the horizontal axis that is shaded, with its name.
    pub(crate) shaded: Option<(RangeInclusive<f64>, &'a str)>,
    /// Lines.
    pub(crate) lines: Vec<FunctionLine>,
}

impl FunctionChart<'_> {
    /// Draws the chart as SVG.
    pub(crate) fn svg(&self) -> String {
        let [x_scale, y_scale] = self.scales;
        let place = |(x, y): &(f64, f64)| (x_scale.of(*x), y_scale.of(*y));
        let is_finite = |(x, y): &(f64, f64)| x.is_finite() && y.is_finite();
        let of_line = |line: &FunctionLine| -> Vec<(f64, f64)> {
            line.points.iter().map(place).filter(is_finite).collect()
        };
        let places: Vec<Vec<(f64, f64)>> = self.lines.iter().map(of_line).collect();
        let all = || places.iter().flatten();
        let ends = |of: (f64, f64), at: &(f64, f64)| (of.0.min(at.0), of.1.max(at.0));
        let width = all().fold((f64::INFINITY, f64::NEG_INFINITY), ends);
        let width = if width.0 > width.1 { (0.0, 1.0) } else { width };
        let x = Linear::new(width, (LEFT, WIDTH - RIGHT));
        let y = Linear::new(Linear::padded(all().map(|at| at.1)), (HEIGHT - BOTTOM, TOP));
        let lines: String = self
            .lines
            .iter()
            .zip(&places)
            .map(|(line, places)| path(line, places, &x, &y))
            .collect();
        let description = format!(
            "{} over {}. Lines: {}.",
            self.y_label,
            self.x_label,
            listed(self.lines.iter().map(|line| line.series.as_str()))
        );
        let content = format!("{}{}{lines}", self.shade(&x), self.axes(&x, &y));
        frame("chart", (WIDTH, HEIGHT), self.title, &description, &content)
    }

    /// Draws the shaded range, which lies below everything.
    fn shade(&self, x: &Linear) -> String {
        let Some((range, name)) = &self.shaded else {
            return String::new();
        };
        let at = |value: &f64| x.at(self.scales[0].of(*value)).clamp(LEFT, WIDTH - RIGHT);
        let (from, to) = (at(range.start()), at(range.end()));
        format!(
            "<rect class=\"shade\" x=\"{from:.1}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{:.1}\"><title>{}</title></rect>\n",
            (to - from).max(2.0),
            HEIGHT - BOTTOM - TOP,
            escape(name)
        )
    }

    fn axes(&self, x: &Linear, y: &Linear) -> String {
        let (right, floor) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let [x_scale, y_scale] = self.scales;
        let row = |(tick, label): (f64, String)| {
            let at = y.at(tick);
            format!(
                "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{right}\"/>\
                 <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n",
                LEFT - 7.0,
                at + 4.0,
                escape(&label),
            )
        };
        let column = |(tick, label): (f64, String)| {
            let at = x.at(tick);
            format!(
                "<path class=\"axis\" d=\"M{at:.1} {floor}v5\"/>\
                 <text class=\"tick\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
                floor + 18.0,
                escape(&label),
            )
        };
        let rows: String = y_scale.ticks(y).into_iter().map(row).collect();
        let columns: String = x_scale.ticks(x).into_iter().map(column).collect();
        format!(
            "{rows}<path class=\"axis\" d=\"M{LEFT} {floor}H{right}\"/>\n{columns}\
             <text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
             <text class=\"label\" x=\"8\" y=\"16\">{}</text>\n",
            (LEFT + right) / 2.0,
            HEIGHT - 8.0,
            escape(self.x_label),
            escape(self.y_label),
        )
    }
}

fn path(line: &FunctionLine, places: &[(f64, f64)], x: &Linear, y: &Linear) -> String {
    if places.is_empty() {
        return String::new();
    }
    let steps = places.iter().enumerate().map(|(at, place)| {
        let command = if at == 0 { 'M' } else { 'L' };
        format!("{command}{:.1} {:.1}", x.at(place.0), y.at(place.1))
    });
    let class = match line.stroke {
        Stroke::Solid => "curve",
        Stroke::Dashed => "curve dashed",
    };
    format!(
        "<path class=\"{class} {}\" data-series=\"{}\" d=\"{}\"><title>{}</title></path>\n",
        line.colour.class(),
        escape(&line.series),
        steps.collect::<String>(),
        escape(&line.series)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(scales: [AxisScale; 2], lines: Vec<FunctionLine>) -> String {
        let svg = FunctionChart {
            title: "test",
            x_label: "K",
            y_label: "v & w",
            scales,
            shaded: Some((3.0..=7.0, "flat")),
            lines,
        }
        .svg();
        roxmltree::Document::parse(&svg).unwrap();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        svg
    }

    fn line(stroke: Stroke, points: &[(f64, f64)]) -> FunctionLine {
        FunctionLine {
            series: "a".to_owned(),
            colour: Colour::Series(0),
            stroke,
            points: points.to_vec(),
        }
    }

    #[test]
    fn lines_reach_from_end_to_end_of_their_axis() {
        for scale in [AxisScale::Linear, AxisScale::Logarithmic] {
            let points = [(1.0, 0.2), (10.0, 0.4), (100.0, 0.1)];
            let svg = chart([scale, scale], vec![line(Stroke::Solid, &points)]);
            assert!(svg.contains(&format!(" d=\"M{LEFT:.1} ")), "{svg}");
            assert!(svg.contains(&format!("L{:.1} ", WIDTH - RIGHT)), "{svg}");
            let middle = svg.contains("L279.0 ");
            assert_eq!(middle, scale == AxisScale::Logarithmic, "{svg}");
            assert!(svg.contains("v &amp; w over K. Lines: a."));
        }
    }

    #[test]
    fn a_dashed_part_and_points_without_a_place() {
        let dashed = line(Stroke::Dashed, &[(0.0, 1.0), (1.0, f64::NAN), (2.0, 3.0)]);
        let svg = chart(
            [AxisScale::Logarithmic, AxisScale::Linear],
            vec![dashed, line(Stroke::Solid, &[])],
        );
        assert_eq!(svg.matches("class=\"curve dashed colour-0\"").count(), 1);
        assert_eq!(svg.matches("<path class=\"curve").count(), 1);
        assert!(svg.contains("class=\"shade\"") && svg.contains("<title>flat</title>"));
        chart([AxisScale::Linear; 2], vec![]);
    }
}
