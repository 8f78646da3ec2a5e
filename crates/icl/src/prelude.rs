//! Everything that an update needs, imported by `use icl::prelude::*`.

pub use icl_core::{Augment, Collate, Encoder, Increment, Mode, Rng, Samples, Stack, Views};
pub use icl_train::{Method, Trainer, TrainingSettings};
