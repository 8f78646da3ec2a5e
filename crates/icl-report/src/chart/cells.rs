//! A matrix as a field of shaded cells.

use std::fmt::Write;

use crate::chart::colour::Colour;
use crate::chart::plane::{Plane, SHADES};
use crate::chart::scale::counted;

use crate::text::number::rounded;

const WIDTH: f64 = 520.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 30.0;
/// Largest side of a cell.
const LARGEST: f64 = 64.0;
/// Largest number of rows whose cells hold their values.
const MOST_WITH_VALUES: usize = 12;
/// Largest number of rows whose values have three digits behind the point.
const MOST_WITH_THREE_DIGITS: usize = 8;
/// Largest number of rows that are drawn.
const MOST_ROWS: usize = 60;
/// Largest number of labels along an axis.
const MOST_TICKS: usize = 12;

/// Square matrix over experiences: row i is the encoder after experience i, column j are samples of experience j.
pub(crate) struct CellsChart<'a> {
    /// Title, for readers who cannot see the chart.
    pub(crate) title: &'a str,
    /// Name of the quantity.
    pub(crate) label: &'a str,
    /// Cells `[T, T]`; one that was not measured is left empty.
    pub(crate) cells: &'a [Vec<Option<f64>>],
    /// Whether lower values are the darker ones.
    pub(crate) low_is_dark: bool,
}

/// Number of experiences that a drawn cell of a matrix of `n` rows holds along each side.
pub(crate) fn experiences_of_a_cell(n: usize) -> usize {
    n.div_ceil(MOST_ROWS).max(1)
}

impl CellsChart<'_> {
    /// Draws the chart as SVG. Of a matrix of more than 60 rows, a drawn cell is the mean of a square of cells.
    pub(crate) fn svg(&self) -> String {
        let size = experiences_of_a_cell(self.cells.len());
        let cells = merged(self.cells, size);
        let n = cells.len().max(1);
        let side = ((WIDTH - LEFT - RIGHT) / n as f64).min(LARGEST);
        let (low, high) = range(&cells);
        let (mut plane, mut above) = (Plane::default(), String::new());
        for (i, row) in cells.iter().enumerate() {
            for (j, cell) in row.iter().enumerate() {
                let Some(value) = *cell else { continue };
                let (x, y) = (LEFT + side * j as f64, TOP + side * i as f64);
                let shade = self.shade(value, low, high);
                plane.cell(Colour::of_class(0), shade, (x, y), side);
                if n <= MOST_WITH_VALUES {
                    let digits = if n <= MOST_WITH_THREE_DIGITS { 3 } else { 2 };
                    // Writing to a string does not fail.
                    let _ = writeln!(
                        above,
                        "<text class=\"small\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                        x + side / 2.0,
                        y + side / 2.0 + 4.0,
                        rounded(value, digits)
                    );
                }
            }
        }
        let extent = side * n as f64;
        above += &format!(
            "<rect class=\"axis\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{extent:.1}\" height=\"{extent:.1}\"/>\n"
        );
        above += &self.labels(side / size as f64, (low, high), TOP + extent);
        let count = self.cells.len();
        let description = format!(
            "{} of {count} by {count} cells, {}.",
            self.label,
            self.ends((low, high))
        );
        let whole = (WIDTH, TOP + extent + BOTTOM);
        plane.svg("chart matrix", whole, (self.title, &description), &above)
    }

    /// Returns the shade of a value, from 0 to [`SHADES`].
    fn shade(&self, value: f64, low: f64, high: f64) -> u8 {
        // Halves do not overflow.
        let share = (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
        let share = if share.is_finite() {
            share.clamp(0.0, 1.0)
        } else {
            0.5
        };
        let share = if self.low_is_dark { 1.0 - share } else { share };
        (share * f64::from(SHADES)).round() as u8
    }

    /// Says which values the lightest and the darkest shade have.
    fn ends(&self, (low, high): (f64, f64)) -> String {
        let (light, dark) = match self.low_is_dark {
            true => (high, low),
            false => (low, high),
        };
        let [light, dark] = [light, dark].map(|value| rounded(value, 3));
        format!("lightest {light}, darkest {dark}")
    }

    /// Writes the numbers of the experiences along both axes, `step` pixels apart, and the names of the axes.
    fn labels(&self, step: f64, range: (f64, f64), floor: f64) -> String {
        let ticks = counted(self.cells.len(), MOST_TICKS).map(|experience| {
            let at = step * (experience - 0.5);
            format!(
                "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{experience}</text>\
                 <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{experience}</text>\n",
                LEFT + at,
                TOP - 7.0,
                LEFT - 7.0,
                TOP + at + 4.0,
            )
        });
        format!(
            "{}<text class=\"label\" x=\"{LEFT}\" y=\"34\">held-out samples of experience</text>\n\
             <text class=\"label\" x=\"8\" y=\"16\">{}: row = encoder after experience</text>\n\
             <text class=\"tick\" x=\"{LEFT}\" y=\"{:.1}\">{}</text>\n",
            ticks.collect::<String>(),
            self.label,
            floor + 20.0,
            self.ends(range),
        )
    }
}

