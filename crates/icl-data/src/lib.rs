//! Data sets, readers, views, splits and collation.
//!
//! | room | what is in it |
//! |---|---|
//! | [`Graph`], [`GraphDataset`], [`Image`], [`ImageDataset`] | samples and data sets |
//! | [`read_tu`], [`read_images`], [`embedded`] | where they come from: files in known formats, the program itself |
//! | [`catalogue`] | which public data sets there are to download |
//! | [`unpack_tar`] | an archive of a folder becomes the folder |
//! | [`GraphViewsConfig`], [`GraphViews`], [`GraphView`] | augmentations that make positive pairs of graphs |
//! | [`ImageViewsConfig`], [`ImageViews`], [`ImageView`], [`ViewParameters`] | the same of images |
//! | [`GraphCollate`], [`ImageCollate`] | a list of views becomes a batch |
//! | [`Split`] | which samples are old and which are new |
//! | [`DataError`], [`JoinError`], [`ImagesError`], [`JoinImagesError`] | what is wrong, in which file and where |

pub mod catalogue;
pub mod embedded;
mod error;
mod graph;
mod image;
mod place;
mod split;
mod tar_archive;
mod unpack;

pub use self::image::{
    ClassList, CropBox, Image, ImageCollate, ImageCounts, ImageDataset, ImageOptions, ImageView,
    ImageViews, ImageViewsConfig, ImageViewsError, ImagesError, Jitter, JitterStep,
    JoinImagesError, ViewParameters, looks_like_images, read_cifar, read_idx, read_image_folder,
    read_images,
};
pub use error::DataError;
pub use graph::{
    FeatureLayout, Graph, GraphCollate, GraphCounts, GraphDataset, GraphView, GraphViews,
    GraphViewsConfig, JoinError, ViewKind, read_tu,
};
pub use place::{FileRef, Found, Place};
pub use split::Split;
pub use tar_archive::unpack_tar;
