//! Lines that fit a terminal.

use unicode_width::UnicodeWidthStr;

/// Returns the number of terminal columns that a text takes.
pub(crate) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Breaks a text into lines of at most `limit` columns: between words, and inside a word only where
/// it is longer than a line. A `limit` below 2 counts as 2, the width of the widest character.
pub(crate) fn wrap(text: &str, limit: usize) -> Vec<String> {
    let limit = limit.max(2);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let mut pieces = pieces(word, limit).into_iter();
        let first = pieces.next().unwrap_or_default();
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(&first) <= limit => {
                line.push(' ');
                line.push_str(&first);
            }
            _ => lines.push(first),
        }
        lines.extend(pieces);
    }
    lines
}

/// Splits a word into pieces of at most `limit` columns.
fn pieces(word: &str, limit: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for c in word.chars() {
        // A character may change the width of the one before it.
        let longer = pieces.last().map(|piece| format!("{piece}{c}"));
        match (longer, pieces.last_mut()) {
            (Some(longer), Some(piece)) if width(&longer) <= limit => *piece = longer,
            _ => pieces.push(c.to_string()),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("one two three", 80), ["one two three"]);
        assert!(wrap("  ", 8).is_empty());
    }

    #[test]
    fn long_words_and_wide_characters_fit() {
        assert_eq!(wrap("a abcdefgh b", 4), ["a", "abcd", "efgh", "b"]);
        assert_eq!(width("数据"), 4);
        for line in wrap(
            "数据集数据集 naïve 🦀🦀🦀🦀 ❤\u{fe0f}❤\u{fe0f}❤\u{fe0f}❤\u{fe0f}",
            5,
        ) {
            assert!(width(&line) <= 5, "{line}");
        }
    }
}
