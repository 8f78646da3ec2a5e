//! Picture of the noise: a sample and its two views.

use crate::chart::{Figure, Layout, Legend, ShadesPanel};

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
        let panel = |(name, [first, second]): &(String, [Vec<f64>; 2])| {
            let samples = [&self.sample[..], &first[..], &second[..]];
            let (title, width) = (name, self.width);
            ShadesPanel {
                title,
                samples: &samples,
                width,
            }
            .svg()
        };
        Figure {
            caption: format!(
                "A row of {}, and its first and second view under each kind of noise. Partners, other rows, and \
                 λ are drawn for each view.",
                self.data
            )
            .into(),
            legend: Legend::default(),
            charts: self.kinds.iter().map(panel).collect(),
            layout: Layout::Tiles,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_panel() {
        let views = || [vec![0.0; 4], vec![1.0; 4]];
        let picture = NoisePicture {
            data: "digits".to_owned(),
            sample: vec![0.5; 4],
            width: 2,
            kinds: vec![("linear".to_owned(), views()), ("auto".to_owned(), views())],
        };
        let html = picture.figure().html();
        for words in [
            "A row of digits",
            "linear</figcaption>",
            "auto</figcaption>",
        ] {
            assert!(html.contains(words), "{words}: {html}");
        }
    }
}
