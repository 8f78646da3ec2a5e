//! Charts beside each other under one legend.

use crate::chart::legend::Legend;
use crate::text::rich_text::RichText;

/// Arrangement of the charts of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One wide chart.
    Single,
    /// Two charts in a row where there is space.
    Pairs,
    /// Three charts in a row where there is space.
    Triples,
    /// Many small square charts.
    Tiles,
}

/// Charts with a caption and a legend that they share. Only HTML shows figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Instructions to read the charts.
    pub caption: RichText,
    /// Legend of all charts.
    pub legend: Legend,
    /// Charts as SVG.
    pub charts: Vec<String>,
    /// Arrangement.
    pub layout: Layout,
}

impl Figure {
    /// Returns whether the legend has a folded group, which the page's script opens.
    pub(crate) fn is_folded(&self) -> bool {
        self.legend.folded.is_some()
    }

    /// Returns the figure as HTML.
    pub(crate) fn html(&self) -> String {
        let class = match self.layout {
            Layout::Single => "single",
            Layout::Pairs => "pairs",
            Layout::Triples => "triples",
            Layout::Tiles => "tiles",
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
