//! Images at a path, whatever form they have.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use walkdir::WalkDir;

use super::cifar::{cifar_files, is_cifar_name, read_cifar};
use super::dataset::ImageDataset;
use super::error::ImagesError;
use super::folder::{holds_images, is_image_name, read_image_folder};
use super::folder_names::file_names;
use super::idx::{IdxName, images_file, read_idx};
use super::options::ImageOptions;
use crate::error::DataError;
use crate::graph::is_edge_list;
use crate::place::FileRef;

/// Reads a data set of images from a file or folder, whose form it finds out.
///
/// | `path` | read by |
/// |---|---|
/// | a file `NAME-images-idx3-ubyte`, or a folder with such a file in it | [`read_idx`] |
/// | a file `NAME.bin`, or a folder with such a file in it | [`read_cifar`] |
/// | any other folder | [`read_image_folder`] |
///
/// The files may be packed by gzip, then `.gz` ends their names. The first line that fits decides.
///
/// ```no_run
/// use icl_data::{ImageOptions, read_images};
///
/// let options = ImageOptions {
///     classes: vec!["ants".into(), "bees".into()],
///     ..ImageOptions::default()
/// };
/// let photos = read_images("photos/train", &options)?;
/// println!("{} images: {:?}", photos.n_images(), photos.counts().n_class);
/// # Ok::<(), icl_data::DataError>(())
/// ```
///
/// # Errors
/// A [`DataError`] that names the file or folder, what was found and what was expected, if there is
/// nothing of these forms, and what the readers fail with.
pub fn read_images(
    path: impl AsRef<Path>,
    options: &ImageOptions,
) -> Result<ImageDataset, DataError> {
    let path = path.as_ref();
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(ImagesError::NoSuchPath {
                path: path.to_path_buf(),
            }
            .into());
        }
        Err(source) => {
            return Err(DataError::Unreadable {
                file: FileRef::on_disk(path),
                source,
            });
        }
    };
    if metadata.is_dir() {
        let files = file_names(path)?;
        if images_file(path, &files)?.is_some() {
            return read_idx(path, options);
        }
        if cifar_files(path, &files)?.is_some() {
            return read_cifar(path, options);
        }
        return read_image_folder(path, options);
    }
    let name = path.file_name().and_then(|name| name.to_str());
    match name {
        Some(name) if IdxName::of_images(name).is_some() => read_idx(path, options),
        Some(name) if is_cifar_name(name) => read_cifar(path, options),
        _ => Err(ImagesError::NotImages {
            path: path.to_path_buf(),
        }
        .into()),
    }
}

/// Whether [`read_images`] should be asked for what is at `path`, rather than
/// [`read_tu`](crate::read_tu): by names only, nothing is opened.
///
/// A file is one of images if it is called as an IDX or CIFAR file or as an image. A folder is one
/// of images if it holds an IDX or CIFAR file, or if it holds an image at most four folders deep and
/// neither it nor a folder in it holds the edge list of a TU data set. Whether it can be read is
/// another matter: of a single image or of the parts of a data set the reader says what it expects
/// instead.
pub fn looks_like_images(path: impl AsRef<Path>) -> bool {
    let path = path.as_ref();
    let is_named = |name: &str| IdxName::of_images(name).is_some() || is_cifar_name(name);
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            let files = file_names(path).unwrap_or_default();
            files.iter().any(|file| is_named(file)) || !holds_graphs(path) && holds_images(path)
        }
        Ok(_) => path
            .file_name()
            .is_some_and(|name| is_image_name(name) || name.to_str().is_some_and(is_named)),
        Err(_) => false,
    }
}

/// Whether a folder, or a folder in it, holds the edge list of a TU data set.
fn holds_graphs(folder: &Path) -> bool {
    WalkDir::new(folder)
        .follow_links(true)
        .max_depth(2)
        .into_iter()
        .filter_map(Result::ok)
        .any(|entry| entry.file_name().to_str().is_some_and(is_edge_list))
}
