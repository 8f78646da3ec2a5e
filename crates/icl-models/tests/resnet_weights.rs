//! Weights of torchvision's network: taken whole, and written.

use std::fs;
use std::path::{Path, PathBuf};

use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::Tensor;
use icl_core::Seed;
use icl_core::testing::{TestBackend, assert_close};
use icl_models::{ResNet, ResNetConfig};
use safetensors::{Dtype, SafeTensors};
use tempfile::TempDir;

use crate::resnet_rejected::{is_of_tensors, n_faults, rejected};
use crate::synthetic::{
    Case, Stored, path, reference, state, synthetic as values_of, tensors, write,
};

pub fn encoder(config: ResNetConfig) -> ResNet<TestBackend> {
    config.init(Seed::new(0), &Default::default())
}

pub fn with_classes() -> ResNetConfig {
    ResNetConfig::new(3).with_n_classes(Some(1000))
}

pub fn case() -> Case {
    reference().cases.remove(0)
}

/// A folder that goes with the test, and a file in it.
pub fn temporary(name: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    (folder, path)
}

/// Asserts that every tensor of the reference is in its place.
#[track_caller]
pub fn assert_loaded(encoder: &ResNet<TestBackend>, case: &Case, tolerance: f64) {
    let found = tensors(encoder);
    let mut n_found = 0;
    for (name, shape) in &case.shapes {
        if name.ends_with("num_batches_tracked") || !found.contains_key(&path(name)) {
            continue;
        }
        let mut expected = values_of(name, shape);
        if name == "fc.weight" {
            let transposed = (0..512).flat_map(|i| (0..1000).map(move |j| j * 512 + i));
            expected = transposed.map(|at| expected[at]).collect();
        }
        let expected: Vec<f64> = expected.iter().map(|&value| value.into()).collect();
        assert_close(&found[&path(name)].1, &expected, tolerance);
        n_found += 1;
    }
    let with_head = found.contains_key("classifier.weight");
    assert_eq!(n_found, if with_head { 102 } else { 100 });
}

#[test]
fn every_tensor_lands_in_its_place() {
    let case = case();
    // By its contents, not by its ending.
    let (_folder, file) = temporary("resnet18.bin");
    write(&state(&case), &file);
    let loaded = encoder(with_classes()).with_torchvision_weights(&file);
    assert_loaded(&loaded.unwrap(), &case, 0.0);

    // Without classes the file's are passed over; a projection head stays as it was.
    let before = encoder(ResNetConfig::new(3).with_projection(Some(7)));
    let loaded = before.clone().with_torchvision_weights(&file).unwrap();
    assert_loaded(&loaded, &case, 0.0);
    let (before, after) = (tensors(&before), tensors(&loaded));
    let head: Vec<&String> = after
        .keys()
        .filter(|path| path.starts_with("projection"))
        .collect();
    assert_eq!(head.len(), 4);
    assert!(head.iter().all(|path| before[*path] == after[*path]));
}

/// Names, types and shapes are those that scripts/reference/resnet.py found in torchvision's state dict.
#[test]
fn what_is_written_is_the_state_dict_to_the_bit() {
    let case = case();
    let (folder, file) = temporary("resnet18.safetensors");
    write(&state(&case), &file);
    let config = with_classes().with_projection(Some(7));
    let loaded = encoder(config.clone())
        .with_torchvision_weights(&file)
        .unwrap();
    let written = folder.path().join("updated.safetensors");
    loaded.save_torchvision_weights(&written).unwrap();
    let bytes = fs::read(&written).unwrap();
    assert_eq!(as_stored(&bytes), state(&case));
    loaded.save_torchvision_weights(&written).unwrap();
    assert_eq!(fs::read(&written).unwrap(), bytes);

    // Read into another encoder, all but the projection head is as it was.
    let other = config.init::<TestBackend>(Seed::new(9), &Default::default());
    let read = other.with_torchvision_weights(&written).unwrap();
    let (before, after) = (tensors(&loaded), tensors(&read));
    let differing = |(name, values): (&String, &_)| (after[name] != *values).then(|| name.clone());
    let differing: Vec<String> = before.iter().filter_map(differing).collect();
    assert!(!differing.is_empty() && differing.iter().all(|it| it.starts_with("projection")));

    // An encoder without classes has no tensors of `fc`.
    let without = encoder(ResNetConfig::new(3));
    without.save_torchvision_weights(&written).unwrap();
    let names = as_stored(&fs::read(&written).unwrap()).into_iter();
    let names: Vec<String> = names.map(|(name, ..)| name).collect();
    let expected = case.shapes.keys().filter(|name| !name.starts_with("fc."));
    assert!(names.iter().eq(expected), "{names:?}");
}

