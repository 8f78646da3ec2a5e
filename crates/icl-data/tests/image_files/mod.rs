//! Small image files and data sets of them.

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use image::{ImageFormat, Rgb, RgbImage};

/// The bytes of an IDX file: magic number, sizes of the dimensions, values.
pub fn idx(magic: u32, sizes: &[u32], values: &[u8]) -> Vec<u8> {
    let mut bytes = magic.to_be_bytes().to_vec();
    for size in sizes {
        bytes.extend(size.to_be_bytes());
    }
    bytes.extend(values);
    bytes
}

/// An IDX file of `n` images of 3 rows and 2 columns, whose bytes count upwards.
pub fn idx_images(n: u32) -> Vec<u8> {
    let values: Vec<u8> = (0..6 * n).map(|value| value as u8).collect();
    idx(0x803, &[n, 3, 2], &values)
}

/// An IDX file of labels.
pub fn idx_labels(labels: &[u8]) -> Vec<u8> {
    idx(0x801, &[labels.len() as u32], labels)
}

/// Rows of a CIFAR file with these labels, each of one or two numbers; pixel p of channel c is
/// p + 100 c modulo 256.
pub fn cifar<const N: usize>(labels: &[[u8; N]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for label in labels {
        bytes.extend(label);
        for channel in 0..3_usize {
            bytes.extend((0..1024_usize).map(|pixel| (pixel + 100 * channel) as u8));
        }
    }
    bytes
}

/// Packed by gzip.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A picture whose pixel in column x and row y is (x, y, `value`).
pub fn picture(width: u32, height: u32, value: u8, format: ImageFormat) -> Vec<u8> {
    let image = RgbImage::from_fn(width, height, |x, y| Rgb([x as u8, y as u8, value]));
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// A PNG file of one colour component, see [`picture`].
pub fn png(width: u32, height: u32, value: u8) -> Vec<u8> {
    picture(width, height, value, ImageFormat::Png)
}

/// Writes a file, and the folders that it is in.
pub fn write(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    path
}

/// Writes two classes, `ants` of three images and `bees` of two, of different sizes.
pub fn write_insects(folder: &Path) {
    for (index, name) in [
        "ants/b.png",
        "ants/a.png",
        "ants/sub/c.PNG",
        "bees/2.png",
        "bees/10.png",
    ]
    .into_iter()
    .enumerate()
    {
        let side = index as u32 + 3;
        write(folder, name, &png(side, side + 1, index as u8));
    }
}
