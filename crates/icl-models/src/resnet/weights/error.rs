//! Errors in files of weights.

use std::fmt;
use std::io;
use std::path::PathBuf;

use safetensors::SafeTensorError;
use zip::result::ZipError;

/// Rejected weights. Every message names the file, what it contains and what was expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// The operating system could not read the file.
    #[error("{}: found no readable file ({source}), expected one", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The path is that of a folder or another thing that is not a file.
    #[error("{}: found something other than a file, expected {EXPECTED}", path.display())]
    NoFile {
        /// The given path.
        path: PathBuf,
    },
    /// The file is truncated, damaged or of another kind.
    #[error("{}: {fault}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The fault.
        #[source]
        fault: FileFault,
    },
    /// The file is intact, but its tensors are not those of the encoder.
    #[error("{}: {}", path.display(), Listed(faults))]
    Tensors {
        /// The file.
        path: PathBuf,
        /// Faults of the tensors, with their names in the file.
        faults: Vec<TensorFault>,
    },
}

const EXPECTED: &str = "a file of weights, as torch.save or safetensors writes it";

/// A fault of a file, displayed as `found X, expected Y`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileFault {
    /// The file was written neither by `torch.save` nor by safetensors.
    #[error("found no zip archive, pickle of PyTorch's or safetensors file, expected {EXPECTED}")]
    Format,
    /// The tables or an entry of the zip archive are truncated or damaged.
    #[error("found a cut or damaged zip archive ({0}), expected an intact one")]
    Archive(#[from] ZipError),
    /// The file or an entry of the zip archive ends early, or fails its checksum.
    #[error("found data that cannot be read ({0}), expected an intact file")]
    Data(#[from] io::Error),
    /// The file is a zip archive of another kind.
    #[error("found a zip archive without data.pkl, expected a file written by torch.save")]
    NoPickle,
    /// The file was written with another byte order.
    #[error("found a byte order that is not little-endian, expected little-endian")]
    ByteOrder,
    /// The pickle is truncated, damaged or uses operations that no state dict needs.
    #[error("byte {byte} of the pickle: found {found}, expected the pickle of a state dict")]
    Pickle {
        /// Offset of the operation in the pickle, from 0.
        byte: usize,
        /// Fault at this offset.
        found: PickleFault,
    },
    /// The pickle holds a module or another object.
    #[error(
        "found an object of class {}, expected a state dict, as \
         torch.save(model.state_dict(), path) writes it",
        Cut(class)
    )]
    Object {
        /// Class of the object.
        class: String,
    },
    /// The pickle holds no dictionary of named tensors.
    #[error(
        "found {}, expected a state dict, whose entries are tensors, or one under the key state_dict, model or \
         model_state_dict",
        NotStateDict(entry, names)
    )]
    NoStateDict {
        /// The first entry that is not a tensor; none if there is no dictionary at all.
        entry: Option<String>,
        /// Names of the first entries of the dictionary.
        names: Vec<String>,
    },
    /// The values of a tensor are missing, or not as many as expected.
    #[error("storage {}: found {found} bytes, expected {expected}", Cut(key))]
    Storage {
        /// Name of the storage in the file.
        key: String,
        /// Number of bytes in the file.
        found: u64,
        /// Number of bytes of the tensor.
        expected: u64,
    },
    /// The storages of an archive would unpack to more than is read.
    #[error(
        "storage {}: found {found} bytes unpacked, expected at most {limit} more in a file of this size",
        Cut(key)
    )]
    Unpacked {
        /// Name of the storage in the file.
        key: String,
        /// Number of bytes of the storage.
        found: u64,
        /// Number of bytes that may be unpacked besides those of other storages.
        limit: u64,
    },
    /// A tensor has more axes than any of the encoder could have.
    #[error("found tensor {} of more than 8 axes, expected at most 8", Cut(name))]
    Axes {
        /// Name of the tensor in the file.
        name: String,
    },
    /// The length of a storage is unknown, because no tensor of a known type uses it.
    #[error(
        "storage {}: found no tensor of a known type that uses it, expected one",
        Cut(key)
    )]
    NoTensor {
        /// Name of the storage in the file.
        key: String,
    },
    /// The reader of the safetensors format rejects it.
    #[error("found a damaged safetensors file ({}), expected an intact one", CutLine(.0))]
    Safetensors(#[from] SafeTensorError),
}

/// A fault in a pickle.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PickleFault {
    /// The pickle ends early.
    End,
    /// An operation that no state dict needs.
    Operation(u8),
    /// An operation whose operands are missing or of another kind.
    Operands(u8),
    /// Text that is not UTF-8.
    Text,
    /// More operations than any state dict needs.
    TooLong {
        /// Largest number of operations that are executed.
        limit: usize,
    },
}

