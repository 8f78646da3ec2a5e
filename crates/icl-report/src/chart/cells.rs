//! A matrix as a field of shaded cells.

use std::fmt::Write;

use crate::chart::colour::Colour;
use crate::chart::plane::{Plane, SHADES};
use crate::chart::scale::counted;
use crate::chart::svg::width;
use crate::text::escape::escape;
use crate::text::number::rounded;

const WIDTH: f64 = 520.0;
/// Smallest space at the left, for the names of the rows.
const LEFT: f64 = 46.0;
const RIGHT: f64 = 14.0;
/// Smallest space at the top, for the names of the axes and of the columns.
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
/// Largest number of letters of a label.
const LONGEST: usize = 12;
/// Sine of the angle of 35 degrees by which labels are turned that do not fit above their columns.
const SLOPE: f64 = 0.574;

/// Square matrix over experiences: row i is the encoder after experience i, column j are samples of experience j.
pub(crate) struct CellsChart<'a> {
    /// Title, for readers who cannot see the chart.
    pub(crate) title: &'a str,
    /// Name of the quantity.
    pub(crate) label: &'a str,
    /// Names of the experiences `[T]`.
    pub(crate) names: &'a [String],
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
        let labels = self.ticks();
        let widest = labels
            .iter()
            .map(|(_, label)| width(label))
            .fold(0.0, f64::max);
        let left = LEFT.max(widest + 14.0);
        let side = ((WIDTH - left - RIGHT) / n as f64).min(LARGEST);
        let step = side / size as f64;
        let distance = labels
            .get(..2)
            .map_or(side, |of| step * (of[1].0 - of[0].0));
        let is_turned = widest + 4.0 > distance.max(side);
        let top = if is_turned { TOP + SLOPE * widest } else { TOP };
        let (low, high) = range(&cells);
        let (mut plane, mut above) = (Plane::default(), String::new());
        for (i, row) in cells.iter().enumerate() {
            for (j, cell) in row.iter().enumerate() {
                let Some(value) = *cell else { continue };
                let (x, y) = (left + side * j as f64, top + side * i as f64);
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
            "<rect class=\"axis\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{extent:.1}\" height=\"{extent:.1}\"/>\n"
        );
        let corner = (left, top);
        above.extend(
            labels
                .iter()
                .map(|(at, label)| tick(corner, step * (at - 0.5), label, is_turned)),
        );
        above += &self.axis_names(left, (low, high), top + extent);
        let count = self.cells.len();
        let description = format!(
            "{} of {count} by {count} cells, {}.",
            self.label,
            self.ends((low, high))
        );
        let whole = (WIDTH, top + extent + BOTTOM);
        plane.svg("chart matrix", whole, (self.title, &description), &above)
    }

    /// Returns the shade of a value, from 0 to [`SHADES`].
    fn shade(&self, value: f64, low: f64, high: f64) -> u8 {
        // Halves are subtracted, because the difference of two finite numbers may overflow.
        let share = (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
        // Where all values are equal, the share is 0/0: they get the middle shade.
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

    /// Returns the experiences that are labelled, counted from 1, with their names.
    fn ticks(&self) -> Vec<(f64, String)> {
        let name = |at: f64| {
            let name = self.names.get(at as usize - 1).map_or("", String::as_str);
            match name.chars().count() > LONGEST {
                true => name.chars().take(LONGEST - 1).chain(['…']).collect(),
                false => name.to_owned(),
            }
        };
        let labelled = counted(self.cells.len(), MOST_TICKS);
        labelled.map(|at| (at, name(at))).collect()
    }

    /// Writes the names of the axes, and the values of the shades.
    fn axis_names(&self, left: f64, range: (f64, f64), floor: f64) -> String {
        format!(
            "<text class=\"label\" x=\"{left:.1}\" y=\"34\">held-out samples of experience</text>\n\
             <text class=\"label\" x=\"8\" y=\"16\">{}: row = encoder after experience</text>\n\
             <text class=\"tick\" x=\"{left:.1}\" y=\"{:.1}\">{}</text>\n",
            self.label,
            floor + 20.0,
            self.ends(range),
        )
    }
}

/// Writes the name of an experience above its column and at the left of its row, `at` pixels from the corner.
fn tick((left, top): (f64, f64), at: f64, name: &str, is_turned: bool) -> String {
    let (x, y, name) = (left + at, top - 7.0, escape(name));
    let column = match is_turned {
        true => format!("transform=\"rotate(-35 {x:.1} {y:.1})\""),
        false => "text-anchor=\"middle\"".to_owned(),
    };
    format!(
        "<text class=\"tick\" x=\"{x:.1}\" y=\"{y:.1}\" {column}>{name}</text>\
         <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>\n",
        left - 7.0,
        top + at + 4.0,
    )
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
        let names: Vec<String> = (1..=cells.len()).map(|i| i.to_string()).collect();
        named(&names, cells, low_is_dark)
    }

    fn named(names: &[String], cells: &[Vec<Option<f64>>], low_is_dark: bool) -> String {
        let svg = CellsChart {
            title: "test",
            label: "risk",
            names,
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
    fn rows_and_columns_have_the_names_of_the_experiences() {
        let cells = vec![vec![Some(0.25); 3]; 3];
        let names = |of: [&str; 3]| of.map(str::to_owned);
        let short = named(&names(["Mon", "Tue", "<W>"]), &cells, false);
        for name in [">Mon<", ">Tue<", ">&lt;W&gt;<"] {
            assert_eq!(short.matches(name).count(), 2, "{short}");
        }
        assert!(!short.contains("rotate"));
        let long = named(
            &names(["2026-01-01", "2026-01-02", "a very long name"]),
            &cells,
            false,
        );
        assert_eq!(long.matches("rotate(-35").count(), 3);
        assert_eq!(long.matches(">a very long…<").count(), 2);
        // Of many, some are named.
        let cells = vec![vec![Some(0.25); 40]; 40];
        let days: Vec<String> = (1..=40).map(|i| format!("day {i}")).collect();
        let many = named(&days, &cells, false);
        assert!(many.contains(">day 40<") && !many.contains(">day 39<"));
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
