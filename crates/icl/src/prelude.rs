//! All names that most programs with an update need, imported by `use icl::prelude::*`.

pub use icl_core::{
    Augment, Batches, Collate, CollateFor, Encoder, GrowthRatio, Increment, Mode, Origin, Rng,
    SampleError, Samples, Seed, Stack, TrainableEncoder, Views,
};
pub use icl_train::{
    Callbacks, Evaluator, Method, Outcome, TrainError, TrainErrorKind, Trainer, TrainingSettings,
};
