//! Picture of the noise: a sample and its two views.

use std::fmt::Write;

use icl_report::chart::{Figure, Legend, frame};
use icl_report::text::escape;

/// Side of a field.
const CELL: f64 = 10.0;
/// Space between two samples.
const GAP: f64 = 8.0;
/// Number of shades.
const SHADES: usize = 16;

/// A sample, and its two views under each of some kinds of noise.
#[derive(Debug, Clone, PartialEq)]
pub struct NoisePicture {
    /// Name of the data set.
    pub data: String,
    /// Values of the sample, from 0 to 1.
    pub sample: Vec<f64>,
    /// Number of values in a line of the picture.
    pub width: usize,
    /// Name and views of each kind of noise; values outside of 0 to 1 are drawn as 0 or 1.
    pub kinds: Vec<(String, [Vec<f64>; 2])>,
}

impl NoisePicture {
    /// Returns a panel for each kind of noise: the sample, its first and its second view.
    pub(crate) fn figure(&self) -> Figure {
        let of_kind = |(name, [first, second]): &(String, [Vec<f64>; 2])| {
            panel(name, &[&self.sample, first, second], self.width)
        };
        Figure::new(format!(
                "A row of {}, and its first and second view under each kind of noise. Partners, other rows, and \
                 λ are drawn for each view.",
                self.data
            ), Legend::default(), self.kinds.iter().map(of_kind).collect()).tiled()
    }
}

/// Draws samples next to each other, each a field of shades with `width` values in a line: from 0 (the colour of the page)
/// to 1 (that of the text); values beyond are cut. Fields of one shade share a path, which keeps the page small.
fn panel(title: &str, samples: &[&[f64]], width: usize) -> String {
    let mut paths = vec![String::new(); SHADES + 1];
    let mut content = String::new();
    let side = CELL * width as f64;
    let mut height = 0.0_f64;
    for (i, sample) in samples.iter().enumerate() {
        let left = i as f64 * (side + GAP);
        for (at, value) in sample.iter().enumerate() {
            let (row, column) = (at / width, at % width);
            let shade = (value.clamp(0.0, 1.0) * SHADES as f64).round() as usize;
            let (x, y) = (left + CELL * column as f64, CELL * row as f64);
            // Writing to a string does not fail.
            let _ = write!(paths[shade], "M{x} {y}h{CELL}v{CELL}h-{CELL}z");
        }
        let floor = CELL * sample.len().div_ceil(width) as f64;
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
    let n = samples.len() as f64;
    let size = (n * side + (n - 1.0).max(0.0) * GAP, height);
    let description = format!("Fields of shades: {} samples", samples.len());
    format!(
        "<figure class=\"panel\">{}<figcaption>{}</figcaption></figure>\n",
        frame("map", size, title, &description, &content),
        escape(title)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use icl_report::document::{Block, Document};

    #[test]
    fn every_kind_has_a_panel() {
        let views = || [vec![0.0; 4], vec![1.0; 4]];
        let picture = NoisePicture {
            data: "digits".to_owned(),
            sample: vec![0.5; 4],
            width: 2,
            kinds: vec![("linear".to_owned(), views()), ("auto".to_owned(), views())],
        };
        let figure = Block::Figure(picture.figure());
        let html = Document::new("", String::new(), vec![figure]).html();
        for words in [
            "A row of digits",
            "linear</figcaption>",
            "auto</figcaption>",
        ] {
            assert!(html.contains(words), "{words}: {html}");
        }
    }

    #[test]
    fn a_value_has_its_place_and_shade() {
        let samples: [&[f64]; 2] = [&[0.0, 1.0, 0.5, 7.0], &[0.0, 0.0, 0.0, 0.25]];
        let svg = panel("a & b", &samples, 2);
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
