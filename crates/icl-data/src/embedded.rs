//! Data sets compiled into the crate, which need neither files nor a network.
//!
//! Their files are in the crate's folder `data`, each next to a notice of its source and licence.

use std::path::Path;

use crate::error::DataError;
use crate::graph::{GraphDataset, read_tu_bytes};
use crate::image::{Image, ImageDataset, read_idx_bytes};
use crate::place::Found;
use crate::tabular::{Header, RawTable, TableOptions, read_table_bytes};

const GRAPH_NAMES: [&str; 1] = ["MUTAG"];
const IMAGE_NAMES: [&str; 3] = ["MNIST-1v7", "MNIST-1v7-test", "digits"];
const TABLE_NAMES: [&str; 1] = ["digits-table"];
const NAMES: [&str; 5] = [
    GRAPH_NAMES[0],
    IMAGE_NAMES[0],
    IMAGE_NAMES[1],
    IMAGE_NAMES[2],
    TABLE_NAMES[0],
];

/// Archives in the TU format, in the order of their names.
const GRAPHS: [&[u8]; GRAPH_NAMES.len()] = [include_bytes!("../data/MUTAG.zip")];

/// Pairs of images and labels in the IDX format, compressed by gzip, in the order of their names. The last
/// name is that of images made from a table.
const IMAGES: [[&[u8]; 2]; IMAGE_NAMES.len() - 1] = [
    [
        include_bytes!("../data/mnist-1v7/train-images-idx3-ubyte.gz"),
        include_bytes!("../data/mnist-1v7/train-labels-idx1-ubyte.gz"),
    ],
    [
        include_bytes!("../data/mnist-1v7/t10k-images-idx3-ubyte.gz"),
        include_bytes!("../data/mnist-1v7/t10k-labels-idx1-ubyte.gz"),
    ],
];

/// Largest number in the table of digits.
const MAX_LEVEL: f32 = 16.0;
/// Side of a digit in pixels.
const DIGIT_SIDE: usize = 8;

/// Text tables with the name of their target column, in the order of their names.
const TABLES: [(&[u8], &str); TABLE_NAMES.len()] =
    [(include_bytes!("../data/digits.csv.gz"), "65")];

/// Returns the names of all embedded data sets: those of graphs, of images and of tables.
pub fn names() -> &'static [&'static str] {
    &NAMES
}

/// Returns the names of the embedded data sets of graphs, for [`graphs`].
pub fn graph_names() -> &'static [&'static str] {
    &GRAPH_NAMES
}

/// Returns the names of the embedded data sets of images, for [`images`].
pub fn image_names() -> &'static [&'static str] {
    &IMAGE_NAMES
}

/// Returns the names of the embedded tables, for [`tables`].
pub fn table_names() -> &'static [&'static str] {
    &TABLE_NAMES
}

/// Reads the embedded data set of graphs with this name, ignoring case.
///
/// The reader is that of files, see [`read_tu`](crate::read_tu).
///
/// ```
/// let mutag = icl_data::embedded::graphs("mutag")?;
/// assert_eq!(mutag.graphs().len(), 188);
/// assert_eq!(mutag.class_labels(), [-1, 1]);
/// # Ok::<(), icl_data::DataError>(())
/// ```
///
/// # Errors
/// [`DataError`] if there is no such data set.
pub fn graphs(name: &str) -> Result<GraphDataset, DataError> {
    let index = position(name, &GRAPH_NAMES)?;
    let path = format!("embedded {}.zip", GRAPH_NAMES[index]);
    read_tu_bytes(Path::new(&path), GRAPHS[index])
}

/// Reads the embedded data set of images with this name, ignoring case.
///
/// The reader is that of files, see [`read_idx`](crate::read_idx). The images `digits` are the rows of the
/// table `digits-table`, see [`tables`], as grey images of 8 x 8 pixels: a number v from 0 to 16 is the
/// brightness 255·v/16, rounded.
///
/// ```
/// let digits = icl_data::embedded::images("mnist-1v7")?;
/// assert_eq!(digits.n_images(), 2000);
/// assert_eq!(digits.class_names(), ["1", "7"]);
/// # Ok::<(), icl_data::DataError>(())
/// ```
///
/// # Errors
/// [`DataError`] if there is no such data set.
pub fn images(name: &str) -> Result<ImageDataset, DataError> {
    let index = position(name, &IMAGE_NAMES)?;
    match IMAGES.get(index) {
        Some([images, labels]) => read_idx_bytes(IMAGE_NAMES[index], images, labels),
        None => digits(IMAGE_NAMES[index]),
    }
}

