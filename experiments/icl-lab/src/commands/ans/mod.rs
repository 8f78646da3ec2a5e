//! `icl-lab reproduce ans2`, `ans4`, `ans5`, `ans7` and `ans8`: figures of ANS, computed from its equations, and experiments on
//! the number of negatives.

mod experiment;
mod figures;
mod interactions;
mod measured;
mod options;
mod texts;

use crate::pages::ans::AnsExperiment;
use crate::pages::ans::AnsTarget;
use icl_cli::parts::Failure;

pub use options::AnsCommand;

/// Computes a figure, or runs the rows of an experiment that are missing, and writes its page.
///
/// # Errors
/// If an option cannot be used, no data are there, a row fails, it is interrupted, or a file cannot be written.
pub fn reproduce(command: &AnsCommand) -> Result<(), Failure> {
    match command {
        AnsCommand::Ans2(options) => experiment::reproduce(AnsExperiment::Numbers, options),
        AnsCommand::Ans4(options) => figures::reproduce(AnsTarget::Figure4, options),
        AnsCommand::Ans5(options) => figures::reproduce(AnsTarget::Figure5, options),
        AnsCommand::Ans7(options) => experiment::reproduce(AnsExperiment::Courses, options),
        AnsCommand::Ans8(options) => experiment::reproduce(AnsExperiment::Texts, options),
    }
}
