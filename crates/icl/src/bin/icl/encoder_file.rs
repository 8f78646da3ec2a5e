//! Encoders as safetensors files: written, and read back to be used or trained further.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use burn::module::ParamId;
use burn::tensor::TensorData;
use burn_store::{ModuleSnapshot, TensorSnapshot};
use icl::core::Seed;
use icl::data::{Found, GraphDataset};
use icl::models::{Gcn, GcnConfig, GraphBackend};
use safetensors::tensor::{Metadata, TensorInfo};
use safetensors::{Dtype, SafeTensorError, SafeTensors};

use crate::failure::Failure;
use crate::tensor_file::{self, StoredTensor};
use crate::whole_file;

/// The kind of encoder that is written and read.
const KIND: &str = "gcn";

/// Writes an encoder with its configuration, from which it can be built again, as metadata. The same
/// encoder gives the same bytes.
///
/// # Errors
/// If the file cannot be written; what was there before is there still.
pub fn save<B: GraphBackend>(
    encoder: &Gcn<B>,
    config: &GcnConfig,
    data: &str,
    path: &Path,
) -> Result<(), Failure> {
    let unwritable =
        |error: String| Failure::Other(anyhow!("{}: cannot be written: {error}", path.display()));
    let config = serde_json::to_string(config).map_err(|error| unwritable(error.to_string()))?;
    let tensors = encoder
        .collect(None, None, false)
        .into_iter()
        .map(|tensor| {
            let values = tensor
                .to_data()
                .map_err(|error| unwritable(error.to_string()))?;
            let shape = values.shape.to_vec();
            let values = values.convert::<f32>().into_vec::<f32>();
            let values = values.map_err(|error| unwritable(format!("{error:?}")))?;
            Ok(StoredTensor::of_f32(tensor.full_path(), shape, &values))
        });
    let tensors: Vec<StoredTensor> = tensors.collect::<Result<_, Failure>>()?;
    let metadata = [("config", &config[..]), ("data", data), ("encoder", KIND)];
    whole_file::replace(path, &tensor_file::bytes(&metadata, &tensors)?)
}

/// An encoder that was read from a file and checked, for any backend.
#[derive(Debug)]
pub struct EncoderFile {
    /// The file.
    pub path: PathBuf,
    /// Its configuration.
    pub config: GcnConfig,
    /// The name of the data set that it was trained on.
    pub data: String,
    /// CRC-32 of the file, by which interrupted work knows its encoder again.
    pub checksum: String,
    tensors: Vec<(String, TensorData)>,
}

/// What is wrong with the file of an encoder.
#[derive(Debug, thiserror::Error)]
#[error("{}: found {}, expected {expected}", path.display(), one_line(found))]
struct EncoderError {
    path: PathBuf,
    found: String,
    expected: String,
}

/// Reads an encoder that [`save`] wrote.
///
/// # Errors
/// If the file cannot be read, is cut or no safetensors file, holds another kind of encoder or no
/// configuration, or its tensors are not exactly those of the configuration, in names, types and
/// shapes, with finite numbers and no variance below 0.
pub fn read(path: &Path) -> Result<EncoderFile, Failure> {
    let wrong = |(found, expected)| {
        Failure::input(EncoderError {
            path: path.to_owned(),
            found,
            expected,
        })
    };
    let bytes = std::fs::read(path).map_err(|error| {
        wrong((
            format!("no readable file ({error})"),
            "the .safetensors file of an encoder".to_owned(),
        ))
    })?;
    let (config, data, tensors) = parse(&bytes).map_err(wrong)?;
    Ok(EncoderFile {
        path: path.to_owned(),
        config,
        data,
        checksum: format!("{:08x}", crc32fast::hash(&bytes)),
        tensors,
    })
}

