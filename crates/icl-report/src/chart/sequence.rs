//! A quantity over the experiences of a stream, one line for each encoder.

use std::fmt::Write;

use crate::chart::colour::Colour;
use crate::chart::scale::Linear;
use crate::chart::svg::{frame, listed};
use crate::text::escape::escape;
use crate::text::number::{axis_count, rounded};

const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 46.0;
/// Largest number of labels along the horizontal axis.
const MOST_TICKS: usize = 10;
/// Number of experiences from which on marks are small.
const CROWDED: usize = 60;

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SequenceLine {
    /// Series that the line belongs to.
    pub(crate) series: String,
    /// Colour.
    pub(crate) colour: Colour,
    /// Value for each experience; the line is broken where there is none.
    pub(crate) values: Vec<Option<f64>>,
    /// Experiences to mark with a ring; may be empty.
    pub(crate) marked: Vec<bool>,
}

/// A chart whose horizontal axis counts experiences from 1.
pub(crate) struct SequenceChart<'a> {
    /// Title, for readers who cannot see the chart.
    pub(crate) title: &'a str,
    /// Name of the vertical axis.
    pub(crate) y_label: &'a str,
    /// Lines.
    pub(crate) lines: Vec<SequenceLine>,
    /// A level to draw as a broken line, with its name.
    pub(crate) level: Option<(f64, &'a str)>,
}

impl SequenceLine {
    /// Creates a line without marks.
    pub(crate) fn new(series: impl Into<String>, colour: Colour, values: Vec<Option<f64>>) -> Self {
        Self {
            series: series.into(),
            colour,
            values,
            marked: Vec::new(),
        }
    }

    /// Returns the places of the line's values: number of the experience, and value.
    fn places(&self) -> impl Iterator<Item = (usize, f64)> {
        let values = self.values.iter().enumerate();
        values.filter_map(|(i, value)| Some((i, (*value).filter(|of| of.is_finite())?)))
    }
}

impl SequenceChart<'_> {
    /// Returns whether there is a value to draw.
    pub(crate) fn has_values(&self) -> bool {
        self.lines.iter().any(|line| line.places().next().is_some())
    }

    /// Draws the chart as SVG.
    pub(crate) fn svg(&self) -> String {
        let n = self.lines.iter().map(|line| line.values.len()).max();
        let n = n.unwrap_or(0).max(1);
        let x = Linear::new((1.0, n as f64), (LEFT, WIDTH - RIGHT));
        let values = self.lines.iter().flat_map(SequenceLine::places);
        let heights = values.map(|place| place.1);
        let range = Linear::padded(heights.chain(self.level.map(|(level, _)| level)));
        let y = Linear::new(range, (HEIGHT - BOTTOM, TOP));
        let lines: String = self
            .lines
            .iter()
            .map(|line| drawn(line, n, &x, &y))
            .collect();
        let description = format!(
            "{} over the experiences. Lines: {}.",
            self.y_label,
            listed(self.lines.iter().map(|line| line.series.as_str()))
        );
        let content = format!("{}{}{lines}", self.axes(n, &x, &y), self.level_line(&y));
        frame("chart", (WIDTH, HEIGHT), self.title, &description, &content)
    }

    fn level_line(&self, y: &Linear) -> String {
        let Some((level, name)) = self.level else {
            return String::new();
        };
        let (at, right) = (y.at(level), WIDTH - RIGHT);
        format!(
            "<path class=\"target\" d=\"M{LEFT} {at:.1}H{right}\"/>\n\
             <text class=\"target-name\" x=\"{right}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n",
            at - 5.0,
            escape(name)
        )
    }

    fn axes(&self, n: usize, x: &Linear, y: &Linear) -> String {
        let (right, floor) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let (ticks, digits) = y.ticks(5);
        let row = |tick: f64| {
            let at = y.at(tick);
            format!(
                "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{right}\"/>\
                 <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n",
                LEFT - 7.0,
                at + 4.0,
                label(tick, digits),
            )
        };
        let column = |experience: usize| {
            let at = x.at(experience as f64);
            format!(
                "<path class=\"axis\" d=\"M{at:.1} {floor}v5\"/>\
                 <text class=\"tick\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{experience}</text>\n",
                floor + 18.0,
            )
        };
        let rows: String = ticks.into_iter().map(row).collect();
        let columns: String = counted(n, MOST_TICKS).map(column).collect();
        format!(
            "{rows}<path class=\"axis\" d=\"M{LEFT} {floor}H{right}\"/>\n{columns}\
             <text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">experience</text>\n\
             <text class=\"label\" x=\"8\" y=\"16\">{}</text>\n",
            (LEFT + right) / 2.0,
            HEIGHT - 8.0,
            escape(self.y_label),
        )
    }
}

/// Writes a value beside the vertical axis, from 10,000 on in thousands or millions.
fn label(value: f64, digits: usize) -> String {
    match value >= 1e4 {
        true => axis_count(value),
        false => rounded(value, digits),
    }
}

