//! The images of CIFAR-10 on the disk, which are a table of pixels, too.

use std::path::Path;

use crate::pages::dacl::DaclDataSet;
use icl_cli::parts::Failure;
use icl_data::{ImageDataset, ImageOptions, read_cifar};

use crate::commands::dacl::missing::missing;

/// Share of the images that are for the test.
pub const TEST_OF_CIFAR: f64 = 0.25;

/// Reads at most `limit` of the first 4000 training images, balanced across classes.
///
/// # Errors
/// If they cannot be read. Without their file the result is a message.
pub fn first_of_cifar(
    folder: &Path,
    limit: Option<usize>,
) -> Result<Result<ImageDataset, String>, Failure> {
    let path = folder.join("cifar10/cifar10_train_first4000_lossless.bin.gz");
    if !path.exists() {
        return Ok(Err(missing(DaclDataSet::Cifar10, &path)));
    }
    let options = ImageOptions {
        limit,
        ..ImageOptions::default()
    };
    read_cifar(&path, &options).map(Ok).map_err(Failure::input)
}
