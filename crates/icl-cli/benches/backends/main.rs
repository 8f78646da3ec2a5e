//! Measures every backend of this binary and PyTorch with PyTorch Geometric on the same work, in one run.
//! Run by `cargo xtask bench backends`.
//!
//! A side (a backend, or PyTorch) does a case in a process of its own, so that its memory is known
//! and its failure ends nothing else. All sides of a case take turns, round after round, so that
//! the other load of the machine affects all of them alike. They use as many threads:
//! `RAYON_NUM_THREADS`, else all. PyTorch's sides need a Python with torch, torchvision and
//! torch_geometric: `PYTHON`, else `python3`; without it their rows are left out. Graphs are read
//! from the folder of `icl fetch`. Nothing is asserted: a
//! machine's speed is no property of the program.

mod case;
mod machine;
mod process;
mod report;
mod role;
mod rounds;
mod served;
mod side;
mod work;

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;

use crate::case::Case;
use crate::machine::Machine;
use crate::report::Report;
use crate::rounds::Effort;

/// Measures every backend of this binary and PyTorch with PyTorch Geometric on the same work
#[derive(Parser)]
#[command(name = "backends")]
struct Arguments {
    /// Measure only the smaller cases, in few rounds
    #[arg(long)]
    quick: bool,
    /// Measure only the cases whose name contains TEXT, in upper or lower case
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Measure only these backends, comma-separated. Without it, all of this binary
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    backends: Option<Vec<String>>,
    /// Be the side of this backend
    #[arg(long, hide = true, requires = "case")]
    side: Option<String>,
    /// Case of that side
    #[arg(long, hide = true, requires = "side")]
    case: Option<String>,
    /// Flag that cargo gives to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

impl Arguments {
    /// Whether to measure this case.
    fn wants(&self, case: &Case) -> bool {
        let name = case.to_string().to_lowercase();
        let is_named = self
            .only
            .as_ref()
            .is_none_or(|text| name.contains(&text.to_lowercase()));
        is_named && (case.is_small() || !self.quick)
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match (&arguments.side, &arguments.case) {
        (Some(side), Some(case)) => served::serve(side, case),
        _ => compare(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn compare(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let machine = Machine::of_this_run()?;
    let sides = side::all(arguments.backends.as_deref(), &machine)?;
    let effort = if arguments.quick {
        Effort::QUICK
    } else {
        Effort::FULL
    };
    println!("{machine}\n{effort}");
    let mut report = Report::default();
    for case in Case::all().filter(|case| arguments.wants(case)) {
        let taking_part: Vec<_> = sides.iter().filter(|side| side.does(&case)).collect();
        if !taking_part.is_empty() {
            let outcomes = rounds::run(&case, &taking_part, &machine, effort);
            report.case(case, outcomes);
        }
    }
    report.end();
    println!("\nLoad in the end: {}", machine::load());
    Ok(())
}
