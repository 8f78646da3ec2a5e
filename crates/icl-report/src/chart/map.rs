//! Embeddings in two dimensions.

use crate::chart::colour::{Colour, N_COLOURS};
use crate::chart::legend::{Legend, Swatch};
use crate::chart::plane::{Mark, Plane};
use crate::text::escape::escape;
use crate::text::number::plural;

const SIDE: f64 = 260.0;
const MARGIN: f64 = 10.0;
/// Approximate maximum number of points in a panel.
const MOST_POINTS: usize = 2000;
/// Fractional part of the golden ratio. Its multiples, modulo 1, fill the unit interval evenly and
/// without a period that labels could share.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Panel of the map: the embeddings of one encoder.
pub(crate) struct MapPanel<'a> {
    /// Name of the encoder.
    pub(crate) title: &'a str,
    /// Points, one per sample.
    pub(crate) points: &'a [[f64; 2]],
    /// Class of each sample.
    pub(crate) labels: &'a [usize],
    /// Whether each sample is new.
    pub(crate) is_new: &'a [bool],
}

impl MapPanel<'_> {
    /// Draws the panel: filled points are old data, hollow ones new.
    pub(crate) fn svg(&self) -> String {
        let place = Square::around(self.points);
        let classes = classes(self.labels);
        let share = MOST_POINTS as f64 / self.points.len() as f64;
        let mut plane = Plane::default();
        let samples = self.points.iter().zip(self.labels).zip(self.is_new);
        for (i, ((point, label), is_new)) in samples.enumerate() {
            let Some(at) = place.of(*point) else {
                continue;
            };
            if (i as f64 * GOLDEN).fract() >= share {
                continue;
            }
            let rank = classes.partition_point(|class| class < label);
            let mark = if *is_new { Mark::Hollow } else { Mark::Filled };
            plane.dot(Colour::of_class(rank), mark, at);
        }
        let size = (SIDE, SIDE);
        let title = format!("Embeddings: {}", self.title);
        let description = plural(self.points.len(), "sample");
        format!(
            "<figure class=\"panel\">{}<figcaption>{}</figcaption></figure>\n",
            plane.svg("map", size, (&title, &description), ""),
            escape(self.title)
        )
    }

    /// Returns whether the panel shows a part of the points only.
    pub(crate) fn is_thinned(&self) -> bool {
        self.points.len() > MOST_POINTS
    }
}

/// Returns the legend of these labels' classes and of old and new data. Classes without a colour of
/// their own share one entry.
pub(crate) fn legend(labels: &[usize]) -> Legend {
    let classes = classes(labels);
    let coloured = classes.iter().enumerate().take(N_COLOURS);
    let mut entries: Vec<(Swatch, String)> = coloured
        .map(|(rank, class)| {
            let swatch = Swatch::Field(Colour::of_class(rank));
            (swatch, format!("class {class}"))
        })
        .collect();
    if let Some(rest) = classes.get(N_COLOURS..).filter(|rest| !rest.is_empty()) {
        let name = match rest {
            [class] => format!("class {class}"),
            rest => format!("{} further classes", rest.len()),
        };
        entries.push((Swatch::Field(Colour::Folded), name));
    }
    entries.extend([
        (Swatch::Filled, "old".to_owned()),
        (Swatch::Hollow, "new".to_owned()),
    ]);
    Legend {
        entries,
        folded: None,
    }
}

/// Returns the different classes in ascending order.
fn classes(labels: &[usize]) -> Vec<usize> {
    let mut classes = labels.to_vec();
    classes.sort_unstable();
    classes.dedup();
    classes
}

/// Square of the plane that holds all points, so that both axes have the same scale.
struct Square {
    centre: [f64; 2],
    half: f64,
}

impl Square {
    fn around(points: &[[f64; 2]]) -> Self {
        let range = |axis: usize| {
            points
                .iter()
                .map(|point| point[axis])
                .filter(|x| x.is_finite())
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
                    (low.min(x), high.max(x))
                })
        };
        let [x, y] = [range(0), range(1)];
        // Halves are subtracted, because the difference of two finite numbers may overflow.
        let half = (x.1 / 2.0 - x.0 / 2.0).max(y.1 / 2.0 - y.0 / 2.0);
        Self {
            centre: [x.0 / 2.0 + x.1 / 2.0, y.0 / 2.0 + y.1 / 2.0],
            half: if half > 0.0 { half } else { 1.0 },
        }
    }

    /// Returns the pixel of a point; `None` if it is not finite.
    fn of(&self, point: [f64; 2]) -> Option<(f64, f64)> {
        let scale = SIDE / 2.0 - MARGIN;
        let x = SIDE / 2.0 + (point[0] - self.centre[0]) / self.half * scale;
        let y = SIDE / 2.0 - (point[1] - self.centre[1]) / self.half * scale;
        (x.is_finite() && y.is_finite()).then_some((x, y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_is_filled_and_new_is_hollow() {
        let panel = MapPanel {
            title: "<before>",
            points: &[[0.0, 0.0], [1.0, 1.0], [2.0, f64::NAN]],
            labels: &[0, 1, 1],
            is_new: &[false, true, true],
        };
        let svg = panel.svg();
        assert!(
            svg.contains("class=\"filled colour-0\"") && svg.contains("class=\"hollow colour-1\"")
        );
        assert_eq!(svg.matches("<path").count(), 2);
        assert!(!svg.contains("NaN") && svg.contains("&lt;before&gt;"));
        roxmltree::Document::parse(&svg).unwrap();
    }

    #[test]
    fn the_corners_of_any_square_lie_inside() {
        for side in [f64::MIN_POSITIVE, 1e-300, 1.0, 1e300, f64::MAX] {
            let square = Square::around(&[[-side, -side], [side, side]]);
            let corner = square.of([side, -side]).unwrap();
            assert_eq!(corner, (SIDE - MARGIN, SIDE - MARGIN), "{side:e}");
        }
    }

    #[test]
    fn degenerate_maps_are_drawn() {
        for points in [vec![], vec![[3.0, 3.0]; 4]] {
            let panel = MapPanel {
                title: "all in one place",
                labels: &vec![0; points.len()],
                is_new: &vec![false; points.len()],
                points: &points,
            };
            assert!(!panel.svg().contains("NaN"));
        }
    }

    #[test]
    fn many_points_are_thinned_and_many_classes_share_the_grey() {
        let points = vec![[0.5, 0.5]; 5000];
        let labels: Vec<usize> = (0..5000).map(|i| i % 20).collect();
        let panel = MapPanel {
            title: "many",
            points: &points,
            labels: &labels,
            is_new: &vec![true; 5000],
        };
        assert!(panel.is_thinned());
        let n = panel.svg().matches('M').count();
        assert!(n.abs_diff(MOST_POINTS) <= 5, "{n} points");
        let names: Vec<String> = legend(&labels).entries.into_iter().map(|of| of.1).collect();
        assert_eq!(names.len(), N_COLOURS + 3);
        assert_eq!(names[N_COLOURS..], ["12 further classes", "old", "new"]);
    }
}
