//! The readers of images against Pillow and NumPy (`scripts/reference/image_data.py`) and against
//! the counts of the data's README.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use crate::image_files::write;
use flate2::read::GzDecoder;
use icl_core::Samples;
use icl_data::{ImageDataset, ImageOptions, read_image_folder, read_images};
use serde::Deserialize;
use tempfile::tempdir;

#[derive(Deserialize)]
struct Record {
    files: Vec<MadeFile>,
    mnist_train: Labelled,
    mnist_test: Labelled,
    cifar10: Labelled,
    photos: Photos,
}

#[derive(Deserialize)]
struct MadeFile {
    name: String,
    file: String,
    pixels: String,
}

#[derive(Deserialize)]
struct Labelled {
    n_class: Vec<usize>,
    first_labels: Vec<usize>,
    label_sum: u64,
    pixel_sum: u64,
}

#[derive(Deserialize)]
struct Photos {
    counts: BTreeMap<String, usize>,
    single: Vec<Photo>,
}

#[derive(Deserialize)]
struct Photo {
    file: String,
    width: usize,
    height: usize,
    /// Row, column, red, green, blue.
    pixels: Vec<[usize; 5]>,
    /// Means of red, green and blue.
    means: [f64; 3],
}

fn record() -> Record {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/image_data.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2);
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.map(byte).collect()
}

/// The greatest and the mean difference from Pillow's decoder that are accepted.
///
/// PNG and WebP give the same bytes. Two JPEG decoders round the cosine transform, the change of
/// colours and the enlarging of halved colours differently: measured were at most 2 levels, and 4
/// where colours are halved in both directions (0.45 on average).
fn tolerance(name: &str) -> (u8, f64) {
    match name {
        "rgb-420.jpg" | "progressive.jpg" => (4, 0.5),
        name if name.ends_with("jpg") => (2, 0.2),
        _ => (0, 0.0),
    }
}

#[test]
fn every_kind_of_file_decodes_as_in_pillow() {
    let folder = tempdir().unwrap();
    let files = record().files;
    for file in &files {
        write(
            folder.path(),
            &format!("c/{}", file.name),
            &unhex(&file.file),
        );
    }
    let data = read_image_folder(folder.path(), &ImageOptions::default()).unwrap();
    assert_eq!((data.n_images(), data.channels()), (files.len(), 3));
    assert_eq!(data.sizes().unwrap(), vec![21 * 14; files.len()]);
    let mut names: Vec<&MadeFile> = files.iter().collect();
    names.sort_by_key(|file| file.name.as_bytes());
    for (index, file) in names.into_iter().enumerate() {
        let image = data.sample(index).unwrap();
        assert_eq!(
            (image.width(), image.height(), image.channels()),
            (21, 14, 3)
        );
        let expected = unhex(&file.pixels);
        let pairs = image.pixels().iter().zip(&expected);
        let apart: Vec<u8> = pairs
            .map(|(&found, &other)| found.abs_diff(other))
            .collect();
        let greatest = *apart.iter().max().unwrap();
        let mean = apart.iter().map(|&by| f64::from(by)).sum::<f64>() / apart.len() as f64;
        eprintln!("{}: at most {greatest}, on average {mean:.3}", file.name);
        let (most, most_mean) = tolerance(&file.name);
        assert!(greatest <= most && mean <= most_mean, "{}", file.name);
    }
}

fn weighted_sum(values: impl Iterator<Item = u8>) -> u64 {
    let weighted = values
        .enumerate()
        .map(|(at, value)| u64::from(value) * (1 + at as u64 % 251));
    weighted.sum()
}

/// Everything that the script records of a data set whose ten classes are all there.
fn check(data: &ImageDataset, expected: &Labelled) {
    assert_eq!(data.counts().n_class, expected.n_class);
    assert_eq!(data.labels()[..10], expected.first_labels);
    let labels = data.labels().iter().map(|&label| label as u8);
    assert_eq!(weighted_sum(labels), expected.label_sum);
    let images: Vec<_> = (0..data.n_images())
        .map(|i| data.sample(i).unwrap())
        .collect();
    let pixels = images
        .iter()
        .flat_map(|image| image.pixels().iter().copied());
    assert_eq!(weighted_sum(pixels), expected.pixel_sum);
}

