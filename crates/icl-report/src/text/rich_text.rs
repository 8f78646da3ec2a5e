//! Text with superscripts, for every format.

use crate::text::escape::{escape, printable};

/// Plain text with superscripts. Only words of this crate can hold superscripts: names that come
/// from records keep every character.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RichText {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Plain(String),
    Superscript(&'static str),
}

impl RichText {
    /// Reads text in which `^{…}` marks a superscript, as in `L^{II}`.
    pub(crate) fn marked(text: &'static str) -> Self {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, marked)) = rest.split_once("^{") {
            let (superscript, after) = marked.split_once('}').unwrap_or((marked, ""));
            pieces.push(Piece::Plain(before.to_owned()));
            pieces.push(Piece::Superscript(superscript));
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Plain(rest.to_owned()));
        }
        Self { pieces }
    }

    /// Returns whether there is no text.
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Writes each piece by one of two functions.
    pub(crate) fn write(
        &self,
        plain: impl Fn(&str) -> String,
        superscript: impl Fn(&str) -> String,
    ) -> String {
        let write = |piece: &Piece| match piece {
            Piece::Plain(text) => plain(text),
            Piece::Superscript(text) => superscript(text),
        };
        self.pieces.iter().map(write).collect()
    }

    /// Returns the text for a terminal, with `L^II` for a superscript.
    pub(crate) fn plain(&self) -> String {
        self.write(printable, |text| format!("^{text}"))
    }

    /// Returns the text as HTML.
    pub(crate) fn html(&self) -> String {
        self.write(escape, |text| format!("<sup>{}</sup>", escape(text)))
    }

    /// Returns the text as the content of an SVG text element.
    pub(crate) fn svg(&self) -> String {
        // `dy` needs a character to act on: one without a width brings the text after it back to the line.
        self.write(escape, |text| {
            format!(
                "<tspan dy=\"-4\">{}</tspan><tspan dy=\"4\">\u{200b}</tspan>",
                escape(text)
            )
        })
    }
}

impl From<String> for RichText {
    fn from(text: String) -> Self {
        let pieces = match text.as_str() {
            "" => Vec::new(),
            _ => vec![Piece::Plain(text)],
        };
        Self { pieces }
    }
}

impl From<&str> for RichText {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_superscripts_and_names_stay_as_they_are() {
        let marked = RichText::marked("L^{I,X} + L^{II} <");
        assert_eq!(marked.html(), "L<sup>I,X</sup> + L<sup>II</sup> &lt;");
        assert_eq!(marked.plain(), "L^I,X + L^II <");
        roxmltree::Document::parse(&format!("<text>{}</text>", marked.svg())).unwrap();
        let name = RichText::from("a^{b}");
        assert_eq!(name.html(), "a^{b}");
        assert!(RichText::from("").is_empty() && RichText::marked("").is_empty());
    }
}
