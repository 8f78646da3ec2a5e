//! The binary file format of CIFAR-10 and CIFAR-100 (Krizhevsky, 2009).

mod kind;
mod names;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::dataset::ImageDataset;
use super::error::ImagesError;
use super::folder_names::{file_names, folder_name};
use super::options::ImageOptions;
use super::packed::read_unpacked;
use super::raster::Image;
use crate::error::DataError;
use crate::place::{FileRef, Found};
use kind::CifarKind;
pub(super) use names::{cifar_files, is_cifar_name, stem};

/// The width and the height of every image.
const SIDE: usize = 32;
/// The pixels of one channel.
const PLANE: usize = SIDE * SIDE;
/// The bytes of an image in a row.
const N_PIXEL_BYTES: usize = 3 * PLANE;

/// Reads RGB images of 32 x 32 pixels in the binary format of CIFAR-10 or CIFAR-100.
///
/// A row of the file is one image: its label (of CIFAR-100 the coarse label and then the fine one,
/// which is the class) and 1024 bytes of each of red, green and blue.
///
/// `path` is a file `NAME.bin` or a folder; each file may be packed by gzip, with or without `.gz`
/// at the end of its name. Of which kind a file is, its name says if it has `cifar10` or
/// `data_batch` or `test_batch`, or else `cifar100` in it, or is `train.bin` or `test.bin` (those of
/// CIFAR-100); else its length, which must be whole rows of one of them.
///
/// A folder is read as the training part: `data_batch_1.bin` to `data_batch_5.bin`, one after the
/// other, if one of these is there; else `train.bin`; else its only `.bin` file. To read the other
/// part, name its file. If a file is there plain and packed, the plain one is read.
///
/// Classes are the distinct labels, called by their numbers; those of CIFAR-10 can be selected by
/// their English names, too, `airplane` to `truck`. The data set is called `NAME`, or by the
/// folder's name if that was given.
///
/// # Errors
/// A [`DataError`] that names the file, what was found and what was expected, if
/// - there is no such file, a folder holds none or more than one, or one of the five batches is
///   missing;
/// - a file is packed and damaged, larger than 2 GiB, or not made of whole rows;
/// - its name does not say of which kind it is, and its length fits both;
/// - a label is above 9 (CIFAR-10), 99 (CIFAR-100, fine) or 19 (coarse);
/// - `options` ask for what is not there, see [`ImageDataset::select`].
pub fn read_cifar(
    path: impl AsRef<Path>,
    options: &ImageOptions,
) -> Result<ImageDataset, DataError> {
    let path = path.as_ref();
    let (files, name) = files_at(path)?;
    let mut kind_of_first = None;
    let (mut images, mut labels) = (Vec::new(), Vec::new());
    for file in &files {
        let file = FileRef::on_disk(file);
        let bytes = read_unpacked(&file)?;
        let kind = CifarKind::of(&file, bytes.len())?;
        // Files of one data set are batches, whose names say that they are of one kind.
        kind_of_first.get_or_insert(kind);
        read_rows(&file, &bytes, kind, &mut images, &mut labels)?;
    }
    let mut data = ImageDataset::of_numbers(name, images, &labels, 3);
    data.aliases = kind_of_first.map_or(&[], CifarKind::aliases);
    data.select(&options.classes, options.limit)
}

/// The files of the data set at `path`, and its name.
fn files_at(path: &Path) -> Result<(Vec<PathBuf>, String), DataError> {
    let not_images = || ImagesError::NotImages {
        path: path.to_path_buf(),
    };
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            let found = cifar_files(path, &file_names(path)?)?;
            let files = found.ok_or_else(not_images)?;
            let missing = files.iter().find(|file| !path.join(file).exists());
            if let Some(missing) = missing {
                let present = files.iter().find(|file| path.join(file).exists());
                return Err(DataError::MissingFile {
                    file: FileRef::on_disk(&path.join(missing)),
                    beside: Found::new(present.map_or("", String::as_str)),
                });
            }
            let files = files.iter().map(|file| path.join(file)).collect();
            Ok((files, folder_name(path)))
        }
        Ok(_) => {
            let name = path.file_name().and_then(|name| name.to_str());
            let name = name.filter(|name| is_cifar_name(name));
            let name = stem(name.ok_or_else(not_images)?);
            Ok((vec![path.to_path_buf()], name.to_owned()))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Err(ImagesError::NoSuchPath {
            path: path.to_path_buf(),
        }
        .into()),
        Err(source) => Err(DataError::Unreadable {
            file: FileRef::on_disk(path),
            source,
        }),
    }
}

/// Adds the images and classes of a file's rows, which are whole.
fn read_rows(
    file: &FileRef,
    bytes: &[u8],
    kind: CifarKind,
    images: &mut Vec<Image>,
    labels: &mut Vec<u8>,
) -> Result<(), DataError> {
    let limits = kind.labels();
    for (row, values) in bytes.chunks_exact(kind.n_row_bytes()).enumerate() {
        let (found, planes) = values.split_at(limits.len());
        for (index, (&found, &(what, last))) in found.iter().zip(limits).enumerate() {
            if found > last {
                return Err(ImagesError::CifarLabel {
                    file: file.clone(),
                    what,
                    found,
                    byte: row * kind.n_row_bytes() + index,
                    last,
                }
                .into());
            }
        }
        labels.push(found[limits.len() - 1]);
        let mut pixels = Vec::with_capacity(N_PIXEL_BYTES);
        for pixel in 0..PLANE {
            pixels.extend((0..3).map(|channel| planes[channel * PLANE + pixel]));
        }
        images.push(Image::new(SIDE, SIDE, 3, pixels));
    }
    Ok(())
}