#[test]
fn mnist() {
    let Some(folder) = crate::data_dir::shared("mnist") else {
        return;
    };
    let record = record();
    let all = ImageOptions::default();
    let train = read_images(&folder, &all).unwrap();
    assert_eq!(
        (train.name(), train.n_images(), train.channels()),
        ("mnist", 60_000, 1)
    );
    check(&train, &record.mnist_train);
    let test = read_images(folder.join("t10k-images-idx3-ubyte.gz"), &all).unwrap();
    assert_eq!((test.name(), test.n_images()), ("t10k", 10_000));
    check(&test, &record.mnist_test);
}

#[test]
fn cifar10() {
    let name = "cifar10/cifar10_train_first4000_lossless.bin.gz";
    let Some(path) = crate::data_dir::shared(name) else {
        return;
    };
    let data = read_images(path, &ImageOptions::default()).unwrap();
    assert_eq!((data.n_images(), data.channels()), (4000, 3));
    assert_eq!(data.labels()[..10], [6, 9, 9, 4, 1, 1, 2, 7, 8, 3]);
    check(&data, &record().cifar10);
}

/// All photographs have halved colours, which the decoder enlarges by rounding up twice, where
/// Pillow's rounds evenly: in each direction by 1/8 of a level on average.
const BIAS: f64 = 2.0 / 8.0;

/// Differences of red, green and blue for each level of both colours (ITU-T T.871).
const PER_CHROMA: [f64; 3] = [1.402, 0.344 + 0.714, 1.772];

#[test]
fn photographs() {
    let Some(archive) = crate::data_dir::shared("photos/ants-bees-256.tar.gz") else {
        return;
    };
    let folder = tempdir().unwrap();
    let unpacked = GzDecoder::new(File::open(archive).unwrap());
    tar::Archive::new(unpacked).unpack(folder.path()).unwrap();
    let root = folder.path().join("ants-bees");
    let expected = record().photos;

    let error = read_images(&root, &ImageOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{}: found the parts train, val of a data set, expected the path of one of them, for example {}",
            root.display(),
            root.join("train").display()
        )
    );
    // Every photograph is decoded, and none is broken.
    let whole = ImageOptions {
        skip_broken: true,
        cache_bytes: 0,
        ..ImageOptions::default()
    };
    for part in ["train", "val"] {
        let data = read_images(root.join(part), &whole).unwrap();
        assert_eq!(data.class_names(), ["ants", "bees"]);
        let of = |class| expected.counts[&format!("{part}/{class}")];
        assert_eq!(data.counts().n_class, [of("ants"), of("bees")]);
        assert_eq!(data.counts().broken.len(), 0);
    }
    let (mut n_apart, mut n_values) = (0, 0);
    let mut greatest = 0;
    for photo in &expected.single {
        let alone = tempdir().unwrap();
        let contents = std::fs::read(root.join(&photo.file)).unwrap();
        write(alone.path(), "c/photo.jpg", &contents);
        let data = read_image_folder(alone.path(), &ImageOptions::default()).unwrap();
        let image = data.sample(0).unwrap();
        assert_eq!((image.width(), image.height()), (photo.width, photo.height));
        for &[row, column, red, green, blue] in &photo.pixels {
            let at = 3 * (row * photo.width + column);
            for (channel, value) in [red, green, blue].into_iter().enumerate() {
                let apart = usize::from(image.pixels()[at + channel]).abs_diff(value);
                greatest = greatest.max(apart);
                n_apart += usize::from(apart > 2);
                n_values += 1;
            }
        }
        let mut apart = [0.0; 3];
        for (channel, expected) in photo.means.iter().enumerate() {
            let values = image.pixels().iter().skip(channel).step_by(3);
            let sum: f64 = values.map(|&value| f64::from(value)).sum();
            apart[channel] = sum / (photo.width * photo.height) as f64 - expected;
            assert!(apart[channel].abs() < BIAS * PER_CHROMA[channel]);
        }
        eprintln!("{}: means {apart:.3?} apart", photo.file);
    }
    eprintln!("{n_apart} of {n_values} values are more than 2 levels apart, at most {greatest}");
    assert!(greatest <= 4);
    assert!(n_apart * 100 < n_values);
}
