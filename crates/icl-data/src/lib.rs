//! Data sets of graphs, images, tables, interactions and texts for contrastive learning: readers, views, splits and
//! collation.
//!
//! | item | purpose |
//! |---|---|
//! | [`Graph`], [`GraphDataset`], [`Image`], [`ImageDataset`] | samples and data sets |
//! | [`RawTable`], [`TableSchema`], [`TabularDataset`], [`TableRow`] | tables, their columns as features, rows as samples |
//! | [`Interactions`], [`JoinedInteractions`], [`LeaveOneOut`], [`NextItem`], [`NextItemDataset`] | interactions of users with items, histories with the item that follows |
//! | [`TextPairs`], [`Vocabulary`], [`TextPairDataset`], [`TextPair`] | pairs of texts, their words, pairs as samples |
//! | [`read_vectors`], [`vectors_as_parquet`], [`vectors_as_csv`] | embeddings as a column of vectors, or as columns of numbers |
//! | [`read_tu`], [`read_images`], [`read_table`], [`read_interactions`], [`read_text_pairs`], [`embedded`] | sources of data sets: files in known formats, data in the crate |
//! | [`catalogue`] | public data sets that can be downloaded |
//! | [`unpack_tar`] | unpacking of a downloaded archive into a folder |
//! | [`GraphViewsConfig`], [`GraphViews`], [`GraphView`] | augmentations that make the positive pairs of graphs |
//! | [`ImageViewsConfig`], [`ImageViews`], [`ImageView`], [`ViewParameters`] | augmentations that make the positive pairs of images |
//! | [`ShiftViewsConfig`], [`ShiftViews`] | views of small images: shift, contrast and noise |
//! | [`MixedImageViewsConfig`], [`MixedImageViews`], [`ImageNoise`] | mixup noise that makes the positive pairs of images |
//! | [`TableViewsConfig`], [`TableViews`], [`NoiseKind`] | noise that makes the positive pairs of rows |
//! | [`NextItemViews`], [`NextItemView`] | the history as first view, the item that follows as second |
//! | [`TextPairViews`], [`TextPairView`] | both texts of a pair as its views |
//! | [`GraphCollate`], [`ImageCollate`], [`FlatImageCollate`], [`NextItemCollate`], [`TextPairCollate`] | collation of views into a batch |
//! | [`instant`] | moments that dates of ISO 8601 name |
//! | [`Split`] | division of a data set into old and new samples |
//! | [`StreamSplit`], [`StreamKey`] | division of a data set into experiences that arrive one after the other |
//! | [`DataError`], [`DataErrorKind`] | errors, which name file and position |

pub mod catalogue;
mod content;
mod disk;
pub mod embedded;
mod error;
mod experiences;
mod graph;
mod image;
mod increments;
mod instant;
mod interactions;
mod named;
mod new_folder;
mod outliers;
mod pixels;
mod place;
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
mod selection;
mod split;
mod tabular;
mod tar_archive;
mod text_pairs;

pub use self::image::{
    CropBox, FlatImageCollate, Image, ImageCollate, ImageCounts, ImageDataset, ImageNoise,
    ImageOptions, ImageView, ImageViews, ImageViewsConfig, Jitter, JitterStep, MixedImageViews,
    MixedImageViewsConfig, ShiftViews, ShiftViewsConfig, ViewParameters, looks_like_images,
    read_cifar, read_idx, read_image_folder, read_images,
};
pub use content::ContentHash;
pub use error::{DataError, DataErrorKind};
pub use experiences::{StreamKey, StreamSplit};
pub use graph::{
    FeatureLayout, Graph, GraphCollate, GraphCounts, GraphDataset, GraphSchema, GraphView,
    GraphViews, GraphViewsConfig, ViewKind, read_tu,
};
pub use instant::instant;
pub use interactions::{
    Interaction, Interactions, JoinedInteractions, LeaveOneOut, NextItem, NextItemCollate,
    NextItemDataset, NextItemView, NextItemViews, looks_like_interactions, read_interactions,
};
pub use outliers::Outliers;
pub use pixels::table_of_pixels;
pub use place::Found;
pub use split::Split;
pub use tabular::{
    ColumnKind, FeatureStatistics, Header, Missing, NoiseKind, RawTable, TableColumn, TableCounts,
    TableNote, TableOptions, TableRow, TableSchema, TableViews, TableViewsConfig, TabularDataset,
    TextColumn, TextTable, VectorColumn, is_decoding, looks_like_table, read_table,
    read_text_table, read_vectors, vectors_as_csv, vectors_as_parquet,
};
pub use tar_archive::unpack_tar;
pub use text_pairs::{
    TextPair, TextPairCollate, TextPairDataset, TextPairOptions, TextPairView, TextPairViews,
    TextPairs, Vocabulary, read_text_pairs,
};
