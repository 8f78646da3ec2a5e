//! Messages about files of weights. Every one says what was found and what was expected; [`read`](super::read) adds
//! the file.

use std::fmt;
use std::io;

use icl_core::Error;
use safetensors::SafeTensorError;
use zip::result::ZipError;

/// Kind of file that a path should name.
pub(super) const EXPECTED: &str = "a file of weights, as torch.save or safetensors writes it";

/// Returns the error of a zip archive whose tables or entries are truncated or damaged.
pub(super) fn archive(error: ZipError) -> Error {
    let found = format!("a cut or damaged zip archive ({error})");
    Error::new("", found, "an intact one").with_source(error)
}

/// Returns the error of a file, or of an entry of a zip archive, that ends early or fails its checksum.
pub(super) fn data(error: io::Error) -> Error {
    let found = format!("data that cannot be read ({error})");
    Error::new("", found, "an intact file").with_source(error)
}

/// Returns the error of a file that the reader of the safetensors format rejects.
pub(super) fn safetensors(error: SafeTensorError) -> Error {
    let found = format!("a damaged safetensors file ({})", CutLine(&error));
    Error::new("", found, "an intact one").with_source(error)
}

/// Returns the error of a storage whose values are missing, or do not have as many bytes as expected.
pub(super) fn storage(key: &str, found: u64, expected: u64) -> Error {
    let place = format!("storage {}", Cut(key));
    Error::new(place, format!("{found} bytes"), expected)
}

/// Returns the error of a pickle without a dictionary of named tensors. `entry` is the first that is not a tensor, if
/// there is a dictionary at all, and `names` are those of its first entries.
pub(super) fn no_state_dict(entry: Option<&str>, names: &[&str]) -> Error {
    let mut found = match entry {
        Some(name) => format!("entry {} that is not a tensor", Cut(name)),
        None => "no dictionary of names".to_owned(),
    };
    for (index, name) in names.iter().enumerate() {
        let separator = if index == 0 { ", among" } else { "," };
        found += &format!("{separator} {}", Cut(name));
    }
    let expected = "a state dict, whose entries are tensors, or one under the key state_dict, model or model_state_dict";
    Error::new("", found, expected)
}

/// Faults of a file that is intact, but whose tensors are not those of the encoder.
#[derive(Debug, Default)]
pub(super) struct TensorFaults {
    faults: Vec<Error>,
    /// Number of faults before each tensor that the encoder does not have, and the name of the tensor.
    unknown: Vec<(usize, String)>,
}

impl TensorFaults {
    /// Number of faults that are listed: the weights of another network differ in all.
    const SHOWN: usize = 5;
    /// Number of names of unknown tensors that are listed after the first faults.
    const NAMES: usize = 3;

    /// Adds a fault.
    pub(super) fn push(&mut self, found: impl fmt::Display, expected: impl fmt::Display) {
        self.faults.push(Error::new("", found, expected));
    }

    /// Adds a tensor that the encoder does not have.
    pub(super) fn push_unknown(&mut self, name: String, shape: &[usize]) {
        let found = format!("tensor {} of shape {shape:?}", Cut(&name));
        self.unknown.push((self.faults.len(), name));
        self.push(found, "none of that name");
    }

    /// Returns an error if there are faults. It lists the first ones, the number of the rest and, from the rest, the
    /// names of a few tensors that the file has and the encoder has not.
    pub(super) fn check(&self) -> Result<(), Error> {
        let (shown, more) = self.faults.split_at(self.faults.len().min(Self::SHOWN));
        let shown: Vec<_> = shown.iter().map(Error::to_string).collect();
        let mut list = shown.join("; ");
        if !more.is_empty() {
            list += &format!("; and {} more", more.len());
            let unknown = self.unknown.iter().filter(|(at, _)| *at >= Self::SHOWN);
            let names: Vec<_> = unknown
                .take(Self::NAMES)
                .map(|(_, name)| Cut(name).to_string())
                .collect();
            if !names.is_empty() {
                list += &format!("; the file has names such as {}", names.join(", "));
            }
        }
        match shown.is_empty() {
            true => Ok(()),
            false => Err(Error::message(list)),
        }
    }
}

/// Text of a file between quotes, escaped and cut after 60 characters, since a file may hold any.
pub(super) struct Cut<'a>(pub(super) &'a str);

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
