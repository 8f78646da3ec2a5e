//! A quantity over time or sample passes, one line a method and seed.

use super::scale::{FromZero, Linear};
use crate::report::markup::escape;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 46.0;
/// The width of the place for 0 on the logarithmic axis.
const GUTTER: f64 = 30.0;

/// One line.
pub(in crate::report) struct Curve {
    /// The class of its colour.
    pub(in crate::report) class: String,
    /// What it is, shown when the pointer rests on it.
    pub(in crate::report) label: String,
    /// Its points. One that is all at 0 is drawn as a level.
    pub(in crate::report) points: Vec<(f64, f64)>,
    /// A point to mark with a ring.
    pub(in crate::report) mark: Option<(f64, f64)>,
}

/// A chart with a logarithmic axis of time or passes on which 0 has a place.
pub(in crate::report) struct CurveChart<'a> {
    /// What the chart shows, for readers who cannot see it.
    pub(in crate::report) description: &'a str,
    /// What stands along x.
    pub(in crate::report) x_label: &'a str,
    /// What stands along y, as SVG markup.
    pub(in crate::report) y_label: &'a str,
    /// How values along x are written.
    pub(in crate::report) x_format: fn(f64) -> String,
    /// The lines.
    pub(in crate::report) curves: Vec<Curve>,
    /// A level to draw as a broken line, with its name.
    pub(in crate::report) level: Option<(f64, &'a str)>,
}

impl CurveChart<'_> {
    /// The chart as SVG.
    pub(in crate::report) fn svg(&self) -> String {
        let points = || self.curves.iter().flat_map(|curve| curve.points.iter());
        let x = FromZero::new(points().map(|p| p.0), (LEFT, WIDTH - RIGHT), GUTTER);
        let ys = points().map(|p| p.1).chain(self.level.map(|(y, _)| y));
        let y = Linear::new(Linear::padded(ys), (HEIGHT - BOTTOM, TOP));
        let lines: String = self
            .curves
            .iter()
            .map(|curve| line(curve, &x, &y))
            .collect();
        let marks: String = self
            .curves
            .iter()
            .map(|curve| mark(curve, &x, &y))
            .collect();
        let (level, level_name) = self.level(&y);
        format!(
            "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">\n\
             {}{level}{lines}{marks}{level_name}</svg>\n",
            escape(self.description),
            self.axes(&x, &y),
        )
    }

    fn axes(&self, x: &FromZero, y: &Linear) -> String {
        let (right, floor) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let (ticks, digits) = y.ticks(6);
        let rows: String = ticks
            .into_iter()
            .map(|tick| {
                let at = y.at(tick);
                format!(
                    "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{right}\"/>\
                     <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n",
                    LEFT - 7.0,
                    at + 4.0,
                    escape(&crate::report::number::rounded(tick, digits)),
                )
            })
            .collect();
        let tick = |at: f64, text: &str| {
            format!(
                "<path class=\"axis\" d=\"M{at:.1} {floor}v5\"/>\
                 <text class=\"tick\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
                floor + 18.0,
                escape(text),
            )
        };
        let columns: String = apart(x)
            .into_iter()
            .map(|value| tick(x.at(value), &(self.x_format)(value)))
            .collect();
        // The axis is cut between 0 and the place where the logarithms begin.
        let cut = x.break_at() - 0.5 * GUTTER;
        format!(
            "{rows}<path class=\"axis\" d=\"M{LEFT} {floor}H{:.1}m4 0H{right}\"/>\
             <path class=\"axis\" d=\"M{:.1} {:.1}l4 -8m0 8l4 -8\"/>\n{}{columns}\
             <text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
             <text class=\"label\" x=\"8\" y=\"16\">{}</text>\n",
            cut - 2.0,
            cut - 4.0,
            floor + 4.0,
            tick(LEFT, "0"),
            (LEFT + right) / 2.0,
            HEIGHT - 8.0,
            escape(self.x_label),
            self.y_label,
        )
    }

    /// The level's line, which lies under the curves, and its name, which lies over them.
    fn level(&self, y: &Linear) -> (String, String) {
        let Some((level, name)) = self.level else {
            return Default::default();
        };
        let (at, right) = (y.at(level), WIDTH - RIGHT);
        (
            format!("<path class=\"target\" d=\"M{LEFT} {at:.1}H{right}\"/>\n"),
            format!(
                "<text class=\"target-name\" x=\"{right}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n",
                at - 5.0,
                escape(name)
            ),
        )
    }
}

