//! Every backend of this binary beside PyTorch and PyTorch Geometric, doing the same work in one run.
//! Run by `cargo xtask bench backends`.
//!
//! A side (a backend, or PyTorch) does a case in a process of its own, so that its memory is known and
//! its end ends nothing else. All sides of a case take turns, round after round, so that what else the
//! machine does falls on all of them. They use as many threads: `RAYON_NUM_THREADS`, else all.
//! PyTorch's sides need a Python with torch, torchvision and torch_geometric: `PYTHON`, else `python3`;
//! without it their rows are left out. Graphs are read from `ICL_DATA_DIR`, else from where the
//! repository's own data are. Nothing is asserted: a machine's speed is no property of the program.

mod arguments;
mod case;
mod machine;
mod numbers;
mod process;
mod report;
mod rounds;
mod served;
mod side;
mod spread;
mod work;

use std::error::Error;

use clap::Parser;

use crate::arguments::Arguments;
use crate::case::Case;
use crate::machine::Machine;
use crate::report::Report;
use crate::rounds::Effort;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    match (&arguments.side, &arguments.case) {
        (Some(side), Some(case)) => served::serve(side, case),
        _ => compare(&arguments),
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
