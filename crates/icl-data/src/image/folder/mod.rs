//! Folders of image files, one folder for each class.

mod cache;
mod decode;
mod files;
mod jpeg_end;
mod walk;

use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::dataset::{ImageCounts, ImageDataset};
use super::error::ImagesError;
use super::folder_names::folder_name;
use super::options::ImageOptions;
use super::stored::StoredImage;
use crate::error::DataError;
pub(super) use files::ImageFiles;
use walk::Listing;
pub(super) use walk::{holds_images, is_image_name};

/// Reads a folder of image files, in which every folder is a class.
///
/// The images of a class are the JPEG, PNG and WebP files in its folder and in the folders inside
/// it, known by their names' endings (`.jpg`, `.jpeg`, `.jpe`, `.jfif`, `.png`, `.webp`, in upper or
/// lower case); what is decoded is what the file's contents are. Hidden files and folders (with a
/// dot at the beginning of their names) and other files are left out and counted in
/// [`ImageCounts`]. Symbolic links are followed. Classes are in the order of their names' bytes, and
/// images in the order of the bytes of their names relative to `path`, whatever the order of the
/// file system is. The data set is called by the folder's name.
///
/// **Pixels** are RGB with 8 bits a channel: grey is repeated, palettes are looked up, alpha is
/// dropped, and of 16 bits the nearest of 8 is taken (`round(x / 257)`). Of animations the first
/// picture is taken. The orientation that a camera noted (EXIF) and colour profiles are ignored. All
/// of this is as Pillow's `convert("RGB")` has it, which torchvision uses, except for 16 bits, where
/// Pillow clips grey and cuts off the lower half of colours. Two JPEG decoders may be a few levels
/// apart.
///
/// **Broken images.** Reading a folder reads the header of every image, so that a file that is no
/// image is an error now; a file that is cut or damaged further on is an error when it is first
/// used. With [`ImageOptions::skip_broken`] every image is decoded now, and those that cannot be are
/// left out and counted. A JPEG file has no checksum: damage that leaves it decodable, to whatever
/// picture, is not noticed, but a JPEG file without its end marker is an error.
///
/// # Errors
/// A [`DataError`] that names the file or folder, what was found and what was expected, if
/// - `path` is no folder, holds no folder, or holds the parts of a data set (`train`, `val`, `test`)
///   whose folders are the classes: one of them is to be named;
/// - an image lies beside the folders of the classes, or one of these has no image;
/// - a link leads back to a folder that it is in, or nowhere;
/// - an image is broken, or decodes to more than 512 MiB, unless such are left out;
/// - `options` ask for what is not there, see [`ImageDataset::select`].
pub fn read_image_folder(
    path: impl AsRef<Path>,
    options: &ImageOptions,
) -> Result<ImageDataset, DataError> {
    let path = path.as_ref();
    let Listing {
        class_names,
        files,
        n_hidden,
        n_other,
    } = Listing::read(path)?;
    let labels = files.iter().map(|file| file.class).collect();
    let n_files = files.len();
    let files = Arc::new(ImageFiles::new(path, files, options.cache_bytes));
    let stored = |index| StoredImage::File {
        files: Arc::clone(&files),
        index,
    };
    let images = (0..n_files).map(stored).collect();
    let mut data = ImageDataset::from_parts(folder_name(path), images, labels, class_names, 3);
    data.counts = ImageCounts {
        n_hidden,
        n_other,
        ..data.counts
    };
    // Images of other classes are not looked at, and broken ones do not count towards the limit.
    let data = data.select(&options.classes, None)?;
    if options.skip_broken {
        return without_broken(path, data)?.select(&[], options.limit);
    }
    let data = data.select(&[], options.limit)?;
    data.sizes()?;
    Ok(data)
}

/// The images that can be decoded.
fn without_broken(path: &Path, data: ImageDataset) -> Result<ImageDataset, DataError> {
    let is_whole = |stored: &StoredImage| match stored.image() {
        Ok(_) => Ok(true),
        Err(DataError::Images(error)) if error.is_broken_image() => Ok(false),
        Err(error) => Err(error),
    };
    let whole: Vec<_> = data.images.par_iter().map(is_whole).collect();
    let mut kept = Vec::with_capacity(whole.len());
    for (index, is_whole) in whole.into_iter().enumerate() {
        if is_whole? {
            kept.push(index);
        }
    }
    let n_before = data.n_images();
    let mut n_class = vec![0; data.class_names.len()];
    for &index in &kept {
        n_class[data.labels[index]] += 1;
    }
    if let Some(class) = n_class.iter().position(|&n| n == 0) {
        return Err(ImagesError::BrokenClass {
            path: path.join(&data.class_names[class]),
            n_broken: data.counts.n_class[class],
        }
        .into());
    }
    let mut data = data.keep(&kept);
    data.counts.n_broken = n_before - data.n_images();
    Ok(data)
}
