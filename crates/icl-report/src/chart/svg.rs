//! The frame of every chart.

use crate::text::escape::escape;

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

/// Cuts a name that does not fit beside its row.
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
