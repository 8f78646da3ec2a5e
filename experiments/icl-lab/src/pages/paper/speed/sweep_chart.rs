//! A factor over a ratio from 0 to 1, with places for words such as “never”.

use icl_report::chart::{Colour, Linear, WIDTH, frame, listed, multiples};
use icl_report::summary::Outcome;
use icl_report::text::escape;
use icl_report::text::number::axis_value;

const HEIGHT: f64 = 290.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 46.0;
/// Height of the places for “at start” and for “never”.
const EDGE: f64 = 24.0;

/// One line.
pub(crate) struct SweepLine {
    /// Name of the series, shown while the pointer rests on the line.
    pub(crate) label: String,
    /// Colour.
    pub(crate) colour: Colour,
    /// Medians, from left to right.
    pub(crate) medians: Vec<(f64, Outcome)>,
    /// Values of the seeds.
    pub(crate) seeds: Vec<(f64, Outcome)>,
}

/// A chart with a logarithmic axis of factors, on which 1 is marked.
pub(crate) struct SweepChart<'a> {
    /// Title, for readers who cannot see the chart.
    pub(crate) title: &'a str,
    /// Name of the horizontal axis.
    pub(crate) x_label: &'a str,
    /// Name of the vertical axis.
    pub(crate) y_label: &'a str,
    /// Lines.
    pub(crate) lines: Vec<SweepLine>,
}

/// Axes of a chart.
struct Axes {
    x: Linear,
    y: Linear,
    low: f64,
    high: f64,
}

impl SweepChart<'_> {
    /// Draws the chart as SVG.
    pub(crate) fn svg(&self) -> String {
        let axes = self.axes();
        let lines: String = self.lines.iter().map(|line| line.svg(&axes)).collect();
        let content = format!(
            "{}<text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
             <text class=\"label\" x=\"8\" y=\"16\">{}</text>\n{lines}",
            axes.svg(),
            (LEFT + WIDTH - RIGHT) / 2.0,
            HEIGHT - 8.0,
            escape(self.x_label),
            escape(self.y_label),
        );
        let description = format!(
            "{} over {}. Lines: {}.",
            self.y_label,
            self.x_label,
            listed(self.lines.iter().map(|line| line.label.as_str()))
        );
        let size = (WIDTH, HEIGHT);
        frame("chart", size, self.title, &description, &content)
    }

    fn axes(&self) -> Axes {
        let points = self
            .lines
            .iter()
            .flat_map(|line| line.medians.iter().chain(&line.seeds));
        let ratios = points.filter_map(|(_, point)| match point {
            Outcome::Ratio(ratio) if *ratio > 0.0 && ratio.is_finite() => Some(*ratio),
            _ => None,
        });
        let (low, high) = ratios.fold((0.8f64, 1.25f64), |(low, high), x| {
            (low.min(x), high.max(x))
        });
        Axes {
            x: Linear::new((0.05, 0.95), (LEFT, WIDTH - RIGHT)),
            y: Linear::new(
                (low.log10() - 0.04, high.log10() + 0.04),
                (HEIGHT - BOTTOM - EDGE, TOP + EDGE),
            ),
            low,
            high,
        }
    }
}

impl Axes {
    fn at(&self, (x, point): (f64, Outcome)) -> (f64, f64) {
        let height = match point {
            Outcome::Never => HEIGHT - BOTTOM - 0.4 * EDGE,
            Outcome::AtStart => TOP + 0.4 * EDGE,
            Outcome::Ratio(ratio) => self.y.at(ratio.log10()),
        };
        (self.x.at(x), height)
    }

