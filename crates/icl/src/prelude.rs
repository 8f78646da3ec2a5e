//! What every update needs, to be imported by `use icl::prelude::*`.

pub use icl_core::{Collate, Encoder, Increment, Mode, Rng, Views};
pub use icl_train::{Method, Problem, Trainer, TrainingSettings, Watch};
