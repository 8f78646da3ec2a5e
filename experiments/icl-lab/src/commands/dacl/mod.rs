//! `icl-lab reproduce dacl1`, `dacl2` and `dacl4`: tables of DACL, whose rows are trained without labels and measured.

use icl_cli::parts::{Failure, interrupt, print, tell};
mod cifar;
mod classifiers;
mod contrastive;
mod graphs;
mod images;
mod missing;
mod noise_picture;
mod options;
mod page;
mod row_split;
mod samples;
mod table_file;
mod tables;
mod work;

pub use options::DaclCommand;

/// Runs the rows that are missing and writes the page.
///
/// # Errors
/// If an option cannot be used, no data are there, a row fails, it is interrupted, or a file cannot be
/// written.
pub fn reproduce(command: &DaclCommand) -> Result<(), Failure> {
    let request = command.request()?;
    let mut file = table_file::open(&request.out, request.target, &request.settings)?;
    let found = samples::find(&request)?;
    for message in &found.missing {
        tell(format_args!("note: {message}: skipped"));
    }
    interrupt::watch()?;
    let left = work::run(&request, &found, &mut file)?;
    if left.0 > 0 {
        tell(format_args!(
            "the budget is spent: {} rows have not run; {}",
            left.0,
            file.how_to_continue()
        ));
    }
    if file.records().is_empty() {
        tell("no page was written: no row is complete");
        return Ok(());
    }
    for path in page::write(&request, &file, found.missing)? {
        print(path.display())?;
    }
    Ok(())
}
