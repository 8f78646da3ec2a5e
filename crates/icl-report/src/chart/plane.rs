//! Marks in a plane: dots of samples, or shaded cells of a matrix.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::chart::colour::Colour;
use crate::chart::svg::{circle, frame};

/// Number of shades besides the lightest.
pub(super) const SHADES: u8 = 16;
/// Opacity of the lightest cell, which is not that of a cell that is missing.
const LIGHTEST: f64 = 0.06;
/// Opacity of the darkest cell, over which the text of a cell can be read in light and in dark.
const DARKEST: f64 = 0.6;
/// Radius of a dot.
const RADIUS: f64 = 2.6;

/// Kind of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    /// A dot.
    Filled,
    /// A ring.
    Hollow,
    /// A cell of a shade from 0 to [`SHADES`].
    Cell(u8),
}

/// Marks at their pixels. Those of one colour and kind share a path, which keeps the page small.
#[derive(Debug, Default)]
pub(super) struct Plane {
    paths: BTreeMap<(Colour, Mark), String>,
}

impl Plane {
    /// Adds a dot or a ring around a place.
    pub(super) fn dot(&mut self, colour: Colour, mark: Mark, at: (f64, f64)) {
        *self.paths.entry((colour, mark)).or_default() += &circle(at, RADIUS);
    }

    /// Adds a cell of this side at its upper left corner.
    pub(super) fn cell(&mut self, colour: Colour, shade: u8, (x, y): (f64, f64), side: f64) {
        let path = self.paths.entry((colour, Mark::Cell(shade))).or_default();
        // Writing to a string does not fail.
        let _ = write!(path, "M{x:.1} {y:.1}h{side:.1}v{side:.1}h-{side:.1}z");
    }

    /// Draws the marks in a frame of a class, a size, a title and a description, below what `above` draws.
    pub(super) fn svg(
        &self,
        class: &str,
        size: (f64, f64),
        (title, description): (&str, &str),
        above: &str,
    ) -> String {
        let path = |((colour, mark), d): (&(Colour, Mark), &String)| {
            let colour = colour.class();
            let style = match mark {
                Mark::Filled => format!("class=\"filled {colour}\""),
                Mark::Hollow => format!("class=\"hollow {colour}\""),
                Mark::Cell(shade) => format!(
                    "class=\"{colour}\" fill=\"currentColor\" fill-opacity=\"{:.3}\"",
                    LIGHTEST + (DARKEST - LIGHTEST) * f64::from(*shade) / f64::from(SHADES)
                ),
            };
            format!("<path {style} d=\"{d}\"/>\n")
        };
        let paths: String = self.paths.iter().map(path).collect();
        frame(class, size, title, description, &(paths + above))
    }
}
