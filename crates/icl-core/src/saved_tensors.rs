//! The tensors in the bytes of a record, read before Burn turns them into tensors, which panics at wrong ones.

use std::fmt;

use burn::module::ParamId;

use crate::Error;
use crate::record_value::Value;

/// Number of characters of the identity of a parameter: 64 bits, five in each. Burn panics at a text that it cannot
/// read, and at one that holds more than 64 bits.
const ID_LENGTH: usize = 13;

/// Creates the error of bytes that are whole, but the state of another kind of module, optimizer or agent.
pub fn unfit() -> Error {
    Error::new(
        "",
        "a state that does not fit the encoder",
        "the state of this run",
    )
}

/// Creates the error of a tensor of another shape or type, or of one too many or too few.
fn unfit_tensor(found: impl fmt::Display, expected: impl fmt::Display) -> Error {
    Error::new("", format!("{found} in the state"), expected)
}

/// Names, shapes and types of the tensors in saved bytes.
#[derive(Debug)]
pub struct SavedTensors {
    tensors: Vec<SavedTensor>,
    /// Names at the top of the record: fields of a module, identities of parameters of an optimizer or of its parts.
    entries: Vec<String>,
}

#[derive(Debug)]
struct SavedTensor {
    /// Names of the fields that lead to it.
    path: Vec<String>,
    /// Identity of a parameter.
    id: Option<String>,
    shape: Vec<u64>,
    dtype: String,
    n_bytes: usize,
}

impl SavedTensors {
    /// Reads the record of a module or an optimizer.
    ///
    /// # Errors
    /// If the bytes are no record.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let record = Value::read(bytes).ok_or_else(unfit)?;
        let item = record.field("item").ok_or_else(unfit)?;
        // An optimizer of several parts has a map for each.
        let parts = match item {
            Value::List(parts) => parts.as_slice(),
            part => std::slice::from_ref(part),
        };
        let names = parts.iter().flat_map(|part| match part {
            Value::Map(fields) => fields.as_slice(),
            _ => &[],
        });
        let entries = names.map(|(name, _)| (*name).to_owned()).collect();
        let mut tensors = Vec::new();
        collect(item, None, &mut Vec::new(), &mut tensors);
        // For `check_like`, which compares two records in one pass.
        tensors.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { tensors, entries })
    }

    /// Checks that the tensors have the names, shapes and types of `expected`, as those of one kind of module have.
    ///
    /// # Errors
    /// For the first tensor that differs.
    pub fn check_like(&self, expected: &Self) -> Result<(), Error> {
        let n = self.tensors.len().max(expected.tensors.len());
        for at in 0..n {
            match (self.tensors.get(at), expected.tensors.get(at)) {
                (Some(found), Some(expected)) if found.path == expected.path => {
                    found.check(&expected.kind())?;
                    if found.has_id() != expected.has_id() {
                        return Err(unfit());
                    }
                }
                (Some(found), None) => return Err(found.unfit("none")),
                (Some(found), Some(expected)) if found.path < expected.path => {
                    return Err(found.unfit("none"));
                }
                (_, Some(missing)) => {
                    let found = format!("no tensor {}", missing.name());
                    return Err(unfit_tensor(found, missing.kind()));
                }
                (None, None) => (),
            }
        }
        Ok(())
    }

    /// Checks that the tensors are states of an optimizer for these parameters, each of the shape and type of its
    /// parameter.
    ///
    /// # Errors
    /// For the first tensor that differs, or a state of another parameter.
    pub fn check_states_of(&self, parameters: &Self) -> Result<(), Error> {
        let parameter = |id: &String| {
            let mut all = parameters.tensors.iter();
            all.find(|it| it.id.as_ref() == Some(id)).ok_or_else(unfit)
        };
        for entry in &self.entries {
            parameter(entry)?;
        }
        for tensor in &self.tensors {
            // Below the number of the part, if there are several.
            let known = tensor.path.iter().find_map(|name| parameter(name).ok());
            let expected = known.ok_or_else(unfit)?;
            tensor.check(&expected.kind())?;
            // Burn has a variant for each number of axes.
            let rank = format!("Rank{}", tensor.shape.len());
            if !tensor.path.contains(&rank) {
                return Err(unfit());
            }
        }
        Ok(())
    }
}

/// Shape, type and size of a tensor.
#[derive(Debug, PartialEq, Eq)]
struct TensorKind<'a> {
    shape: &'a [u64],
    dtype: &'a str,
    n_bytes: usize,
}

