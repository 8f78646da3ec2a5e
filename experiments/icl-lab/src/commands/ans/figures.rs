//! `icl-lab reproduce ans4` and `ans5`: figures of ANS that follow from its equations, without data or training.

use crate::pages::ans::{AnsTarget, ans_document};
use icl_cli::parts::{Failure, print};

use crate::commands::ans::options::FigureOptions;
use crate::commands::machine::{VERSION, today};
use crate::commands::page_files;
use crate::commands::reproduction::check_folder;

/// Computes a figure and writes its page.
///
/// # Errors
/// If the folder cannot be written.
pub fn reproduce(target: AnsTarget, options: &FigureOptions) -> Result<(), Failure> {
    let out = &options.out;
    check_folder(out)?;
    let name = target.name();
    let origin = format!("{} · {VERSION} · icl-lab reproduce {name}", today());
    let document = ans_document(target, &origin).map_err(|error| Failure::Other(error.into()))?;
    page_files::create_folder(out)?;
    let paths = page_files::write(&document, out, name)?;
    paths.iter().try_for_each(|path| print(path.display()))
}
