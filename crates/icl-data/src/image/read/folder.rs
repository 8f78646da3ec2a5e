//! Reader of folders of image files, one subfolder per class, or without classes.

use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::listing::Listing;
use super::source::{ImageOptions, folder_name};
use crate::error::{DataError, DataErrorKind};
use crate::image::dataset::{ImageCounts, ImageDataset};
use crate::image::stored::{ImageFiles, StoredImage};
use crate::selection::n_class;

/// Reads a folder of image files in which every subfolder is a class, or a flat folder of images without classes.
///
/// The images of a class are the JPEG, PNG and WebP files in its folder, at any depth. They are
/// recognised by the endings of their names (`.jpg`, `.jpeg`, `.jpe`, `.jfif`, `.png`, `.webp`, in
/// upper or lower case) and decoded by the format of their contents. Hidden files and folders (whose
/// names begin with a dot) and other files are ignored and counted in [`ImageCounts`]. Symbolic
/// links are followed; a folder to which several links of one class lead is entered once. Classes
/// are sorted by the bytes of their names, and images by the bytes of their names relative to
/// `path`, independently of the file system. The name of the data set is the folder's name. Images in a folder without
/// subfolders have no labels ([`ImageDataset::has_labels`]).
///
/// **Pixels** are RGB with 8 bits per channel: grey is repeated, palettes are resolved, alpha is
/// dropped, and 16 bits are rounded to 8 (`round(x / 257)`). The first frame of an animation is
/// taken. The orientation in EXIF data and colour profiles are ignored. All of this equals Pillow's
/// `convert("RGB")`, which torchvision uses, except for 16 bits, where Pillow clips grey and
/// truncates colours. Two JPEG decoders may differ by a few levels.
///
/// **Broken images.** Reading a folder reads the header of every image, so that a file that is not
/// an image is an error immediately; a file that is cut or damaged after its header is an error when
/// it is first used. With [`ImageOptions::skip_broken`] every image is decoded immediately, and
/// broken images are skipped and counted. A JPEG file has no checksum: damage after which it can
/// still be decoded is not detected, but a JPEG file without its end marker is an error.
///
/// # Errors
/// A [`DataError`] that names the file or folder, what was found and what was expected, if
/// - `path` is not a folder, has neither an image nor a subfolder, or holds the parts of a data set (`train`, `val`,
///   `test`) whose subfolders are the classes, in which case the path of one part is needed;
/// - an image lies next to folders, or one of these has no image;
/// - a symbolic link leads back to a folder that contains it, or to nothing;
/// - an image is broken, or decodes to more than 512 MiB, and broken images are not skipped;
/// - the selection in `options` fails, see [`ImageDataset::select`].
pub fn read_image_folder(
    path: impl AsRef<Path>,
    options: &ImageOptions,
) -> Result<ImageDataset, DataError> {
    let path = path.as_ref();
    let Listing {
        class_names,
        is_flat,
        files,
        n_hidden,
        n_other,
    } = Listing::read(path)?;
    let labels = files.iter().map(|file| file.class).collect();
    let n_files = files.len();
    let files = files.into_iter().map(|file| (file.relative, file.n_bytes));
    let files = Arc::new(ImageFiles::new(path, files.collect(), options.cache_bytes));
    let stored = |index| StoredImage::File {
        files: Arc::clone(&files),
        index,
    };
    let images = (0..n_files).map(stored).collect();
    let mut data = ImageDataset::from_parts(folder_name(path), images, labels, class_names, 3);
    if is_flat {
        data = data.without_labels();
    }
    data.counts = ImageCounts {
        n_hidden,
        n_other,
        ..data.counts
    };
    // Images of other classes are not opened, and broken ones do not count towards the limit.
    let data = data.select(&options.classes, None)?;
    if options.skip_broken {
        return without_broken(path, data)?.select(&[], options.limit);
    }
    let data = data.select(&[], options.limit)?;
    data.sizes()?;
    Ok(data)
}

/// Keeps the images that can be decoded.
fn without_broken(path: &Path, data: ImageDataset) -> Result<ImageDataset, DataError> {
    let fault = |stored: &StoredImage| match stored.image() {
        Ok(_) => Ok(None),
        Err(error) if error.kind() == DataErrorKind::Damaged => Ok(Some(error.to_string())),
        Err(error) => Err(error),
    };
    let faults: Vec<_> = data.images.par_iter().map(fault).collect();
    let (mut kept, mut broken) = (Vec::with_capacity(faults.len()), Vec::new());
    for (index, fault) in faults.into_iter().enumerate() {
        match fault? {
            None => kept.push(index),
            Some(fault) => broken.push(fault),
        }
    }
    let labels = kept.iter().map(|&index| data.labels[index]);
    let n_class = n_class(labels, data.class_names.len());
    if let Some(class) = n_class.iter().position(|&n| n == 0) {
        let path = match data.has_labels {
            true => path.join(&data.class_names[class]),
            false => path.to_path_buf(),
        };
        let n_broken = data.counts.n_class[class];
        return Err(DataError::new(
            path.display(),
            format!("only broken images in this class ({n_broken})"),
            "at least one intact image",
        ));
    }
    let mut data = data.keep(&kept);
    data.counts.broken = broken;
    Ok(data)
}