/// Returns the rows of the table of digits as images.
fn digits(name: &str) -> Result<ImageDataset, DataError> {
    let table = tables(TABLE_NAMES[0])?;
    let brightness = |level: f32| (level * 255.0 / MAX_LEVEL).round() as u8;
    let pixels: Vec<u8> = table.numbers()?.into_iter().map(brightness).collect();
    let image = |pixels: &[u8]| Image::new(DIGIT_SIDE, DIGIT_SIDE, 1, pixels.to_vec());
    let images = pixels.chunks_exact(DIGIT_SIDE * DIGIT_SIDE).map(image);
    // The classes are the digits in ascending order.
    let labels: Vec<u8> = table.labels().iter().map(|&label| label as u8).collect();
    Ok(ImageDataset::of_numbers(
        name.to_owned(),
        images.collect(),
        &labels,
        1,
    ))
}

/// Reads the embedded table with this name, ignoring case.
///
/// The reader is that of files, see [`read_table`](crate::read_table). The table `digits-table` holds
/// handwritten digits of 8 x 8 pixels from 0 to 16 (Alpaydin and Kaynak, 1998); its classes are the
/// ten digits.
///
/// ```
/// let digits = icl_data::embedded::tables("digits-table")?;
/// assert_eq!((digits.n_rows(), digits.column_names().len()), (1797, 64));
/// assert_eq!(digits.class_names().len(), 10);
/// # Ok::<(), icl_data::DataError>(())
/// ```
///
/// # Errors
/// [`DataError`] if there is no such table.
pub fn tables(name: &str) -> Result<RawTable, DataError> {
    let index = position(name, &TABLE_NAMES)?;
    let (bytes, target) = TABLES[index];
    let options = TableOptions {
        header: Header::No,
        target: Some(target.to_owned()),
        ..TableOptions::default()
    };
    read_table_bytes(TABLE_NAMES[index], bytes, &options)
}

fn position(name: &str, known: &'static [&'static str]) -> Result<usize, DataError> {
    let is_named = |known: &&str| known.eq_ignore_ascii_case(name);
    let unknown = || {
        DataError::new(
            "embedded data",
            Found::new(name),
            format!("one of {}", known.join(", ")),
        )
    };
    known.iter().position(is_named).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        assert_eq!(
            graphs("MUTAGEN").unwrap_err().to_string(),
            "embedded data: found \"MUTAGEN\", expected one of MUTAG"
        );
        assert_eq!(
            images("MUTAG").unwrap_err().to_string(),
            "embedded data: found \"MUTAG\", expected one of MNIST-1v7, MNIST-1v7-test, digits"
        );
    }

    #[test]
    fn every_embedded_set_can_be_read() {
        for name in graph_names() {
            assert_eq!(graphs(name).unwrap().name(), *name);
        }
        for name in image_names() {
            assert_eq!(images(name).unwrap().name(), *name);
        }
        for name in table_names() {
            assert_eq!(tables(name).unwrap().name(), *name);
        }
        let all = [graph_names(), image_names(), table_names()].concat();
        assert_eq!(names(), all);
    }

    #[test]
    fn the_table_holds_all_digits() {
        let digits = tables("Digits-Table").unwrap();
        assert_eq!(
            digits.n_class(),
            [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
        );
        assert_eq!(digits.target(), Some("65"));
        assert_eq!(digits.labels()[..4], [0, 1, 2, 3]);
    }

    #[test]
    fn the_images_of_digits_are_the_rows_of_the_table() {
        let (digits, table) = (images("digits").unwrap(), tables("digits-table").unwrap());
        assert_eq!((digits.n_images(), digits.channels()), (1797, 1));
        assert_eq!(digits.common_side(), Some(8));
        assert_eq!(digits.labels(), table.labels());
        assert_eq!(digits.class_names(), table.class_names());
        let numbers = table.numbers().unwrap();
        for (index, row) in numbers.chunks_exact(64).enumerate() {
            let image = digits.image(index).unwrap();
            for (&pixel, &level) in image.pixels().iter().zip(row) {
                let error = f64::from(pixel) - 255.0 * f64::from(level) / 16.0;
                assert!(error.abs() <= 0.5, "{pixel} {level}");
            }
        }
    }

    #[test]
    fn the_digits_are_ones_and_sevens() {
        for (name, n_images) in [("MNIST-1v7", 2000), ("MNIST-1v7-test", 140)] {
            let digits = images(name).unwrap();
            assert_eq!(digits.class_names(), ["1", "7"]);
            assert_eq!(digits.n_images(), n_images);
            assert_eq!(digits.counts().n_class, [n_images / 2; 2]);
            assert_eq!(digits.channels(), 1);
            assert_eq!(digits.sizes().unwrap(), vec![28 * 28; n_images]);
        }
    }
}
