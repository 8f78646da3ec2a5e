//! Errors in images and in selections of them.

use std::io;
use std::path::PathBuf;

use image::ImageError;

use crate::place::{FileRef, Found};

/// Rejected images, or a rejected selection of them.
///
/// Every message about a file names the file, what was found and what was expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImagesError {
    /// No file or folder exists at the path.
    #[error(
        "{}: found no such file or folder, expected an IDX or CIFAR file or a folder of images",
        path.display()
    )]
    NoSuchPath {
        /// Path as it was given.
        path: PathBuf,
    },
    /// The path is neither a folder nor a file of a supported format.
    #[error(
        "{}: found neither an IDX file `NAME-images-idx3-ubyte` nor a CIFAR file `NAME.bin` (both plain or with `.gz`) nor a folder, expected one of them",
        path.display()
    )]
    NotImages {
        /// Path as it was given.
        path: PathBuf,
    },
    /// Images without labels are used where classes are needed.
    #[error(
        "{data}: found no classes for {needed_by}, expected a folder with one folder of images per class"
    )]
    NoLabels {
        /// Name of the data set.
        data: Found,
        /// Use of the classes.
        needed_by: String,
    },
    /// The path does not have the name of IDX images, or is a folder without such a file.
    #[error(
        "{}: found no IDX images, expected a file `NAME-images-idx3-ubyte`, plain or with `.gz`, or a folder of one",
        path.display()
    )]
    NotAnIdxName {
        /// Path as it was given.
        path: PathBuf,
    },
    /// A gzip-compressed file is cut or damaged.
    #[error("{file}: found a cut or damaged gzip file, expected an intact one")]
    Gzip {
        /// Compressed file.
        file: FileRef,
        /// Error of the decoder.
        source: io::Error,
    },
    /// An IDX file is shorter than its header.
    #[error(
        "{file}: found {found} bytes, expected at least {expected}, the header of an IDX file of {what}"
    )]
    IdxHeader {
        /// File in question.
        file: FileRef,
        /// Uncompressed length of the file in bytes.
        found: usize,
        /// Length of the header in bytes.
        expected: usize,
        /// Expected content: images or labels.
        what: &'static str,
    },
    /// An IDX file begins with another magic number.
    #[error(
        "{file}: found magic number {found:#010x}, expected {expected:#010x}, an IDX file of {what}"
    )]
    IdxMagic {
        /// File in question.
        file: FileRef,
        /// First four bytes of the file.
        found: u32,
        /// Magic number of the expected type and number of dimensions.
        expected: u32,
        /// Expected content: images or labels.
        what: &'static str,
    },
    /// A dimension in the header of an IDX file is 0.
    #[error("{file}: found 0 {what} in the header, expected at least 1")]
    IdxEmpty {
        /// File in question.
        file: FileRef,
        /// Name of the dimension.
        what: &'static str,
    },
    /// An IDX file is longer or shorter than its header states.
    #[error("{file}: found {found} bytes, expected {expected} by its header")]
    IdxLength {
        /// File in question.
        file: FileRef,
        /// Uncompressed length of the file in bytes.
        found: usize,
        /// Length by the header in bytes.
        expected: u128,
    },
    /// The number of labels differs from the number of images.
    #[error("{file}: found {found} labels, expected {expected}, one for each image")]
    LabelCount {
        /// File of the labels.
        file: FileRef,
        /// Number of labels.
        found: usize,
        /// Number of images.
        expected: usize,
    },
    /// A CIFAR file does not consist of whole rows.
    #[error("{file}: found {found} bytes, expected one or more rows of {expected} bytes")]
    CifarLength {
        /// File in question.
        file: FileRef,
        /// Uncompressed length of the file in bytes.
        found: usize,
        /// Possible lengths of a row.
        expected: &'static str,
    },
    /// Neither the name nor the length of a CIFAR file tells CIFAR-10 from CIFAR-100.
    #[error(
        "{file}: found {found} bytes, which are whole rows of CIFAR-10 and of CIFAR-100, expected a name with `cifar10` or `cifar100` in it"
    )]
    CifarKind {
        /// File in question.
        file: FileRef,
        /// Uncompressed length of the file in bytes.
        found: usize,
    },
    /// A row of a CIFAR file has a label that does not exist.
    #[error("{file}: found {what} {found} at byte {byte}, expected 0 to {last}")]
    CifarLabel {
        /// File in question.
        file: FileRef,
        /// Name of the label within the row.
        what: &'static str,
        /// Rejected label.
        found: u8,
        /// Position of the label in the uncompressed file, counted from 0.
        byte: usize,
        /// Largest label.
        last: u8,
    },
    /// A folder has neither an image nor a subfolder that could be a class.
    #[error(
        "{}: found neither an image nor a folder in it, expected images, or a folder of images for each class",
        path.display()
    )]
    NoClasses {
        /// Folder in question.
        path: PathBuf,
    },
    /// The subfolders of a folder are the parts of a data set, such as `train` and `val`.
    #[error(
        "{}: found the parts {} of a data set, expected the path of one of them, for example {}",
        path.display(), parts.join(", "), path.join(&parts[0]).display()
    )]
    Parts {
        /// Folder in question.
        path: PathBuf,
        /// Names of its parts, at least one.
        parts: Vec<String>,
    },
    /// The folder of a class has no image.
    #[error("{}: found no image in this class, expected at least one JPEG, PNG or WebP file", path.display())]
    EmptyClass {
        /// Folder of the class.
        path: PathBuf,
    },
    /// All images of a class are broken and were skipped.
    #[error("{}: found only broken images in this class ({n_broken}), expected at least one intact image", path.display())]
    BrokenClass {
        /// Folder of the class.
        path: PathBuf,
        /// Number of broken images in it.
        n_broken: usize,
    },
    /// An image lies beside the folders of the classes.
    #[error("{}: found an image beside folders, expected it in the folder of a class, or images alone", path.display())]
    OutsideOfClasses {
        /// Image in question.
        path: PathBuf,
    },
    /// The name of a class folder is not UTF-8.
    #[error("{}: found a folder whose name is not UTF-8, expected the name of a class", path.display())]
    ClassName {
        /// Folder in question.
        path: PathBuf,
    },
    /// A symbolic link leads back to a folder that contains it.
    #[error("{}: found a symbolic link to {}, which contains it, expected no loop of links", path.display(), to.display())]
    LinkLoop {
        /// Symbolic link.
        path: PathBuf,
        /// Target of the link.
        to: PathBuf,
    },
    /// The contents of a file are not a supported image format.
    #[error("{file}: found contents of an unknown format, expected a JPEG, PNG or WebP image")]
    NotAnImage {
        /// File in question.
        file: FileRef,
    },
    /// An image cannot be decoded.
    #[error("{file}: found a cut or damaged image, expected an intact one")]
    BrokenImage {
        /// File in question.
        file: FileRef,
        /// Error of the decoder.
        source: ImageError,
    },
    /// A JPEG file ends before its end marker.
    #[error("{file}: found a JPEG file that is cut before its end marker, expected an intact one")]
    CutImage {
        /// File in question.
        file: FileRef,
    },
    /// An image has no pixels, or too many to be decoded.
    #[error(
        "{file}: found an image of {width} x {height} pixels, expected at least 1 x 1 and at most {limit} bytes when decoded"
    )]
    ImageSides {
        /// File in question.
        file: FileRef,
        /// Number of columns.
        width: u32,
        /// Number of rows.
        height: u32,
        /// Largest number of decoded bytes.
        limit: u64,
    },
    /// The limit on the number of images is too small.
    #[error("limit: found {found} images, expected at least {expected}")]
    Limit {
        /// Requested number.
        found: usize,
        /// Smallest accepted number.
        expected: usize,
    },
}

impl ImagesError {
    /// Returns `true` for errors in the contents of an image file, which can be skipped.
    pub(super) fn is_broken_image(&self) -> bool {
        matches!(
            self,
            Self::NotAnImage { .. }
                | Self::BrokenImage { .. }
                | Self::CutImage { .. }
                | Self::ImageSides { .. }
        )
    }
}