impl fmt::Display for PickleFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::End => f.write_str("the end"),
            Self::Operation(code) => write!(f, "operation 0x{code:02x}"),
            Self::Operands(code) => write!(f, "operation 0x{code:02x} without its operands"),
            Self::Text => f.write_str("text that is not UTF-8"),
            Self::TooLong { limit } => write!(f, "more than {limit} operations"),
        }
    }
}

/// A fault of a tensor, displayed as `found X, expected Y`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TensorFault {
    /// The file lacks the tensor.
    Missing {
        /// Name that the tensor should have in the file.
        name: String,
        /// Shape that it should have in the file.
        expected: Vec<usize>,
    },
    /// The encoder has no such tensor.
    Unknown {
        /// Name in the file.
        name: String,
        /// Shape in the file.
        found: Vec<usize>,
    },
    /// The shape is not that of the encoder's tensor.
    Shape {
        /// Name in the file.
        name: String,
        /// Shape in the file.
        found: Vec<usize>,
        /// Shape that fits the encoder.
        expected: Vec<usize>,
    },
    /// The elements are not floating-point numbers.
    Elements {
        /// Name in the file.
        name: String,
        /// Type of the elements, as the file names it.
        found: String,
    },
    /// An element is not finite in single precision, or a variance is below 0.
    Number {
        /// Name in the file.
        name: String,
        /// The element.
        found: f32,
        /// Description of valid elements.
        expected: &'static str,
    },
}

impl fmt::Display for TensorFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Missing { name, .. }
        | Self::Unknown { name, .. }
        | Self::Shape { name, .. }
        | Self::Elements { name, .. }
        | Self::Number { name, .. }) = self;
        let name = Cut(name);
        match self {
            Self::Missing { expected, .. } => {
                write!(
                    f,
                    "found no tensor {name}, expected it with shape {expected:?}"
                )
            }
            Self::Unknown { found, .. } => write!(
                f,
                "found tensor {name} of shape {found:?}, expected none of that name"
            ),
            Self::Shape {
                found, expected, ..
            } => write!(
                f,
                "found shape {found:?} of tensor {name}, expected {expected:?}"
            ),
            Self::Elements { found, .. } => write!(
                f,
                "found elements of type {} in tensor {name}, expected 16, 32 or 64 bit \
                 floating-point numbers",
                Cut(found)
            ),
            Self::Number {
                found, expected, ..
            } => write!(f, "found {found} in tensor {name}, expected {expected}"),
        }
    }
}

/// The first faults and the number of the others: the weights of another network differ in all. Behind tensors that are
/// missing are the names of some that are there.
struct Listed<'a>(&'a [TensorFault]);

impl Listed<'_> {
    const SHOWN: usize = 5;
    const NAMES: usize = 3;
}

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().take(Self::SHOWN).enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{fault}")?;
        }
        let (_, more) = self.0.split_at(self.0.len().min(Self::SHOWN));
        if more.is_empty() {
            return Ok(());
        }
        write!(f, "; and {} more", more.len())?;
        let unknown = more.iter().filter_map(|fault| match fault {
            TensorFault::Unknown { name, .. } => Some(name),
            _ => None,
        });
        for (index, name) in unknown.take(Self::NAMES).enumerate() {
            let separator = match index {
                0 => "; the file has names such as",
                _ => ",",
            };
            write!(f, "{separator} {}", Cut(name))?;
        }
        Ok(())
    }
}

/// Description of a pickle that is not a state dict.
struct NotStateDict<'a>(&'a Option<String>, &'a [String]);

impl fmt::Display for NotStateDict<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(name) => write!(f, "entry {} that is not a tensor", Cut(name))?,
            None => f.write_str("no dictionary of names")?,
        }
        for (index, name) in self.1.iter().enumerate() {
            let separator = if index == 0 { ", among" } else { "," };
            write!(f, "{separator} {}", Cut(name))?;
        }
        Ok(())
    }
}

/// Text of a file between quotes, escaped and cut after 60 characters, since a file may hold any.
struct Cut<'a>(&'a str);

impl fmt::Display for Cut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(60) {
            Some((end, _)) => write!(f, "{:?}…", &self.0[..end]),
            None => write!(f, "{:?}", self.0),
        }
    }
}

/// Message of another crate, which may repeat the file, with control characters escaped and cut after 200
/// characters.
struct CutLine<'a>(&'a SafeTensorError);

impl fmt::Display for CutLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = self.0.to_string();
        for c in message.chars().take(200) {
            match c.is_control() {
                true => write!(f, "{}", c.escape_default())?,
                false => write!(f, "{c}")?,
            }
        }
        Ok(())
    }
}
