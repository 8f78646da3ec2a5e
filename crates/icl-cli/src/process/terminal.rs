//! Standard output and standard error, which may be pipes that nobody reads any more.

use std::fmt::Display;
use std::io::{ErrorKind, Write};

use crate::process::failure::Failure;

/// Prints a text and ends the line. A reader that has gone, like `head`, is no failure.
///
/// # Errors
/// If standard output cannot be written for another reason, such as a full disk.
pub fn print(text: impl Display) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::Other(
            anyhow::anyhow!("standard output cannot be written: {error}"),
        )),
        _ => Ok(()),
    }
}

/// Writes a line to standard error. Without a reader the work continues.
pub fn tell(line: impl Display) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Returns a text on one line: a space for each run of white space, and other control characters escaped.
pub fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut line = String::new();
    for c in words.join(" ").chars() {
        if c.is_control() {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_joined() {
        assert_eq!(one_line("a\n  b\tc"), "a b c");
        assert_eq!(one_line(" ä\u{1b}[1m\r\n"), "ä\\u{1b}[1m");
    }
}