impl EncoderFile {
    /// The encoder, with the normalisation statistics of the file. On an autodiff backend its
    /// parameters can be trained, as those of a fresh encoder can; its statistics cannot.
    ///
    /// # Errors
    /// If the configuration cannot be.
    pub fn encoder<B: GraphBackend>(&self, device: &B::Device) -> Result<Gcn<B>, Failure> {
        // Burn forgets in modules that were taken from an autodiff backend which parameters are to
        // be trained; in one that was made there and then given other values it does not.
        let mut encoder = self
            .config
            .try_init::<B>(Seed::new(0), device)
            .map_err(|error| {
                Failure::input(anyhow!("{}: configuration: {error}", self.path.display()))
            })?;
        let snapshots = self.tensors.iter().map(|(name, values)| {
            let names = name.split('.').map(str::to_owned).collect();
            TensorSnapshot::from_data(values.clone(), names, Vec::new(), ParamId::new())
        });
        let applied = encoder.apply(snapshots.collect(), None, None, false);
        if applied.applied.len() == self.tensors.len() && applied.is_success() {
            return Ok(encoder);
        }
        Err(Failure::Other(anyhow!(
            "{}: found tensors that the encoder does not take",
            self.path.display()
        )))
    }

    /// Checks that the encoder can read these data.
    ///
    /// # Errors
    /// If their node features are of another width.
    pub fn check_data(&self, data: &GraphDataset) -> Result<(), Failure> {
        let (found, expected) = (data.d_features(), self.config.d_input);
        if found == expected {
            return Ok(());
        }
        Err(Failure::input(anyhow!(
            "data set {}: found node features of width {found} ({}), expected width {expected}, \
             which {} was trained on ({})",
            Found::new(data.name()),
            data.layout(),
            self.path.display(),
            Found::new(&self.data)
        )))
    }
}

/// What was found and what was expected instead.
type Wrong = (String, String);

/// The configuration, the data set's name and the tensors of a file.
type Parsed = (GcnConfig, String, Vec<(String, TensorData)>);

fn parse(bytes: &[u8]) -> Result<Parsed, Wrong> {
    let (n_header, header) = SafeTensors::read_metadata(bytes).map_err(damaged)?;
    let text = |key: &str, expected: &str| {
        let metadata = header.metadata().as_ref();
        let value = metadata.and_then(|metadata| metadata.get(key)).cloned();
        value.ok_or_else(|| (format!("no metadata \"{key}\""), expected.to_owned()))
    };
    let kind = text("encoder", "that of an encoder written by icl")?;
    if kind != KIND {
        return Err((
            format!("an encoder of kind {}", Found::new(&kind)),
            format!("one of kind \"{KIND}\""),
        ));
    }
    let config = text("config", "the encoder's configuration")?;
    let config: GcnConfig = serde_json::from_str(&config).map_err(|error| {
        (
            format!("metadata \"config\" that cannot be read ({error})"),
            "the configuration of a GCN".to_owned(),
        )
    })?;
    let data = text("data", "the name of the data that it was trained on")?;
    // Length and header; the reader has found that they are there.
    let numbers = bytes.get(8 + n_header..).unwrap_or_default();
    let tensors = tensors(&config, &header, numbers)?;
    Ok((config, data, tensors))
}

/// The words for what the format's reader found.
fn damaged(error: SafeTensorError) -> Wrong {
    let found = match error {
        SafeTensorError::MetadataIncompleteBuffer | SafeTensorError::InvalidHeaderLength => {
            "a safetensors file that is cut or damaged".to_owned()
        }
        error => format!("no safetensors file ({error})"),
    };
    (found, "the .safetensors file of an encoder".to_owned())
}

/// The tensors that the configuration asks for, if they and no others are there.
///
/// They are compared before an encoder is made, one by one: a configuration that somebody has
/// tampered with may ask for more than the memory holds.
fn tensors(
    config: &GcnConfig,
    header: &Metadata,
    numbers: &[u8],
) -> Result<Vec<(String, TensorData)>, Wrong> {
    let mut found = header.tensors();
    let mut tensors = Vec::new();
    let (d_input, d_hidden) = (config.d_input, config.d_hidden);
    let of_layer = |layer: usize| {
        let width = if layer == 0 { d_input } else { d_hidden };
        [
            (
                format!("convolutions.{layer}.weight"),
                vec![width, d_hidden],
            ),
            (format!("statistics.{layer}.mean"), vec![d_hidden]),
            (format!("statistics.{layer}.variance"), vec![d_hidden]),
        ]
    };
    for (name, shape) in (0..config.n_layers).flat_map(of_layer) {
        let values = values(&name, &shape, &mut found, numbers)?;
        tensors.push((name, TensorData::new(values, shape)));
    }
    match found.keys().min() {
        None => Ok(tensors),
        Some(name) => Err((
            format!("tensor {}", Found::new(name)),
            format!("only those of a GCN with n_layers = {}", config.n_layers),
        )),
    }
}

