//! The frame of every chart.

use crate::text::escape::escape;

/// Width of a chart. A page of 400 pixels shows it at 0.95 to 1 of its size, and its letters of 13 with 12 or more.
pub const WIDTH: f64 = 340.0;
/// Height of a line of letters.
pub(super) const LINE: f64 = 12.0;

/// Draws a chart around its content: an image of this size that scales with the page, with a title
/// and a description for readers who cannot see it.
pub fn frame(
    class: &str,
    (width, height): (f64, f64),
    title: &str,
    description: &str,
    content: &str,
) -> String {
    format!(
        "<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{}</title>\
         <desc>{}</desc>\n{content}</svg>\n",
        escape(title),
        escape(description),
    )
}

/// Joins the different names of a chart's series for its description.
pub fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut different: Vec<&str> = Vec::new();
    for name in names {
        if !different.contains(&name) {
            different.push(name);
        }
    }
    different.join(", ")
}

/// Returns an estimate of the width of a label, rather too large than too small.
pub(super) fn width(label: &str) -> f64 {
    7.2 * label.chars().count() as f64
}

/// Draws a circle as a part of a path.
pub(super) fn circle((x, y): (f64, f64), r: f64) -> String {
    let d = 2.0 * r;
    format!(
        "M{:.1} {y:.1}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0",
        x - r
    )
}

/// Cuts a name that does not fit next to its row.
pub(crate) fn shortened(name: &str) -> String {
    const LONGEST: usize = 24;
    if name.chars().count() <= LONGEST {
        return name.to_owned();
    }
    name.chars().take(LONGEST - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut() {
        let longest = "icl-published-wo-m-lrl";
        assert_eq!(shortened(longest), longest);
        assert_eq!(shortened(&"x".repeat(30)).chars().count(), 24);
    }

    #[test]
    fn a_chart_has_a_title_and_a_description() {
        let svg = frame(
            "chart",
            (10.0, 20.0),
            "a <b>",
            &listed(["x", "y", "x"].into_iter()),
            "",
        );
        let image = roxmltree::Document::parse(&svg).unwrap();
        let text = |name: &str| {
            let node = image.descendants().find(|node| node.has_tag_name(name));
            node.and_then(|node| node.text()).unwrap().to_owned()
        };
        assert_eq!(
            (text("title"), text("desc")),
            ("a <b>".into(), "x, y".into())
        );
    }
}
