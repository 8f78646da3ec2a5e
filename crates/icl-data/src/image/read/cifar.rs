//! Reader of the binary file format of CIFAR-10 and CIFAR-100 (Krizhevsky, 2009).

use std::path::{Path, PathBuf};

use super::names::{cifar_files, cifar_stem, is_cifar_name};
use super::source::{ImageOptions, folder_name, metadata};
use crate::disk::{list_folder, read_unpacked};
use crate::error::{DataError, missing_file};
use crate::image::dataset::ImageDataset;
use crate::image::error::not_images;
use crate::image::raster::Image;
use crate::place::FileRef;

/// Width and height of every image.
const SIDE: usize = 32;
/// Number of pixels of one channel.
const PLANE: usize = SIDE * SIDE;
/// Number of bytes of an image in a row.
const N_PIXEL_BYTES: usize = 3 * PLANE;

/// English names of the classes of CIFAR-10, and the names of the classes in the data set.
const CIFAR10_NAMES: [(&str, &str); 10] = [
    ("airplane", "0"),
    ("automobile", "1"),
    ("bird", "2"),
    ("cat", "3"),
    ("deer", "4"),
    ("dog", "5"),
    ("frog", "6"),
    ("horse", "7"),
    ("ship", "8"),
    ("truck", "9"),
];

/// Reads RGB images of 32 x 32 pixels in the binary format of CIFAR-10 or CIFAR-100.
///
/// A row of the file is one image: its label (for CIFAR-100 the coarse label and then the fine one,
/// which is the class) followed by 1024 bytes each of red, green and blue.
///
/// `path` is a file `NAME.bin` or a folder. Each file may be compressed by gzip, with or without
/// `.gz` at the end of its name; if both forms are there, the uncompressed one is read. A file is
/// read as CIFAR-100 if its name contains `cifar100` or is `train.bin` or `test.bin`; as CIFAR-10
/// if its name contains `cifar10`, `data_batch` or `test_batch`; and otherwise as the one of which
/// its length is a whole number of rows.
///
/// A folder is read as the training part: `data_batch_1.bin` to `data_batch_5.bin`, one after the
/// other, if one of these is there; else `train.bin`; else its only `.bin` file. To read the test
/// part, pass the path of its file.
///
/// Classes are the distinct labels, and their names are these numbers; those of CIFAR-10 can also be
/// selected by their English names, `airplane` to `truck`. The name of the data set is `NAME`, or
/// the folder's name if a folder is given.
///
/// # Errors
/// A [`DataError`] that names the file, what was found and what was expected, if
/// - there is no such file, a folder holds none or more than one, or one of the five batches is
///   missing;
/// - a file is compressed and damaged, larger than 2 GiB, or does not consist of whole rows;
/// - neither its name nor its length tells CIFAR-10 from CIFAR-100;
/// - a label is above 9 (CIFAR-10), 99 (CIFAR-100, fine) or 19 (coarse);
/// - the selection in `options` fails, see [`ImageDataset::select`].
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
        // Several files are batches of CIFAR-10, so that the kind of the first is that of all.
        kind_of_first.get_or_insert(kind);
        read_rows(&file, &bytes, kind, &mut images, &mut labels)?;
    }
    let mut data = ImageDataset::of_numbers(name, images, &labels, 3);
    data.aliases = kind_of_first.map_or(&[], CifarKind::aliases);
    data.select(&options.classes, options.limit)
}

/// Returns the files of the data set at `path`, and its name.
fn files_at(path: &Path) -> Result<(Vec<PathBuf>, String), DataError> {
    let not_images = || not_images(path);
    if !metadata(path)?.is_dir() {
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.filter(|name| is_cifar_name(name));
        let name = cifar_stem(name.ok_or_else(not_images)?);
        return Ok((vec![path.to_path_buf()], name.to_owned()));
    }
    let (files, _) = list_folder(path)?;
    let files = cifar_files(path, &files)?.ok_or_else(not_images)?;
    let missing = files.iter().find(|file| !path.join(file).exists());
    if let Some(missing) = missing {
        let present = files.iter().find(|file| path.join(file).exists());
        return Err(missing_file(
            FileRef::on_disk(&path.join(missing)),
            present.map_or("", String::as_str),
        ));
    }
    let files = files.iter().map(|file| path.join(file)).collect();
    Ok((files, folder_name(path)))
}

