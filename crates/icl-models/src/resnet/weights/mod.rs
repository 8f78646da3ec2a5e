//! Weights of torchvision's `resnet18`.

mod cursor;
mod error;
mod layout;
mod machine;
mod pickle;
mod slot;
mod state_dict;
mod torch_file;
mod views;

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use burn::tensor::backend::Backend;
use icl_core::InputFile;
use safetensors::SafeTensors;

use self::layout::Beginning;
use self::slot::slots;
use self::state_dict::{StateDict, Unread};
use self::torch_file::TorchFile;
use super::encoder::ResNet;

pub use self::error::{FileFault, PickleFault, TensorFault, WeightsError};
pub use self::layout::WeightsLayout;

/// Size of the largest file that is read, in bytes: 1 GiB. The weights of a `resnet18` take 45 MB.
const MAX_BYTES: u64 = 1 << 30;

impl<B: Backend> ResNet<B> {
    /// Loads the weights and statistics of a torchvision `resnet18` into this encoder, on the device
    /// of the encoder.
    ///
    /// `path` names a state dict: `torch.save(model.state_dict(), path)` (zip archives, and the format before PyTorch
    /// 1.6 of torchvision's own downloads), or its tensors as a safetensors file. The contents decide which, not the
    /// extension (`.pth`, `.pth.tar`, `.pt`, `.ckpt`, `.bin`, `.safetensors`). Elements may have 16, 32 or 64 bits.
    ///
    /// A state dict that is the value of the key `state_dict`, `model` or `model_state_dict` of another dictionary, as
    /// many training programs save it, is taken out of it, and the beginnings `module.`, `_orig_mod.`, `encoder_q.`,
    /// `backbone.`, `encoder.` and `model.` of its names, up to three in a row, are removed. But for the first two,
    /// tensors without them are those of other parts of a module, such as its projection head, and are left out.
    /// [`load_torchvision_weights`](Self::load_torchvision_weights) returns what was removed.
    ///
    /// Every tensor of the encoder must be in the file and every tensor of the file in the encoder,
    /// each with the right shape, with these exceptions: `num_batches_tracked` is ignored, as are
    /// the tensors of `fc` if the encoder has no classes, and a projection head, which
    /// torchvision does not have, stays unchanged. Linear weights are `[out, in]` in the file and are
    /// transposed.
    ///
    /// The file cannot run code: only the values of a pickle that describe tensors are read.
    ///
    /// # Errors
    /// [`WeightsError`] if the file cannot be read or is damaged, or with all tensors that do not fit.
    pub fn with_torchvision_weights(self, path: &Path) -> Result<Self, WeightsError> {
        self.load_torchvision_weights(path)
            .map(|(encoder, _)| encoder)
    }

    /// Loads weights and statistics as [`with_torchvision_weights`](Self::with_torchvision_weights) does, and
    /// returns what was removed around the tensors of the file, so that a program can say so.
    ///
    /// # Errors
    /// Those of [`with_torchvision_weights`](Self::with_torchvision_weights).
    pub fn load_torchvision_weights(
        mut self,
        path: &Path,
    ) -> Result<(Self, WeightsLayout), WeightsError> {
        let (names, mut slots): (Vec<_>, Vec<_>) = slots(&mut self)
            .into_iter()
            .map(|(name, slot)| ((name, slot.shape()), Some(slot)))
            .unzip();
        let layout = read(path, &names, |index, values| {
            if let Some(slot) = slots[index].take() {
                slot.set(values);
            }
        })?;
        drop(slots);
        Ok((self, layout))
    }
}

/// Reads the tensors of these names and shapes from a file as
/// [`load_torchvision_weights`](ResNet::load_torchvision_weights) reads those of an encoder, for other encoders.
///
/// Returns the values of each, row after row in single precision, and what was removed around the tensors.
///
/// # Errors
/// [`WeightsError`] if the file cannot be read or is damaged, or with all tensors that do not fit.
pub fn read_weights(
    path: &Path,
    tensors: &[(String, Vec<usize>)],
) -> Result<(Vec<Vec<f32>>, WeightsLayout), WeightsError> {
    let mut all = Vec::with_capacity(tensors.len());
    let layout = read(path, tensors, |_, values| all.push(values))?;
    Ok((all, layout))
}

