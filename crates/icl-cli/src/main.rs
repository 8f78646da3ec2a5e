//! The program `icl`: compares ways to keep a contrastive encoder up to date.

use std::process::ExitCode;

fn main() -> ExitCode {
    icl_cli::main(std::env::args_os())
}
