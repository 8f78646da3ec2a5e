//! Reader of the IDX file format (LeCun, Cortes and Burges, 1998), the format of MNIST.

use std::path::Path;

use super::names::{IdxName, images_file};
use super::source::{ImageOptions, folder_name, metadata};
use crate::disk::{list_folder, read_unpacked, unpacked};
use crate::error::{DataError, missing_file, too_many};
use crate::image::dataset::ImageDataset;
use crate::image::error::no_idx_images;
use crate::image::raster::Image;
use crate::place::FileRef;

/// Magic number of images: two zero bytes, the type (8: unsigned bytes) and 3 dimensions.
const IMAGES_MAGIC: u32 = 0x0000_0803;
/// Magic number of labels, which have 1 dimension.
const LABELS_MAGIC: u32 = 0x0000_0801;

/// Maximum number of images: a compressed file of a few megabytes may hold more of them than fit in
/// memory, even if each is a single pixel.
const MAX_IMAGES: usize = 1 << 25;

/// Reads grey images and their labels from a pair of IDX files.
///
/// `path` is the file of images, `NAME-images-idx3-ubyte` (or `NAME-images.idx3-ubyte`), next to its
/// labels `NAME-labels-idx1-ubyte`, or a folder of such a pair. Each file may be compressed by gzip,
/// with or without `.gz` at the end of its name; if both forms are there, the uncompressed one is
/// read. A folder of the pairs `train` and `t10k` and no other, as MNIST's, is read as `train`; to
/// read the other pair, pass the path of its images.
///
/// Classes are the distinct labels, from 0 to 255, and their names are these numbers. The name of
/// the data set is `NAME`, or the folder's name if a folder is given.
///
/// # Errors
/// A [`DataError`] that names the file, what was found and what was expected, if
/// - there is no such pair, or a folder holds more than one;
/// - a file is cut, longer than its header states, compressed and damaged, or larger than 2 GiB;
/// - its magic number is not that of unsigned bytes in 3 dimensions (images) or 1 (labels);
/// - a dimension is 0, or there are more than 2^25 images;
/// - the numbers of labels and images differ;
/// - the selection in `options` fails, see [`ImageDataset::select`].
pub fn read_idx(path: impl AsRef<Path>, options: &ImageOptions) -> Result<ImageDataset, DataError> {
    let path = path.as_ref();
    let (images, name) = if metadata(path)?.is_dir() {
        let (files, _) = list_folder(path)?;
        let file = images_file(path, &files)?.ok_or_else(|| no_idx_images(path))?;
        (path.join(file), Some(folder_name(path)))
    } else {
        (path.to_path_buf(), None)
    };
    let spelled = images.file_name().and_then(|name| name.to_str());
    let Some(idx_name) = spelled.and_then(IdxName::of_images) else {
        return Err(no_idx_images(&images));
    };
    let candidates = idx_name.labels_files();
    let candidates: Vec<_> = candidates
        .iter()
        .map(|n| images.with_file_name(n))
        .collect();
    let labels = candidates.iter().find(|file| file.exists());
    let labels = labels.ok_or_else(|| {
        missing_file(
            FileRef::on_disk(&candidates[0]),
            spelled.unwrap_or_default(),
        )
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

/// Reads a pair of files in memory, compressed or not. Error messages call them by `name`.
pub(crate) fn read_idx_bytes(
    name: &str,
    images: &[u8],
    labels: &[u8],
) -> Result<ImageDataset, DataError> {
    let file = |what| FileRef::on_disk(Path::new(&format!("embedded {name} {what}")));
    let (images_file, labels_file) = (file("images"), file("labels"));
    assemble(
        name.to_owned(),
        (&images_file, &unpacked(images, &images_file)?),
        (&labels_file, &unpacked(labels, &labels_file)?),
    )
}

/// Makes a data set of the uncompressed contents of two files.
fn assemble(
    name: String,
    (images_file, images): (&FileRef, &[u8]),
    (labels_file, labels): (&FileRef, &[u8]),
) -> Result<ImageDataset, DataError> {
    let images = parse_images(images_file, images)?;
    let labels = parse_labels(labels_file, labels)?;
    if labels.len() != images.len() {
        return Err(DataError::new(
            labels_file,
            format!("{} labels", labels.len()),
            format!("{}, one for each image", images.len()),
        ));
    }
    Ok(ImageDataset::of_numbers(name, images, labels, 1))
}

/// Parses images: a file `[n, rows, columns]` of unsigned bytes.
fn parse_images(file: &FileRef, bytes: &[u8]) -> Result<Vec<Image>, DataError> {
    let names = ["images", "rows", "columns"];
    let ([n, rows, columns], values) = dimensions(file, bytes, IMAGES_MAGIC, "images", names)?;
    if n > MAX_IMAGES {
        return Err(too_many(file, n, "images", MAX_IMAGES));
    }
    let image = |pixels: &[u8]| Image::new(columns, rows, 1, pixels.to_vec());
    Ok(values.chunks_exact(rows * columns).map(image).collect())
}

/// Parses labels: a file `[n]` of unsigned bytes.
fn parse_labels<'a>(file: &FileRef, bytes: &'a [u8]) -> Result<&'a [u8], DataError> {
    let (_, values) = dimensions(file, bytes, LABELS_MAGIC, "labels", ["labels"])?;
    Ok(values)
}

/// Returns the sizes of the dimensions, none of which is 0, and the values, which fill them.
fn dimensions<'a, const N: usize>(
    file: &FileRef,
    bytes: &'a [u8],
    magic: u32,
    what: &'static str,
    names: [&'static str; N],
) -> Result<([usize; N], &'a [u8]), DataError> {
    let n_header = 4 * (1 + N);
    let Some((header, values)) = bytes.split_at_checked(n_header) else {
        return Err(DataError::new(
            file,
            format!("{} bytes", bytes.len()),
            format!("at least {n_header}, the header of an IDX file of {what}"),
        ));
    };
    let word = |index: usize| {
        let bytes = &header[4 * index..4 * index + 4];
        bytes
            .iter()
            .fold(0, |word, &byte| word << 8 | u32::from(byte))
    };
    if word(0) != magic {
        return Err(DataError::new(
            file,
            format!("magic number {:#010x}", word(0)),
            format!("{magic:#010x}, an IDX file of {what}"),
        ));
    }
    let sizes: [usize; N] = std::array::from_fn(|index| word(1 + index) as usize);
    if let Some(empty) = (0..N).find(|&index| sizes[index] == 0) {
        return Err(DataError::new(
            file,
            format!("0 {} in the header", names[empty]),
            "at least 1",
        ));
    }
    // The product of three 32-bit numbers has up to 96 bits.
    let n_values: u128 = sizes.iter().map(|&size| size as u128).product();
    if values.len() as u128 != n_values {
        return Err(DataError::new(
            file,
            format!("{} bytes", bytes.len()),
            format!("{} by its header", n_values + n_header as u128),
        ));
    }
    Ok((sizes, values))
}
