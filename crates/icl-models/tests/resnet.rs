//! The image encoder against torchvision, its heads and its learning.

use std::collections::BTreeMap;

use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::{AdamConfig, GradientsParams, Optimizer};
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{Tensor, TensorData, backend::Backend};
use icl_core::testing::{TestAutodiff, TestBackend, assert_close, to_vec};
use icl_core::{Encoder, Error, Mode, Seed};
use icl_models::{ResNet, ResNetConfig, Stem};

use crate::parameters::shapes;
use crate::synthetic::{Case, images, path, reference, state, tensors, write};

/// The network of a case, by way of a file of weights.
fn network<B: Backend>(case: &Case) -> ResNet<B> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("resnet18.safetensors");
    write(&state(case), &file);
    ResNetConfig::new(case.images[1])
        .with_stem(case.stem)
        .with_n_classes(Some(case.n_classes))
        .init::<B>(Seed::new(0), &Default::default())
        .with_torchvision_weights(&file)
        .unwrap()
}

/// The logits that the reference keeps.
fn kept(logits: &[f64], case: &Case) -> Vec<f64> {
    let images = logits.chunks(case.n_classes);
    images
        .flat_map(|row| row.iter().step_by(case.step).copied())
        .collect()
}

pub struct GradientNorms<'a>(
    pub &'a <TestAutodiff as AutodiffBackend>::Gradients,
    pub Vec<String>,
    pub BTreeMap<String, f64>,
);

impl ModuleVisitor<TestAutodiff> for GradientNorms<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<TestAutodiff, D>>) {
        if let Some(gradient) = param.val().grad(self.0) {
            let squares: f64 = to_vec(&gradient).iter().map(|g| g * g).sum();
            self.2.insert(self.1.join("."), squares.sqrt());
        }
    }

    fn enter_module(&mut self, name: &str, _: &str) {
        self.1.push(name.to_owned());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.1.pop();
    }
}

#[test]
fn logits_and_gradients_are_those_of_torchvision() {
    for case in reference().cases {
        let encoder = network::<TestAutodiff>(&case);
        assert_eq!(n_trained(&encoder), case.n_parameters);
        let logits = encoder.logits(images(case.images), Mode::Evaluation);
        // The reference is in double precision, this network in single: 1e-4.
        assert_close(&kept(&to_vec(&logits), &case), &case.evaluation, 1e-4);

        let before = tensors(&encoder);
        let mut rng = Seed::new(0).rng();
        let logits = encoder.logits(images(case.images), Mode::Training(&mut rng));
        assert_close(&kept(&to_vec(&logits), &case), &case.training, 1e-4);
        let gradients = logits.powi_scalar(2).mean().backward();
        let mut norms = GradientNorms(&gradients, Vec::new(), BTreeMap::new());
        encoder.visit(&mut norms);
        for (name, expected) in &case.gradient_norms {
            let found = norms.2[&path(name)];
            // A gradient passes up to 20 normalisations of few values each.
            assert!(
                (found - expected).abs() <= 1e-3 * expected,
                "gradient of {name}: found norm {found}, expected {expected}"
            );
        }
        assert_eq!(
            tensors(&encoder),
            before,
            "training leaves statistics alone"
        );
    }
}

fn n_trained(module: &impl Module<TestAutodiff>) -> usize {
    let trained = tensors(module)
        .into_values()
        .filter(|(is_trained, _)| *is_trained);
    trained.map(|(_, values)| values.len()).sum()
}

#[test]
fn the_parameters_are_as_many_as_torchvisions() {
    let device = Default::default();
    let config = ResNetConfig::new(3).with_n_classes(Some(1000));
    let encoder = config.init::<TestAutodiff>(Seed::new(0), &device);
    assert_eq!(n_trained(&encoder), 11_689_512);
    let encoder = ResNetConfig::new(3).init::<TestAutodiff>(Seed::new(0), &device);
    assert_eq!(n_trained(&encoder), 11_689_512 - 513_000);
    let config = ResNetConfig::new(3).with_projection(Some(128));
    let encoder = config.init::<TestAutodiff>(Seed::new(0), &device);
    assert_eq!(n_trained(&encoder), 11_176_512 + 513 * 512 + 513 * 128);
}

/// An encoder for small images of one channel.
pub fn small<B: Backend>(seed: u64) -> ResNet<B> {
    small_config().init(Seed::new(seed), &Default::default())
}

fn small_config() -> ResNetConfig {
    ResNetConfig::new(1).with_stem(Stem::Small)
}

/// Some images of 8 by 8.
pub fn some_images<B: Backend>(seed: u64, n: usize) -> Tensor<B, 4> {
    use rand::RngExt;
    let mut rng = Seed::new(seed).rng();
    let values: Vec<f32> = (0..n * 64).map(|_| rng.random_range(-1.0..1.5)).collect();
    Tensor::from_data(TensorData::new(values, [n, 1, 8, 8]), &Default::default())
}

#[test]
fn a_seed_fixes_the_weights_and_heads_do_not_move_them() {
    let encoder = |config: ResNetConfig, seed| {
        tensors(&config.init::<TestBackend>(Seed::new(seed), &Default::default()))
    };
    let one = encoder(small_config(), 1);
    assert_eq!(one, encoder(small_config(), 1));
    assert_ne!(one, encoder(small_config(), 2));
    let with_heads = small_config()
        .with_n_classes(Some(3))
        .with_projection(Some(4));
    let with_heads = encoder(with_heads, 1);
    assert_eq!(with_heads.len(), one.len() + 6);
    assert!(one.iter().all(|(path, tensor)| with_heads[path] == *tensor));
    // Variance 2/fan_out, of 64·9 and 512·9 in these.
    for (path, expected) in [
        ("blocks.0.first.weight", 2.0 / 576.0),
        ("blocks.7.second.weight", 2.0 / 4608.0),
    ] {
        let values = &one[path].1;
        let square = values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64;
        assert!((square / expected - 1.0).abs() < 0.03, "{path}: {square}");
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        assert!(mean.abs() < 0.01 * expected.sqrt() * 3.0, "{path}: {mean}");
    }
}

