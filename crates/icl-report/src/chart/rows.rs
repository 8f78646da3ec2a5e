//! Rows over one axis: bars with their spread over the seeds, or dots for the seeds with their median.

use crate::chart::colour::Colour;
use crate::chart::scale::{Axis, AxisScale};
use crate::chart::svg::{WIDTH, frame, shortened, width};
use crate::text::escape::escape;
use crate::text::number::{MISSING, rounded};

const LEFT: f64 = 12.0;
const RIGHT: f64 = WIDTH - 18.0;
const TOP: f64 = 24.0;
/// Height of a row: its name and its value above, the bar or the dots below.
const ROW: f64 = 34.0;
const BOTTOM: f64 = 46.0;
const THICKNESS: f64 = 11.0;
/// The least distance between the letters of two floors.
const APART: f64 = 13.0;

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartRow {
    name: String,
    colour: Colour,
    pub(crate) median: Option<f64>,
    extent: Extent,
    diamond: Option<f64>,
    pub(crate) text: String,
}

/// Values of the seeds, as a row shows them.
#[derive(Debug, Clone, PartialEq)]
enum Extent {
    /// A bar from 0 to the median, and a line from the least to the greatest value.
    Bar(Option<(f64, Option<f64>)>),
    /// A dot for each value, and a short bar at the median.
    Dots(Vec<f64>),
}

impl ChartRow {
    /// Creates a bar from 0 to a median (`None` draws no bar), with a value as text. The spread is the least and the
    /// greatest value over the seeds; the greatest is `None` where a seed has none.
    pub fn bar(
        name: impl Into<String>,
        colour: Colour,
        median: Option<f64>,
        spread: Option<(f64, Option<f64>)>,
        text: String,
    ) -> Self {
        Self {
            name: name.into(),
            colour,
            median,
            extent: Extent::Bar(spread),
            diamond: None,
            text,
        }
    }

    /// Creates a row of dots, one for each seed, with their median.
    pub fn dots(
        name: impl Into<String>,
        colour: Colour,
        values: Vec<f64>,
        median: Option<f64>,
    ) -> Self {
        Self {
            name: name.into(),
            colour,
            median,
            extent: Extent::Dots(values),
            diamond: None,
            text: median.map_or_else(|| MISSING.to_owned(), |median| rounded(median, 3)),
        }
    }

    /// Marks another value to compare with by a diamond.
    pub fn diamond(self, diamond: Option<f64>) -> Self {
        Self { diamond, ..self }
    }

    /// Returns all values that the axis must hold.
    fn values(&self) -> Vec<f64> {
        let own = [self.median, self.diamond].into_iter().flatten();
        match &self.extent {
            Extent::Bar(spread) => {
                let ends = spread.map(|(low, high)| [Some(low), high]);
                own.chain(ends.into_iter().flatten().flatten()).collect()
            }
            Extent::Dots(values) => own.chain(values.iter().copied()).collect(),
        }
    }

    fn svg(&self, top: f64, x: &Axis) -> String {
        let y = top + ROW - 11.0;
        let name = escape(&self.name);
        let extent = match &self.extent {
            Extent::Bar(spread) => self.bar_svg(y, x) + &whisker(*spread, y, x),
            Extent::Dots(values) => self.dots_svg(values, y, x),
        };
        let diamond = self.diamond.filter(|of| of.is_finite()).map(|of| {
            let left = x.at(of) - 4.5;
            format!("<path class=\"diamond\" d=\"M{left:.1} {y:.1}l4.5 -4.5l4.5 4.5l-4.5 4.5z\"/>")
        });
        let class = self.colour.class();
        format!(
            "<g class=\"{class}\" data-series=\"{name}\"><title>{name}: {text}</title>\
             <text class=\"over\" x=\"4\" y=\"{line:.1}\">{short}</text>{extent}{diamond}\
             <text class=\"over\" x=\"{end}\" y=\"{line:.1}\" text-anchor=\"end\">{text}</text></g>\n",
            text = escape(&self.text),
            line = top + 13.0,
            short = escape(&shortened(&self.name)),
            diamond = diamond.unwrap_or_default(),
            end = WIDTH - 4.0,
        )
    }

    fn bar_svg(&self, y: f64, x: &Axis) -> String {
        let Some(median) = self.median.filter(|median| median.is_finite()) else {
            return String::new();
        };
        let (zero, end) = (x.at(0.0), x.at(median));
        // A bar of length 0 must be visible, as a line.
        format!(
            "<rect class=\"bar\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{THICKNESS}\"/>",
            zero.min(end),
            y - THICKNESS / 2.0,
            (end - zero).abs().max(1.5),
        )
    }

