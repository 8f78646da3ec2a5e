//! Encoders as safetensors files, written and read back.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use burn::module::ParamId;
use burn::tensor::TensorData;
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn_store::{ModuleSnapshot, TensorSnapshot};
use icl_core::InputFile;
use icl_data::Found;
use safetensors::tensor::{Metadata, TensorInfo};
use safetensors::{Dtype, SafeTensorError, SafeTensors};

use crate::domain::{Domain, Wrong};
use crate::files::tensors;
use crate::files::tensors::StoredTensor;
use crate::files::whole;
use crate::process::failure::Failure;
use crate::process::terminal::one_line;

/// Writes an encoder with its configuration as metadata, from which it can be rebuilt. The same encoder gives
/// the same bytes.
///
/// # Errors
/// If the file could not be read again, because a number is not finite, or cannot be written; an earlier file still exists
/// then.
pub fn save<D: Domain, B: Backend>(
    encoder: &D::Encoder<B>,
    domain: &D,
    data: &str,
    path: &Path,
) -> Result<(), Failure> {
    let unwritable =
        |error: String| Failure::Other(anyhow!("{}: cannot be written: {error}", path.display()));
    let bytes = bytes(encoder, domain, data).map_err(unwritable)?;
    // Nothing is written that could not be read: a variance may have overflowed.
    parse::<D>(&bytes).map_err(|(found, expected)| {
        unwritable(format!(
            "found {found}, expected {expected}, as the encoder must have it"
        ))
    })?;
    whole::write(path, &bytes)
}

/// Returns the file of an encoder.
fn bytes<D: Domain, B: Backend>(
    encoder: &D::Encoder<B>,
    domain: &D,
    data: &str,
) -> Result<Vec<u8>, String> {
    let description = domain.describe().map_err(|error| error.to_string())?;
    let tensors = encoder
        .collect(None, None, false)
        .into_iter()
        .map(|tensor| {
            let values = tensor.to_data().map_err(|error| error.to_string())?;
            let shape = values.shape.to_vec();
            let values = values.convert::<f32>().into_vec::<f32>();
            let values = values.map_err(|error| format!("{error:?}"))?;
            Ok(StoredTensor::of_f32(tensor.full_path(), shape, &values))
        });
    let tensors: Vec<StoredTensor> = tensors.collect::<Result<_, String>>()?;
    let mut metadata = vec![("data", data), ("encoder", D::ENCODER)];
    metadata.extend(description.iter().map(|(key, value)| (*key, &value[..])));
    metadata.sort_unstable();
    tensors::bytes(&metadata, &tensors).map_err(|error| error.to_string())
}

/// Encoder that was read from a file and checked, for any backend.
#[derive(Debug)]
pub struct EncoderFile<D> {
    /// Path of the file.
    pub path: PathBuf,
    /// Configuration of the encoder and its views.
    pub domain: D,
    /// Name of the data set that the encoder was trained on.
    pub data: String,
    /// CRC-32 of the file, by which interrupted work recognises its encoder.
    pub checksum: String,
    bytes: Vec<u8>,
    tensors: Vec<(String, TensorData)>,
}

/// Error of the file of an encoder.
#[derive(Debug, thiserror::Error)]
#[error("{}: found {}, expected {}", path.display(), beginning(found), beginning(expected))]
struct EncoderError {
    path: PathBuf,
    found: String,
    expected: String,
}

/// Largest number of characters of what was found or expected: other crates repeat what a file holds, however long it
/// is.
const MESSAGE: usize = 400;

