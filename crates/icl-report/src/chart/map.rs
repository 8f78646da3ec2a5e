//! The embeddings in two dimensions.

use crate::chart::palette::{N_COLOURS, colour, swatch};
use crate::document::html::escape;

const SIDE: f64 = 260.0;
const MARGIN: f64 = 10.0;
const RADIUS: f64 = 2.6;
/// About how many points a panel shows at most.
const MOST_POINTS: usize = 2000;
/// The fractional part of the golden ratio: its multiples, modulo 1, fill the unit interval evenly
/// and without a period that labels could share.
const GOLDEN: f64 = 0.618_033_988_749_894_9;
/// How many classes the legend names at most.
const MOST_CLASSES: usize = 16;

/// One panel of the map: an encoder's embeddings.
pub(crate) struct MapPanel<'a> {
    /// Which encoder's.
    pub(crate) title: &'a str,
    /// One point a sample.
    pub(crate) points: &'a [[f64; 2]],
    /// The class of each sample.
    pub(crate) labels: &'a [usize],
    /// Whether each sample is new.
    pub(crate) is_new: &'a [bool],
}

impl MapPanel<'_> {
    /// The panel as SVG: filled points are old data, hollow ones new. One path a class and kind
    /// keeps the page small.
    pub(crate) fn svg(&self) -> String {
        let place = Square::around(self.points);
        let share = MOST_POINTS as f64 / self.points.len() as f64;
        let mut paths = [const { (String::new(), String::new()) }; N_COLOURS];
        let samples = self.points.iter().zip(self.labels).zip(self.is_new);
        for (i, ((point, label), is_new)) in samples.enumerate() {
            let Some((x, y)) = place.of(*point) else {
                continue;
            };
            if (i as f64 * GOLDEN).fract() >= share {
                continue;
            }
            let (filled, hollow) = &mut paths[label % N_COLOURS];
            let path = if *is_new { hollow } else { filled };
            path.push_str(&circle(x, y));
        }
        let paths: String = paths
            .iter()
            .enumerate()
            .map(|(i, (filled, hollow))| {
                path(filled, "filled", &colour(i)) + &path(hollow, "hollow", &colour(i))
            })
            .collect();
        format!(
            "<figure class=\"panel\"><svg class=\"map\" viewBox=\"0 0 {SIDE} {SIDE}\" role=\"img\" \
             aria-label=\"Embeddings: {0}\">\n{paths}</svg><figcaption>{0}</figcaption></figure>\n",
            escape(self.title)
        )
    }

    /// Whether only a part of the points is shown.
    pub(crate) fn is_thinned(&self) -> bool {
        self.points.len() > MOST_POINTS
    }
}

/// The legend of these labels' classes and of old and new.
pub(crate) fn legend(labels: &[usize]) -> String {
    let mut classes = labels.to_vec();
    classes.sort_unstable();
    classes.dedup();
    let entries: String = classes
        .iter()
        .take(MOST_CLASSES)
        .map(|&class| format!("<li>{}class {class}</li>", swatch(&colour(class))))
        .collect();
    let more = if classes.len() > MOST_CLASSES {
        format!("<li>and {} more</li>", classes.len() - MOST_CLASSES)
    } else {
        String::new()
    };
    let kind = |class: &str, name: &str| {
        format!(
            "<li><svg class=\"swatch\" viewBox=\"0 0 12 12\" aria-hidden=\"true\">\
             <circle class=\"{class}\" cx=\"6\" cy=\"6\" r=\"4\"/></svg>{name}</li>"
        )
    };
    let repeats = if classes.iter().any(|class| *class >= N_COLOURS) {
        "<li>(colours repeat)</li>"
    } else {
        ""
    };
    format!(
        "<ul class=\"legend\">{entries}{more}{repeats}{}{}</ul>\n",
        kind("filled", "old"),
        kind("hollow", "new")
    )
}

/// A square of the plane that holds all points, so that both axes have the same scale.
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
        let half = (x.1 - x.0).max(y.1 - y.0) / 2.0;
        Self {
            centre: [(x.0 + x.1) / 2.0, (y.0 + y.1) / 2.0],
            half: if half > 0.0 { half } else { 1.0 },
        }
    }

    /// The pixel of a point; `None` if it is not finite.
    fn of(&self, point: [f64; 2]) -> Option<(f64, f64)> {
        let scale = (SIDE / 2.0 - MARGIN) / self.half;
        let x = SIDE / 2.0 + (point[0] - self.centre[0]) * scale;
        let y = SIDE / 2.0 - (point[1] - self.centre[1]) * scale;
        (x.is_finite() && y.is_finite()).then_some((x, y))
    }
}

fn circle(x: f64, y: f64) -> String {
    let (r, d) = (RADIUS, 2.0 * RADIUS);
    format!(
        "M{:.1} {y:.1}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0",
        x - r
    )
}

fn path(d: &str, kind: &str, class: &str) -> String {
    if d.is_empty() {
        String::new()
    } else {
        format!("<path class=\"{kind} {class}\" d=\"{d}\"/>\n")
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
    fn many_points_are_thinned_and_many_classes_named_in_part() {
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
        let legend = legend(&labels);
        assert!(legend.contains("and 4 more") && legend.contains("colours repeat"));
        roxmltree::Document::parse(&legend).unwrap();
    }
}
