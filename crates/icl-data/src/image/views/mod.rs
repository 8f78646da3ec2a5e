//! Views of images: augmentations (crop, grey, colour jitter, blur, flip), those of small images (shift,
//! contrast, noise), and mixup noise.

mod chance;
mod config;
mod crop;
mod image_views;
mod jitter;
mod mixed;
mod parameters;
mod pixels;
mod shift;

pub use config::ImageViewsConfig;
pub use crop::CropBox;
pub use image_views::{ImageView, ImageViews};
pub use jitter::{Jitter, JitterStep};
pub use mixed::{ImageNoise, MixedImageViews, MixedImageViewsConfig};
pub use parameters::ViewParameters;
pub use shift::{ShiftViews, ShiftViewsConfig};

#[cfg(test)]
mod tests;
