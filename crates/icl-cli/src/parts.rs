//! Parts of the program `icl` for a program that is built on it.
//!
//! | item | content |
//! |---|---|
//! | [`Failure`], [`INTERRUPTED`], [`interrupt`], [`print()`], [`tell`] | the end of a command, and what it writes to a terminal |
//! | [`OnBackend`], [`on_backend`] | a computation on the backend of a name |
//! | [`child`] | processes of the same program |
//! | [`CONFIG`], [`RECORD`] | names in the output folder of `icl run` |
//! | [`options_of_work`] | the options of a command that was interrupted |
//! | [`bounds`], [`choice`] | options that are numbers or variants |
//! | [`checked`] | the check of a training's settings |
//! | the others | groups of options, and what an option of the same name needs |

pub use crate::backend::{OnBackend, on_backend};
pub use crate::files::work_place::{CONFIG, RECORD, options as options_of_work};
pub use crate::options::data::{ReadingOptions, data_dir_help};
pub use crate::options::encoder::{EncoderKind, EncoderOptions, PAPER_SIDE};
pub use crate::options::execution::{BACKEND_VALUE, backend_help, fill_backend};
pub use crate::options::output::check_out;
pub use crate::options::settings::checked;
pub use crate::options::training::TrainingOptions;
pub use crate::process::failure::{Failure, INTERRUPTED};
pub use crate::process::terminal::{print, tell};

/// Bounds of options, and parsers of numbers within them.
pub mod bounds {
    pub use crate::options::bounds::{BATCH, EPOCHS, NEGATIVES, SAMPLES, SEEDS, WIDTH};
    pub use crate::options::bounds::{at_most, number_in};
}

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
