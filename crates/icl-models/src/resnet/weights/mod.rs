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
use std::io;
use std::path::Path;

use burn::tensor::backend::Backend;
use icl_core::{Error, InputFile, write_atomically};
use safetensors::SafeTensors;

use self::error::{Cut, EXPECTED, TensorFaults, safetensors};
use self::layout::Beginning;
use self::slot::slots;
use self::state_dict::{StateDict, Unread};
use self::torch_file::TorchFile;
use super::encoder::ResNet;
use crate::stored_tensor::{StoredTensor, safetensors_bytes, with_counts};

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
    /// many training programs save it, is read in its place. The prefixes `module.`, `_orig_mod.`, `encoder_q.`,
    /// `backbone.`, `encoder.` and `model.`, up to three in a row, are removed from its names. After one of the last
    /// four, tensors without the prefix belong to other parts of the module, such as its projection head, and are left
    /// out. [`load_torchvision_weights`](Self::load_torchvision_weights) returns what was removed.
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
    /// [`Error`] if the file cannot be read or is damaged, or if tensors do not fit, of which it lists the first five.
    pub fn with_torchvision_weights(self, path: &Path) -> Result<Self, Error> {
        self.load_torchvision_weights(path)
            .map(|(encoder, _)| encoder)
    }

    /// Loads weights and statistics as [`with_torchvision_weights`](Self::with_torchvision_weights) does, and
    /// returns what was removed around the tensors of the file, so that a program can report it.
    ///
    /// # Errors
    /// Those of [`with_torchvision_weights`](Self::with_torchvision_weights).
    pub fn load_torchvision_weights(mut self, path: &Path) -> Result<(Self, WeightsLayout), Error> {
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

    /// Writes weights and statistics as a safetensors file with the names and shapes of the state dict of torchvision's
    /// `resnet18`, which PyTorch and [`with_torchvision_weights`](Self::with_torchvision_weights) read. The same
    /// encoder gives the same bytes. An earlier file is replaced as a whole or, after an error, not at all.
    ///
    /// Tensors have single precision. `num_batches_tracked`, which an encoder does not count, is 0; PyTorch reads it
    /// only where a layer has no momentum. Without classes the file has no `fc`, and a projection head is left out:
    /// torchvision's network has none.
    ///
    /// # Errors
    /// [`Error`] if a number is not finite, so that the file could not be read, or if the file cannot be written.
    pub fn save_torchvision_weights(&self, path: &Path) -> Result<(), Error> {
        let mut encoder = self.clone();
        let mut tensors = Vec::new();
        for (name, slot) in slots(&mut encoder) {
            let values = slot.values();
            if let Some((found, expected)) = wrong_number(&name, &values) {
                let found = format!("{found} in tensor {}", Cut(&name));
                return Err(Error::new("the encoder", found, expected));
            }
            tensors.push(StoredTensor::of_f32(name, slot.shape(), &values));
        }
        let tensors = with_counts(tensors);
        // The key by which the library `transformers` knows whose tensors these are; others ignore it.
        let bytes = safetensors_bytes(&[("format", "pt")], &tensors)?;
        write_atomically(path, &bytes).map_err(|error| {
            Error::message(format!("{}: cannot be written: {error}", path.display()))
                .with_source(error)
        })
    }
}

/// Reads the tensors of these names and shapes from a file as
/// [`load_torchvision_weights`](ResNet::load_torchvision_weights) reads those of an encoder, for other encoders.
///
/// Returns the values of each, row after row in single precision, and what was removed around the tensors.
///
/// # Errors
/// [`Error`] if the file cannot be read or is damaged, or if tensors do not fit, of which it lists the first five.
pub fn read_weights(
    path: &Path,
    tensors: &[(String, Vec<usize>)],
) -> Result<(Vec<Vec<f32>>, WeightsLayout), Error> {
    let mut all = Vec::with_capacity(tensors.len());
    let layout = read(path, tensors, |_, values| all.push(values))?;
    Ok((all, layout))
}

