//! Text of a file in a message: on one line, without control characters, and not too long.

use std::fmt;

/// Returns a text with control characters escaped, except for line breaks. Characters that change the direction of
/// writing are escaped, too: they could make a message look like another one.
pub fn legible(text: &str) -> String {
    let mut legible = String::with_capacity(text.len());
    for c in text.chars() {
        let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        match c.is_control() && c != '\n' || turns {
            true => legible.extend(c.escape_default()),
            false => legible.push(c),
        }
    }
    legible
}

/// Returns a text on one line: a space for each run of white space, and other control characters escaped.
pub fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    legible(&words.join(" "))
}

/// The beginning of a text that was found where something else was expected.
///
/// Prints between quotes, with control characters escaped; empty text prints as `nothing`. Text is
/// cut after 40 characters, because a damaged file may be a single long line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found(Box<str>);

impl Found {
    /// Number of characters that are kept.
    pub const MAX_CHARS: usize = 40;

    /// Keeps the beginning of `text`.
    pub fn new(text: &str) -> Self {
        let mut kept: String = text.chars().take(Self::MAX_CHARS).collect();
        if kept.len() < text.len() {
            kept.push('…');
        }
        Self(kept.into())
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            f.write_str("nothing")
        } else {
            write!(f, "{:?}", self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(
            legible("a\u{1b}[31m\tb\nc\u{9b}\u{202e}é\u{7f}\r"),
            "a\\u{1b}[31m\\tb\nc\\u{9b}\\u{202e}é\\u{7f}\\r"
        );
    }

    #[test]
    fn lines_are_joined() {
        assert_eq!(one_line("a\n  b\tc"), "a b c");
        assert_eq!(one_line(" ä\u{1b}[1m\r\n"), "ä\\u{1b}[1m");
    }
}
