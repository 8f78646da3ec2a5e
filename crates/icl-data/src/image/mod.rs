//! Images: samples, readers, views, collation.

mod cifar;
mod class_list;
mod collate;
mod dataset;
mod error;
mod folder;
mod folder_names;
mod idx;
mod join;
mod options;
mod packed;
mod raster;
mod read;
mod select;
mod stored;
mod view;
mod views;

pub use cifar::read_cifar;
pub use class_list::ClassList;
pub use collate::ImageCollate;
pub use dataset::{ImageCounts, ImageDataset};
pub use error::ImagesError;
pub use folder::read_image_folder;
pub use idx::read_idx;
pub(crate) use idx::read_idx_bytes;
pub use join::JoinImagesError;
pub use options::ImageOptions;
pub use raster::Image;
pub use read::{looks_like_images, read_images};
pub use view::ImageView;
pub use views::{
    CropBox, ImageViews, ImageViewsConfig, ImageViewsError, Jitter, JitterStep, ViewParameters,
};