#[test]
fn losses_see_the_projection_and_protocols_the_features() {
    let device = Default::default();
    let images = some_images::<TestBackend>(0, 3);
    let plain = small::<TestBackend>(1);
    let projecting: ResNet<TestBackend> = small_config()
        .with_projection(Some(5))
        .init(Seed::new(1), &device);
    let features = to_vec(&plain.features(images.clone(), Mode::Evaluation));
    assert_eq!(features.len(), 3 * 512);
    assert_eq!(
        to_vec(&plain.encode(images.clone(), Mode::Evaluation)),
        features
    );
    assert_eq!(to_vec(&plain.embed(images.clone())), features);
    assert_eq!(to_vec(&projecting.embed(images.clone())), features);
    let projection = projecting.encode(images, Mode::Evaluation);
    assert_eq!(projection.dims(), [3, 5]);

    // By a plain loop.
    let tensors = tensors(&projecting);
    let affine = |x: &[f64], layer: &str| -> Vec<f64> {
        let weight = &tensors[&format!("projection.{layer}.weight")].1;
        let bias = &tensors[&format!("projection.{layer}.bias")].1;
        let column = |j: usize| {
            let terms = x.iter().enumerate();
            bias[j]
                + terms
                    .map(|(i, x)| x * weight[i * bias.len() + j])
                    .sum::<f64>()
        };
        (0..bias.len()).map(column).collect()
    };
    let head = |h: &[f64]| {
        let hidden: Vec<f64> = affine(h, "hidden").iter().map(|v| v.max(0.0)).collect();
        affine(&hidden, "output")
    };
    let expected: Vec<f64> = features.chunks(512).flat_map(head).collect();
    assert_close(&to_vec(&projection), &expected, 1e-5);
}

#[test]
fn the_tensors_are_those_of_the_module_and_of_earlier_files() {
    let config = small_config()
        .with_n_classes(Some(3))
        .with_projection(Some(5));
    let encoder = config.init::<TestBackend>(Seed::new(1), &Default::default());
    let tensors: Vec<_> = config.tensors().collect();
    assert_eq!(tensors, shapes(&encoder));
    let heads = [
        ("classifier.weight", vec![512, 3]),
        ("classifier.bias", vec![3]),
        ("projection.hidden.weight", vec![512, 512]),
        ("projection.hidden.bias", vec![512]),
        ("projection.output.weight", vec![512, 5]),
        ("projection.output.bias", vec![5]),
    ];
    let heads = heads.map(|(name, shape)| (name.to_owned(), shape));
    assert_eq!(tensors[tensors.len() - 6..], heads);
}

#[test]
fn it_learns_and_all_parameters_move() {
    let config = small_config().with_projection(Some(3));
    let mut encoder: ResNet<TestAutodiff> = config.init(Seed::new(5), &Default::default());
    let before = tensors(&encoder);
    let images = some_images::<TestAutodiff>(1, 6);
    // Which row of pixels is bright is what is asked for.
    let target = images.clone().narrow(2, 0, 3).mean_dim(3).reshape([6, 3]);
    let mut optimizer = AdamConfig::new().init();
    let mut rng = Seed::new(0).rng();
    let mut losses = Vec::new();
    for _ in 0..8 {
        let output = encoder.encode(images.clone(), Mode::Training(&mut rng));
        let loss = (output - target.clone()).powi_scalar(2).mean();
        losses.push(to_vec(&loss)[0]);
        let gradients = GradientsParams::from_grads(loss.backward(), &encoder);
        encoder = optimizer.step(1e-3, encoder, gradients);
    }
    assert!(losses[7] < 0.3 * losses[0], "{losses:?}");
    for (path, (is_trained, values)) in tensors(&encoder) {
        assert_eq!(is_trained, values != before[&path].1, "{path}");
    }
}

#[test]
#[should_panic(expected = "images have 3 channels, the encoder takes 1")]
fn images_of_other_channels_are_misuse() {
    let images = Tensor::zeros([1, 3, 8, 8], &Default::default());
    small::<TestBackend>(0).embed(images);
}

#[test]
#[should_panic(expected = "logits need a ResNet with n_classes")]
fn logits_without_classes_are_misuse() {
    small::<TestBackend>(0).logits(some_images(0, 1), Mode::Evaluation);
}

#[test]
fn wrong_configurations_are_rejected() {
    let device = Default::default();
    let error = |config: ResNetConfig| {
        let result = config.try_init::<TestBackend>(Seed::new(0), &device);
        result.map(|_| ()).unwrap_err()
    };
    for (config, field) in [
        (ResNetConfig::new(0), "in_channels"),
        (ResNetConfig::new(3).with_n_classes(Some(0)), "n_classes"),
        (ResNetConfig::new(3).with_projection(Some(0)), "projection"),
    ] {
        let error = error(config);
        assert_eq!(error, Error::new(field, 0, "at least 1"));
        assert_eq!(
            error.to_string(),
            format!("{field}: found 0, expected at least 1")
        );
    }
    for found in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = error(ResNetConfig::new(3).with_epsilon(found));
        let expected = format!("epsilon: found {found}, expected a number above 0");
        assert_eq!(error.to_string(), expected);
    }
}