/// Returns the least and the greatest value; `(0, 0)` without any.
fn range(cells: &[Vec<Option<f64>>]) -> (f64, f64) {
    let values = cells.iter().flatten().flatten();
    let ends = |(low, high): (f64, f64), value: &f64| (low.min(*value), high.max(*value));
    match values.fold((f64::INFINITY, f64::NEG_INFINITY), ends) {
        (low, high) if low > high => (0.0, 0.0),
        ends => ends,
    }
}

/// Returns the means of squares of `size` by `size` cells, over the values that are there and finite.
fn merged(cells: &[Vec<Option<f64>>], size: usize) -> Vec<Vec<Option<f64>>> {
    let n = cells.len().div_ceil(size);
    let mean = |i: usize, j: usize| {
        let rows = cells.iter().skip(i * size).take(size);
        let values = rows.flat_map(|row| row.iter().skip(j * size).take(size));
        let (mut sum, mut count) = (0.0, 0.0);
        for value in values.flatten().filter(|value| value.is_finite()) {
            sum += value;
            count += 1.0;
        }
        (count > 0.0)
            .then(|| sum / count)
            .filter(|mean| mean.is_finite())
    };
    (0..n)
        .map(|i| (0..n).map(|j| mean(i, j)).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(cells: &[Vec<Option<f64>>], low_is_dark: bool) -> String {
        let svg = CellsChart {
            title: "test",
            label: "risk",
            cells,
            low_is_dark,
        }
        .svg();
        roxmltree::Document::parse(&svg).unwrap();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        svg
    }

    /// The paths of a chart by their opacity.
    fn paths(svg: &str) -> Vec<(String, String)> {
        let image = roxmltree::Document::parse(svg).unwrap();
        let paths = image.descendants().filter(|node| node.has_tag_name("path"));
        let of = |node: roxmltree::Node<'_, '_>, name| node.attribute(name).unwrap().to_owned();
        paths
            .map(|node| (of(node, "fill-opacity"), of(node, "d")))
            .collect()
    }

    #[test]
    fn a_value_has_its_place_and_shade() {
        let cells = [vec![Some(1.0), Some(3.0)], vec![None, Some(2.0)]];
        let svg = chart(&cells, false);
        // Cells of 64 pixels from (46, 56); the missing one is in no path.
        let square = |x: &str, y: &str| format!("M{x} {y}h64.0v64.0h-64.0z");
        let expected = |opacities: [&str; 3]| {
            let squares = [
                square("46.0", "56.0"),
                square("110.0", "120.0"),
                square("110.0", "56.0"),
            ];
            opacities
                .map(str::to_owned)
                .into_iter()
                .zip(squares)
                .collect::<Vec<_>>()
        };
        assert_eq!(paths(&svg), expected(["0.060", "0.330", "0.600"]));
        for text in [
            ">1.000<",
            ">3.000<",
            ">2.000<",
            ">lightest 1.000, darkest 3.000<",
        ] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        assert_eq!(svg.matches("class=\"small\"").count(), 3);
        let turned = chart(&cells, true);
        let mut found = paths(&turned);
        found.reverse();
        assert_eq!(found, expected(["0.600", "0.330", "0.060"]));
        assert!(turned.contains("lightest 3.000, darkest 1.000"));
    }

    #[test]
    fn values_are_written_up_to_twelve_rows() {
        let cells = |n: usize| vec![vec![Some(0.25); n]; n];
        assert_eq!(chart(&cells(8), false).matches(">0.250<").count(), 64);
        assert_eq!(chart(&cells(12), false).matches(">0.25<").count(), 144);
        assert!(!chart(&cells(13), false).contains("class=\"small\""));
    }

    /// Of 130 rows, a drawn cell is a square of 3 by 3, which a plain double loop averages.
    #[test]
    fn a_large_matrix_is_drawn_in_squares() {
        let n = 130;
        let cell = |i: usize, j: usize| match (i, j) {
            (i, j) if j > i + 1 => None,
            (4, 3) => Some(f64::NAN),
            (i, j) => Some((i * 7 + j * 3) as f64),
        };
        let cells: Vec<Vec<Option<f64>>> = (0..n)
            .map(|i| (0..n).map(|j| cell(i, j)).collect())
            .collect();
        assert_eq!(experiences_of_a_cell(n), 3);
        let found = merged(&cells, 3);
        assert_eq!(found.len(), 44);
        for (i, row) in found.iter().enumerate() {
            for (j, found) in row.iter().enumerate() {
                let mut values = Vec::new();
                for a in 3 * i..n.min(3 * i + 3) {
                    for b in 3 * j..n.min(3 * j + 3) {
                        values.extend(cell(a, b).filter(|of| of.is_finite()));
                    }
                }
                let sum: f64 = values.iter().sum();
                let expected = (!values.is_empty()).then(|| sum / values.len() as f64);
                assert_eq!(*found, expected, "{i}, {j}");
            }
        }
        let svg = chart(&cells, false);
        assert!(svg.len() < 60_000, "{} bytes", svg.len());
        assert_eq!(
            (experiences_of_a_cell(60), experiences_of_a_cell(61)),
            (1, 2)
        );
    }

    #[test]
    fn equal_extreme_and_no_values_are_drawn() {
        chart(&[], false);
        chart(&[vec![None]], false);
        assert_eq!(paths(&chart(&[vec![Some(2.0)]], false))[0].0, "0.330");
        chart(
            &[
                vec![Some(f64::MAX), Some(f64::MIN)],
                vec![Some(f64::NAN), None],
            ],
            true,
        );
    }
}
