//! AccuracyByOrigin as dots beside their floors.

use crate::chart::colour::Colour;
use crate::chart::legend::{Legend, Swatch};
use crate::chart::scale::Linear;
use crate::chart::svg::{frame, shortened};
use crate::text::escape::escape;
use crate::text::number::rounded;

const WIDTH: f64 = 460.0;
const LEFT: f64 = 168.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 46.0;
const ROW: f64 = 24.0;
const BOTTOM: f64 = 26.0;
/// The least distance between the letters of two floors.
const LETTER: f64 = 12.0;

/// Row of one method.
pub struct DotRow<'a> {
    /// Name of the method.
    pub name: &'a str,
    /// Colour.
    pub colour: Colour,
    /// Values, one per seed.
    pub values: Vec<f64>,
    /// Median of the values.
    pub median: Option<f64>,
}

/// Rows of dots over one axis, and levels that all rows share.
pub struct DotChart<'a> {
    /// Title.
    pub title: &'a str,
    /// Rows from top to bottom.
    pub rows: Vec<DotRow<'a>>,
    /// Letter and value of each floor.
    pub floors: Vec<(char, f64)>,
    /// Values that the axis must hold: those of this chart and of the charts beside it.
    pub range: &'a [f64],
}

impl DotChart<'_> {
    /// Draws the chart as SVG.
    pub fn svg(&self) -> String {
        let height = TOP + ROW * self.rows.len() as f64 + BOTTOM;
        let right = WIDTH - RIGHT;
        let x = Linear::new(Linear::padded(self.range.iter().copied()), (LEFT, right));
        let floor = height - BOTTOM;
        let (ticks, digits) = x.ticks(5);
        let grid: String = ticks
            .into_iter()
            .map(|tick| {
                let at = x.at(tick);
                format!(
                    "<path class=\"grid\" d=\"M{at:.1} {TOP}V{floor}\"/>\
                     <text class=\"tick\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
                    floor + 17.0,
                    rounded(tick, digits)
                )
            })
            .collect();
        let rows: String = self
            .rows
            .iter()
            .enumerate()
            .map(|(i, row)| row.svg(TOP + ROW * (i as f64 + 0.5), &x))
            .collect();
        let content = format!(
            "<text class=\"label strong\" x=\"8\" y=\"18\">{}</text>\n{grid}{}{rows}",
            escape(self.title),
            self.floor_lines(&x, floor),
        );
        let rows = self.rows.iter().map(|row| match row.median {
            Some(median) => format!("{} {}", row.name, rounded(median, 3)),
            None => format!("{} –", row.name),
        });
        let description = format!("Medians: {}.", rows.collect::<Vec<_>>().join(", "));
        frame("chart", (WIDTH, height), self.title, &description, &content)
    }

    fn floor_lines(&self, x: &Linear, bottom: f64) -> String {
        let mut floors: Vec<(char, f64)> = self
            .floors
            .iter()
            .copied()
            .filter(|(_, value)| value.is_finite())
            .collect();
        floors.sort_by(|a, b| a.1.total_cmp(&b.1));
        let places = spread(&floors.iter().map(|(_, v)| x.at(*v)).collect::<Vec<_>>());
        floors
            .iter()
            .zip(places)
            .map(|((letter, value), place)| {
                format!(
                    "<path class=\"floor floor-{letter}\" d=\"M{place:.1} {:.1}L{at:.1} {TOP}V{bottom}\"/>\
                     <text class=\"tick\" x=\"{place:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{letter}\
                     </text>\n",
                    TOP - 8.0,
                    TOP - 12.0,
                    at = x.at(*value),
                )
            })
            .collect()
    }
}

/// Returns the legend of floors by letter and name.
pub fn floor_legend<'a>(floors: impl IntoIterator<Item = (char, &'a str)>) -> Legend {
    let entry = |(letter, name)| (Swatch::Floor(letter), format!("{letter}: {name}"));
    Legend {
        entries: floors.into_iter().map(entry).collect(),
        folded: None,
    }
}

impl DotRow<'_> {
    fn svg(&self, y: f64, x: &Linear) -> String {
        let name = escape(&shortened(self.name));
        let label = format!(
            "<text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>",
            LEFT - 8.0,
            y + 4.5
        );
        let dots: String = self
            .values
            .iter()
            .filter(|value| value.is_finite())
            .map(|value| {
                format!(
                    "<circle class=\"dot {}\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"3.5\"/>",
                    self.colour.class(),
                    x.at(*value)
                )
            })
            .collect();
        let median = match self.median {
            Some(median) => format!(
                "<path class=\"median {}\" data-series=\"{}\" d=\"M{:.1} {:.1}v16\"><title>{}: {}</title></path>",
                self.colour.class(),
                escape(self.name),
                x.at(median),
                y - 8.0,
                escape(self.name),
                rounded(median, 3)
            ),
            None => format!(
                "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\">–</text>",
                LEFT + 8.0,
                y + 4.0
            ),
        };
        format!("{label}{dots}{median}\n")
    }
}

/// Moves ascending places apart until their letters can be read, as little as possible and within
/// the chart.
fn spread(places: &[f64]) -> Vec<f64> {
    let mut spread = places.to_vec();
    for i in 1..spread.len() {
        spread[i] = spread[i].max(spread[i - 1] + LETTER);
    }
    let mut limit = WIDTH - RIGHT;
    for place in spread.iter_mut().rev() {
        *place = place.min(limit);
        limit = *place - LETTER;
    }
    spread
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_near_floors_do_not_overlap() {
        assert_eq!(spread(&[200.0, 201.0, 300.0]), [200.0, 212.0, 300.0]);
        assert_eq!(spread(&[440.0, 443.0]), [432.0, 444.0]);
        assert!(spread(&[]).is_empty());
    }

    #[test]
    fn a_row_without_values_has_a_dash() {
        let chart = DotChart {
            title: "all <data>",
            rows: vec![DotRow {
                name: "a & b",
                colour: Colour::Series(0),
                values: vec![],
                median: None,
            }],
            floors: vec![('M', f64::NAN)],
            range: &[],
        };
        let svg = chart.svg();
        assert!(svg.contains(">–</text>") && !svg.contains("NaN"));
        roxmltree::Document::parse(&svg).unwrap();
    }
}
