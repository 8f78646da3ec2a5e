//! What can be wrong with images and with what is asked of them.

use std::io;
use std::path::PathBuf;

use image::ImageError;

use super::class_list::ClassList;
use crate::place::{FileRef, Found};

/// Rejected images, or a rejected selection of them.
///
/// Every message about a file names the file, what was found and what was expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImagesError {
    /// Nothing is there.
    #[error(
        "{}: found no such file or folder, expected an IDX or CIFAR file or a folder of images",
        path.display()
    )]
    NoSuchPath {
        /// The path as it was given.
        path: PathBuf,
    },
    /// A file of another kind, or something that is neither file nor folder.
    #[error(
        "{}: found neither an IDX file `NAME-images-idx3-ubyte` nor a CIFAR file `NAME.bin` (both plain or with `.gz`) nor a folder, expected one of them",
        path.display()
    )]
    NotImages {
        /// The path as it was given.
        path: PathBuf,
    },
    /// A file that ends in labels, or in nothing known, where the images of an IDX pair were asked for.
    #[error(
        "{}: found no file of this name's kind, expected a file `NAME-images-idx3-ubyte`, plain or with `.gz`, or a folder of one",
        path.display()
    )]
    NotAnIdxName {
        /// The path as it was given.
        path: PathBuf,
    },
    /// A packed file is cut or damaged.
    #[error("{file}: found a cut or damaged gzip file, expected an intact one")]
    Gzip {
        /// The file.
        file: FileRef,
        /// What the decoder said.
        source: io::Error,
    },
    /// An IDX file is shorter than its header.
    #[error(
        "{file}: found {found} bytes, expected at least {expected}, the header of an IDX file of {what}"
    )]
    IdxHeader {
        /// The file.
        file: FileRef,
        /// Its length in bytes, unpacked.
        found: usize,
        /// The length of the header.
        expected: usize,
        /// What the file should hold.
        what: &'static str,
    },
    /// An IDX file begins with another magic number.
    #[error(
        "{file}: found magic number {found:#010x}, expected {expected:#010x}, an IDX file of {what}"
    )]
    IdxMagic {
        /// The file.
        file: FileRef,
        /// Its first four bytes.
        found: u32,
        /// The magic number of the type and the number of dimensions that are read.
        expected: u32,
        /// What the file should hold.
        what: &'static str,
    },
    /// The header of an IDX file speaks of nothing.
    #[error("{file}: found 0 {what} in the header, expected at least 1")]
    IdxEmpty {
        /// The file.
        file: FileRef,
        /// The dimension.
        what: &'static str,
    },
    /// An IDX file is longer or shorter than its header says.
    #[error("{file}: found {found} bytes, expected {expected} by its header")]
    IdxLength {
        /// The file.
        file: FileRef,
        /// Its length in bytes, unpacked.
        found: usize,
        /// The length that the header gives.
        expected: u128,
    },
    /// A file of labels does not belong to the images.
    #[error("{file}: found {found} labels, expected {expected}, one for each image")]
    LabelCount {
        /// The file of the labels.
        file: FileRef,
        /// The number of labels.
        found: usize,
        /// The number of images.
        expected: usize,
    },
    /// A CIFAR file does not consist of whole rows.
    #[error("{file}: found {found} bytes, expected one or more rows of {expected} bytes")]
    CifarLength {
        /// The file.
        file: FileRef,
        /// Its length in bytes, unpacked.
        found: usize,
        /// The rows that there may be.
        expected: &'static str,
    },
    /// Neither the name nor the length of a CIFAR file says of which kind it is.
    #[error(
        "{file}: found {found} bytes, which are whole rows of CIFAR-10 and of CIFAR-100, expected a name with `cifar10` or `cifar100` in it"
    )]
    CifarKind {
        /// The file.
        file: FileRef,
        /// Its length in bytes, unpacked.
        found: usize,
    },
    /// A row of a CIFAR file has a label that does not exist.
    #[error("{file}: found {what} {found} at byte {byte}, expected 0 to {last}")]
    CifarLabel {
        /// The file.
        file: FileRef,
        /// Which of the labels of the row.
        what: &'static str,
        /// The label.
        found: u8,
        /// Its position in the unpacked file, counted from 0.
        byte: usize,
        /// The greatest label.
        last: u8,
    },
    /// A folder holds no folder that could be a class.
    #[error("{}: found no folder in it, expected a folder of images for each class", path.display())]
    NoClasses {
        /// The folder.
        path: PathBuf,
    },
    /// A folder holds the parts of a data set.
    #[error(
        "{}: found the parts {} of a data set, expected one of them: name {}",
        path.display(), parts.join(", "), path.join(&parts[0]).display()
    )]
    Parts {
        /// The folder.
        path: PathBuf,
        /// The names of its parts; there is at least one.
        parts: Vec<String>,
    },
    /// A folder of a class holds no image.
    #[error("{}: found no image in this class, expected at least one JPEG, PNG or WebP file", path.display())]
    EmptyClass {
        /// The folder.
        path: PathBuf,
    },
    /// A folder of a class holds only images that were left out.
    #[error("{}: found only broken images in this class ({n_broken}), expected at least one intact one", path.display())]
    BrokenClass {
        /// The folder.
        path: PathBuf,
        /// The number of its broken images.
        n_broken: usize,
    },
    /// An image lies beside the folders of the classes.
    #[error("{}: found an image that belongs to no class, expected it in the folder of one", path.display())]
    OutsideOfClasses {
        /// The image.
        path: PathBuf,
    },
    /// A folder's name cannot be the name of a class.
    #[error("{}: found a folder whose name is not UTF-8, expected one, the name of a class", path.display())]
    ClassName {
        /// The folder.
        path: PathBuf,
    },
    /// A symbolic link leads back to a folder that it is in.
    #[error("{}: found a link to {}, which it is in, expected folders without a loop", path.display(), to.display())]
    LinkLoop {
        /// The link.
        path: PathBuf,
        /// Where it leads.
        to: PathBuf,
    },
    /// A file is no image.
    #[error("{file}: found contents of another kind, expected those of a JPEG, PNG or WebP file")]
    NotAnImage {
        /// The file.
        file: FileRef,
    },
    /// An image cannot be decoded.
    #[error("{file}: found a cut or damaged image, expected an intact one")]
    BrokenImage {
        /// The file.
        file: FileRef,
        /// What the decoder said.
        source: ImageError,
    },
    /// A JPEG file ends before its picture does.
    #[error("{file}: found a JPEG file that is cut before its end marker, expected an intact one")]
    CutImage {
        /// The file.
        file: FileRef,
    },
    /// An image has no pixels, or more than are decoded.
    #[error(
        "{file}: found an image of {width} x {height} pixels, expected at least 1 x 1 and at most {limit} bytes when decoded"
    )]
    ImageSides {
        /// The file.
        file: FileRef,
        /// The number of columns.
        width: u32,
        /// The number of rows.
        height: u32,
        /// The greatest number of bytes.
        limit: u64,
    },
    /// A class that is not there was asked for.
    #[error("data set {data}: found no class {found}, expected classes among {known}")]
    UnknownClass {
        /// The data set's name.
        data: Found,
        /// The name that was asked for.
        found: Found,
        /// The names of the classes.
        known: ClassList,
    },
    /// A class was asked for twice.
    #[error("data set {data}: found class {found} twice, expected each of {known} at most once")]
    RepeatedClass {
        /// The data set's name.
        data: Found,
        /// The name of the class.
        found: Found,
        /// The names of the classes.
        known: ClassList,
    },
    /// Too few images were asked for.
    #[error("limit: found {found} images, expected at least {expected}")]
    Limit {
        /// The number that was asked for.
        found: usize,
        /// The least number.
        expected: usize,
    },
}

impl ImagesError {
    /// Whether it is about the contents of an image file, which may be left out.
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
