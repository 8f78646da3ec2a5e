//! `icl reproduce ans4` and `ans5`: figures of ANS that follow from its equations, without data or training.

use std::path::Path;

use anyhow::anyhow;
use icl_core::file_system;
use icl_report::{AnsTarget, ans_document};

use crate::commands::reproduce::ans::options::{FigureOptions, OUT};
use crate::commands::reproduce::machine::today;
use crate::files::destination::unusable;
use crate::files::whole;
use crate::process::failure::Failure;
use crate::process::terminal::print;

/// Computes a figure and writes its page.
///
/// # Errors
/// If the folder cannot be written.
pub fn reproduce(target: AnsTarget, options: &FigureOptions) -> Result<(), Failure> {
    options.out.check()?;
    let out = options.out.out.as_deref().unwrap_or(Path::new(OUT));
    if out.exists() && !out.is_dir() {
        return Err(Failure::input(anyhow!(
            "out: found a file at {}, expected a folder or nothing",
            out.display()
        )));
    }
    let origin = format!(
        "{} · icl {} · icl reproduce {}",
        today(),
        env!("CARGO_PKG_VERSION"),
        target.name()
    );
    let document = ans_document(target, &origin).map_err(|error| Failure::Other(error.into()))?;
    file_system()
        .create_folders(out)
        .map_err(|error| unusable(out, &error))?;
    for (ending, text) in [("html", document.html()), ("md", document.markdown())] {
        let path = out.join(format!("{}.{ending}", target.name()));
        whole::replace(&path, text.as_bytes())?;
        print(path.display())?;
    }
    Ok(())
}
