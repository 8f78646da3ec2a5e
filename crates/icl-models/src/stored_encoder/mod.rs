//! Encoders as safetensors files, written and read back.

mod digest;
mod lineage;
mod origin;
mod tensors;

use std::fmt::Display;
use std::path::{Path, PathBuf};

use burn::module::Module;
use burn::tensor::backend::Backend;
use burn_store::ModuleSnapshot;
use icl_core::{Error, Found, InputFile, one_line, write_atomically};
use safetensors::tensor::Metadata;
use safetensors::{SafeTensorError, SafeTensors};
use serde::de::DeserializeOwned;

use crate::stored_tensor::{StoredTensor, safetensors_bytes};
use digest::{DIGEST, digest};

pub use origin::{BURN_VERSION, DataOrigin, Origin, Parent, SamplesDigest};

/// Key of the kind of the encoder.
const KIND: &str = "encoder";
/// Key of the name of the data.
const DATA: &str = "data";

/// Largest number of characters of what was found or expected in an error: messages of other crates repeat contents of
/// a file of any length.
const MESSAGE: usize = 400;

/// The file of an encoder: its tensors in single precision, its kind, the name of the data that it was trained on, and
/// more metadata as text, which is JSON for what has fields.
///
/// The program `icl` writes and reads these files, so that it and other programs exchange encoders. Its kinds are:
///
/// | kind | `config` | module | what else there is |
/// |---|---|---|---|
/// | `gcn`, `gin` | [`GcnConfig`](crate::GcnConfig), [`GinConfig`](crate::GinConfig) | [`Gcn`](crate::Gcn), [`Gin`](crate::Gin) | `schema`: the columns of node features |
/// | `gcn-hidden`, `gin-hidden` | [`HiddenMixupConfig`](crate::HiddenMixupConfig) of these | [`HiddenMixup`](crate::HiddenMixup) of these and a [`ProjectionHead`](crate::ProjectionHead) | `schema` |
/// | `mlp` | [`MlpConfig`](crate::MlpConfig) | [`Mlp`](crate::Mlp) | `schema`: the columns of the table; `views` |
/// | `image-mlp` | [`MlpConfig`](crate::MlpConfig) | [`Mlp`](crate::Mlp) | `channels`, `views` |
/// | `resnet-18` | [`ResNetConfig`](crate::ResNetConfig) | [`ResNet`](crate::ResNet) | `views`, `mixup` |
/// | `convnet` | [`ConvNetConfig`](crate::ConvNetConfig) | [`ConvNet`](crate::ConvNet) | `views`, `mixup` |
/// | `two-tower` | [`TwoTowerConfig`](crate::TwoTowerConfig) | [`TwoTower`](crate::TwoTower) | `items`: their names, `n_recent` |
/// | `word-tower` | [`WordTowerConfig`](crate::WordTowerConfig) | [`WordTower`](crate::WordTower) | `vocabulary`: its words |
///
/// `hold-out` is the rule by which samples were held out from all training of the encoder, and their share
/// (`content-hash-1:0.1`; `ContentHash` of `icl-data`), `temperature` and `negatives` those of its loss, `classes` a
/// JSON list of the names of the classes of its data, where they are known. `origin` is its [training](Origin) and
/// `parents` those of the [encoders before it](Parent), both JSON.
///
/// `digest` is the SHA-256, in 64 hexadecimal digits, of the encoder without `digest`, `origin` and `parents`: the same
/// encoder has the same digest on whichever day it was trained. It goes over the metadata in the order of their keys
/// (each key and value as their number of bytes, 64 bits with the least significant byte first, and the bytes), and
/// then over the tensors in the order of their names (each name in this way, the number of its dimensions and the
/// dimensions as such numbers, the number of its bytes and the bytes). A file with another digest than its own is
/// refused.
///
/// The schemas and the configurations of views are those of `icl-data`. A module of your own may have any other kind.
///
/// ```
/// # use burn::backend::Flex;
/// use icl_core::Seed;
/// use icl_models::{Gcn, GcnConfig, StoredEncoder};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("encoder.safetensors");
/// let config = GcnConfig::new(7);
/// let encoder = config.init::<Flex>(Seed::new(0), &Default::default());
/// let metadata = [("config", serde_json::to_string(&config)?)];
/// StoredEncoder::new(&encoder, "gcn", "MUTAG", &metadata)?.write(&path)?;
///
/// let file = StoredEncoder::open(&path)?;
/// assert_eq!((file.kind()?, file.data()?), ("gcn", "MUTAG"));
/// let config: GcnConfig = file.parsed("config", "the configuration of a GCN")?;
/// let init = || config.try_init(Seed::new(0), &Default::default());
/// let encoder: Gcn<Flex> = file.encoder("a GCN", config.tensors(), init)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct StoredEncoder {
    path: PathBuf,
    bytes: Vec<u8>,
    header: Metadata,
    /// Number of bytes before the values of the tensors.
    begin: usize,
    digest: String,
}

