//! What can be wrong with a file of weights.

use std::fmt;
use std::io;
use std::path::PathBuf;

use safetensors::SafeTensorError;
use zip::result::ZipError;

/// Rejected weights. Every message names the file, what was found and what was expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// The operating system could not read the file.
    #[error("{}: found no file that can be read ({source}), expected one", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A folder, or something else that is no file.
    #[error("{}: found something that is no file, expected one that ends in {EXTENSIONS}", path.display())]
    NoFile {
        /// The path as it was given.
        path: PathBuf,
    },
    /// The name says nothing about the format.
    #[error("{}: found another ending, expected {EXTENSIONS}", path.display())]
    Extension {
        /// The file.
        path: PathBuf,
    },
    /// The file is cut, damaged or of another kind.
    #[error("{}: {fault}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        fault: FileFault,
    },
    /// The file is sound, but its tensors are not those of the encoder.
    #[error("{}: {}", path.display(), Listed(faults))]
    Tensors {
        /// The file.
        path: PathBuf,
        /// What is wrong, by the names in the file.
        faults: Vec<TensorFault>,
    },
}

const EXTENSIONS: &str = ".pth, .pt or .safetensors";

/// What is wrong with a file, printed as `found X, expected Y`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileFault {
    /// Not what `torch.save` writes.
    #[error(
        "found neither a zip archive nor a pickle of PyTorch's, expected what torch.save writes"
    )]
    Format,
    /// The zip archive's tables, or one of its entries, are cut or damaged.
    #[error("found a cut or damaged zip archive ({0}), expected an intact one")]
    Archive(#[from] ZipError),
    /// An entry of the zip archive, or the file, ends early or fails its checksum.
    #[error("found data that cannot be read ({0}), expected an intact file")]
    Data(#[from] io::Error),
    /// A zip archive of something else.
    #[error("found a zip archive without data.pkl, expected what torch.save writes")]
    NoPickle,
    /// Numbers that another kind of machine wrote.
    #[error("found a byte order that is not little-endian, expected little-endian")]
    ByteOrder,
    /// The pickle is cut, damaged or uses what a state dict has no need for.
    #[error("byte {byte} of the pickle: found {found}, expected the pickle of a state dict")]
    Pickle {
        /// Where, counted from 0.
        byte: usize,
        /// What was found there.
        found: PickleFault,
    },
    /// A pickled module, or another object.
    #[error(
        "found an object of class {class:?}, expected a state dict, as \
         torch.save(model.state_dict(), path) writes it"
    )]
    Object {
        /// Its class.
        class: String,
    },
    /// The pickle holds no dictionary of tensors by their names.
    #[error(
        "found {}, expected a state dict, whose entries are tensors",
        Entry(entry)
    )]
    NoStateDict {
        /// The first entry that is no tensor; none: there is no dictionary at all.
        entry: Option<String>,
    },
    /// A tensor's numbers are elsewhere, or not as many as they should be.
    #[error("storage {key:?}: found {found} bytes, expected {expected}")]
    Storage {
        /// Its name in the file.
        key: String,
        /// The number of bytes that are there.
        found: u64,
        /// The number that the tensor asks for.
        expected: u64,
    },
    /// The length of a storage, and so of what follows it, cannot be told.
    #[error("storage {key:?}: found no tensor of a known type that uses it, expected one")]
    NoTensor {
        /// Its name in the file.
        key: String,
    },
    /// The reader of the safetensors format rejects it.
    #[error("found no intact safetensors file ({0}), expected one")]
    Safetensors(#[from] SafeTensorError),
}

/// What a pickle should not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PickleFault {
    /// The end, in the middle of something.
    End,
    /// An operation that a state dict has no need for.
    Operation(u8),
    /// An operation on values that are not there, or of another kind.
    Operands(u8),
    /// Text that is not UTF-8.
    Text,
}

impl fmt::Display for PickleFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::End => f.write_str("the end"),
            Self::Operation(code) => write!(f, "operation 0x{code:02x}"),
            Self::Operands(code) => write!(f, "operation 0x{code:02x} without its operands"),
            Self::Text => f.write_str("text that is not UTF-8"),
        }
    }
}

/// What is wrong with one tensor, printed as `found X, expected Y`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TensorFault {
    /// The file lacks it.
    Missing {
        /// Its name in the file.
        name: String,
        /// Its shape in the file.
        expected: Vec<usize>,
    },
    /// The encoder does not take it.
    Unknown {
        /// Its name in the file.
        name: String,
        /// Its shape in the file.
        found: Vec<usize>,
    },
    /// The shapes differ.
    Shape {
        /// Its name in the file.
        name: String,
        /// Its shape in the file.
        found: Vec<usize>,
        /// The shape that fits the encoder.
        expected: Vec<usize>,
    },
    /// Its elements are no floating-point numbers.
    Elements {
        /// Its name in the file.
        name: String,
        /// Their type, in the file's words.
        found: String,
    },
    /// An element is not finite in single precision, or a variance is below 0.
    Number {
        /// Its name in the file.
        name: String,
        /// The element.
        found: f32,
        /// What it should be.
        expected: &'static str,
    },
}

impl fmt::Display for TensorFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { name, expected } => {
                write!(
                    f,
                    "found no tensor {name:?}, expected it with shape {expected:?}"
                )
            }
            Self::Unknown { name, found } => write!(
                f,
                "found tensor {name:?} of shape {found:?}, expected none of that name"
            ),
            Self::Shape {
                name,
                found,
                expected,
            } => write!(
                f,
                "found shape {found:?} of tensor {name:?}, expected {expected:?}"
            ),
            Self::Elements { name, found } => write!(
                f,
                "found elements of type {found:?} in tensor {name:?}, expected 16, 32 or 64 bit \
                 floating-point numbers"
            ),
            Self::Number {
                name,
                found,
                expected,
            } => write!(f, "found {found} in tensor {name:?}, expected {expected}"),
        }
    }
}

/// The first faults, and how many more there are: the weights of another network differ in all.
struct Listed<'a>(&'a [TensorFault]);

impl Listed<'_> {
    const SHOWN: usize = 5;
}

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().take(Self::SHOWN).enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{fault}")?;
        }
        match self.0.len().saturating_sub(Self::SHOWN) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

/// The words for what stands in a state dict's place.
struct Entry<'a>(&'a Option<String>);

impl fmt::Display for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(name) => write!(f, "entry {name:?} that is no tensor"),
            None => f.write_str("no dictionary"),
        }
    }
}
