//! Damaged files of every kind: an error or an image, never a panic.

use crate::image_files::{cifar, gzip, idx_images, idx_labels, picture, write};
use icl_core::{Samples, Seed};
use icl_data::{ImageOptions, read_images};
use image::ImageFormat;
use rand::RngExt;
use tempfile::{TempDir, tempdir};

/// Reads the folder and all of its images; `true` if nothing was wrong.
fn reads(folder: &TempDir) -> bool {
    let Ok(data) = read_images(folder.path(), &ImageOptions::default()) else {
        return false;
    };
    (0..data.n_images()).all(|index| data.sample(index).is_ok())
}

/// Writes every beginning of `whole` as the file `name`, and checks that each is an error.
fn cut_everywhere(folder: &TempDir, name: &str, whole: &[u8]) {
    for n_bytes in 0..whole.len() {
        write(folder.path(), name, &whole[..n_bytes]);
        assert!(
            !reads(folder),
            "{name} cut to {n_bytes} of {} bytes",
            whole.len()
        );
    }
    write(folder.path(), name, whole);
    assert!(reads(folder));
}

/// Writes `whole` with some bytes changed, `n_times`; returns how often no damage was detected.
fn flipped(folder: &TempDir, name: &str, whole: &[u8], n_times: usize) -> usize {
    let mut rng = Seed::new(20_260_101).child(name).rng();
    let mut n_unnoticed = 0;
    for _ in 0..n_times {
        let mut bytes = whole.to_vec();
        for _ in 0..rng.random_range(1..4) {
            let at = rng.random_range(0..bytes.len());
            bytes[at] ^= rng.random_range(1..=255_u8);
        }
        write(folder.path(), name, &bytes);
        n_unnoticed += usize::from(reads(folder));
    }
    write(folder.path(), name, whole);
    assert!(reads(folder));
    n_unnoticed
}

#[test]
fn idx() {
    let folder = tempdir().unwrap();
    let images = "x-images-idx3-ubyte";
    let labels = "x-labels-idx1-ubyte";
    write(folder.path(), labels, &idx_labels(&[0, 1, 2]));
    cut_everywhere(&folder, images, &idx_images(3));
    flipped(&folder, images, &idx_images(3), 300);
    let packed = gzip(&idx_images(3));
    cut_everywhere(&folder, images, &packed);
    flipped(&folder, images, &packed, 300);
    cut_everywhere(&folder, labels, &idx_labels(&[0, 1, 2]));
    flipped(&folder, labels, &idx_labels(&[0, 1, 2]), 300);
}

#[test]
fn cifar_rows() {
    let folder = tempdir().unwrap();
    let whole = gzip(&cifar(&[[1], [2]]));
    cut_everywhere(&folder, "cifar10.bin.gz", &whole);
    flipped(&folder, "cifar10.bin.gz", &whole, 300);
    let plain = cifar(&[[1]]);
    flipped(&folder, "cifar10.bin.gz", &plain, 100);
}

#[test]
fn png() {
    let folder = tempdir().unwrap();
    let whole = picture(9, 7, 3, ImageFormat::Png);
    // The last chunk, of 12 bytes, says only that the file ends there.
    let end = whole.len() - 12;
    for n_bytes in 0..end {
        write(folder.path(), "c/x.png", &whole[..n_bytes]);
        assert!(!reads(&folder), "cut to {n_bytes} of {}", whole.len());
    }
    // Each chunk has a checksum; the last one, a tenth of this file, is not looked for.
    let n_unnoticed = flipped(&folder, "c/x.png", &whole, 400);
    assert!(n_unnoticed <= 40, "{n_unnoticed}");
}

#[test]
fn jpeg() {
    let folder = tempdir().unwrap();
    let whole = picture(20, 17, 3, ImageFormat::Jpeg);
    cut_everywhere(&folder, "c/x.jpg", &whole);
    // There is no checksum: other bytes are mostly another picture.
    flipped(&folder, "c/x.jpg", &whole, 400);
}

#[test]
fn webp() {
    let folder = tempdir().unwrap();
    let whole = picture(20, 17, 3, ImageFormat::WebP);
    cut_everywhere(&folder, "c/x.webp", &whole);
    flipped(&folder, "c/x.webp", &whole, 400);
}
