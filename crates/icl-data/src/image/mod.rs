//! Images: samples, readers, views, collation.

mod collate;
mod dataset;
mod error;
mod join;
mod raster;
mod read;
mod select;
mod stored;
mod unlabelled;
mod views;
mod write;

pub use collate::{FlatImageCollate, ImageCollate};
pub use dataset::{ImageCounts, ImageDataset};
pub use raster::Image;
pub(crate) use read::read_idx_bytes;
pub use read::{
    ImageOptions, looks_like_images, read_cifar, read_idx, read_image_folder, read_images,
};
pub use views::{
    CropBox, ImageNoise, ImageView, ImageViews, ImageViewsConfig, Jitter, JitterStep,
    MixedImageViews, MixedImageViewsConfig, ShiftViews, ShiftViewsConfig, ViewParameters,
};
