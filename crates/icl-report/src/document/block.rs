//! Content of a document, without a format.

use crate::chart::Figure;
use crate::document::table::Table;
use crate::text::rich_text::RichText;

/// Page of results that can be written as HTML, as Markdown and for a terminal.
///
/// All formats come from the same blocks, so they cannot differ in a number. Charts are in HTML only.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    pub(crate) title: RichText,
    pub(crate) facts: String,
    pub(crate) blocks: Vec<Block>,
    /// Command that made its numbers.
    pub(crate) made_by: Option<String>,
}

/// Piece of a document.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Answer of the page in one sentence.
    Headline(RichText),
    /// Heading of a section.
    Heading(RichText),
    /// Heading of a part of a section.
    Subheading(RichText),
    /// Paragraph.
    Text(RichText),
    /// Paragraph that must not be missed.
    Warning(RichText),
    /// Terms with a sentence on each.
    List(Vec<(RichText, RichText)>),
    /// Table.
    Table(Table),
    /// Charts, which only HTML shows.
    Figure(Figure),
    /// Section that is folded in HTML and left out on a terminal unless everything is requested.
    Details(RichText, Vec<Block>),
    /// Explanation of the terms on the page, folded in HTML and left out on a terminal.
    Guide(Vec<(RichText, RichText)>),
}

/// Heading of a guide.
pub(crate) const GUIDE: &str = "How to read this page";

impl Document {
    /// Creates a document with a title and a line of facts on where its numbers come from.
    pub fn new(title: impl Into<RichText>, facts: String, blocks: Vec<Block>) -> Self {
        Self {
            title: title.into(),
            facts,
            blocks,
            made_by: None,
        }
    }

    /// Adds a last line on the command that made its numbers, if it is known.
    #[must_use]
    pub(crate) fn made_by(mut self, made_by: Option<String>) -> Self {
        self.made_by = made_by;
        self
    }
}

impl Block {
    /// Creates a paragraph.
    pub fn text(text: impl Into<RichText>) -> Self {
        Self::Text(text.into())
    }

    /// Creates a heading.
    pub fn heading(text: impl Into<RichText>) -> Self {
        Self::Heading(text.into())
    }

    /// Creates a guide from terms and sentences in which `^{…}` marks a superscript.
    pub(crate) fn guide(terms: &[(&'static str, &'static str)]) -> Self {
        let marked = |(term, text): &(&'static str, &'static str)| {
            (RichText::marked(term), RichText::marked(text))
        };
        Self::Guide(terms.iter().map(marked).collect())
    }
}
