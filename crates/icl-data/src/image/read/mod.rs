//! Readers of image data sets: IDX files, CIFAR files, folders of image files.

mod cifar;
mod detect;
mod folder;
mod idx;
mod listing;
mod names;
mod real_folders;
mod source;

pub use cifar::read_cifar;
pub use detect::{looks_like_images, read_images};
pub use folder::read_image_folder;
pub use idx::read_idx;
pub(crate) use idx::read_idx_bytes;
pub use source::ImageOptions;
