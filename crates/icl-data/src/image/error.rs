//! Errors in images that several readers meet.

use std::path::Path;

use crate::error::DataError;

/// Returns the error of a path at which there is no file or folder.
pub(super) fn no_such_images(path: &Path) -> DataError {
    let expected = "an IDX or CIFAR file or a folder of images";
    DataError::new(path.display(), "no such file or folder", expected)
}

/// Returns the error of a path that is neither a folder nor a file of a supported format.
pub(super) fn not_images(path: &Path) -> DataError {
    let found = "neither an IDX file `NAME-images-idx3-ubyte` nor a CIFAR file `NAME.bin` (both plain or with `.gz`) \
                 nor a folder";
    DataError::new(path.display(), found, "one of them")
}

/// Returns the error of a path that does not have the name of IDX images, or is a folder without such a file.
pub(super) fn no_idx_images(path: &Path) -> DataError {
    let expected = "a file `NAME-images-idx3-ubyte`, plain or with `.gz`, or a folder of one";
    DataError::new(path.display(), "no IDX images", expected)
}