    fn dots_svg(&self, values: &[f64], y: f64, x: &Axis) -> String {
        let finite = values.iter().filter(|value| value.is_finite());
        let dots = finite.map(|value| {
            let at = x.at(*value);
            format!("<circle class=\"dot\" cx=\"{at:.1}\" cy=\"{y:.1}\" r=\"3\"/>")
        });
        let median = self.median.map(|median| {
            let at = x.at(median);
            format!("<path class=\"median\" d=\"M{at:.1} {:.1}v14\"/>", y - 7.0)
        });
        dots.chain(median).collect()
    }
}

/// Draws a line over a spread, if it has one.
fn whisker(spread: Option<(f64, Option<f64>)>, y: f64, x: &Axis) -> String {
    let spread = spread.filter(|(low, high)| Some(*low) != *high && low.is_finite());
    let Some((low, high)) = spread else {
        return String::new();
    };
    let end = match high {
        Some(high) => format!("H{:.1}m0 -4v8", x.at(high)),
        // A seed has no value: an arrow at the edge shows that the line continues.
        None => format!("H{:.1}m-5 -4l5 4l-5 4", WIDTH - 5.0),
    };
    let (low, top) = (x.at(low), y - 4.0);
    format!("<path class=\"whisker\" d=\"M{low:.1} {top:.1}v8m0 -4{end}\"/>")
}

/// Rows over one axis, which begins at 0 where there are bars, and levels that all rows share.
pub struct RowChart<'a> {
    title: &'a str,
    x_label: &'a str,
    rows: Vec<ChartRow>,
    levels: Vec<Level>,
    range: &'a [f64],
}

/// Value, class and name of a vertical line.
type Level = (f64, String, String);

impl<'a> RowChart<'a> {
    /// Creates a chart of rows from top to bottom, with a title for readers who cannot see it and a name of the axis.
    pub fn new(title: &'a str, x_label: &'a str, rows: Vec<ChartRow>) -> Self {
        Self {
            title,
            x_label,
            rows,
            levels: Vec::new(),
            range: &[],
        }
    }

    /// Marks a value by a line with a name.
    pub fn reference(mut self, reference: Option<(f64, &str)>) -> Self {
        let level = |(value, name): (f64, &str)| (value, "target".to_owned(), name.to_owned());
        self.levels.extend(reference.map(level));
        self
    }

    /// Marks floors by lines with a letter each.
    pub fn floors(mut self, floors: Vec<(char, f64)>) -> Self {
        let level = |(letter, value): (char, f64)| {
            (value, format!("floor floor-{letter}"), letter.to_string())
        };
        self.levels.extend(floors.into_iter().map(level));
        self
    }

    /// Makes the axis hold these values, too: those of the charts next to this one.
    pub fn range(self, range: &'a [f64]) -> Self {
        Self { range, ..self }
    }

    /// Draws the chart as SVG.
    pub fn svg(&self) -> String {
        let floor = TOP + ROW * self.rows.len() as f64;
        let x = Axis::new(AxisScale::Linear, self.ends(), (LEFT, RIGHT));
        let rows = self.rows.iter().enumerate();
        let rows: String = rows
            .map(|(i, row)| row.svg(TOP + ROW * i as f64, &x))
            .collect();
        let content = format!(
            "{}{}{rows}<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
            grid(&x, floor),
            self.level_lines(&x, floor),
            WIDTH / 2.0,
            floor + BOTTOM - 8.0,
            escape(self.x_label),
        );
        let rows = self
            .rows
            .iter()
            .map(|row| format!("{} {}", row.name, row.text));
        let description = format!("Rows: {}.", rows.collect::<Vec<_>>().join(", "));
        let size = (WIDTH, floor + BOTTOM);
        frame("chart", size, self.title, &description, &content)
    }

    /// Returns the range of the axis: all values, and 0 where there are bars.
    fn ends(&self) -> (f64, f64) {
        let values = self.rows.iter().flat_map(ChartRow::values);
        let levels = self.levels.iter().map(|level| level.0);
        let values = values.chain(levels).chain(self.range.iter().copied());
        let mut rows = self.rows.iter();
        if !rows.any(|row| matches!(row.extent, Extent::Bar(_))) {
            return AxisScale::Linear.padded(values);
        }
        let finite = values.filter(|value| value.is_finite());
        let (low, high) = finite.fold((0.0f64, 0.0f64), |(low, high), x| (low.min(x), high.max(x)));
        match low == high {
            true => (0.0, 1.0),
            false => (low, high + 0.03 * (high - low)),
        }
    }