#[test]
fn what_could_not_be_read_is_not_written() {
    let config = ResNetConfig::new(3).with_n_classes(Some(2));
    let (_folder, file) = temporary("resnet18.safetensors");
    let broken = encoder(config).map(&mut Infinite);
    let error = broken.save_torchvision_weights(&file).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the encoder: found inf in tensor \"fc.bias\", expected finite numbers"
    );
    assert!(!file.exists());
    let sound = encoder(ResNetConfig::new(3));
    let error = sound.save_torchvision_weights(Path::new("/no/such/folder/file"));
    let message = error.unwrap_err().to_string();
    assert!(
        message.starts_with("/no/such/folder/file: cannot be written: "),
        "{message}"
    );
}

/// Sets the two numbers of the bias of the classes to infinity.
struct Infinite;

impl ModuleMapper<TestBackend> for Infinite {
    fn map_float<const D: usize>(
        &mut self,
        param: Param<Tensor<TestBackend, D>>,
    ) -> Param<Tensor<TestBackend, D>> {
        match param.shape().num_elements() {
            2 => param.map(|bias| bias.full_like(f32::INFINITY)),
            _ => param,
        }
    }
}

/// The tensors of a safetensors file, by their names.
fn as_stored(bytes: &[u8]) -> Vec<Stored> {
    let file = SafeTensors::deserialize(bytes).unwrap();
    let tensors = file.iter().map(|(name, view)| {
        let (dtype, shape) = (view.dtype(), view.shape().to_vec());
        (name.to_owned(), dtype, shape, view.data().to_vec())
    });
    let mut tensors: Vec<Stored> = tensors.collect();
    tensors.sort_by(|a, b| a.0.cmp(&b.0));
    tensors
}

#[test]
fn a_beginning_of_all_names_is_removed() {
    let case = case();
    let (_folder, file) = temporary("resnet18.safetensors");
    let mut tensors = state(&case);
    for tensor in &mut tensors {
        tensor.0 = format!("module.{}", tensor.0);
    }
    write(&tensors, &file);
    let (loaded, layout) = encoder(with_classes())
        .load_torchvision_weights(&file)
        .unwrap();
    assert_loaded(&loaded, &case, 0.0);
    assert_eq!(
        layout.to_string(),
        "names that begin with \"module.\", which was removed"
    );
    let without = encoder(ResNetConfig::new(3)).load_torchvision_weights(&file);
    assert!(!without.unwrap().1.is_plain());

    // Faults have the names of the file.
    tensors.retain(|(name, ..)| name != "module.bn1.bias");
    let message = rejected(&tensors, with_classes());
    assert_eq!(
        message,
        "found no tensor \"module.bn1.bias\", expected it with shape [64]"
    );
    // Not of all: a wrapper has no other parts.
    tensors.push(("bn1.bias".into(), Dtype::F32, vec![64], vec![0; 256]));
    let message = rejected(&tensors, with_classes());
    assert!(n_faults(&message) > 100, "{message}");
}

/// All names begin with these, and the same with other parts of a module next to the encoder.
#[test]
fn beginnings_of_other_programs_are_removed() {
    let case = case();
    let (_folder, file) = temporary("moco_v2.pth.tar");
    let part = |prefix: &str| {
        let mut tensors = state(&case);
        for tensor in &mut tensors {
            tensor.0 = format!("{prefix}{}", tensor.0);
        }
        tensors
    };
    let other = |name: &str| (name.to_owned(), Dtype::F32, vec![2], vec![0; 8]);
    for prefix in [
        "_orig_mod.",
        "backbone.",
        "encoder_q.",
        "encoder.",
        "model.",
        "module._orig_mod.",
        "module.encoder_q.",
        "_orig_mod.model.backbone.",
    ] {
        let mut tensors = part(prefix);
        write(&tensors, &file);
        let loaded = encoder(with_classes()).load_torchvision_weights(&file);
        let (loaded, layout) = loaded.unwrap();
        assert_loaded(&loaded, &case, 0.0);
        let note = format!("names that begin with \"{prefix}\", which was removed");
        assert_eq!(layout.to_string(), note);

        tensors.extend([other("queue"), other("projector.0.weight")]);
        write(&tensors, &file);
        let loaded = encoder(with_classes()).load_torchvision_weights(&file);
        if prefix.ends_with("_orig_mod.") {
            assert!(is_of_tensors(&loaded.unwrap_err()));
            continue;
        }
        let (loaded, layout) = loaded.unwrap();
        assert_loaded(&loaded, &case, 0.0);
        assert_eq!(
            layout.to_string(),
            format!("{note}, and 2 tensors of other parts, which were left out")
        );
    }
    // Of two encoders the one that is trained; its head in the place of the classes is no tensor of the encoder.
    let mut tensors = part("module.encoder_q.");
    tensors.retain(|(name, ..)| !name.contains(".fc."));
    tensors.push(other("module.encoder_q.fc.2.bias"));
    tensors.extend(part("module.encoder_k."));
    write(&tensors, &file);
    let (loaded, layout) = encoder(ResNetConfig::new(3))
        .load_torchvision_weights(&file)
        .unwrap();
    assert_loaded(&loaded, &case, 0.0);
    assert_eq!(layout.n_left_out, case.shapes.len());
}
