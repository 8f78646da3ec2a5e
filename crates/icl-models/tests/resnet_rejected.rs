//! Weights that are no torchvision network's: rejected with everything that is wrong.

use std::fs;
use std::path::Path;

use icl_core::Error;
use icl_models::{ResNetConfig, Stem};
use safetensors::Dtype;

use crate::resnet_weights::{case, encoder, temporary, with_classes};
use crate::synthetic::{Stored, state, write};

/// Whether an error lists tensors of an intact file.
pub fn is_of_tensors(error: &Error) -> bool {
    error.expected().is_empty() && error.found().starts_with("found ")
}

/// Whether an error is one of a file that is damaged or of another kind.
pub fn is_of_file(error: &Error) -> bool {
    let is_there = !error.found().starts_with("no readable file") && error.found() != FOLDER;
    is_there && !is_of_tensors(error)
}

/// Found in the place of a file.
const FOLDER: &str = "something other than a file";

/// Number of faults that a message lists or counts.
pub fn n_faults(message: &str) -> usize {
    let listed = message
        .split("; ")
        .filter(|part| part.starts_with("found "))
        .count();
    let more = message
        .split_once("; and ")
        .map(|(_, more)| more.split_once(" more").unwrap().0);
    listed + more.map_or(0, |n| n.parse().unwrap())
}

/// The message about these tensors for this encoder.
pub fn rejected(state: &[Stored], config: ResNetConfig) -> String {
    let (_folder, file) = temporary("weights.safetensors");
    write(state, &file);
    let error = encoder(config).with_torchvision_weights(&file).unwrap_err();
    assert!(is_of_tensors(&error), "{error}");
    assert_eq!(error.place(), file.display().to_string());
    error.found().to_owned()
}

#[test]
fn tensors_that_do_not_fit_are_all_named() {
    let mut tensors = state(&case());
    let message = rejected(&tensors, ResNetConfig::new(1));
    assert_eq!(n_faults(&message), 1);
    assert_eq!(
        message,
        "found shape [64, 3, 7, 7] of tensor \"conv1.weight\", expected [64, 1, 7, 7]"
    );
    let message = rejected(&tensors, ResNetConfig::new(3).with_stem(Stem::Small));
    assert_eq!(
        message,
        "found shape [64, 3, 7, 7] of tensor \"conv1.weight\", expected [64, 3, 3, 3]"
    );
    let message = rejected(&tensors, ResNetConfig::new(3).with_n_classes(Some(10)));
    assert_eq!(n_faults(&message), 2);
    assert_eq!(
        message,
        "found shape [1000, 512] of tensor \"fc.weight\", expected [10, 512]; \
         found shape [1000] of tensor \"fc.bias\", expected [10]"
    );

    tensors.retain(|(name, ..)| name != "layer2.0.downsample.1.running_var");
    tensors.push(("layer5.weight".into(), Dtype::F32, vec![1], vec![0; 4]));
    let message = rejected(&tensors, with_classes());
    assert_eq!(
        message,
        "found no tensor \"layer2.0.downsample.1.running_var\", expected it with shape [128]; \
         found tensor \"layer5.weight\" of shape [1], expected none of that name"
    );
}

#[test]
fn numbers_that_cannot_be_are_named() {
    let set = |tensors: &mut Vec<Stored>, name: &str, at: usize, value: f32| {
        let tensor = tensors.iter_mut().find(|tensor| tensor.0 == name).unwrap();
        tensor.3[4 * at..][..4].copy_from_slice(&value.to_le_bytes());
    };
    let mut tensors = state(&case());
    set(&mut tensors, "layer1.0.conv1.weight", 40, f32::NAN);
    set(&mut tensors, "bn1.running_mean", 63, f32::INFINITY);
    set(&mut tensors, "bn1.running_var", 1, -0.5);
    let bias = tensors
        .iter_mut()
        .find(|tensor| tensor.0 == "bn1.bias")
        .unwrap();
    *bias = ("bn1.bias".into(), Dtype::I32, vec![64], vec![0; 256]);
    let message = rejected(&tensors, with_classes());
    assert_eq!(n_faults(&message), 4);
    assert_eq!(
        message,
        "found elements of type \"I32\" in tensor \"bn1.bias\", expected 16, 32 or 64 bit \
         floating-point numbers; \
         found inf in tensor \"bn1.running_mean\", expected finite numbers; \
         found -0.5 in tensor \"bn1.running_var\", expected finite numbers from 0 on; \
         found NaN in tensor \"layer1.0.conv1.weight\", expected finite numbers"
    );
}

/// The error of a file.
pub fn error(path: &Path) -> Error {
    let encoder = encoder(ResNetConfig::new(3));
    let error = encoder.with_torchvision_weights(path).unwrap_err();
    let message = error.to_string();
    assert!(
        message.starts_with(&path.display().to_string()),
        "{message}"
    );
    assert!(message.contains("expected"), "{message}");
    error
}

#[test]
fn other_files_are_rejected() {
    let (folder, file) = temporary("x.pth");
    assert!(error(&file).found().starts_with("no readable file ("));
    assert_eq!(error(folder.path()).found(), FOLDER);
    let other = folder.path().join("x.onnx");
    fs::write(&other, "no weights").unwrap();
    let message = error(&other).to_string();
    assert!(
        message.ends_with("as torch.save or safetensors writes it"),
        "{message}"
    );
    for bytes in [&b""[..], b"\x80", b"PK", b"\x80\x02}.", &[0x80; 40]] {
        fs::write(&file, bytes).unwrap();
        assert_eq!(
            error(&file).found(),
            "no zip archive, pickle of PyTorch\'s or safetensors file"
        );
    }
    fs::write(&file, include_bytes!("reference/tensors.pth")).unwrap();
    let message = error(&file).to_string();
    assert_eq!(n_faults(message.split_once(": ").unwrap().1), 100 + 8);
    assert!(
        message.contains("; and 103 more; the file has names such as \"bfloat\", "),
        "{message}"
    );

    let mut zip = zip::ZipWriter::new(fs::File::create(&file).unwrap());
    zip.start_file("readme", zip::write::SimpleFileOptions::default())
        .unwrap();
    zip.finish().unwrap();
    assert_eq!(error(&file).found(), "a zip archive without data.pkl");
    // The contents decide, not the ending; about other contents the ending does.
    let other = folder.path().join("x.safetensors");
    fs::copy(&file, &other).unwrap();
    assert_eq!(error(&other).found(), "a zip archive without data.pkl");
    fs::write(&other, "no weights").unwrap();
    assert!(
        error(&other)
            .found()
            .starts_with("a damaged safetensors file (")
    );
}

#[test]
fn a_cut_safetensors_file_is_an_error() {
    let (_folder, file) = temporary("resnet18.safetensors");
    write(&state(&case()), &file);
    let whole = fs::metadata(&file).unwrap().len();
    let file_of_len = |len| {
        let handle = fs::OpenOptions::new().write(true).open(&file).unwrap();
        handle.set_len(len).unwrap();
        error(&file)
    };
    // From long to short, for a cut file does not grow again.
    for len in [whole - 1, whole / 2, 20_000, 13_000, 5_000, 100, 9, 8, 7, 0] {
        assert!(
            file_of_len(len)
                .found()
                .starts_with("a damaged safetensors file (")
        );
    }
}
