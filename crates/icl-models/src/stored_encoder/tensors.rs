//! The tensors in the file of an encoder, and the encoder that they make.

use std::collections::HashMap;
use std::fmt::Display;

use burn::module::{Module, ParamId};
use burn::tensor::TensorData;
use burn::tensor::backend::Backend;
use burn_store::{ModuleSnapshot, TensorSnapshot};
use icl_core::{Error, Found};
use safetensors::tensor::TensorInfo;
use safetensors::{Dtype, SafeTensorError};

use super::{StoredEncoder, damaged};

impl StoredEncoder {
    /// Returns the tensors of these names and shapes in their order, if the file has them and no others. `of` describes
    /// the encoder that has such tensors.
    ///
    /// # Errors
    /// If the tensors of the file are not exactly these, in names, types and shapes, with finite numbers and no
    /// variance below 0.
    pub fn tensors(
        &self,
        of: &str,
        expected: impl IntoIterator<Item = (String, Vec<usize>)>,
    ) -> Result<Vec<(String, TensorData)>, Error> {
        let mut found = self.header.tensors();
        let mut tensors = Vec::new();
        for (name, shape) in expected {
            let values = self.values(&name, &shape, &mut found)?;
            tensors.push((name, TensorData::new(values, shape)));
        }
        match found.keys().min() {
            None => Ok(tensors),
            Some(name) => Err(self.wrong(
                format!("tensor {}", Found::new(name)),
                format!("only those of {of}"),
            )),
        }
    }

    /// Returns the values of one tensor and removes it from `found`.
    fn values(
        &self,
        name: &str,
        shape: &[usize],
        found: &mut HashMap<String, &TensorInfo>,
    ) -> Result<Vec<f32>, Error> {
        let Some(info) = found.remove(name) else {
            let found = format!("no tensor \"{name}\"");
            return Err(self.wrong(found, format!("it with shape {shape:?}")));
        };
        if info.dtype != Dtype::F32 {
            let found = format!("type {:?} of tensor \"{name}\"", info.dtype);
            return Err(self.wrong(found, "F32"));
        }
        if info.shape != shape {
            let found = format!("shape {:?} of tensor \"{name}\"", info.shape);
            return Err(self.wrong(found, format!("{shape:?}")));
        }
        let (begin, end) = info.data_offsets;
        let numbers = self.bytes.get(self.begin..).unwrap_or_default();
        let bytes = numbers
            .get(begin..end)
            .ok_or_else(|| damaged(&self.path, SafeTensorError::MetadataIncompleteBuffer))?;
        let (bytes, _) = bytes.as_chunks::<4>();
        let values: Vec<f32> = bytes.iter().map(|it| f32::from_le_bytes(*it)).collect();
        let is_variance = name.ends_with(".variance");
        let is_wrong = |value: &&f32| !value.is_finite() || is_variance && **value < 0.0;
        match values.iter().find(is_wrong) {
            None => Ok(values),
            Some(value) => Err(self.wrong(
                format!("{value} in tensor \"{name}\""),
                match is_variance {
                    true => "finite numbers from 0 on",
                    false => "finite numbers",
                },
            )),
        }
    }

    /// Returns the encoder that `init` makes, with the tensors of the file. They are compared as by
    /// [`tensors`](Self::tensors) before `init` runs: a damaged configuration may need more memory than there is. The
    /// parameters can be trained like those of a fresh encoder.
    ///
    /// # Errors
    /// Those of [`tensors`](Self::tensors), if `init` fails, or if its encoder has other tensors.
    pub fn encoder<B: Backend, M: Module<B>, E: Display>(
        &self,
        of: &str,
        expected: impl IntoIterator<Item = (String, Vec<usize>)>,
        init: impl FnOnce() -> Result<M, E>,
    ) -> Result<M, Error> {
        let tensors = self.tensors(of, expected)?;
        let n = tensors.len();
        // Burn loses the flags of trained parameters in a module that has left an autodiff backend. A module that is
        // created on its own backend and then given values keeps them.
        let mut encoder = init().map_err(|error| {
            let found = format!("a configuration that is not valid ({error})");
            self.wrong(found, Self::EXPECTED)
        })?;
        let snapshots = tensors.into_iter().map(|(name, values)| {
            let names = name.split('.').map(str::to_owned).collect();
            TensorSnapshot::from_data(values, names, Vec::new(), ParamId::new())
        });
        let applied = encoder.apply(snapshots.collect(), None, None, false);
        match applied.applied.len() == n && applied.is_success() {
            true => Ok(encoder),
            false => Err(self.wrong("tensors that the encoder does not take", Self::EXPECTED)),
        }
    }
}