    fn level_lines(&self, x: &Axis, floor: f64) -> String {
        let mut levels: Vec<&Level> = self.levels.iter().collect();
        levels.retain(|level| level.0.is_finite());
        levels.sort_by(|a, b| a.0.total_cmp(&b.0));
        let places: Vec<f64> = levels.iter().map(|level| x.at(level.0)).collect();
        let lines = levels.iter().zip(spread(&places));
        let line = |((value, class, name), place): (&&Level, f64)| {
            let half = width(name) / 2.0;
            format!(
                "<path class=\"{class}\" d=\"M{place:.1} {:.1}L{:.1} {TOP}V{floor}\"/>\
                 <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
                TOP - 7.0,
                x.at(*value),
                place.clamp(half, (WIDTH - half).max(half)),
                TOP - 10.0,
                escape(name),
            )
        };
        lines.map(line).collect()
    }
}

fn grid(x: &Axis, floor: f64) -> String {
    let zero = x.at(0.0);
    let ticks = x.ticks(4, width).into_iter().map(|(at, label)| {
        let class = if at == zero { "axis" } else { "grid" };
        format!(
            "<path class=\"{class}\" d=\"M{at:.1} {TOP}V{floor}\"/>\
             <text class=\"tick\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
            floor + 16.0,
            escape(&label)
        )
    });
    ticks.collect()
}

/// Moves ascending places apart until their letters can be read, as little as possible, within the chart.
fn spread(places: &[f64]) -> Vec<f64> {
    let mut spread = places.to_vec();
    for i in 1..spread.len() {
        spread[i] = spread[i].max(spread[i - 1] + APART);
    }
    let mut limit = RIGHT;
    for place in spread.iter_mut().rev() {
        *place = place.min(limit);
        limit = *place - APART;
    }
    spread
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(name: &str, median: Option<f64>, spread: Option<(f64, Option<f64>)>) -> ChartRow {
        ChartRow::bar(name, Colour::Series(1), median, spread, "t".to_owned())
    }

    fn chart(rows: Vec<ChartRow>) -> String {
        let svg = RowChart::new("a & b", "x", rows)
            .reference(Some((1.0, "retraining")))
            .floors(vec![('M', f64::NAN)])
            .svg();
        roxmltree::Document::parse(&svg).unwrap();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        svg
    }

    #[test]
    fn what_is_no_number_has_no_bar() {
        let svg = chart(vec![
            bar("<one>", Some(2.0), Some((1.0, Some(3.0)))),
            bar("never", None, Some((1.5, None))),
            bar("lost", Some(f64::NAN), Some((f64::NAN, None))),
            bar("alone", Some(2.0), Some((2.0, Some(2.0)))),
        ]);
        assert_eq!(svg.matches("<rect").count(), 2);
        assert_eq!(svg.matches("class=\"whisker\"").count(), 2);
        assert!(svg.contains("&lt;one&gt;"));
    }

    #[test]
    fn values_below_zero_lie_left_of_the_axis() {
        let below = chart(vec![bar("a", Some(-2.0), None), bar("b", Some(1.0), None)]);
        let image = roxmltree::Document::parse(&below).unwrap();
        let bars = image.descendants().filter(|node| node.has_tag_name("rect"));
        let places: Vec<f64> = bars
            .map(|bar| bar.attribute("x").unwrap().parse().unwrap())
            .collect();
        assert!(places[0] < places[1], "{places:?}");
        chart(vec![]);
    }

    #[test]
    fn letters_of_near_floors_do_not_overlap() {
        assert_eq!(spread(&[200.0, 201.0, 300.0]), [200.0, 213.0, 300.0]);
        assert_eq!(spread(&[RIGHT - 4.0, RIGHT - 1.0]), [RIGHT - APART, RIGHT]);
        assert!(spread(&[]).is_empty());
    }

    #[test]
    fn a_row_without_values_has_a_dash() {
        let svg = chart(vec![ChartRow::dots(
            "a & b",
            Colour::Series(0),
            vec![],
            None,
        )]);
        assert!(svg.contains(">–</text>"));
    }
}