impl fmt::Display for TensorKind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            shape,
            dtype,
            n_bytes,
        } = self;
        let shape = legible(&format!("{shape:?}"));
        let dtype = legible(dtype);
        write!(f, "shape {shape} of {dtype} in {n_bytes} bytes")
    }
}

/// Returns the beginning of a text that a damaged file may hold, without control characters.
fn legible(text: &str) -> String {
    const MAX_CHARS: usize = 100;
    let mut kept: String = text.chars().take(MAX_CHARS).collect();
    if kept.len() < text.len() {
        kept.push('…');
    }
    kept.escape_debug().to_string()
}

impl SavedTensor {
    fn name(&self) -> String {
        let path = match self.path.split_last() {
            // Burn's name of the tensor besides its identity.
            Some((last, path)) if last == "param" => path,
            _ => &self.path,
        };
        legible(&path.join("."))
    }

    fn kind(&self) -> TensorKind<'_> {
        TensorKind {
            shape: &self.shape,
            dtype: &self.dtype,
            n_bytes: self.n_bytes,
        }
    }

    /// Whether it is a parameter, with an identity that Burn can read.
    fn has_id(&self) -> bool {
        let is_readable =
            |id: &String| id.len() == ID_LENGTH && ParamId::try_deserialize(id).is_some();
        self.id.as_ref().is_some_and(is_readable)
    }

    fn check(&self, expected: &TensorKind<'_>) -> Result<(), Error> {
        match self.kind() == *expected {
            true => Ok(()),
            false => Err(self.unfit(expected)),
        }
    }

    fn unfit(&self, expected: impl fmt::Display) -> Error {
        unfit_tensor(
            format!("tensor {} with {}", self.name(), self.kind()),
            expected,
        )
    }
}

/// Collects the tensors at and below a value.
fn collect(
    value: &Value<'_>,
    id: Option<&str>,
    path: &mut Vec<String>,
    found: &mut Vec<SavedTensor>,
) {
    if let Some((shape, dtype, n_bytes)) = tensor(value) {
        found.push(SavedTensor {
            path: path.clone(),
            id: id.map(str::to_owned),
            shape,
            dtype,
            n_bytes,
        });
        return;
    }
    let mut below = |name: String, value: &Value<'_>, id: Option<&str>| {
        path.push(name);
        collect(value, id, path, found);
        path.pop();
    };
    match value {
        Value::Map(fields) => {
            let id = value.field("id").and_then(|id| match id {
                Value::Text(id) => Some(*id),
                _ => None,
            });
            for (name, field) in fields {
                below((*name).to_owned(), field, id);
            }
        }
        Value::List(items) => {
            for (at, item) in items.iter().enumerate() {
                below(at.to_string(), item, None);
            }
        }
        _ => (),
    }
}

