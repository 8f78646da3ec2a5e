//! Samples as fields of shades.

use std::fmt::Write;

use crate::chart::svg::frame;
use crate::text::escape::escape;

/// Side of a field.
const CELL: f64 = 10.0;
/// Space between two samples.
const GAP: f64 = 8.0;
/// Number of shades.
const SHADES: usize = 16;

/// Panel of samples beside each other, each a field of shades.
pub(crate) struct ShadesPanel<'a> {
    /// Title.
    pub(crate) title: &'a str,
    /// Samples, row by row, from 0 (the colour of the page) to 1 (that of the text); values beyond are cut.
    pub(crate) samples: &'a [&'a [f64]],
    /// Number of values in a row.
    pub(crate) width: usize,
}

impl ShadesPanel<'_> {
    /// Draws the panel. Fields of one shade share a path, which keeps the page small.
    pub(crate) fn svg(&self) -> String {
        let mut paths = vec![String::new(); SHADES + 1];
        let mut content = String::new();
        let side = CELL * self.width as f64;
        let mut height = 0.0_f64;
        for (i, sample) in self.samples.iter().enumerate() {
            let left = i as f64 * (side + GAP);
            for (at, value) in sample.iter().enumerate() {
                let (row, column) = (at / self.width, at % self.width);
                let shade = (value.clamp(0.0, 1.0) * SHADES as f64).round() as usize;
                let (x, y) = (left + CELL * column as f64, CELL * row as f64);
                // Writing to a string does not fail.
                let _ = write!(paths[shade], "M{x} {y}h{CELL}v{CELL}h-{CELL}z");
            }
            let floor = CELL * sample.len().div_ceil(self.width) as f64;
            height = height.max(floor);
            let _ = write!(
                content,
                "<rect x=\"{left}\" y=\"0\" width=\"{side}\" height=\"{floor}\" fill=\"none\" \
                 stroke=\"currentColor\" stroke-opacity=\"0.4\"/>"
            );
        }
        for (shade, path) in paths.iter().enumerate().skip(1) {
            if !path.is_empty() {
                let opacity = shade as f64 / SHADES as f64;
                let _ = write!(
                    content,
                    "<path d=\"{path}\" fill=\"currentColor\" fill-opacity=\"{opacity}\"/>"
                );
            }
        }
        let n = self.samples.len() as f64;
        let size = (n * side + (n - 1.0).max(0.0) * GAP, height);
        let description = format!("Fields of shades: {} samples", self.samples.len());
        format!(
            "<figure class=\"panel\">{}<figcaption>{}</figcaption></figure>\n",
            frame("map", size, self.title, &description, &content),
            escape(self.title)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_its_place_and_shade() {
        let panel = ShadesPanel {
            title: "a & b",
            samples: &[&[0.0, 1.0, 0.5, 7.0], &[0.0, 0.0, 0.0, 0.25]],
            width: 2,
        };
        let svg = panel.svg();
        let image = roxmltree::Document::parse(&svg).unwrap();
        let paths: Vec<(&str, &str)> = image
            .descendants()
            .filter(|node| node.has_tag_name("path"))
            .map(|node| {
                let of = |name| node.attribute(name).unwrap();
                (of("fill-opacity"), of("d"))
            })
            .collect();
        assert_eq!(
            paths,
            [
                ("0.25", "M38 10h10v10h-10z"),
                ("0.5", "M0 10h10v10h-10z"),
                ("1", "M10 0h10v10h-10zM10 10h10v10h-10z"),
            ]
        );
        let image = image.descendants().find(|node| node.has_tag_name("svg"));
        assert_eq!(image.unwrap().attribute("viewBox"), Some("0 0 48 20"));
    }
}
