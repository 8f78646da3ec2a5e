//! Image augmentations: crop, grey, colour jitter, blur, flip.

mod chance;
mod config;
mod crop;
mod image_views;
mod jitter;
mod parameters;
mod pixels;

pub use config::{ImageViewsConfig, ImageViewsError};
pub use crop::CropBox;
pub use image_views::{ImageView, ImageViews};
pub use jitter::{Jitter, JitterStep};
pub use parameters::ViewParameters;

#[cfg(test)]
mod tests;
