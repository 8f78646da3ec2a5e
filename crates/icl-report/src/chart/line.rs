//! One line of a chart: its points, and how it is drawn between axes.

use crate::chart::colour::Colour;
use crate::chart::scale::Axis;
use crate::chart::svg::{WIDTH, circle};
use crate::text::escape::escape;

pub(super) const HEIGHT: f64 = 270.0;
pub(super) const LEFT: f64 = 54.0;
pub(super) const RIGHT: f64 = WIDTH - 12.0;
pub(super) const TOP: f64 = 30.0;
pub(super) const FLOOR: f64 = HEIGHT - 46.0;

/// A line of a chart: points of one series, from left to right.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub(super) series: String,
    label: String,
    pub(super) colour: Colour,
    is_dashed: bool,
    pub(super) points: Vec<(f64, f64)>,
    marks: Vec<(f64, f64)>,
    mark_name: &'static str,
}

impl Line {
    /// Creates a line of a series through points from left to right, without those that are not finite.
    pub fn new(series: impl Into<String>, colour: Colour, points: Vec<(f64, f64)>) -> Self {
        let series = series.into();
        Self {
            label: series.clone(),
            series,
            colour,
            is_dashed: false,
            points,
            marks: Vec::new(),
            mark_name: "",
        }
    }

    /// Sets the name that is shown while the pointer rests on the line.
    pub fn labelled(self, label: String) -> Self {
        Self { label, ..self }
    }

    /// Draws the line dashed: its values do not mean what those of a solid line mean.
    pub(crate) fn dashed(self) -> Self {
        Self {
            is_dashed: true,
            ..self
        }
    }

    /// Marks points with a ring that has a name.
    pub(crate) fn marked(self, mark_name: &'static str, marks: Vec<(f64, f64)>) -> Self {
        Self {
            marks,
            mark_name,
            ..self
        }
    }

    /// Returns the name of the line's series.
    pub(crate) fn series(&self) -> &str {
        &self.series
    }
}

/// Places of a chart's points.
pub(super) struct Axes {
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) is_counted: bool,
    pub(super) radius: f64,
}

impl Axes {
    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x.at(x), self.y.at(y))
    }

    /// Returns the points that have a place.
    fn finite(&self, points: &[(f64, f64)]) -> impl Iterator<Item = (f64, f64)> {
        let has_place = |(x, y): &(f64, f64)| self.x.has_place(*x) && self.y.has_place(*y);
        points.iter().copied().filter(has_place)
    }

    /// Draws the pieces of a line, and a dot for each point without a neighbour.
    pub(super) fn line(&self, line: &Line) -> String {
        let finite: Vec<(f64, f64)> = self.finite(&line.points).collect();
        let is_level = self.x.cut().is_some() && finite.iter().all(|point| point.0 <= 0.0);
        if let Some(first) = finite.first().filter(|_| is_level) {
            let height = self.y.at(first.1);
            let path = path_through(&[(LEFT, height), (RIGHT, height)]);
            return piece("curve level", line, &path, "");
        }
        let (mut path, mut dots) = (String::new(), String::new());
        // Numbers that are counted differ by 1: a larger step is a missing number, at which the line is broken.
        let is_joined =
            |before: &(f64, f64), at: &(f64, f64)| !self.is_counted || at.0 - before.0 < 1.5;
        for piece in finite.chunk_by(is_joined) {
            if let [alone] = piece {
                dots += &circle(self.place(*alone), self.radius);
                continue;
            }
            let places = piece.iter().flat_map(|&point| {
                let place = self.place(point);
                // What was measured before the first step stays level through the place for 0.
                let cut = self.x.cut().filter(|_| point.0 <= 0.0);
                std::iter::once(place).chain(cut.map(|cut| (cut, place.1)))
            });
            path += &path_through(&places.collect::<Vec<_>>());
        }
        let class = match line.is_dashed {
            true => "curve dashed",
            false => "curve",
        };
        piece(class, line, &path, "") + &piece("dot", line, &dots, "")
    }

    /// Draws the rings of a line.
    pub(super) fn marks(&self, line: &Line) -> String {
        let rings: String = self
            .finite(&line.marks)
            .map(|at| circle(self.place(at), self.radius))
            .collect();
        piece("mark", line, &rings, line.mark_name)
    }
}

/// Draws a part of a line, with what it is called while the pointer rests on it; nothing if it is empty.
fn piece(class: &str, line: &Line, d: &str, name: &str) -> String {
    if d.is_empty() {
        return String::new();
    }
    let colon = if name.is_empty() { "" } else { ": " };
    format!(
        "<path class=\"{class} {}\" data-series=\"{}\" d=\"{d}\"><title>{}{colon}{name}</title></path>\n",
        line.colour.class(),
        escape(&line.series),
        escape(&line.label),
    )
}

/// Joins places by a path.
fn path_through(places: &[(f64, f64)]) -> String {
    let letters = std::iter::once('M').chain(std::iter::repeat('L'));
    let points = letters.zip(places);
    points
        .map(|(letter, (x, y))| format!("{letter}{x:.1} {y:.1}"))
        .collect()
}
