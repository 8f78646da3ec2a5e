//! `icl reproduce ans4` and `ans5`: figures of ANS that follow from its equations, without data or training.

use std::path::Path;

use anyhow::anyhow;
use clap::{Arg, Args, Subcommand};
use icl_core::file_system;
use icl_report::{AnsTarget, ans_document};

use crate::commands::reproduce::machine::today;
use crate::files::destination::unusable;
use crate::files::whole;
use crate::options::output::OutOption;
use crate::process::failure::Failure;
use crate::process::terminal::print;

const DETAILS: &str = "\
ANS: Wu, Wu and Huang, Rethinking InfoNCE: How Many Negative Samples Do You Need? Nothing is trained, and no data are \
needed. It writes DIR/TARGET.html and DIR/TARGET.md with the figure, the printed claims, our figures, and what refutes each \
claim.";

/// Output folder.
const OUT: &str = "icl-runs/ans";

/// Figures of ANS.
#[derive(Debug, Subcommand)]
pub enum AnsCommand {
    /// Figure 4 of ANS: the best number of negatives over the separation of the labels
    #[command(after_help = DETAILS, mut_args(refined))]
    Ans4(AnsOptions),
    /// Figure 5 of ANS: effectiveness and kinds of samples in stages of a training
    #[command(after_help = DETAILS, mut_args(refined))]
    Ans5(AnsOptions),
}

/// Options of the figures.
#[derive(Debug, Args)]
pub struct AnsOptions {
    #[command(flatten)]
    out: OutOption,
}

/// Returns a shared option as these commands take it.
fn refined(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "out" => option
            .help("Output folder; an earlier page of the figure is replaced")
            .default_value(OUT),
        _ => option,
    }
}

/// Computes a figure and writes its page.
///
/// # Errors
/// If the folder cannot be written.
pub fn reproduce(command: &AnsCommand) -> Result<(), Failure> {
    let (target, options) = match command {
        AnsCommand::Ans4(options) => (AnsTarget::Figure4, options),
        AnsCommand::Ans5(options) => (AnsTarget::Figure5, options),
    };
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
