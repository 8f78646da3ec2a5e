//! Parts of the program `icl` for a program that is built on it.
//!
//! | item | content |
//! |---|---|
//! | [`Failure`], [`INTERRUPTED`], [`interrupt`], [`print()`], [`tell`] | the end of a command, and what it writes to a terminal |
//! | [`OnBackend`], [`on_backend`] | a computation on the backend of a name |
//! | [`child`] | processes of the same program |
//! | [`CONFIG`], [`RECORD`] | names in the output folder of `icl run` |
//! | [`options_of_work`] | the options of a command that was interrupted |
//! | [`choice`], [`settings`] | options that are variants, and the check of a training's settings |
//! | the others | groups of options |

pub use crate::backend::{OnBackend, on_backend};
pub use crate::files::run_results::RECORD;
pub use crate::files::work_place::CONFIG;
pub use crate::files::work_place::options as options_of_work;
pub use crate::options::data::{DataDirOption, LimitOption, ReadingOptions};
pub use crate::options::encoder::{EncoderKind, EncoderOptions, PAPER_SIDE, WidthOption};
pub use crate::options::execution::{BackendOption, SeedsOption};
pub use crate::options::negatives::NegativesPeakOption;
pub use crate::options::output::OutOption;
pub use crate::options::training::{
    BatchSizeOption, EpochsOption, OptimizerOption, TrainingOptions,
};
pub use crate::options::values::settings;
pub use crate::process::failure::{Failure, INTERRUPTED};
pub use crate::process::terminal::{print, tell};

/// Options whose values are the variants of an enumeration.
pub mod choice {
    pub use crate::options::choice::{among, name};
}

/// Processes of the same program.
pub mod child {
    pub use crate::process::child::{Ended, OnInterrupt, run, this_program};
}

/// The request to stop, by Ctrl-C.
pub mod interrupt {
    pub use crate::process::interrupt::{requested, watch};
}