/// The values of one tensor, which is taken out of those that were found.
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

/// The text with what would begin another line, or control a terminal, escaped.
fn one_line(text: &str) -> String {
    let escaped = text.chars().map(|c| {
        if c.is_control() {
            c.escape_default().to_string()
        } else {
            c.to_string()
        }
    });
    escaped.collect()
}

#[cfg(feature = "flex")]
#[cfg(test)]
mod tests {
    use super::*;

    use burn::backend::{Autodiff, Flex};
    use burn::module::{AutodiffModule, Module, ModuleVisitor, Param};
    use burn::tensor::{Tensor, backend::Backend};
    use icl::core::{Collate, Encoder, Mode, Views, host_values};
    use icl::data::{GraphCollate, GraphViewsConfig, embedded};
    use tempfile::tempdir;

    type Trained = Autodiff<Flex>;

    /// An encoder for MUTAG whose statistics are not those of a fresh one.
    fn encoder() -> (Gcn<Flex>, GcnConfig) {
        let config = GcnConfig::new(7).with_d_hidden(5).with_n_layers(3);
        let fresh = config.init::<Flex>(Seed::new(3), &Default::default());
        let batches = icl::core::Batches::new(1, |_| Ok(batch::<Flex>(30)));
        (fresh.recalibrated(&batches).unwrap(), config)
    }

    fn batch<B: Backend>(n: usize) -> icl::core::graph::GraphBatch<B> {
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

    #[test]
    fn it_is_read_as_it_was_written() {
        let at = tempdir().unwrap();
        let path = at.path().join("encoder.safetensors");
        let (encoder, config) = encoder();
        save(&encoder, &config, "MUTAG", &path).unwrap();
        let first = std::fs::read(&path).unwrap();
        let file = read(&path).unwrap();
        assert_eq!(file.data, "MUTAG");
        assert_eq!(file.config.to_string(), config.to_string());
        let again = file.encoder::<Flex>(&Default::default()).unwrap();
        assert_eq!(tensors(&again), tensors(&encoder));
        save(&again, &file.config, &file.data, &path).unwrap();
        assert!(std::fs::read(&path).unwrap() == first);
        // The module's own list of tensors is the one that is compared.
        assert_eq!(file.tensors.len(), encoder.collect(None, None, false).len());
    }

    #[test]
    fn it_can_be_trained_further() {
        let at = tempdir().unwrap();
        let path = at.path().join("encoder.safetensors");
        let (original, config) = encoder();
        save(&original, &config, "MUTAG", &path).unwrap();
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
            save(&encoder, &config, "MUTAG", &path).unwrap();
            let error = read(&path).unwrap_err().to_string();
            assert!(error.ends_with(message), "{error}");
        }
        save(&encoder, &config.with_dropout(1.0), "MUTAG", &path).unwrap();
        let error = read(&path).unwrap().encoder::<Flex>(&Default::default());
        let error = error.unwrap_err().to_string();
        assert!(
            error.ends_with("configuration: dropout: found 1, expected a number from 0 to below 1"),
            "{error}"
        );
    }

    /// Whatever byte is changed: an encoder or one line, never a panic.
    #[test]
    fn no_changed_byte_makes_it_panic() {
        let at = tempdir().unwrap();
        let path = at.path().join("encoder.safetensors");
        let (encoder, config) = encoder();
        save(&encoder, &config, "MUTAG", &path).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let check = |bytes: &[u8]| match parse(bytes) {
            Ok((config, data, tensors)) => {
                let file = EncoderFile {
                    path: path.clone(),
                    config,
                    data,
                    checksum: String::new(),
                    tensors,
                };
                let _ = file.encoder::<Flex>(&Default::default());
            }
            Err((found, _)) => assert!(!one_line(&found).contains('\n')),
        };
        for index in 0..whole.len() {
            for with in [0, b'"', b'\n', b'9', 0xff, whole[index] ^ 1] {
                let mut changed = whole.clone();
                changed[index] = with;
                check(&changed);
            }
            assert!(parse(&whole[..index]).is_err());
        }
    }
}