/// Reads the tensors in their order, and calls `set` with the index and the values of each.
fn read(
    path: &Path,
    tensors: &[(String, Vec<usize>)],
    set: impl FnMut(usize, Vec<f32>),
) -> Result<WeightsLayout, Error> {
    let unreadable = |error: io::Error| {
        let found = format!("no readable file ({error})");
        Error::new(path.display(), found, "one").with_source(error)
    };
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(Error::new(
            path.display(),
            "something other than a file",
            EXPECTED,
        ));
    }
    let bytes = InputFile::open(path, MAX_BYTES).and_then(InputFile::bytes);
    let bytes = bytes.map_err(unreadable)?;
    let result = if is_safetensors(&bytes, path) {
        let file = SafeTensors::deserialize(&bytes).map_err(safetensors);
        file.and_then(|mut file| take(tensors, &mut file, Vec::new(), set))
    } else {
        TorchFile::read(&bytes).and_then(|mut file| {
            let keys = std::mem::take(&mut file.keys);
            take(tensors, &mut file, keys, set)
        })
    };
    result.map_err(|error| error.within(path.display()))
}

/// Returns whether a file is a safetensors file by its contents: 8 bytes of length, and a header of JSON. The extension
/// decides only where the contents are neither that nor a file of PyTorch.
fn is_safetensors(bytes: &[u8], path: &Path) -> bool {
    let is_torch = TorchFile::has_beginning(bytes);
    let has_ending = || path.extension().is_some_and(|it| it == "safetensors");
    !is_torch && (bytes.get(8) == Some(&b'{') || has_ending())
}

/// Reads all tensors and returns what was removed around them. Names and shapes are compared before any values are
/// read, so that a wrong file is rejected before they are unpacked, with one error that lists its faults.
fn take(
    tensors: &[(String, Vec<usize>)],
    file: &mut dyn StateDict,
    keys: Vec<String>,
    mut set: impl FnMut(usize, Vec<f32>),
) -> Result<WeightsLayout, Error> {
    let mut shapes = file.shapes();
    let Beginning { prefix, is_part } = Beginning::find(&shapes, tensors);
    let mut faults = TensorFaults::default();
    for (name, expected) in tensors {
        let name = format!("{prefix}{name}");
        let (found, name) = (shapes.remove(&name), Cut(&name));
        match found {
            None => faults.push(
                format!("no tensor {name}"),
                format!("it with shape {expected:?}"),
            ),
            Some(found) if found != *expected => faults.push(
                format!("shape {found:?} of tensor {name}"),
                format!("{expected:?}"),
            ),
            Some(_) => {}
        }
    }
    let wanted: HashSet<&str> = tensors.iter().map(|(name, _)| &name[..]).collect();
    let mut n_left_out = 0;
    for (name, found) in shapes {
        let Some(plain) = name.strip_prefix(&prefix) else {
            match is_part {
                true => n_left_out += 1,
                false => faults.push_unknown(name, &found),
            }
            continue;
        };
        // Encoders that were trained without labels have a projection head in this place.
        let is_head = !wanted.contains("fc.weight") && plain.starts_with("fc.");
        let counted = plain.strip_suffix("num_batches_tracked");
        let is_count =
            counted.is_some_and(|layer| wanted.contains(&format!("{layer}running_var")[..]));
        if !is_head && !is_count {
            faults.push_unknown(name, &found);
        }
    }
    faults.check()?;
    for (index, (name, _)) in tensors.iter().enumerate() {
        let name = format!("{prefix}{name}");
        match file.values(&name) {
            Ok(values) => match wrong_number(&name, &values) {
                Some((found, expected)) => {
                    faults.push(format!("{found} in tensor {}", Cut(&name)), expected);
                }
                None => set(index, values),
            },
            Err(Unread::Elements(found)) => faults.push(
                format!("elements of type {} in tensor {}", Cut(&found), Cut(&name)),
                "16, 32 or 64 bit floating-point numbers",
            ),
            Err(Unread::File(error)) => return Err(error),
        }
    }
    faults.check()?;
    Ok(WeightsLayout {
        keys,
        prefix,
        n_left_out,
    })
}

/// Returns the first value that cannot be a weight or a variance, and what was expected.
fn wrong_number(name: &str, values: &[f32]) -> Option<(f32, &'static str)> {
    let is_variance = name.ends_with(".running_var");
    let is_wrong = |value: &&f32| !value.is_finite() || is_variance && **value < 0.0;
    let found = *values.iter().find(is_wrong)?;
    Some(match is_variance {
        true => (found, "finite numbers from 0 on"),
        false => (found, "finite numbers"),
    })
}