/// Returns shape, type and number of bytes of a value, if it is a tensor.
fn tensor(value: &Value<'_>) -> Option<(Vec<u64>, String, usize)> {
    let field = |name| value.field(name);
    let (Value::Bytes(bytes), Value::List(shape), Value::Text(dtype)) =
        (field("bytes")?, field("shape")?, field("dtype")?)
    else {
        return None;
    };
    let axis = |value: &Value<'_>| match value {
        Value::Count(n) => Some(*n),
        _ => None,
    };
    let shape: Option<Vec<u64>> = shape.iter().map(axis).collect();
    Some((shape?, (*dtype).to_owned(), bytes.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    use burn::module::Module;
    use burn::nn::{BatchNorm, BatchNormConfig, Linear, LinearConfig};
    use burn::optim::momentum::MomentumConfig;
    use burn::optim::{GradientsParams, Optimizer, SgdConfig};
    use burn::record::{DoublePrecisionSettings, NamedMpkBytesRecorder, Recorder};
    use burn::tensor::Tensor;

    use crate::module_bytes::{Bytes, load_module, save_module, save_record};
    use crate::testing::TestAutodiff;

    type B = TestAutodiff;

    #[derive(Module, Debug)]
    struct Layers<B: burn::tensor::backend::Backend> {
        layers: Vec<Linear<B>>,
        statistics: BatchNorm<B>,
    }

    /// Layers of these widths.
    fn layers(widths: &[usize]) -> Layers<B> {
        let device = Default::default();
        let layer = |pair: &[usize]| LinearConfig::new(pair[0], pair[1]).init(&device);
        Layers {
            layers: widths.windows(2).map(layer).collect(),
            statistics: BatchNormConfig::new(3).init(&device),
        }
    }

    fn load(bytes: Bytes) -> Result<Layers<B>, Error> {
        load_module(layers(&[2, 3, 4]), bytes, &Default::default())
    }

    /// Message about bytes that do not fit.
    fn unfit(bytes: Bytes) -> String {
        load(bytes).unwrap_err().to_string()
    }

    #[test]
    fn modules_of_other_shapes_are_refused() {
        let bytes = |widths: &[usize]| save_module::<B, _>(&layers(widths)).unwrap();
        assert!(load(bytes(&[2, 3, 4])).is_ok());
        for (widths, message) in [
            (
                &[2, 3, 5][..],
                "found tensor layers.1.bias with shape [5] of F32 in 20 bytes in the state, expected shape [4] of F32 \
                 in 16 bytes",
            ),
            (
                &[2, 3],
                "found no tensor layers.1.bias in the state, expected shape [4] of F32 in 16 bytes",
            ),
            (
                &[2, 3, 4, 4],
                "found tensor layers.2.bias with shape [4] of F32 in 16 bytes in the state, expected none",
            ),
        ] {
            assert_eq!(unfit(bytes(widths)), message);
        }
        let kind = super::unfit().to_string();
        let one = save_module::<B, _>(&layers(&[2, 3, 4]).statistics).unwrap();
        assert!(unfit(one).starts_with("found tensor beta"));
        assert_eq!(unfit(Bytes::from(Vec::new())), kind);
        assert_eq!(unfit(Bytes::from(vec![0x93; 10_000])), kind);
    }

    #[test]
    fn modules_of_another_type_or_with_torn_tensors_are_refused() {
        let recorder = NamedMpkBytesRecorder::<DoublePrecisionSettings>::default();
        let double =
            Recorder::<B>::record(&recorder, layers(&[2, 3, 4]).into_record(), ()).unwrap();
        assert!(unfit(Bytes::from(double)).contains("[3] of F64 in 24 bytes"));
        let whole = save_module::<B, _>(&layers(&[2, 3, 4])).unwrap().into_vec();
        let replaced = |from: &[u8], to: &[u8]| {
            let at = whole.windows(from.len()).position(|it| it == from).unwrap();
            [&whole[..at], to, &whole[at + from.len()..]].concat()
        };
        // The shape [3] becomes [4], the type another one, and an identity one that is too long.
        let shape = unfit(Bytes::from(replaced(
            b"\xa5shape\x91\x03",
            b"\xa5shape\x91\x04",
        )));
        assert!(shape.contains("shape [4] of F32 in 12 bytes"), "{shape}");
        let dtype = unfit(Bytes::from(replaced(b"\xa3F32", b"\xa3I32")));
        assert!(dtype.contains("of I32 in"), "{dtype}");
        let id = replaced(b"\xa2id\xad", b"\xa2id\xae7");
        assert_eq!(unfit(Bytes::from(id)), super::unfit().to_string());
        let control = unfit(Bytes::from(replaced(b"\xa3F32", b"\xa3F\x012")));
        assert!(control.contains("of F\\u{1}2 in"), "{control}");
        assert_eq!(legible(&"a".repeat(1000)).chars().count(), 101);
    }

    #[test]
    fn states_of_other_parameters_are_refused() {
        let saved = |module: &Layers<B>| SavedTensors::read(&save_module::<B, _>(module).unwrap());
        let stepped = |module: &Layers<B>| {
            let config = SgdConfig::new().with_momentum(Some(MomentumConfig::new()));
            let mut optimizer = config.init::<B, Layers<B>>();
            let device = Default::default();
            let mut x = Tensor::<B, 2>::ones([5, 2], &device);
            for layer in &module.layers {
                x = layer.forward(x);
            }
            let gradients = GradientsParams::from_grads(x.sum().backward(), module);
            optimizer.step(0.1, module.clone(), gradients);
            SavedTensors::read(&save_record::<B, _>(optimizer.to_record()).unwrap()).unwrap()
        };
        let (ours, theirs) = (layers(&[2, 3, 4]), layers(&[2, 3, 4]));
        let of_ours = saved(&ours).unwrap();
        stepped(&ours).check_states_of(&of_ours).unwrap();
        let other = stepped(&theirs).check_states_of(&of_ours);
        assert_eq!(other, Err(super::unfit()));
        // A velocity of another shape.
        let mut wrong = stepped(&ours);
        wrong.tensors[0].shape.push(1);
        let error = wrong.check_states_of(&of_ours).unwrap_err();
        assert!(error.found().ends_with(" in the state"), "{error}");
    }
}
