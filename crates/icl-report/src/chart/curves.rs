//! A quantity over time, sample passes or epochs, one line for each run.

use crate::chart::colour::Colour;
use crate::chart::scale::{AxisScale, FromZero, Linear};
use crate::chart::svg::{frame, listed};
use crate::text::escape::escape;
use crate::text::rich_text::RichText;

const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 46.0;
/// Width of the place for 0 on the logarithmic axis.
const GUTTER: f64 = 30.0;

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Series that the line belongs to.
    pub series: String,
    /// Name that is shown while the pointer rests on the line.
    pub label: String,
    /// Colour.
    pub colour: Colour,
    /// Points; if all lie at x = 0, a horizontal line is drawn.
    pub points: Vec<(f64, f64)>,
    /// A point to mark with a ring, where the run reaches its target.
    pub mark: Option<(f64, f64)>,
}

/// A chart with a logarithmic horizontal axis on which 0 has a place.
pub struct CurveChart<'a> {
    /// Title, for readers who cannot see the chart.
    pub title: &'a str,
    /// Name of the horizontal axis.
    pub x_label: &'a str,
    /// Name of the vertical axis.
    pub y_label: RichText,
    /// Format of the values along the horizontal axis.
    pub x_format: fn(f64) -> String,
    /// Scale of the vertical axis.
    pub height: AxisScale,
    /// Lines.
    pub curves: Vec<Curve>,
    /// A level to draw as a broken line, with its name.
    pub level: Option<(f64, &'a str)>,
}