/// The ticks that keep enough distance from one another and from 0 to be read.
fn apart(x: &FromZero) -> Vec<f64> {
    let mut last = LEFT;
    x.ticks()
        .into_iter()
        .filter(|tick| {
            let at = x.at(*tick);
            let is_free = at - last >= 28.0;
            if is_free {
                last = at;
            }
            is_free
        })
        .collect()
}

fn line(curve: &Curve, x: &FromZero, y: &Linear) -> String {
    let finite: Vec<(f64, f64)> = curve
        .points
        .iter()
        .copied()
        .filter(|(x, y)| x.is_finite() && y.is_finite())
        .collect();
    let Some(&(_, first)) = finite.first() else {
        return String::new();
    };
    let is_level = finite.iter().all(|(x, _)| *x <= 0.0);
    let path = if is_level {
        format!("M{LEFT} {:.1}H{}", y.at(first), WIDTH - RIGHT)
    } else {
        finite
            .iter()
            .enumerate()
            .map(|(i, &(value, height))| {
                let (at, height) = (x.at(value), y.at(height));
                let command = if i == 0 { 'M' } else { 'L' };
                // What was measured before the first step stays level through the place for 0.
                let level = if value > 0.0 {
                    String::new()
                } else {
                    format!("H{:.1}", x.break_at() - 0.5 * GUTTER)
                };
                format!("{command}{at:.1} {height:.1}{level}")
            })
            .collect()
    };
    format!(
        "<path class=\"{} {}\" d=\"{path}\"><title>{}</title></path>\n",
        if is_level { "curve level" } else { "curve" },
        curve.class,
        escape(&curve.label)
    )
}

fn mark(curve: &Curve, x: &FromZero, y: &Linear) -> String {
    match curve.mark {
        Some((value, height)) if value.is_finite() && height.is_finite() => format!(
            "<circle class=\"mark {}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"4.5\"><title>{}: reaches the \
             target</title></circle>\n",
            curve.class,
            x.at(value),
            y.at(height),
            escape(&curve.label)
        ),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(curves: Vec<Curve>) -> String {
        CurveChart {
            description: "test",
            x_label: "passes",
            y_label: "risk<tspan>, nats</tspan>",
            x_format: |x| format!("{x}"),
            curves,
            level: Some((2.0, "target")),
        }
        .svg()
    }

    fn curve(points: Vec<(f64, f64)>) -> Curve {
        Curve {
            class: "colour-1".into(),
            label: "a & b".into(),
            mark: points.last().copied(),
            points,
        }
    }

    #[test]
    fn points_that_are_not_numbers_are_left_out() {
        let svg = chart(vec![
            curve(vec![(0.0, 3.0), (10.0, f64::NAN), (100.0, 2.0)]),
            curve(vec![(0.0, 2.5)]),
            curve(vec![]),
            curve(vec![(f64::NAN, f64::NAN)]),
        ]);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert_eq!(svg.matches("class=\"curve colour-1\"").count(), 1);
        assert_eq!(svg.matches("class=\"curve level colour-1\"").count(), 1);
        assert!(svg.contains("a &amp; b"));
        roxmltree::Document::parse(&svg).unwrap();
    }

    #[test]
    fn an_empty_chart_is_a_chart() {
        roxmltree::Document::parse(&chart(vec![])).unwrap();
    }
}
