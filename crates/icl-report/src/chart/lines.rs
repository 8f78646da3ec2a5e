//! Lines over one quantity: time, sample passes, epochs, experiences or the argument of a function.

use std::ops::RangeInclusive;

use crate::chart::line::{Axes, FLOOR, HEIGHT, LEFT, Line, RIGHT, TOP};
use crate::chart::scale::{Axis, AxisScale};
use crate::chart::svg::{LINE, WIDTH, frame, listed, width};
use crate::text::escape::escape;
use crate::text::rich_text::RichText;

/// Number of points from which on those of a counting axis are small.
const CROWDED: usize = 60;

/// Lines over linear, logarithmic or counting axes.
pub struct LineChart<'a> {
    title: &'a str,
    labels: [RichText; 2],
    scales: [AxisScale; 2],
    lines: Vec<Line>,
    level: Option<(f64, &'a str)>,
    shade: Option<(RangeInclusive<f64>, &'a str)>,
}

impl<'a> LineChart<'a> {
    /// Creates a chart with a title for readers who cannot see it, names and scales of its axes, and lines.
    ///
    /// On a horizontal axis with a place for 0, a line is drawn level if all of its points lie there. The vertical axis
    /// holds all points: where some lie far above the rest, take a logarithmic one.
    pub fn new(
        title: &'a str,
        (x_label, x): (impl Into<RichText>, AxisScale),
        (y_label, y): (impl Into<RichText>, AxisScale),
        mut lines: Vec<Line>,
    ) -> Self {
        // Folded lines lie below the coloured ones, the reference above them.
        lines.sort_by_key(|line| line.colour);
        Self {
            title,
            labels: [x_label.into(), y_label.into()],
            scales: [x, y],
            lines,
            level: None,
            shade: None,
        }
    }

    /// Draws a level with a name as a broken line.
    pub(crate) fn level(self, level: Option<(f64, &'a str)>) -> Self {
        Self { level, ..self }
    }

    /// Shades a range along the horizontal axis and gives it a name.
    pub(crate) fn shade(self, shade: Option<(RangeInclusive<f64>, &'a str)>) -> Self {
        Self { shade, ..self }
    }

    /// Returns whether a line has two points to draw: a single one is a number and no chart.
    pub(crate) fn has_course(&self) -> bool {
        let is_finite = |(x, y): &&(f64, f64)| x.is_finite() && y.is_finite();
        let mut lines = self.lines.iter();
        lines.any(|line| line.points.iter().filter(is_finite).count() > 1)
    }

    /// Returns the lines.
    pub(crate) fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Draws the chart as SVG.
    pub fn svg(&self) -> String {
        let axes = self.axes();
        let lines: String = self.lines.iter().map(|line| axes.line(line)).collect();
        let marks: String = self.lines.iter().map(|line| axes.marks(line)).collect();
        let (level, level_name) = self.level_line(&axes);
        let [x_label, y_label] = self.labels.each_ref().map(RichText::plain);
        let description = format!(
            "{y_label} over {x_label}. Lines: {}.",
            listed(self.lines.iter().map(Line::series))
        );
        let content = format!(
            "{}{}{level}{lines}{marks}{level_name}",
            self.shaded(&axes),
            self.frame_lines(&axes)
        );
        frame("chart", (WIDTH, HEIGHT), self.title, &description, &content)
    }

    fn axes(&self) -> Axes {
        let [x_scale, y_scale] = self.scales;
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let x = Axis::holding(x_scale, points().map(|point| point.0), (LEFT, RIGHT));
        let level = self.level.map(|(level, _)| level);
        let heights = points().map(|point| point.1).chain(level);
        let radius = match x_scale == AxisScale::Counted && points().count() > CROWDED {
            true => 1.2,
            false => 3.0,
        };
        Axes {
            x,
            y: Axis::new(y_scale, y_scale.padded(heights), (FLOOR, TOP)),
            is_counted: x_scale == AxisScale::Counted,
            radius,
        }
    }

    /// Draws the shaded range, which lies below everything.
    fn shaded(&self, axes: &Axes) -> String {
        let Some((range, name)) = &self.shade else {
            return String::new();
        };
        let at = |value: &f64| axes.x.at(*value).clamp(LEFT, RIGHT);
        let (from, to) = (at(range.start()), at(range.end()));
        format!(
            "<rect class=\"shade\" x=\"{from:.1}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{:.1}\">\
             <title>{}</title></rect>\n",
            (to - from).max(2.0),
            FLOOR - TOP,
            escape(name)
        )
    }

    /// Returns the level's line, which lies below the others, and its name, which lies above them.
    fn level_line(&self, axes: &Axes) -> (String, String) {
        let Some((level, name)) = self.level else {
            return Default::default();
        };
        let at = axes.y.at(level);
        (
            format!("<path class=\"target\" d=\"M{LEFT} {at:.1}H{RIGHT}\"/>\n"),
            format!(
                "<text class=\"over\" x=\"{RIGHT}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n",
                at - 5.0,
                escape(name)
            ),
        )
    }

    /// Draws the grid, the horizontal axis, and what is written next to them.
    fn frame_lines(&self, axes: &Axes) -> String {
        let row = |(at, label): (f64, String)| {
            format!(
                "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{RIGHT}\"/>\
                 <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n",
                LEFT - 6.0,
                at + 4.5,
                escape(&label),
            )
        };
        let column = |(at, label): (f64, String)| {
            format!(
                "<path class=\"axis\" d=\"M{at:.1} {FLOOR}v5\"/>\
                 <text class=\"tick\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
                FLOOR + 18.0,
                escape(&label),
            )
        };
        let rows: String = axes.y.ticks(5, |_| LINE).into_iter().map(row).collect();
        let columns: String = axes.x.ticks(4, width).into_iter().map(column).collect();
        let floor = match axes.x.cut() {
            Some(cut) => format!(
                "H{:.1}m4 0H{RIGHT}\"/><path class=\"axis\" d=\"M{:.1} {:.1}l4 -8m0 8l4 -8",
                cut - 2.0,
                cut - 4.0,
                FLOOR + 4.0
            ),
            None => format!("H{RIGHT}"),
        };
        let [x_label, y_label] = self.labels.each_ref().map(RichText::svg);
        format!(
            "{rows}<path class=\"axis\" d=\"M{LEFT} {FLOOR}{floor}\"/>\n{columns}\
             <text x=\"{RIGHT}\" y=\"{:.1}\" text-anchor=\"end\">{x_label}</text>\n\
             <text x=\"4\" y=\"16\">{y_label}</text>\n",
            HEIGHT - 8.0,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::colour::Colour;

    fn chart(scales: [AxisScale; 2], lines: Vec<Line>) -> String {
        let y_label = RichText::marked("risk^{I} & nats");
        let svg = LineChart::new("test", ("passes", scales[0]), (y_label, scales[1]), lines)
            .level(Some((2.0, "target")))
            .shade(Some((3.0..=7.0, "flat")))
            .svg();
        roxmltree::Document::parse(&svg).unwrap();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        svg
    }

    fn course(lines: Vec<Line>) -> String {
        chart([AxisScale::FromZero, AxisScale::Linear], lines)
    }

    fn line(points: &[(f64, f64)]) -> Line {
        Line::new("a", Colour::Series(1), points.to_vec())
            .labelled("a & b".to_owned())
            .marked("updated", points.last().copied().into_iter().collect())
    }

    /// A line over experiences, of which some are marked.
    fn counted(values: &[Option<f64>], marked: &[bool]) -> String {
        let point = |(i, value): (usize, &Option<f64>)| ((i + 1) as f64, value.unwrap_or(f64::NAN));
        let points: Vec<(f64, f64)> = values.iter().enumerate().map(point).collect();
        let marks = points.iter().zip(marked).filter(|(_, is)| **is);
        let marks = marks.map(|(point, _)| *point).collect();
        chart(
            [AxisScale::Counted, AxisScale::Linear],
            vec![line(&points).marked("updated", marks)],
        )
    }

    fn path_of(svg: &str, class: &str) -> String {
        let (_, rest) = svg
            .split_once(&format!("class=\"{class} colour-1\""))
            .unwrap();
        let (_, rest) = rest.split_once(" d=\"").unwrap();
        rest.split_once('"').unwrap().0.to_owned()
    }

    #[test]
    fn points_that_are_not_numbers_are_left_out() {
        let svg = course(vec![
            line(&[(0.0, 3.0), (10.0, f64::NAN), (100.0, 2.0)]),
            line(&[(0.0, 2.5)]),
            line(&[]),
            line(&[(f64::NAN, f64::NAN)]),
        ]);
        assert_eq!(svg.matches("class=\"curve colour-1\"").count(), 1);
        assert_eq!(svg.matches("class=\"curve level colour-1\"").count(), 1);
        assert!(svg.contains("a &amp; b") && svg.contains("a &amp; b: updated"));
    }

    #[test]
    fn a_logarithmic_height_leaves_out_zero() {
        let points = [(1.0, 1e-4), (2.0, 0.0), (3.0, 1e-2), (4.0, 2e-3)];
        let svg = chart(
            [AxisScale::FromZero, AxisScale::Logarithmic],
            vec![line(&points)],
        );
        for label in [">0.001<", ">0.01<"] {
            assert!(svg.contains(label), "{label} is missing in {svg}");
        }
        assert_eq!(path_of(&svg, "curve").matches(['M', 'L']).count(), 3);
    }

    #[test]
    fn folded_lines_lie_below() {
        let points = vec![(0.0, 1.0), (1.0, 2.0)];
        let grey = Line::new("b", Colour::Folded, points.clone());
        let svg = course(vec![line(&points), grey]);
        assert!(svg.find("curve folded") < svg.find("curve colour-1"));
    }

    #[test]
    fn nothing_and_one_value_are_charts() {
        use AxisScale::{Counted, FromZero, Linear, Logarithmic};
        for x in [Linear, Logarithmic, FromZero, Counted] {
            for y in [Linear, Logarithmic] {
                chart([x, y], vec![]);
                chart([x, y], vec![line(&[(1.0, 3.0)])]);
            }
        }
        assert!(counted(&[Some(3.0)], &[true]).contains(">1</text>"));
        assert!(!counted(&[None, Some(f64::NAN)], &[]).contains("class=\"curve"));
        let x = ("x", Counted);
        let of = |points: &[(f64, f64)]| LineChart::new("", x, ("y", Linear), vec![line(points)]);
        assert!(!of(&[(1.0, f64::NAN), (2.0, 3.0)]).has_course());
        assert!(of(&[(1.0, 3.0), (2.0, 3.0)]).has_course());
    }

    #[test]
    fn lines_reach_from_end_to_end_of_their_axis() {
        for scale in [AxisScale::Linear, AxisScale::Logarithmic] {
            let svg = chart(
                [scale, scale],
                vec![line(&[(1.0, 0.2), (10.0, 0.4), (100.0, 0.1)])],
            );
            let path = path_of(&svg, "curve");
            assert!(path.starts_with(&format!("M{LEFT:.1} ")), "{path}");
            assert!(path.contains(&format!("L{RIGHT:.1} ")), "{path}");
            let middle = format!("L{:.1} ", (LEFT + RIGHT) / 2.0);
            assert_eq!(path.contains(&middle), scale == AxisScale::Logarithmic);
            assert!(svg.contains("risk^I &amp; nats over passes. Lines: a."));
        }
    }

    #[test]
    fn a_dashed_part_and_points_without_a_place() {
        let dashed = line(&[(0.5, 1.0), (0.0, 1.0), (1.0, f64::NAN), (2.0, 3.0)]).dashed();
        let svg = chart(
            [AxisScale::Logarithmic, AxisScale::Linear],
            vec![dashed, line(&[])],
        );
        assert_eq!(svg.matches("class=\"curve dashed colour-1\"").count(), 1);
        assert_eq!(svg.matches("<path class=\"curve").count(), 1);
        assert!(svg.contains("class=\"shade\"") && svg.contains("<title>flat</title>"));
    }

    #[test]
    fn a_line_over_experiences_is_broken_where_nothing_was_measured() {
        let values = [
            Some(1.0),
            Some(2.0),
            None,
            Some(1.5),
            Some(f64::NAN),
            Some(1.0),
        ];
        let svg = counted(&values, &[false, true, true, false, false, true]);
        // 5 steps: the first two values are joined, the fourth and the sixth stand alone.
        let curve = path_of(&svg, "curve");
        let second = format!("L{:.1} ", LEFT + (RIGHT - LEFT) / 5.0);
        assert!(
            curve.starts_with(&format!("M{LEFT:.1} ")) && curve.contains(&second),
            "{curve}"
        );
        assert_eq!(curve.matches(['M', 'L']).count(), 2);
        assert_eq!(path_of(&svg, "dot").matches('M').count(), 2);
        // The third experience is marked and has no value.
        assert_eq!(path_of(&svg, "mark").matches('M').count(), 2);
    }

    /// Retraining begins far above an encoder that is trained already: all of its line is drawn.
    #[test]
    fn no_start_is_clipped() {
        let falling: Vec<(f64, f64)> = (0..10)
            .map(|i| (f64::from(i), if i < 3 { 9.0 } else { 1.05 }))
            .collect();
        for height in [AxisScale::Linear, AxisScale::Logarithmic] {
            let path = path_of(
                &chart([AxisScale::FromZero, height], vec![line(&falling)]),
                "curve",
            );
            // A second point level with the first leads through the place for 0.
            assert_eq!(path.matches(['M', 'L']).count(), falling.len() + 1);
            let heights = path
                .split(['M', 'L'])
                .skip(1)
                .map(|at| at.split_once(' ').unwrap().1.parse().unwrap());
            assert!(
                heights.into_iter().all(|y: f64| (TOP..=FLOOR).contains(&y)),
                "{path}"
            );
        }
    }
}