impl StoredEncoder {
    /// Size of the largest file that is read, in bytes: 2 GiB.
    pub const MAX_BYTES: u64 = 2 << 30;
    /// Description of the expected file.
    pub const EXPECTED: &'static str = "the .safetensors file of an encoder";

    /// Creates the file of an encoder of a kind, trained on data of a name, with metadata from which it can be rebuilt:
    /// keys and values. The same encoder gives the same bytes.
    ///
    /// # Errors
    /// If a tensor cannot be read from its device, or names and metadata have more than 100 MB.
    pub fn new<B: Backend, M: Module<B>>(
        encoder: &M,
        kind: &str,
        data: &str,
        metadata: &[(&str, String)],
    ) -> Result<Self, Error> {
        let tensors = encoder.collect(None, None, false);
        let tensors = tensors.into_iter().map(|tensor| {
            let values = tensor.to_data().map_err(Error::message)?;
            let shape = values.shape.to_vec();
            let values = values.convert::<f32>().into_vec::<f32>();
            let values = values.map_err(|error| Error::message(format!("{error:?}")))?;
            Ok(StoredTensor::of_f32(tensor.full_path(), shape, &values))
        });
        let tensors: Vec<StoredTensor> = tensors.collect::<Result<_, Error>>()?;
        let own = metadata.iter().map(|(key, value)| (*key, &value[..]));
        let mut metadata: Vec<(&str, &str)> = [(DATA, data), (KIND, kind)].into();
        metadata.extend(own);
        metadata.sort_unstable();
        let of_tensors = tensors.iter();
        let of_tensors = of_tensors.map(|it| (&it.name[..], &it.shape[..], &it.bytes[..]));
        let digest = digest(&metadata, of_tensors.collect());
        metadata.push((DIGEST, &digest));
        metadata.sort_unstable();
        Self::of_bytes(Path::new(""), safetensors_bytes(&metadata, &tensors)?)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, is no regular file, has more than 2 GiB, is truncated or no safetensors file.
    pub fn open(path: &Path) -> Result<Self, Error> {
        match InputFile::open(path, Self::MAX_BYTES).and_then(InputFile::bytes) {
            Ok(bytes) => Self::of_bytes(path, bytes),
            Err(error) => {
                let found = format!("no readable file ({error})");
                Err(wrong(path, found, Self::EXPECTED).with_source(error))
            }
        }
    }

    /// Reads the bytes of a file. The path is named in errors.
    ///
    /// # Errors
    /// If they are truncated, no safetensors file, or have another digest than the one among them.
    pub fn of_bytes(path: &Path, bytes: Vec<u8>) -> Result<Self, Error> {
        let damaged = |error| damaged(path, error);
        let (n_header, header) = SafeTensors::read_metadata(&bytes).map_err(damaged)?;
        // Length and header.
        let begin = 8 + n_header;
        let numbers = bytes.get(begin..).unwrap_or_default();
        let tensors = header.tensors();
        let tensors = tensors.iter().map(|(name, info)| {
            let (begin, end) = info.data_offsets;
            let content = numbers.get(begin..end);
            let content = content.ok_or(SafeTensorError::MetadataIncompleteBuffer)?;
            Ok((&name[..], &info.shape[..], content))
        });
        let tensors = tensors.collect::<Result<_, _>>().map_err(damaged)?;
        let metadata = pairs(&header);
        let digest = digest(&metadata, tensors);
        let stored = metadata.iter().find(|(key, _)| *key == DIGEST);
        if let Some((_, stored)) = stored.filter(|(_, stored)| *stored != digest) {
            let found = format!("content with the digest {digest}");
            let expected = format!("{}, as it was written", Found::new(stored));
            return Err(wrong(path, found, expected));
        }
        Ok(Self {
            path: path.to_owned(),
            begin,
            digest,
            header,
            bytes,
        })
    }

    /// Writes the file, as a whole or not at all.
    ///
    /// # Errors
    /// If it could not be read again, because a number is not finite, or cannot be written; an earlier file still
    /// exists then.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let tensors = self.header.tensors().into_iter();
        let tensors: Vec<_> = tensors.map(|(name, it)| (name, it.shape.clone())).collect();
        self.tensors("the encoder", tensors)
            .map_err(|error| wrong(path, error.found(), error.expected()))?;
        write_atomically(path, &self.bytes).map_err(|error| {
            Error::message(format!("{}: cannot be written: {error}", path.display()))
                .with_source(error)
        })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the content of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the name of the kind of the encoder.
    ///
    /// # Errors
    /// If there is none.
    pub fn kind(&self) -> Result<&str, Error> {
        self.text(KIND, "that of an encoder written by icl")
    }

    /// Returns the name of the data that the encoder was trained on.
    ///
    /// # Errors
    /// If there is none.
    pub fn data(&self) -> Result<&str, Error> {
        self.text(DATA, "the name of the data that it was trained on")
    }

    /// Returns the digest of the encoder, 64 hexadecimal digits. That of a file which holds none is computed.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Returns the keys and values of the metadata in the order of their keys.
    pub fn metadata(&self) -> Vec<(&str, &str)> {
        pairs(&self.header)
    }

    /// Returns the number of values of all tensors: parameters, and statistics of normalisation.
    pub fn n_values(&self) -> usize {
        let tensors = self.header.tensors();
        let sizes = tensors
            .values()
            .map(|it| it.shape.iter().product::<usize>());
        sizes.sum()
    }

    /// Returns the value of a key of the metadata, if there is one.
    pub fn get(&self, key: &str) -> Option<&str> {
        let value = self.header.metadata().as_ref()?.get(key)?;
        Some(value)
    }

    /// Returns the value of a key of the metadata. `expected` describes it.
    ///
    /// # Errors
    /// If there is none.
    pub fn text(&self, key: &str, expected: &str) -> Result<&str, Error> {
        self.get(key)
            .ok_or_else(|| self.wrong(format!("no metadata \"{key}\""), expected))
    }

    /// Reads the value of a key of the metadata that is JSON. `expected` describes it.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub fn parsed<T: DeserializeOwned>(&self, key: &str, expected: &str) -> Result<T, Error> {
        let value = serde_json::from_str(self.text(key, expected)?);
        value.map_err(|error| self.unreadable(key, error, expected))
    }

