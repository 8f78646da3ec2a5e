//! Standard output and standard error, which may be pipes that nobody reads any more.

use std::fmt::Display;
use std::io::{ErrorKind, Write};

use crate::process::failure::Failure;

/// Prints a text and ends the line. A reader that has gone, like `head`, has seen enough: that is no
/// failure.
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

/// Writes a line to standard error. Where nobody reads along, the work goes on all the same.
pub fn tell(line: impl Display) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