/// Gives the values of each of the tensors, by its index and in their order, to `set`.
fn read(
    path: &Path,
    tensors: &[(String, Vec<usize>)],
    set: impl FnMut(usize, Vec<f32>),
) -> Result<WeightsLayout, WeightsError> {
    let of_file = |fault| WeightsError::File {
        path: path.to_owned(),
        fault,
    };
    let unreadable = |source| WeightsError::Unreadable {
        path: path.to_owned(),
        source,
    };
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(WeightsError::NoFile {
            path: path.to_owned(),
        });
    }
    let bytes = InputFile::open(path, MAX_BYTES).and_then(InputFile::bytes);
    let bytes = bytes.map_err(|error| unreadable(error.into()))?;
    let result = if is_safetensors(&bytes, path) {
        let mut file = SafeTensors::deserialize(&bytes).map_err(|fault| of_file(fault.into()))?;
        take(tensors, &mut file, Vec::new(), set)
    } else {
        let mut file = TorchFile::read(&bytes).map_err(of_file)?;
        let keys = std::mem::take(&mut file.keys);
        take(tensors, &mut file, keys, set)
    };
    result.map_err(|rejected| match rejected {
        Rejected::File(fault) => of_file(fault),
        Rejected::Tensors(faults) => WeightsError::Tensors {
            path: path.to_owned(),
            faults,
        },
    })
}

/// Returns whether a file is one of tensors by its contents: the length of its header, and the header. The extension
/// decides only about a file that is neither that nor one of PyTorch.
fn is_safetensors(bytes: &[u8], path: &Path) -> bool {
    let is_torch = TorchFile::has_beginning(bytes);
    let has_ending = || path.extension().is_some_and(|it| it == "safetensors");
    !is_torch && (bytes.get(8) == Some(&b'{') || has_ending())
}

enum Rejected {
    File(FileFault),
    Tensors(Vec<TensorFault>),
}

/// Takes all tensors and returns what was removed around them. Names and shapes are compared before any values are read.
fn take(
    tensors: &[(String, Vec<usize>)],
    file: &mut dyn StateDict,
    keys: Vec<String>,
    mut set: impl FnMut(usize, Vec<f32>),
) -> Result<WeightsLayout, Rejected> {
    let mut shapes = file.shapes();
    let Beginning { prefix, is_part } = Beginning::find(&shapes, tensors);
    let mut faults = Vec::new();
    for (name, expected) in tensors {
        let (name, expected) = (format!("{prefix}{name}"), expected.clone());
        match shapes.remove(&name) {
            None => faults.push(TensorFault::Missing { name, expected }),
            Some(found) if found != expected => faults.push(TensorFault::Shape {
                name,
                found,
                expected,
            }),
            Some(_) => {}
        }
    }
    let wanted: HashSet<&str> = tensors.iter().map(|(name, _)| &name[..]).collect();
    let mut n_left_out = 0;
    for (name, found) in shapes {
        let Some(plain) = name.strip_prefix(&prefix) else {
            match is_part {
                true => n_left_out += 1,
                false => faults.push(TensorFault::Unknown { name, found }),
            }
            continue;
        };
        // Encoders that were trained without labels have a projection head in this place.
        let is_head = !wanted.contains("fc.weight") && plain.starts_with("fc.");
        let counted = plain.strip_suffix("num_batches_tracked");
        let is_count =
            counted.is_some_and(|layer| wanted.contains(&format!("{layer}running_var")[..]));
        if !is_head && !is_count {
            faults.push(TensorFault::Unknown { name, found });
        }
    }
    if !faults.is_empty() {
        return Err(Rejected::Tensors(faults));
    }
    for (index, (name, _)) in tensors.iter().enumerate() {
        let name = format!("{prefix}{name}");
        match file.values(&name) {
            Ok(values) => match wrong_number(&name, &values) {
                Some(fault) => faults.push(fault),
                None => set(index, values),
            },
            Err(Unread::Elements(found)) => faults.push(TensorFault::Elements { name, found }),
            Err(Unread::File(fault)) => return Err(Rejected::File(fault)),
        }
    }
    if faults.is_empty() {
        Ok(WeightsLayout {
            keys,
            prefix,
            n_left_out,
        })
    } else {
        Err(Rejected::Tensors(faults))
    }
}

/// Returns the fault of the first value that cannot be a weight or a variance.
fn wrong_number(name: &str, values: &[f32]) -> Option<TensorFault> {
    let is_variance = name.ends_with(".running_var");
    let is_wrong = |value: &&f32| !value.is_finite() || is_variance && **value < 0.0;
    let found = *values.iter().find(is_wrong)?;
    Some(TensorFault::Number {
        name: name.to_owned(),
        found,
        expected: if is_variance {
            "finite numbers from 0 on"
        } else {
            "finite numbers"
        },
    })
}
