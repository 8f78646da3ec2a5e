//! `icl-lab reproduce`: runs the grid of a table or figure of the paper, or the rows of a table of another, and
//! writes its pages.

mod ans;
mod cell_folder;
mod dacl;
mod grid;
mod machine;
mod options;
mod page_files;
mod pages;
mod plan;
mod pool;
mod record_file;
mod reproduction;
mod source;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use icl_cli::parts::{Failure, interrupt, print, tell};

use ans::AnsCommand;
use cell_folder::{CellFolder, State};
use dacl::DaclCommand;
use grid::Grid;
use options::ReproduceOptions;
use plan::Plan;

/// A target: of the paper of this method, or of another paper, which has options of its own.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true
)]
pub struct ReproduceArguments {
    #[command(subcommand)]
    other: Option<OtherPaper>,
    #[command(flatten)]
    grid: ReproduceOptions,
}

/// Tables and figures of other papers.
#[derive(Debug, Subcommand)]
enum OtherPaper {
    #[command(flatten)]
    Dacl(DaclCommand),
    #[command(flatten)]
    Ans(AnsCommand),
}

/// Runs what is missing of a target and writes its pages.
///
/// # Errors
/// If an option cannot be used, data or encoders are missing, a part fails, it is interrupted, or a
/// page cannot be written.
pub fn reproduce(arguments: &ReproduceArguments) -> Result<(), Failure> {
    match &arguments.other {
        Some(OtherPaper::Dacl(dacl)) => dacl::reproduce(dacl),
        Some(OtherPaper::Ans(ans)) => ans::reproduce(ans),
        None => reproduce_grid(&arguments.grid),
    }
}

/// Runs the cells that are missing and writes the pages.
fn reproduce_grid(options: &ReproduceOptions) -> Result<(), Failure> {
    options.check()?;
    let plan = Plan::new(options)?;
    for note in &plan.notes {
        tell(format_args!("note: {note}"));
    }
    let grid = Grid::new(&plan, options);
    let cells = options.cells();
    let folders = grid
        .cells
        .iter()
        .map(|cell| CellFolder::find(&cells, cell, options))
        .collect::<Result<Vec<_>, _>>()?;
    page_files::create_folder(&cells)?;
    let to_run: Vec<&CellFolder> = folders
        .iter()
        .filter(|folder| !matches!(folder.state, State::Complete(_)))
        .collect();
    tell(format_args!(
        "{} of {} cells are complete, {} to run",
        folders.len() - to_run.len(),
        folders.len(),
        to_run.len()
    ));
    interrupt::watch()?;
    for (_, source) in &plan.data {
        source.unpack()?;
    }
    let ended = pool::run(&to_run, options)?;
    let written = pages::write(&plan, &grid, &cells, options)?;
    for page in &written {
        print(page.display())?;
    }
    if ended.is_out_of_time {
        tell(format_args!(
            "the budget of {} min is spent: {} of {} cells have not run; {}",
            options.rows.budget.unwrap_or_default(),
            ended.n_left,
            folders.len(),
            options.how_to_continue()
        ));
    }
    if !ended.failed.is_empty() {
        return Err(Failure::Other(anyhow!(
            "{} of {} cells failed: {}; {}",
            ended.failed.len(),
            folders.len(),
            ended.failed.join(", "),
            options.how_to_continue()
        )));
    }
    if written.is_empty() {
        tell("no page was written: no cell is complete");
    }
    Ok(())
}
