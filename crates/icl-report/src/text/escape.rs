//! Text that is safe inside HTML, SVG and a terminal.

/// Replaces everything that has a meaning in HTML by an entity.
pub fn escape(text: &str) -> String {
    printable(text)
        .chars()
        .fold(String::with_capacity(text.len()), |mut escaped, c| {
            match c {
                '&' => escaped.push_str("&amp;"),
                '<' => escaped.push_str("&lt;"),
                '>' => escaped.push_str("&gt;"),
                '"' => escaped.push_str("&quot;"),
                '\'' => escaped.push_str("&#39;"),
                c => escaped.push(c),
            }
            escaped
        })
}

/// Replaces control characters, which XML forbids and terminals obey.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| {
            if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') {
                char::REPLACEMENT_CHARACTER
            } else {
                c
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_keeps_a_meaning() {
        assert_eq!(
            escape("<script a='1' b=\"2\">&\u{1b}[0m"),
            "&lt;script a=&#39;1&#39; b=&quot;2&quot;&gt;&amp;\u{fffd}[0m"
        );
        assert_eq!(escape("MUTAG θ₀"), "MUTAG θ₀");
    }
}
