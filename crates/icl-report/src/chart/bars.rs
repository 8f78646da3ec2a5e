//! Horizontal bars with their spread over the seeds.

use crate::chart::colour::Colour;
use crate::chart::scale::Linear;
use crate::chart::svg::{frame, listed, shortened};
use crate::text::escape::escape;

const WIDTH: f64 = 520.0;
const LEFT: f64 = 158.0;
/// Width of the column of values at the right.
const VALUES: f64 = 122.0;
const TOP: f64 = 26.0;
const ROW: f64 = 22.0;
const BOTTOM: f64 = 44.0;
const THICKNESS: f64 = 12.0;

/// One bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// Name at the left.
    pub name: String,
    /// Colour.
    pub colour: Colour,
    /// Length, which is the median over the seeds; `None` draws no bar.
    pub median: Option<f64>,
    /// Least and greatest value over the seeds; the greatest is `None` where a seed has none.
    pub spread: Option<(f64, Option<f64>)>,
    /// Another value to compare with.
    pub mark: Option<f64>,
    /// Value as text, at the right.
    pub text: String,
}

/// Bars over one axis that begins at 0, from top to bottom.
pub struct BarChart<'a> {
    /// Title.
    pub title: &'a str,
    /// Name of the axis.
    pub x_label: &'a str,
    /// Format of the values along the axis.
    pub x_format: fn(f64) -> String,
    /// The bars.
    pub bars: Vec<Bar>,
    /// A value to mark by a vertical line, with its name.
    pub reference: Option<(f64, &'a str)>,
}

impl BarChart<'_> {
    /// Draws the chart as SVG.
    pub fn svg(&self) -> String {
        let floor = TOP + ROW * self.bars.len() as f64;
        let right = WIDTH - VALUES;
        let x = Linear::new(self.range(), (LEFT, right));
        let rows: String = self
            .bars
            .iter()
            .enumerate()
            .map(|(i, bar)| bar.svg(TOP + ROW * (i as f64 + 0.5), &x, right))
            .collect();
        let content = format!(
            "{}{rows}{}<text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
            self.grid(&x, floor),
            self.reference_line(&x, floor),
            (LEFT + right) / 2.0,
            floor + BOTTOM - 8.0,
            escape(self.x_label),
        );
        let description = format!(
            "Bars: {}.",
            listed(self.bars.iter().map(|bar| bar.name.as_str()))
        );
        frame(
            "chart",
            (WIDTH, floor + BOTTOM),
            self.title,
            &description,
            &content,
        )
    }

    /// Returns the range of the axis: all values and 0.
    fn range(&self) -> (f64, f64) {
        let values = self.bars.iter().flat_map(|bar| {
            let (low, high) = bar
                .spread
                .map_or((None, None), |(low, high)| (Some(low), high));
            [bar.median, bar.mark, low, high]
        });
        let values = values
            .flatten()
            .chain(self.reference.map(|(value, _)| value));
        let (low, high) = values
            .filter(|value| value.is_finite())
            .fold((0.0f64, 0.0f64), |(low, high), x| (low.min(x), high.max(x)));
        if low == high {
            (0.0, 1.0)
        } else {
            (low, high + 0.03 * (high - low))
        }
    }

    fn grid(&self, x: &Linear, floor: f64) -> String {
        let (ticks, _) = x.ticks(4);
        let ticks = ticks.into_iter().map(|tick| {
            let at = x.at(tick);
            let class = if tick == 0.0 { "axis" } else { "grid" };
            format!(
                "<path class=\"{class}\" d=\"M{at:.1} {TOP}V{floor}\"/>\
                 <text class=\"tick\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
                floor + 15.0,
                escape(&(self.x_format)(tick))
            )
        });
        ticks.collect()
    }

    fn reference_line(&self, x: &Linear, floor: f64) -> String {
        let Some((value, name)) = self.reference.filter(|(value, _)| value.is_finite()) else {
            return String::new();
        };
        let at = x.at(value);
        format!(
            "<path class=\"target\" d=\"M{at:.1} {:.1}V{floor}\"/>\
             <text class=\"tick\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
            TOP - 6.0,
            TOP - 11.0,
            escape(name)
        )
    }
}

impl Bar {
    fn svg(&self, y: f64, x: &Linear, right: f64) -> String {
        let zero = x.at(0.0);
        let median = self.median.filter(|median| median.is_finite());
        let bar = median.map_or(String::new(), |median| {
            let (from, to) = (zero.min(x.at(median)), zero.max(x.at(median)));
            // A bar of length 0 is a line that can be seen.
            format!(
                "<rect class=\"bar {}\" data-series=\"{}\" x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" \
                 height=\"{THICKNESS}\"><title>{}: {}</title></rect>",
                self.colour.class(),
                escape(&self.name),
                y - THICKNESS / 2.0,
                (to - from).max(1.5),
                escape(&self.name),
                escape(&self.text),
            )
        });
        let spread = self
            .spread
            .filter(|(low, high)| Some(*low) != *high && low.is_finite());
        let spread = spread.map_or(String::new(), |(low, high)| {
            let low = x.at(low);
            let end = match high {
                Some(high) => format!("H{:.1}m0 -4v8", x.at(high)),
                // A seed has no value: the line goes on.
                None => format!("H{:.1}m-5 -4l5 4l-5 4", right - 1.0),
            };
            format!(
                "<path class=\"whisker\" d=\"M{low:.1} {:.1}v8m0 -4{end}\"/>",
                y - 4.0
            )
        });
        let mark = self.mark.filter(|mark| mark.is_finite());
        let mark = mark.map_or(String::new(), |mark| {
            format!(
                "<path class=\"diamond\" d=\"M{:.1} {y:.1}l4.5 -4.5l4.5 4.5l-4.5 4.5z\"/>",
                x.at(mark) - 4.5
            )
        });
        format!(
            "<text class=\"label small\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>{bar}{spread}{mark}\
             <text class=\"label small\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\n",
            LEFT - 7.0,
            y + 4.0,
            escape(&shortened(&self.name)),
            right + 8.0,
            y + 4.0,
            escape(&self.text),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(name: &str, median: Option<f64>, spread: Option<(f64, Option<f64>)>) -> Bar {
        Bar {
            name: name.to_owned(),
            colour: Colour::Series(1),
            median,
            spread,
            mark: None,
            text: "t".to_owned(),
        }
    }

    fn chart(bars: Vec<Bar>) -> String {
        let svg = BarChart {
            title: "a & b",
            x_label: "x",
            x_format: |x| x.to_string(),
            bars,
            reference: Some((1.0, "retraining")),
        }
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
        let places: Vec<f64> = below
            .match_indices("<rect")
            .filter_map(|(at, _)| {
                below[at..]
                    .split("x=\"")
                    .nth(1)?
                    .split('"')
                    .next()?
                    .parse()
                    .ok()
            })
            .collect();
        assert!(places[0] < places[1], "{places:?}");
        chart(vec![]);
    }
}