    fn svg(&self) -> String {
        let (right, floor) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let row = |height: f64, name: &str| {
            format!(
                "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>\n",
                LEFT - 7.0,
                height + 4.0
            )
        };
        let mut last = f64::INFINITY;
        let mut rows = String::new();
        for tick in multiples(&[1.0, 2.0, 5.0], self.low.log10(), self.high.log10()) {
            let at = self.y.at(tick.log10());
            let class = if tick == 1.0 { "target" } else { "grid" };
            rows += &format!("<path class=\"{class}\" d=\"M{LEFT} {at:.1}H{right}\"/>");
            if last - at >= 15.0 {
                rows += &row(at, &format!("{}×", axis_value(tick)));
                last = at;
            }
        }
        let columns: String = (1..=9)
            .map(|tenth| {
                let at = self.x.at(f64::from(tenth) / 10.0);
                format!(
                    "<path class=\"axis\" d=\"M{at:.1} {floor}v5\"/>\
                     <text class=\"tick\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">0.{tenth}\
                     </text>\n",
                    floor + 18.0
                )
            })
            .collect();
        format!(
            "{rows}{}{}<path class=\"axis\" d=\"M{LEFT} {floor}H{right}\"/>\n{columns}",
            row(self.at((0.1, Outcome::Never)).1, "never"),
            row(self.at((0.1, Outcome::AtStart)).1, "at start"),
        )
    }
}

impl SweepLine {
    fn svg(&self, axes: &Axes) -> String {
        let (label, class) = (escape(&self.label), self.colour.class());
        let mut path = String::new();
        let mut is_joined = false;
        for &(x, point) in &self.medians {
            let is_number = matches!(point, Outcome::Ratio(_));
            if is_number {
                let (x, y) = axes.at((x, point));
                path += &format!("{}{x:.1} {y:.1}", if is_joined { "L" } else { "M" });
            }
            is_joined = is_number;
        }
        let line = match path.as_str() {
            "" => String::new(),
            path => format!(
                "<path class=\"curve {class}\" data-series=\"{label}\" d=\"{path}\"><title>{label}</title></path>\n"
            ),
        };
        let circle = |(x, point): &(f64, Outcome), kind: &str, radius: f64| {
            let (x, y) = axes.at((*x, *point));
            format!(
                "<circle class=\"{kind} {class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\">\
                 <title>{label}</title></circle>\n"
            )
        };
        let seeds = self.seeds.iter().map(|point| circle(point, "dot", 2.6));
        let medians = self.medians.iter().map(|point| circle(point, "mark", 4.5));
        line + &seeds.chain(medians).collect::<String>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_a_place_and_break_the_line() {
        let svg = SweepChart {
            title: "a & b",
            x_label: "α",
            y_label: "speed-up",
            lines: vec![SweepLine {
                label: "icl".into(),
                colour: Colour::Series(0),
                medians: vec![
                    (0.1, Outcome::Ratio(4.0)),
                    (0.2, Outcome::Ratio(2.0)),
                    (0.3, Outcome::Never),
                    (0.4, Outcome::Ratio(0.5)),
                    (0.5, Outcome::AtStart),
                ],
                seeds: vec![(0.1, Outcome::Ratio(8.0))],
            }],
        }
        .svg();
        roxmltree::Document::parse(&svg).unwrap();
        assert_eq!(svg.matches("<circle").count(), 6);
        let (_, path) = svg
            .split_once("class=\"curve colour-0\" data-series=\"icl\" d=\"")
            .unwrap();
        let (path, _) = path.split_once('"').unwrap();
        assert_eq!(
            (path.matches('M').count(), path.matches('L').count()),
            (2, 1)
        );
        assert!(svg.contains("class=\"target\"") && svg.contains(">never<"));
    }

    #[test]
    fn an_empty_chart_is_a_chart() {
        let svg = SweepChart {
            title: "",
            x_label: "",
            y_label: "",
            lines: vec![],
        }
        .svg();
        roxmltree::Document::parse(&svg).unwrap();
        assert_eq!(
            multiples(&[1.0, 2.0, 5.0], 0.05f64.log10(), 25f64.log10()),
            [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0]
        );
    }
}
