//! Noise on the output of an encoder: hidden mixup and hidden Gaussian noise.

mod batch;
mod collate;
mod config;
mod encoder;
mod noise;
mod views;

pub use batch::{HiddenBatch, RowNoise};
pub use collate::HiddenCollate;
pub use config::HiddenMixupConfig;
pub use encoder::HiddenMixup;
pub use noise::{HiddenNoise, NoiseDraw, PairNoise};
pub use views::{HiddenView, HiddenViews};
