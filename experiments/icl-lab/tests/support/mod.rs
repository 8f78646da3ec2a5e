//! Runs the program as a user would, and reads what it leaves.

#[path = "../../../../crates/icl-cli/tests/support/digits.rs"]
pub mod digits;
#[path = "../../../../crates/icl-cli/tests/support/outcome.rs"]
mod outcome;

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

pub use outcome::{Ran, contents, names, number, records, split, text, timeless};

/// The program with these arguments, in the folder `at`.
pub fn command<S: AsRef<OsStr>>(at: &Path, arguments: &[S]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_icl-lab"));
    command
        .args(arguments)
        .current_dir(at)
        .stdin(Stdio::null())
        .env_remove("RUST_BACKTRACE");
    command
}

/// Runs it to its end.
pub fn lab<S: AsRef<OsStr>>(at: &Path, arguments: &[S]) -> Ran {
    outcome::run(command(at, arguments))
}
