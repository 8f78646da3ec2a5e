//! The nesting of brackets in a TOML file, which is limited before the file is parsed: the parser's own limit does not hold
//! after an error, and a deep file would overflow the stack.

/// Largest depth. Options are values and lists of values.
const MOST: usize = 16;

/// Part of a file that a byte is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Structure,
    Comment,
    /// String that ends with these quotes; in `"` and `"""`, a backslash escapes the next byte.
    Text(&'static str),
}

/// Returns the byte of the first bracket that is nested too deep, outside texts and comments; `None` if there is none.
pub fn too_deep(text: &str) -> Option<usize> {
    let (mut within, mut depth, mut at) = (Within::Structure, 0_usize, 0);
    let bytes = text.as_bytes();
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        let mut n_read = 1;
        match within {
            Within::Comment if byte == b'\n' => within = Within::Structure,
            Within::Comment => {}
            Within::Text(quotes) => {
                let is_one_line = quotes.len() == 1;
                if byte == b'\\' && quotes.starts_with('"') {
                    n_read = 2;
                } else if rest.starts_with(quotes.as_bytes()) {
                    n_read = quotes.len();
                    within = Within::Structure;
                } else if is_one_line && byte == b'\n' {
                    within = Within::Structure;
                }
            }
            Within::Structure => match byte {
                b'#' => within = Within::Comment,
                b'"' | b'\'' => {
                    let quotes = ["\"\"\"", "'''", "\"", "'"];
                    let quotes = quotes
                        .into_iter()
                        .find(|it| rest.starts_with(it.as_bytes()));
                    if let Some(quotes) = quotes {
                        n_read = quotes.len();
                        within = Within::Text(quotes);
                    }
                }
                b'[' | b'{' => {
                    depth += 1;
                    if depth > MOST {
                        return Some(at);
                    }
                }
                b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            },
        }
        at += n_read;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_are_counted_outside_texts_and_comments() {
        for text in [
            "method = [\"warm\", \"icl\"]\n".repeat(1000),
            format!("a = \"{}\"", "[".repeat(100)),
            format!(
                "a = '{}\\' # it's {}\nb = 1",
                "{".repeat(100),
                "[".repeat(100)
            ),
            format!("a = \"\"\"\n\\\"\"\" {}\"\"\"", "[".repeat(100)),
            format!("a = '''\n{}'''", "[".repeat(100)),
            format!("{}{}", "[".repeat(16), "]".repeat(16)),
            String::new(),
            "\"".to_owned(),
            "\\".to_owned(),
        ] {
            assert_eq!(too_deep(&text), None, "{text}");
        }
    }

    #[test]
    fn the_first_that_is_too_deep_is_found() {
        assert_eq!(too_deep(&"[".repeat(40)), Some(16));
        let text = "method ={ [\"warm\"]\n".repeat(13_000);
        assert_eq!(too_deep(&text), Some(15 * 19 + 10));
        assert_eq!(
            too_deep(&format!("é'\n{}", "{".repeat(40))),
            Some(3 + 1 + 16)
        );
    }
}