/// Appends the images and classes of a file, which consists of whole rows.
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
                return Err(DataError::new(
                    file,
                    format!(
                        "{what} {found} at byte {}",
                        row * kind.n_row_bytes() + index
                    ),
                    format!("0 to {last}"),
                ));
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

/// Format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CifarKind {
    Cifar10,
    Cifar100,
}

impl CifarKind {
    /// Determines the format by the file's name, else by its length, which must be one or more whole
    /// rows.
    fn of(file: &FileRef, n_bytes: usize) -> Result<Self, DataError> {
        let name = file.path().file_name().and_then(|name| name.to_str());
        let named = name.and_then(Self::of_name);
        let fits = |kind: Self| n_bytes > 0 && n_bytes.is_multiple_of(kind.n_row_bytes());
        let wrong = |expected| {
            DataError::new(
                file,
                format!("{n_bytes} bytes"),
                format!("one or more rows of {expected} bytes"),
            )
        };
        match (named, fits(Self::Cifar10), fits(Self::Cifar100)) {
            (Some(Self::Cifar10), true, _) | (None, true, false) => Ok(Self::Cifar10),
            (Some(Self::Cifar100), _, true) | (None, false, true) => Ok(Self::Cifar100),
            (Some(Self::Cifar10), false, _) => Err(wrong("3073")),
            (Some(Self::Cifar100), _, false) => Err(wrong("3074")),
            (None, false, false) => Err(wrong("3073 (CIFAR-10) or 3074 (CIFAR-100)")),
            (None, true, true) => Err(DataError::new(
                file,
                format!("{n_bytes} bytes, which are whole rows of CIFAR-10 and of CIFAR-100"),
                "a name with `cifar10` or `cifar100` in it",
            )),
        }
    }

    fn of_name(file: &str) -> Option<Self> {
        let name: String = cifar_stem(file)
            .to_ascii_lowercase()
            .chars()
            .filter(|letter| !matches!(letter, '-' | '_' | ' '))
            .collect();
        // `cifar10` is a prefix of `cifar100`, so that the longer name is tested first.
        if name.contains("cifar100") || matches!(name.as_str(), "train" | "test") {
            return Some(Self::Cifar100);
        }
        let known = ["cifar10", "databatch", "testbatch"];
        let is_known = known.iter().any(|known| name.contains(known));
        is_known.then_some(Self::Cifar10)
    }

    /// Returns the name and the largest value of each label at the beginning of a row, the class last.
    fn labels(self) -> &'static [(&'static str, u8)] {
        match self {
            Self::Cifar10 => &[("label", 9)],
            Self::Cifar100 => &[("coarse label", 19), ("fine label", 99)],
        }
    }

    /// Returns the length of a row in bytes.
    fn n_row_bytes(self) -> usize {
        self.labels().len() + N_PIXEL_BYTES
    }

    /// Returns the further names of the classes.
    fn aliases(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Cifar10 => &CIFAR10_NAMES,
            Self::Cifar100 => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_name_decides_and_then_the_length() {
        let of = |name: &str, n_bytes| {
            let kind = CifarKind::of(&FileRef::on_disk(Path::new(name)), n_bytes);
            kind.map_err(|error| error.to_string())
        };
        let both = 3073 * 3074;
        for name in ["data_batch_1.bin", "test_batch.bin.gz", "my-CIFAR-10.bin"] {
            assert_eq!(of(name, both), Ok(CifarKind::Cifar10), "{name}");
        }
        for name in ["train.bin", "test.bin.gz", "cifar_100_new.bin"] {
            assert_eq!(of(name, both), Ok(CifarKind::Cifar100), "{name}");
        }
        assert_eq!(of("x.bin", 2 * 3073), Ok(CifarKind::Cifar10));
        assert_eq!(of("x.bin", 2 * 3074), Ok(CifarKind::Cifar100));
        assert_eq!(
            of("x.bin", both).unwrap_err(),
            "x.bin: found 9446402 bytes, which are whole rows of CIFAR-10 and of CIFAR-100, \
             expected a name with `cifar10` or `cifar100` in it"
        );
        for (name, expected) in [
            ("x.bin", "3073 (CIFAR-10) or 3074 (CIFAR-100)"),
            ("cifar10.bin", "3073"),
            ("train.bin", "3074"),
        ] {
            for n_bytes in [0, 3072, 3073 * 2 + 1] {
                assert_eq!(
                    of(name, n_bytes).unwrap_err(),
                    format!(
                        "{name}: found {n_bytes} bytes, expected one or more rows of {expected} bytes"
                    )
                );
            }
        }
    }
}