impl CurveChart<'_> {
    /// Draws the chart as SVG.
    pub fn svg(&self) -> String {
        // Folded lines lie below the coloured ones, the reference above them.
        let mut curves: Vec<Curve> = self.curves.clone();
        curves.sort_by_key(|curve| curve.colour);
        for curve in &mut curves {
            for (_, y) in curve.points.iter_mut().chain(&mut curve.mark) {
                *y = self.height.of(*y);
            }
        }
        let level = self
            .level
            .map(|(level, name)| (self.height.of(level), name));
        let points = || curves.iter().flat_map(|curve| curve.points.iter());
        let x = FromZero::new(points().map(|p| p.0), (LEFT, WIDTH - RIGHT), GUTTER);
        let range = height_range(&curves, level.map(|(level, _)| level));
        let y = Linear::new(range, (HEIGHT - BOTTOM, TOP));
        let lines: String = curves.iter().map(|curve| line(curve, &x, &y)).collect();
        let marks: String = curves.iter().map(|curve| mark(curve, &x, &y)).collect();
        let (level, level_name) = level_line(level, &y);
        let description = format!(
            "{} over {}. Lines: {}.",
            self.y_label.plain(),
            self.x_label,
            listed(self.curves.iter().map(|curve| curve.series.as_str()))
        );
        frame(
            "chart",
            (WIDTH, HEIGHT),
            self.title,
            &description,
            &format!("{}{level}{lines}{marks}{level_name}", self.axes(&x, &y)),
        )
    }

    fn axes(&self, x: &FromZero, y: &Linear) -> String {
        let (right, floor) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let rows: String = self
            .height
            .ticks(y)
            .into_iter()
            .map(|(tick, label)| {
                let at = y.at(tick);
                format!(
                    "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{right}\"/>\
                     <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n",
                    LEFT - 7.0,
                    at + 4.0,
                    escape(&label),
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
            self.y_label.svg(),
        )
    }
}

/// Returns the range of heights that the chart shows: all heights in the later halves of the lines,
/// and of their beginnings those that lie at most as far above as that range is high. An encoder that
/// starts from scratch begins so far up that all differences at the end would vanish.
fn height_range(curves: &[Curve], level: Option<f64>) -> (f64, f64) {
    let later = |curve: &Curve| curve.points[curve.points.len() / 2..].to_vec();
    let heights = curves.iter().flat_map(later).map(|point| point.1);
    let (low, high) = Linear::padded(heights.chain(level));
    let top = high + (high - low);
    let all = curves.iter().flat_map(|curve| &curve.points);
    let shown = all.map(|point| point.1).filter(|height| *height <= top);
    Linear::padded(shown.chain(level))
}

/// Returns the level's line, which lies below the curves, and its name, which lies above them.
fn level_line(level: Option<(f64, &str)>, y: &Linear) -> (String, String) {
    let Some((level, name)) = level else {
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

/// Returns the ticks that keep enough distance from one another and from 0 to be read.
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
        path_below_top(&[(LEFT, y.at(first)), (WIDTH - RIGHT, y.at(first))])
    } else {
        let places = finite.iter().flat_map(|&(value, height)| {
            let place = (x.at(value), y.at(height));
            // What was measured before the first step stays level through the place for 0.
            let level = (value <= 0.0).then(|| (x.break_at() - 0.5 * GUTTER, place.1));
            std::iter::once(place).chain(level)
        });
        path_below_top(&places.collect::<Vec<_>>())
    };
    format!(
        "<path class=\"{} {}\" data-series=\"{}\" d=\"{path}\"><title>{}</title></path>\n",
        if is_level { "curve level" } else { "curve" },
        curve.colour.class(),
        escape(&curve.series),
        escape(&curve.label)
    )
}

/// Draws the part of a line that lies in the chart: a line from above enters it at the top.
fn path_below_top(places: &[(f64, f64)]) -> String {
    let mut path = String::new();
    let mut before: Option<(f64, f64)> = None;
    for &(x, y) in places {
        let crossing =
            |(from_x, from_y): (f64, f64)| from_x + (x - from_x) * (TOP - from_y) / (y - from_y);
        match before {
            _ if y < TOP => {
                if let Some(from) = before.filter(|from| from.1 >= TOP) {
                    path += &format!("L{:.1} {TOP:.1}", crossing(from));
                }
            }
            None => path += &format!("M{x:.1} {y:.1}"),
            Some(from) if from.1 < TOP => {
                path += &format!("M{:.1} {TOP:.1}L{x:.1} {y:.1}", crossing(from));
            }
            Some(_) => path += &format!("L{x:.1} {y:.1}"),
        }
        before = Some((x, y));
    }
    path
}

fn mark(curve: &Curve, x: &FromZero, y: &Linear) -> String {
    match curve.mark {
        Some((value, height)) if value.is_finite() && height.is_finite() => format!(
            "<circle class=\"mark {}\" data-series=\"{}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"4.5\"><title>{}: reaches the \
             target</title></circle>\n",
            curve.colour.class(),
            escape(&curve.series),
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

    fn chart(curves: Vec<Curve>, height: AxisScale) -> String {
        let svg = CurveChart {
            title: "test",
            x_label: "passes",
            y_label: RichText::marked("risk^{I}, nats"),
            x_format: |x| format!("{x}"),
            height,
            curves,
            level: Some((2.0, "target")),
        }
        .svg();
        roxmltree::Document::parse(&svg).unwrap();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        svg
    }

    fn curve(points: Vec<(f64, f64)>) -> Curve {
        Curve {
            series: "a".into(),
            label: "a & b".into(),
            colour: Colour::Series(1),
            mark: points.last().copied(),
            points,
        }
    }

    #[test]
    fn points_that_are_not_numbers_are_left_out() {
        let svg = chart(
            vec![
                curve(vec![(0.0, 3.0), (10.0, f64::NAN), (100.0, 2.0)]),
                curve(vec![(0.0, 2.5)]),
                curve(vec![]),
                curve(vec![(f64::NAN, f64::NAN)]),
            ],
            AxisScale::Linear,
        );
        assert_eq!(svg.matches("class=\"curve colour-1\"").count(), 1);
        assert_eq!(svg.matches("class=\"curve level colour-1\"").count(), 1);
        assert!(svg.contains("a &amp; b"));
    }

    #[test]
    fn a_logarithmic_height_leaves_out_zero() {
        let points = vec![(1.0, 1e-4), (2.0, 0.0), (3.0, 1e-2), (4.0, 2e-3)];
        let svg = chart(vec![curve(points)], AxisScale::Logarithmic);
        for label in [">0.001<", ">0.01<"] {
            assert!(svg.contains(label), "{label} is missing in {svg}");
        }
    }

    #[test]
    fn folded_lines_lie_below() {
        let grey = Curve {
            colour: Colour::Folded,
            ..curve(vec![(0.0, 1.0), (1.0, 2.0)])
        };
        let svg = chart(
            vec![curve(vec![(0.0, 1.0), (1.0, 2.0)]), grey],
            AxisScale::Linear,
        );
        assert!(svg.find("curve folded") < svg.find("curve colour-1"));
    }

    #[test]
    fn an_empty_chart_is_a_chart() {
        chart(vec![], AxisScale::Linear);
        chart(vec![], AxisScale::Logarithmic);
    }

    #[test]
    fn a_line_from_above_enters_at_the_top() {
        let top = TOP;
        let inside = |y: f64| top + y;
        let path = path_below_top(&[(0.0, top - 10.0), (10.0, inside(10.0)), (20.0, inside(5.0))]);
        assert_eq!(path, "M5.0 30.0L10.0 40.0L20.0 35.0");
        let path = path_below_top(&[(0.0, inside(10.0)), (10.0, top - 10.0), (20.0, top - 1.0)]);
        assert_eq!(path, "M0.0 40.0L5.0 30.0");
        assert_eq!(path_below_top(&[(0.0, 0.0), (1.0, 1.0)]), "");
    }

    #[test]
    fn a_start_from_far_above_does_not_flatten_the_rest() {
        let low: Vec<(f64, f64)> = (0..10)
            .map(|i| (f64::from(i), 1.0 + 0.01 * f64::from(i)))
            .collect();
        let falling: Vec<(f64, f64)> = (0..10)
            .map(|i| (f64::from(i), if i < 3 { 9.0 } else { 1.05 }))
            .collect();
        assert!(height_range(&[curve(low), curve(falling)], None).1 < 1.5);
    }
}
