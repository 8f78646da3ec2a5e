//! The IDX file format (LeCun, Cortes and Burges, 1998): MNIST and what looks like it.

mod names;
mod parse;

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::dataset::ImageDataset;
use super::error::ImagesError;
use super::folder_names::{file_names, folder_name};
use super::options::ImageOptions;
use super::packed::{read_unpacked, unpacked};
use crate::error::DataError;
use crate::place::{FileRef, Found};
pub(super) use names::{IdxName, PACKED, images_file};

/// Reads grey images and their labels from a pair of IDX files.
///
/// `path` is the file of the images, `NAME-images-idx3-ubyte` (also spelled `NAME-images.idx3-ubyte`),
/// beside which its labels `NAME-labels-idx1-ubyte` lie, or a folder of such a pair. Each may be
/// packed by gzip, with or without `.gz` at the end of its name. A folder that holds the pairs
/// `train` and `t10k` and no other, as MNIST does, is read as `train`; to read the other pair, name
/// its file. If a file is there plain and packed, the plain one is read.
///
/// Classes are the distinct labels, from 0 to 255, called by their numbers. The data set is called
/// `NAME`, or by the folder's name if that was given.
///
/// # Errors
/// A [`DataError`] that names the file, what was found and what was expected, if
/// - there is no such pair, or a folder holds more than one;
/// - a file is cut, longer than its header says, packed and damaged, or larger than 2 GiB;
/// - its magic number is another than that of unsigned bytes in 3 dimensions (images) or 1 (labels);
/// - a dimension is 0, or there are more than 2^25 images;
/// - there are not as many labels as images;
/// - `options` ask for what is not there, see [`ImageDataset::select`].
pub fn read_idx(path: impl AsRef<Path>, options: &ImageOptions) -> Result<ImageDataset, DataError> {
    let path = path.as_ref();
    let (images, name) = match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            let files = file_names(path)?;
            let file = images_file(path, &files)?.ok_or_else(|| ImagesError::NotAnIdxName {
                path: path.to_path_buf(),
            })?;
            (path.join(file), Some(folder_name(path)))
        }
        Ok(_) => (path.to_path_buf(), None),
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
    let spelled = images.file_name().and_then(|name| name.to_str());
    let Some(idx_name) = spelled.and_then(IdxName::of_images) else {
        return Err(ImagesError::NotAnIdxName { path: images }.into());
    };
    let candidates = idx_name.labels_files();
    let candidates: Vec<_> = candidates
        .iter()
        .map(|n| images.with_file_name(n))
        .collect();
    let labels = candidates.iter().find(|file| file.exists());
    let labels = labels.ok_or_else(|| DataError::MissingFile {
        file: FileRef::on_disk(&candidates[0]),
        beside: Found::new(spelled.unwrap_or_default()),
    })?;
    let name = name.unwrap_or_else(|| idx_name.stem().to_owned());
    let (images, labels) = (FileRef::on_disk(&images), FileRef::on_disk(labels));
    let data = assemble(
        name,
        (&images, &read_unpacked(&images)?),
        (&labels, &read_unpacked(&labels)?),
    )?;
    data.select(&options.classes, options.limit)
}

/// Reads a pair of files in memory, plain or packed; messages call them by `name`.
pub(crate) fn read_idx_bytes(
    name: &str,
    images: &[u8],
    labels: &[u8],
) -> Result<ImageDataset, DataError> {
    let file = |what| FileRef::on_disk(Path::new(&format!("embedded {name} {what}")));
    let (images_file, labels_file) = (file("images"), file("labels"));
    assemble(
        name.to_owned(),
        (&images_file, &unpacked(&images_file, images)?),
        (&labels_file, &unpacked(&labels_file, labels)?),
    )
}

/// A data set of the unpacked contents of two files.
fn assemble(
    name: String,
    (images_file, images): (&FileRef, &[u8]),
    (labels_file, labels): (&FileRef, &[u8]),
) -> Result<ImageDataset, DataError> {
    let images = parse::images(images_file, images)?;
    let labels = parse::labels(labels_file, labels)?;
    if labels.len() != images.len() {
        return Err(ImagesError::LabelCount {
            file: labels_file.clone(),
            found: labels.len(),
            expected: images.len(),
        }
        .into());
    }
    Ok(ImageDataset::of_numbers(name, images, labels, 1))
}