/// Returns the numbers from 1 to `n` that are labelled: at most `most`, at a round distance.
pub(super) fn counted(n: usize, most: usize) -> impl Iterator<Item = usize> {
    let steps = (0..).flat_map(|power| [1, 2, 5].map(|of| of * 10_usize.saturating_pow(power)));
    let step = steps.into_iter().find(|step| n / step <= most);
    let step = step.unwrap_or(n.max(1));
    (1..=n / step).map(move |i| i * step)
}

/// Draws the pieces of a line, a dot for each value without a neighbour, and the marks, of which all share a path.
fn drawn(line: &SequenceLine, n: usize, x: &Linear, y: &Linear) -> String {
    let radius = if n > CROWDED { 1.6 } else { 3.6 };
    let (mut path, mut dots, mut rings) = (String::new(), String::new(), String::new());
    let places: Vec<(usize, f64)> = line.places().collect();
    for (of, &(i, value)) in places.iter().enumerate() {
        let (at, height) = (x.at((i + 1) as f64), y.at(value));
        let follows = of > 0 && places[of - 1].0 + 1 == i;
        let leads = places.get(of + 1).is_some_and(|next| next.0 == i + 1);
        let command = if follows { 'L' } else { 'M' };
        // Writing to a string does not fail.
        if follows || leads {
            let _ = write!(path, "{command}{at:.1} {height:.1}");
        } else {
            dots += &circle(at, height, radius);
        }
        if line.marked.get(i) == Some(&true) {
            rings += &circle(at, height, radius);
        }
    }
    let piece = |class: &str, d: &str, words: &str| match d.is_empty() {
        true => String::new(),
        false => format!(
            "<path class=\"{class} {}\" data-series=\"{}\" d=\"{d}\"><title>{}{words}</title></path>\n",
            line.colour.class(),
            escape(&line.series),
            escape(&line.series),
        ),
    };
    piece("curve", &path, "") + &piece("dot", &dots, "") + &piece("mark", &rings, ": updated")
}

fn circle(x: f64, y: f64, r: f64) -> String {
    let d = 2.0 * r;
    format!(
        "M{:.1} {y:.1}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0",
        x - r
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(values: Vec<Option<f64>>, marked: Vec<bool>) -> String {
        let line = SequenceLine {
            marked,
            ..SequenceLine::new("a & b", Colour::Series(1), values)
        };
        let svg = SequenceChart {
            title: "test",
            y_label: "risk < 1",
            lines: vec![line],
            level: Some((0.0, "level")),
        }
        .svg();
        roxmltree::Document::parse(&svg).unwrap();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        svg
    }

    #[test]
    fn a_line_is_broken_where_nothing_was_measured() {
        let values = vec![
            Some(1.0),
            Some(2.0),
            None,
            Some(1.5),
            Some(f64::NAN),
            Some(1.0),
        ];
        let svg = chart(values, vec![false, true, true, false, false, true]);
        let of = |class: &str| {
            let (_, rest) = svg
                .split_once(&format!("class=\"{class} colour-1\""))
                .unwrap();
            let (_, rest) = rest.split_once(" d=\"").unwrap();
            rest.split_once('"').unwrap().0.to_owned()
        };
        // 442 pixels for 5 steps: the first two values are joined, the fourth and the sixth stand alone.
        let curve = of("curve");
        assert!(
            curve.starts_with("M58.0 ") && curve.contains("L146.4 "),
            "{curve}"
        );
        assert_eq!(curve.matches(['M', 'L']).count(), 2);
        assert_eq!(of("dot").matches('M').count(), 2);
        // The third experience is marked and has no value.
        assert_eq!(of("mark").matches('M').count(), 2);
    }

    #[test]
    fn labels_are_whole_numbers_at_a_round_distance() {
        let of = |n| counted(n, 10).collect::<Vec<_>>();
        assert_eq!(of(0), [0; 0]);
        assert_eq!(of(1), [1]);
        assert_eq!(of(5), [1, 2, 3, 4, 5]);
        assert_eq!(of(13), [2, 4, 6, 8, 10, 12]);
        assert_eq!(of(40), [5, 10, 15, 20, 25, 30, 35, 40]);
        assert_eq!(of(300), [50, 100, 150, 200, 250, 300]);
    }

    #[test]
    fn large_values_are_written_in_thousands() {
        assert_eq!(
            [(9000.0, 0), (25_000.0, 0), (0.25, 2)].map(|(x, n)| label(x, n)),
            ["9000", "25 k", "0.25"]
        );
    }

    #[test]
    fn nothing_and_one_value_are_charts() {
        assert!(chart(vec![Some(3.0)], vec![true]).contains(">1</text>"));
        chart(vec![], vec![]);
        let none = SequenceLine::new("a", Colour::Reference, vec![None, Some(f64::NAN)]);
        let chart = SequenceChart {
            title: "test",
            y_label: "y",
            lines: vec![none],
            level: None,
        };
        assert!(!chart.has_values());
        assert!(!chart.svg().contains("class=\"curve"));
    }
}
