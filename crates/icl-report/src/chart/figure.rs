//! Charts next to each other under one legend.

use crate::chart::legend::Legend;
use crate::text::rich_text::RichText;

/// Charts with a caption and a legend that they share. Only HTML shows figures. Two or three charts are in a row where
/// there is space.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    caption: RichText,
    pub(crate) legend: Legend,
    pub(crate) charts: Vec<String>,
    is_tiled: bool,
}

impl Figure {
    /// Creates a figure from instructions to read its charts, their legend, and the charts as SVG.
    pub fn new(caption: impl Into<RichText>, legend: Legend, charts: Vec<String>) -> Self {
        Self {
            caption: caption.into(),
            legend,
            charts,
            is_tiled: false,
        }
    }

    /// Arranges the charts as many small squares.
    pub fn tiled(self) -> Self {
        Self {
            is_tiled: true,
            ..self
        }
    }

    /// Returns whether the legend has a folded group, which the page's script opens.
    pub(crate) fn is_folded(&self) -> bool {
        self.legend.folded.is_some()
    }

    /// Returns the figure as HTML.
    pub(crate) fn html(&self) -> String {
        let class = match self.charts.len() {
            _ if self.is_tiled => "tiles",
            1 => "single",
            3 => "triples",
            _ => "pairs",
        };
        let caption = match self.caption.is_empty() {
            true => String::new(),
            false => format!("<figcaption>{}</figcaption>\n", self.caption.html()),
        };
        let legend = match self.legend == Legend::default() {
            true => String::new(),
            false => self.legend.html(),
        };
        format!(
            "<figure>\n{caption}{legend}<div class=\"charts {class}\">\n{}</div>\n</figure>\n",
            self.charts.concat()
        )
    }
}
