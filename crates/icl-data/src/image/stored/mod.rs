//! Pixels of a data set: in memory, or in files that are decoded on demand.

mod cache;
mod decode;
mod files;
mod jpeg_end;

pub(super) use files::{ImageFiles, StoredImage, name_bytes};