/// Returns the beginning of a text on one line.
fn beginning(text: &str) -> String {
    let line = one_line(text);
    match line.char_indices().nth(MESSAGE) {
        None => line,
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}

/// File that should hold an encoder, before its kind is known.
#[derive(Debug)]
pub struct StoredEncoder {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl StoredEncoder {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, is no regular file or has more than 2 GiB.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        match InputFile::open(path, whole::MAX_ENCODER_BYTES).and_then(InputFile::bytes) {
            Ok(bytes) => Ok(Self {
                path: path.to_owned(),
                bytes,
            }),
            Err(error) => Err(Failure::input(EncoderError {
                path: path.to_owned(),
                found: format!("no readable file ({error})"),
                expected: EXPECTED.to_owned(),
            })),
        }
    }

    /// Returns a file of these bytes.
    #[cfg(test)]
    pub fn of_bytes(path: &Path, bytes: Vec<u8>) -> Self {
        Self {
            path: path.to_owned(),
            bytes,
        }
    }

    /// Returns the name of the kind of the encoder.
    ///
    /// # Errors
    /// If the file is truncated, no safetensors file, or names no kind.
    pub fn kind(&self) -> Result<String, Failure> {
        let header = SafeTensors::read_metadata(&self.bytes).map_err(damaged);
        let kind = header.and_then(|(_, header)| text(&header, "encoder", OF_ENCODER));
        kind.map_err(|wrong| self.error(wrong))
    }

    /// Reads the encoder that [`save`] wrote.
    ///
    /// # Errors
    /// If the file is truncated or no safetensors file, holds another kind of encoder or no configuration,
    /// or its tensors are not exactly those of the configuration, in names, types and shapes, with finite
    /// numbers and no variance below 0.
    pub fn read<D: Domain>(self) -> Result<EncoderFile<D>, Failure> {
        let (domain, data, tensors) = parse(&self.bytes).map_err(|wrong| self.error(wrong))?;
        Ok(EncoderFile {
            checksum: format!("{:08x}", crc32fast::hash(&self.bytes)),
            bytes: self.bytes,
            path: self.path,
            domain,
            data,
            tensors,
        })
    }

    /// Returns the error of an encoder of a kind that cannot take such samples. `expected` are the kinds
    /// that can.
    pub fn wrong_kind(&self, kind: &str, expected: &[&str], samples: &str) -> Failure {
        let expected: Vec<String> = expected.iter().map(|kind| format!("\"{kind}\"")).collect();
        self.error((
            format!("an encoder of kind {}", Found::new(kind)),
            format!("one for {samples}: {}", expected.join(" or ")),
        ))
    }

    fn error(&self, (found, expected): Wrong) -> Failure {
        Failure::input(EncoderError {
            path: self.path.clone(),
            found,
            expected,
        })
    }
}

/// Description of the expected file.
const EXPECTED: &str = "the .safetensors file of an encoder";

/// Description of the expected kind.
const OF_ENCODER: &str = "that of an encoder written by icl";

impl<D: Domain> EncoderFile<D> {
    /// Returns the content of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the encoder with the normalisation statistics of the file. Its parameters can be
    /// trained like those of a fresh encoder; its statistics cannot.
    ///
    /// # Errors
    /// If the configuration is not valid.
    pub fn encoder<B: AutodiffBackend>(
        &self,
        device: &B::Device,
    ) -> Result<D::Trained<B>, Failure> {
        let invalid = |error: anyhow::Error| {
            self.wrong(
                format!("a configuration that is not valid ({error})"),
                EXPECTED,
            )
        };
        // Burn forgets in modules that were taken from an autodiff backend which parameters are to
        // be trained; in one that was made there and then given other values it does not.
        let mut encoder = self.domain.shape::<B>(device).map_err(invalid)?;
        let snapshots = self.tensors.iter().map(|(name, values)| {
            let names = name.split('.').map(str::to_owned).collect();
            TensorSnapshot::from_data(values.clone(), names, Vec::new(), ParamId::new())
        });
        let applied = encoder.apply(snapshots.collect(), None, None, false);
        if applied.applied.len() == self.tensors.len() && applied.is_success() {
            return Ok(encoder);
        }
        Err(self.wrong(
            "tensors that the encoder does not take".to_owned(),
            EXPECTED,
        ))
    }

    /// Returns the error of a file in which something else was found.
    pub fn wrong(&self, found: String, expected: &str) -> Failure {
        Failure::input(EncoderError {
            path: self.path.clone(),
            found,
            expected: expected.to_owned(),
        })
    }

    /// Checks that the encoder can read these data.
    ///
    /// # Errors
    /// If it cannot.
    pub fn check_data(&self, data: &D::Data) -> Result<(), Failure> {
        self.domain.check(data).map_err(|(found, expected)| {
            Failure::input(anyhow!(
                "data set {}: found {found}, expected {expected}, which {} was trained on ({})",
                Found::new(D::name(data)),
                self.path.display(),
                Found::new(&self.data)
            ))
        })
    }
}

/// Configuration, name of the data set and tensors of a file.
type Parsed<D> = (D, String, Vec<(String, TensorData)>);

fn parse<D: Domain>(bytes: &[u8]) -> Result<Parsed<D>, Wrong> {
    let (n_header, header) = SafeTensors::read_metadata(bytes).map_err(damaged)?;
    let text = |key: &str, expected: &str| text(&header, key, expected);
    let kind = text("encoder", OF_ENCODER)?;
    if kind != D::ENCODER {
        return Err((
            format!("an encoder of kind {}", Found::new(&kind)),
            format!(
                "one of kind \"{}\", which is for {}",
                D::ENCODER,
                D::SAMPLES
            ),
        ));
    }
    let domain = D::from_description(&text)?;
    let data = text("data", "the name of the data that it was trained on")?;
    // Length and header; the reader has found that they are there.
    let numbers = bytes.get(8 + n_header..).unwrap_or_default();
    let tensors = tensors(&domain, &header, numbers)?;
    Ok((domain, data, tensors))
}

/// Returns the value of a key of the metadata.
fn text(header: &Metadata, key: &str, expected: &str) -> Result<String, Wrong> {
    let metadata = header.metadata().as_ref();
    let value = metadata.and_then(|metadata| metadata.get(key)).cloned();
    value.ok_or_else(|| (format!("no metadata \"{key}\""), expected.to_owned()))
}

/// Returns the error of the format's reader in our words.
fn damaged(error: SafeTensorError) -> Wrong {
    let found = match error {
        SafeTensorError::MetadataIncompleteBuffer | SafeTensorError::InvalidHeaderLength => {
            "a safetensors file that is truncated or damaged".to_owned()
        }
        error => format!("no safetensors file ({error})"),
    };
    (found, EXPECTED.to_owned())
}

/// Returns the tensors of the configuration, if the file has them and no others.
fn tensors<D: Domain>(
    domain: &D,
    header: &Metadata,
    numbers: &[u8],
) -> Result<Vec<(String, TensorData)>, Wrong> {
    let mut found = header.tensors();
    let mut tensors = Vec::new();
    for (name, shape) in domain.tensors() {
        let values = values(&name, &shape, &mut found, numbers)?;
        tensors.push((name, TensorData::new(values, shape)));
    }
    match found.keys().min() {
        None => Ok(tensors),
        Some(name) => Err((
            format!("tensor {}", Found::new(name)),
            format!("only those of {}", domain.encoder_name()),
        )),
    }
}

/// Returns the values of one tensor and removes it from `found`.
fn values(
    name: &str,
    shape: &[usize],
    found: &mut HashMap<String, &TensorInfo>,
    numbers: &[u8],
) -> Result<Vec<f32>, Wrong> {
    let Some(info) = found.remove(name) else {
        return Err((
            format!("no tensor \"{name}\""),
            format!("it with shape {shape:?}"),
        ));
    };
    if info.dtype != Dtype::F32 {
        return Err((
            format!("type {:?} of tensor \"{name}\"", info.dtype),
            "F32".to_owned(),
        ));
    }
    if info.shape != shape {
        return Err((
            format!("shape {:?} of tensor \"{name}\"", info.shape),
            format!("{shape:?}"),
        ));
    }
    let (begin, end) = info.data_offsets;
    let bytes = numbers
        .get(begin..end)
        .ok_or_else(|| damaged(SafeTensorError::MetadataIncompleteBuffer))?;
    let (bytes, _) = bytes.as_chunks::<4>();
    let values: Vec<f32> = bytes
        .iter()
        .map(|bytes| f32::from_le_bytes(*bytes))
        .collect();
    let is_variance = name.ends_with(".variance");
    match values
        .iter()
        .find(|value| !value.is_finite() || is_variance && **value < 0.0)
    {
        None => Ok(values),
        Some(value) => Err((
            format!("{value} in tensor \"{name}\""),
            if is_variance {
                "finite numbers from 0 on".to_owned()
            } else {
                "finite numbers".to_owned()
            },
        )),
    }
}

#[cfg(feature = "flex")]
#[cfg(test)]
mod tests {
    use super::*;

    use burn::backend::{Autodiff, Flex};
    use burn::module::{AutodiffModule, Module, ModuleVisitor, Param};
    use burn::tensor::{Tensor, backend::Backend};
    use icl_core::{Collate, Encoder, Mode, Seed, Views, host_values};
    use icl_data::{GraphCollate, GraphViewsConfig, embedded};
    use icl_models::{Gcn, GcnConfig};
    use tempfile::tempdir;

    use crate::domain::Graphs;

    type Trained = Autodiff<Flex>;

    /// An encoder for MUTAG whose statistics are not those of a fresh one.
    fn encoder() -> (Gcn<Flex>, GcnConfig) {
        let config = GcnConfig::new(7).with_d_hidden(5).with_n_layers(3);
        let fresh = config.init::<Flex>(Seed::new(3), &Default::default());
        let batches = icl_core::Batches::new(1, |_| Ok(batch::<Flex>(30)));
        (fresh.recalibrated(&batches).unwrap(), config)
    }

    fn batch<B: Backend>(n: usize) -> icl_core::graph::GraphBatch<B> {
        let views = GraphViewsConfig::new().init();
        let mutag = embedded::graphs("MUTAG").unwrap();
        let plain: Vec<_> = mutag.graphs()[..n].iter().map(|g| views.plain(g)).collect();
        GraphCollate.collate(&plain, &Default::default())
    }

    #[derive(Default)]
    struct Tensors(Vec<(bool, Vec<f64>)>);

    impl<B: Backend> ModuleVisitor<B> for Tensors {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
            let tensor = param.val();
            self.0.push((tensor.is_require_grad(), host_values(tensor)));
        }
    }

    fn tensors<B: Backend>(module: &impl Module<B>) -> Vec<(bool, Vec<f64>)> {
        let mut tensors = Tensors::default();
        module.visit(&mut tensors);
        tensors.0
    }

    /// Writes an encoder, with whatever configuration.
    fn save_with(config: &GcnConfig, encoder: &Gcn<Flex>, path: &Path) {
        let domain = Graphs::with(config.clone(), Default::default()).unwrap();
        std::fs::write(path, bytes(encoder, &domain, "MUTAG").unwrap()).unwrap();
    }

    fn read(path: &Path) -> Result<EncoderFile<Graphs<GcnConfig>>, Failure> {
        StoredEncoder::open(path)?.read()
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        let at = tempdir().unwrap();
        let path = at.path().join("encoder.safetensors");
        let (encoder, config) = encoder();
        save_with(&config, &encoder, &path);
        let first = std::fs::read(&path).unwrap();
        let file = read(&path).unwrap();
        assert_eq!(file.data, "MUTAG");
        let description = Graphs::with(config, Default::default())
            .unwrap()
            .describe()
            .unwrap();
        assert_eq!(file.domain.describe().unwrap(), description);
        let again = file
            .encoder::<Trained>(&Default::default())
            .unwrap()
            .valid();
        assert_eq!(tensors(&again), tensors(&encoder));
        save(&again, &file.domain, &file.data, &path).unwrap();
        assert!(std::fs::read(&path).unwrap() == first);
        // The module's own list of tensors is the one that is compared.
        assert_eq!(file.tensors.len(), encoder.collect(None, None, false).len());
    }

    #[test]
    fn it_can_be_trained_further() {
        let at = tempdir().unwrap();
        let path = at.path().join("encoder.safetensors");
        let (original, config) = encoder();
        save_with(&config, &original, &path);
        let file = read(&path).unwrap();
        let encoder = file.encoder::<Trained>(&Default::default()).unwrap();
        let fresh = config.init::<Trained>(Seed::new(0), &Default::default());
        let trainable = |encoder: &Gcn<Trained>| -> Vec<bool> {
            tensors(encoder).iter().map(|tensor| tensor.0).collect()
        };
        assert_eq!(trainable(&encoder), trainable(&fresh));
        assert_eq!(trainable(&encoder).iter().filter(|is| **is).count(), 3);
        // The statistics come along, for use without gradients.
        assert_eq!(tensors(&encoder.valid()), tensors(&original));

        // Every weight has a gradient that is not zero.
        let mut rng = Seed::new(1).rng();
        let loss = encoder
            .encode(batch(30), Mode::Training(&mut rng))
            .powi_scalar(2)
            .mean();
        let gradients = loss.backward();
        struct Gradients<'a>(
            &'a <Trained as burn::tensor::backend::AutodiffBackend>::Gradients,
            usize,
        );
        impl ModuleVisitor<Trained> for Gradients<'_> {
            fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<Trained, D>>) {
                if let Some(gradient) = param.val().grad(self.0) {
                    assert!(host_values(gradient).iter().any(|value| *value != 0.0));
                    self.1 += 1;
                }
            }
        }
        let mut found = Gradients(&gradients, 0);
        encoder.visit(&mut found);
        assert_eq!(found.1, 3);
    }

    #[test]
    fn a_configuration_beyond_all_memory_is_an_error() {
        let at = tempdir().unwrap();
        let path = at.path().join("encoder.safetensors");
        let (encoder, config) = encoder();
        for (config, message) in [
            (
                config.clone().with_d_hidden(1 << 40),
                "found shape [7, 5] of tensor \"convolutions.0.weight\", expected [7, 1099511627776]",
            ),
            (
                config.clone().with_n_layers(usize::MAX),
                "found no tensor \"convolutions.3.weight\", expected it with shape [5, 5]",
            ),
            (
                config.clone().with_n_layers(2),
                "found tensor \"convolutions.2.weight\", expected only those of a GCN with n_layers = 2",
            ),
        ] {
            save_with(&config, &encoder, &path);
            let error = read(&path).unwrap_err().to_string();
            assert!(error.ends_with(message), "{error}");
        }
        save_with(&config.with_dropout(1.0), &encoder, &path);
        let error = read(&path).unwrap().encoder::<Trained>(&Default::default());
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("(dropout: found 1, expected a number from 0 to below 1)"),
            "{error}"
        );
    }

    /// Whatever byte is changed: an encoder or one line, never a panic.
    #[test]
    fn no_changed_byte_makes_it_panic() {
        let at = tempdir().unwrap();
        let path = at.path().join("encoder.safetensors");
        let (encoder, config) = encoder();
        save_with(&config, &encoder, &path);
        let whole = std::fs::read(&path).unwrap();
        let check = |bytes: &[u8]| match parse::<Graphs<GcnConfig>>(bytes) {
            Ok((domain, data, tensors)) => {
                let file = EncoderFile {
                    bytes: Vec::new(),
                    path: path.clone(),
                    domain,
                    data,
                    checksum: String::new(),
                    tensors,
                };
                let _ = file.encoder::<Trained>(&Default::default());
            }
            Err((found, _)) => assert!(!one_line(&found).contains('\n')),
        };
        for index in 0..whole.len() {
            for with in [0, b'"', b'\n', b'9', 0xff, whole[index] ^ 1] {
                let mut changed = whole.clone();
                changed[index] = with;
                check(&changed);
            }
            assert!(parse::<Graphs<GcnConfig>>(&whole[..index]).is_err());
        }
    }
}
