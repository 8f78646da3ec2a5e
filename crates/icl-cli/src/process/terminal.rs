//! Standard output and standard error, which may be pipes that nobody reads any more.

use std::fmt::Display;
use std::io::{ErrorKind, Write};

use icl_core::legible;

use crate::process::failure::Failure;
use crate::process::group::is_silent;

/// Prints a text and ends the line. A closed pipe is not an error.
///
/// # Errors
/// If standard output cannot be written for another reason, such as a full disk.
pub fn print(text: impl Display) -> Result<(), Failure> {
    if is_silent() {
        return Ok(());
    }
    print_bytes(format!("{}\n", legible(&text.to_string())).as_bytes())
}

/// Prints bytes of our own, such as a program of a shell, as [`print`] does, but as they are.
///
/// # Errors
/// Those of [`print`].
pub fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::Other(
            anyhow::anyhow!("standard output cannot be written: {error}"),
        )),
        _ => Ok(()),
    }
}

/// Returns the width of the terminal in columns, or that of tables by default where standard output is
/// none.
pub fn width() -> usize {
    let size = terminal_size::terminal_size_of(std::io::stdout());
    size.map_or(icl_report::DEFAULT_WIDTH, |(width, _)| usize::from(width.0))
}

/// Largest number of characters of a message.
const MESSAGE: usize = 2000;
/// Largest number of lines of a message.
const LINES: usize = 3;

/// Writes a message to standard error, cut to 2000 characters and three lines. Without a reader the work
/// continues. Of several processes that work together, the first one alone writes it.
pub fn tell(text: impl Display) {
    if !is_silent() {
        say(text);
    }
}

/// Writes the notes about the data set `name` as [`tell`] does.
pub fn tell_notes(name: &str, notes: impl IntoIterator<Item = impl Display>) {
    for note in notes {
        tell(format_args!("note: {name}: {note}"));
    }
}

/// Writes a message to standard error, cut to 2000 characters and three lines, whichever process this is.
pub fn say(text: impl Display) {
    // A closed standard error must not end the work.
    let _ = writeln!(std::io::stderr(), "{}", message(text));
}

/// Returns a text as a message, of at most three lines and 2,000 characters and without control characters, as names
/// from outside may hold them.
pub fn message(text: impl Display) -> String {
    curtailed(&legible(&text.to_string()))
}

/// Cuts a message after 2,000 characters, and says so by an ellipsis. More than three lines become one: they come from
/// a name, behind which the message must not disappear.
fn curtailed(message: &str) -> String {
    let message = match message.trim_end() {
        long if long.lines().count() > LINES => long.replace('\n', "\\n"),
        short => short.to_owned(),
    };
    match message.char_indices().nth(MESSAGE) {
        None => message,
        Some(_) => message.chars().take(MESSAGE - 1).chain(['…']).collect(),
    }
}

/// Returns a message of the parser of the command line in at most three lines: without blank lines and usage, and the
/// lines between the first and the last as one.
pub fn brief(message: &str) -> String {
    let lines = message
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.filter(|line| !line.starts_with("Usage: ")).collect();
    match lines.as_slice() {
        [first, between @ .., last] if between.len() > 1 => {
            format!("{first}\n  {}\n{last}", between.join(" "))
        }
        lines => lines.join("\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_short() {
        assert_eq!(curtailed("a\nb\nc\n"), "a\nb\nc");
        assert_eq!(curtailed("a\nb\n\nc\nd: found"), "a\\nb\\n\\nc\\nd: found");
        let long = curtailed(&"é".repeat(3000));
        assert_eq!((long.chars().count(), long.ends_with('…')), (2000, true));
        let whole = "é".repeat(2000);
        assert_eq!(curtailed(&whole), whole);
        assert_eq!(
            brief("error: wrong\n\n  a\n  b\n\nUsage: icl\n\nFor more, try '--help'.\n"),
            "error: wrong\n  a b\nFor more, try '--help'."
        );
        assert_eq!(
            brief("error: wrong\n\nUsage: icl\n\nSee.\n"),
            "error: wrong\nSee."
        );
    }
}