    /// Returns the error of a value of the metadata that cannot be read.
    pub fn unreadable(&self, key: &str, error: impl Display, expected: &str) -> Error {
        let found = format!("metadata \"{key}\" that cannot be read ({error})");
        self.wrong(found, expected)
    }

    /// Returns the error of a file in which something else was found.
    pub fn wrong(&self, found: impl Display, expected: impl Display) -> Error {
        wrong(&self.path, found, expected)
    }
}

/// Returns the keys and values of the metadata of a header in the order of their keys.
fn pairs(header: &Metadata) -> Vec<(&str, &str)> {
    let pairs = header.metadata().iter().flatten();
    let mut pairs: Vec<_> = pairs.map(|(key, value)| (&key[..], &value[..])).collect();
    pairs.sort_unstable();
    pairs
}

/// Returns the error of a file in which something else was found.
fn wrong(path: &Path, found: impl Display, expected: impl Display) -> Error {
    let [found, expected] = [found.to_string(), expected.to_string()];
    Error::new(path.display(), beginning(&found), beginning(&expected))
}

/// Returns the beginning of a text on one line.
fn beginning(text: &str) -> String {
    let line = one_line(text);
    match line.char_indices().nth(MESSAGE) {
        None => line,
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}

/// Returns the error of the format's reader in our words.
fn damaged(path: &Path, error: SafeTensorError) -> Error {
    let found = match error {
        SafeTensorError::MetadataIncompleteBuffer | SafeTensorError::InvalidHeaderLength => {
            "a safetensors file that is truncated or damaged".to_owned()
        }
        error => format!("no safetensors file ({error})"),
    };
    wrong(path, found, StoredEncoder::EXPECTED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_read_is_not_written() {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("encoder.safetensors");
        let written = |name: &str, value: f32| {
            let tensors = [StoredTensor::of_f32(name, vec![2], &[0.0, value])];
            let bytes = safetensors_bytes(&[], &tensors).unwrap();
            let file = StoredEncoder::of_bytes(Path::new("before"), bytes).unwrap();
            file.write(&path).map_err(|error| error.to_string())
        };
        written("a", -1.0).unwrap();
        for (name, value, message) in [
            (
                "a",
                f32::INFINITY,
                "inf in tensor \"a\", expected finite numbers",
            ),
            (
                "a.variance",
                -1.0,
                "-1 in tensor \"a.variance\", expected finite numbers from 0 on",
            ),
        ] {
            let expected = format!("{}: found {message}", path.display());
            assert_eq!(written(name, value).unwrap_err(), expected);
        }
        assert!(StoredEncoder::open(&path).unwrap().kind().is_err());
    }
}
