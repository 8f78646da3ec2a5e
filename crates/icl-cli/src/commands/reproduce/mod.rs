//! `icl reproduce`: runs the grid of a table or figure of the paper and writes what came of it.

mod arguments;
mod cell_folder;
mod grid;
mod machine;
mod pages;
mod plan;
mod pool;
mod source;

use std::path::Path;

use anyhow::anyhow;
use icl_report::paper::Target;

use crate::process::failure::Failure;
use crate::process::interrupt;
use crate::process::terminal::{print, tell};

pub use arguments::ReproduceArguments;
use arguments::Wanted;
use cell_folder::{CellFolder, State};
use grid::Grid;
use plan::Plan;

/// The folder of the cells, below that of the pages.
const CELLS: &str = "cells";

/// Runs the cells that are missing and writes the pages.
///
/// # Errors
/// If an option cannot be used, data or encoders are missing, a cell fails, it is interrupted, or a
/// page cannot be written.
pub fn reproduce(mut arguments: ReproduceArguments) -> Result<(), Failure> {
    if let Some(folder) = arguments.resume.take() {
        if !folder.join(CELLS).is_dir() {
            return Err(Failure::input(anyhow!(
                "resume: found no {CELLS} in {}, expected the folder of an earlier call",
                folder.display()
            )));
        }
        arguments.out = folder;
    }
    let arguments = &arguments;
    arguments.check()?;
    let plan = Plan::new(arguments)?;
    for note in &plan.notes {
        tell(format_args!("note: {note}"));
    }
    let grid = Grid::new(&plan, arguments);
    let cells = arguments.out.join(CELLS);
    let folders = grid
        .cells
        .iter()
        .map(|cell| CellFolder::find(&cells, cell, arguments))
        .collect::<Result<Vec<_>, _>>()?;
    std::fs::create_dir_all(&cells).map_err(|error| {
        Failure::input(anyhow!("out: cannot write {}: {error}", cells.display()))
    })?;
    let to_run: Vec<&CellFolder> = folders
        .iter()
        .filter(|folder| !matches!(folder.state, State::Complete(_)))
        .collect();
    tell(format_args!(
        "{} of {} cells are there already, {} to run",
        folders.len() - to_run.len(),
        folders.len(),
        to_run.len()
    ));
    interrupt::watch()?;
    for (_, source) in &plan.data {
        source.unpack()?;
    }
    let ended = pool::run(&to_run, arguments)?;
    let written = pages::write(&plan, &grid, &cells, arguments)?;
    for page in &written {
        print(page.display())?;
    }
    if ended.is_out_of_time {
        tell(format_args!(
            "the budget of {} min is spent: {} of {} cells have not run; {}",
            arguments.budget.unwrap_or_default(),
            ended.n_left,
            folders.len(),
            how_to_go_on(&arguments.out)
        ));
    }
    if !ended.failed.is_empty() {
        return Err(Failure::Other(anyhow!(
            "{} of {} cells failed: {}; {}",
            ended.failed.len(),
            folders.len(),
            ended.failed.join(", "),
            how_to_go_on(&arguments.out)
        )));
    }
    if written.is_empty() {
        tell("no page was written: no cell has run");
    }
    Ok(())
}

/// What to do after an early end.
fn how_to_go_on(out: &Path) -> String {
    format!(
        "the same command goes on with those missing in {}",
        out.join(CELLS).display()
    )
}

/// The targets that were asked for.
fn targets(wanted: Wanted) -> Vec<Target> {
    match wanted {
        Wanted::One(target) => vec![target],
        Wanted::All => Target::ALL.into(),
    }
}
