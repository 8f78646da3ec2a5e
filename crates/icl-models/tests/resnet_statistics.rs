//! Normalisation statistics of the image encoder: re-estimation over batches and over a group.

use std::any::TypeId;
use std::collections::BTreeMap;

use burn::backend::Flex;
use burn::module::Module;
use burn::tensor::{Tensor, backend::Backend};
use icl_core::testing::{TestAutodiff, TestBackend, assert_close, to_vec};
use icl_core::{Batches, Encoder, Mode, Seed, Threads};
use icl_models::ResNet;

use crate::synthetic::tensors;

use crate::resnet::{GradientNorms, small, some_images};

fn recalibrated<B: Backend>(encoder: ResNet<B>, batches: &[Tensor<B, 4>]) -> ResNet<B> {
    let batches = Batches::new(batches.len(), |at| Ok(batches[at].clone()));
    encoder.recalibrated(&batches).unwrap()
}

/// The last of three members has no batch.
#[test]
fn members_of_a_group_share_the_batches_of_a_recalibration() {
    let encoder = small::<TestBackend>(3);
    let batches = [some_images(1, 5), some_images(2, 3)];
    let expected = tensors(&recalibrated(encoder.clone(), &batches));
    let of_members: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = Threads::group(3)
            .into_iter()
            .map(|member| {
                let (encoder, batches) = (encoder.clone(), &batches);
                scope.spawn(move || {
                    let batches = Batches::new(2, |at| Ok(batches[at].clone()));
                    tensors(&encoder.recalibrated(&batches.shared_by(&member)).unwrap())
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    for found in of_members {
        for ((name, found), (expected_name, expected)) in found.iter().zip(&expected) {
            assert_eq!(name, expected_name);
            assert_close(&found.1, &expected.1, 1e-6);
        }
    }
}

#[test]
fn recalibration_depends_on_parameters_and_batches_alone() {
    let encoder = small::<TestBackend>(3);
    let batches = [some_images(1, 5), some_images(2, 3)];
    let fresh = tensors(&encoder);
    let once = tensors(&recalibrated(encoder.clone(), &batches));
    assert_ne!(once, fresh);
    assert_eq!(tensors(&encoder), fresh, "clones have their own statistics");
    let other = recalibrated(encoder.clone(), &batches[1..]);
    assert_ne!(tensors(&other), once);
    assert_eq!(tensors(&recalibrated(other, &batches)), once);
    assert_eq!(tensors(&recalibrated(encoder, &batches)), once);

    // Parameters stay trained and statistics untrained on a backend with gradients, where the same
    // numbers come out.
    let encoder = small::<TestAutodiff>(3);
    let before = tensors(&encoder);
    let after = recalibrated(encoder, &[some_images(1, 5), some_images(2, 3)]);
    for (path, (is_trained, values)) in tensors(&after) {
        assert_eq!(is_trained, before[&path].0, "{path}");
        assert_eq!(is_trained, !path.contains("statistics"), "{path}");
        assert_eq!(values, once[&path].1, "{path}");
    }
    let loss = after.features(some_images(1, 2), Mode::Evaluation).sum();
    let gradients = loss.backward();
    let mut norms = GradientNorms(&gradients, Vec::new(), BTreeMap::new());
    after.visit(&mut norms);
    assert_eq!(norms.2.len(), 60);
}

#[test]
fn over_one_batch_evaluation_is_then_the_training_pass() {
    let images = some_images::<TestBackend>(1, 6);
    let encoder = recalibrated(small(3), std::slice::from_ref(&images));
    let mut rng = Seed::new(0).rng();
    let expected = encoder.features(images.clone(), Mode::Training(&mut rng));
    let found = encoder.features(images, Mode::Evaluation);
    assert_close(&to_vec(&found), &to_vec(&expected), 1e-4);
}

#[test]
fn batches_are_merged_in_every_layer() {
    let encoder = small::<TestBackend>(3);
    // A batch alone says what each layer takes in of it, since it normalises by itself.
    let batches = [some_images(1, 5), some_images(2, 3)];
    let [first, second] =
        [0, 1].map(|at| tensors(&recalibrated(encoder.clone(), &batches[at..=at])));
    let together = tensors(&recalibrated(encoder, &batches));
    let mut n_layers = 0;
    for (path, (_, mean)) in together.iter().filter(|(path, _)| path.ends_with(".mean")) {
        let variances = path.replace(".mean", ".variance");
        for channel in 0..mean.len() {
            let of =
                |tensors: &BTreeMap<String, (bool, Vec<f64>)>, path: &str| tensors[path].1[channel];
            let means = [of(&first, path), of(&second, path)];
            let expected = (5.0 * means[0] + 3.0 * means[1]) / 8.0;
            assert_close(&[mean[channel]], &[expected], 1e-5);
            let squares =
                |part: &BTreeMap<_, _>, mean: f64| of(part, &variances) + (mean - expected).powi(2);
            let variance =
                (5.0 * squares(&first, means[0]) + 3.0 * squares(&second, means[1])) / 8.0;
            assert_close(&[of(&together, &variances)], &[variance], 1e-5);
        }
        n_layers += 1;
    }
    assert_eq!(n_layers, 20);
}

#[test]
fn the_first_layers_statistics_are_those_of_a_plain_loop() {
    let batches = [some_images::<TestBackend>(1, 2), some_images(2, 1)];
    let images: Vec<f64> = batches.iter().flat_map(to_vec).collect();
    let tensors = tensors(&recalibrated(small::<TestBackend>(3), &batches));
    let weight = &tensors["stem.convolution.weight"].1;
    for channel in [0, 17, 63] {
        let mut outputs = Vec::new();
        for image in images.chunks(64) {
            for (y, x) in (0..8).flat_map(|y| (0..8).map(move |x| (y, x))) {
                let mut sum = 0.0;
                for (dy, dx) in (0..3).flat_map(|dy| (0..3).map(move |dx| (dy, dx))) {
                    let at: [i32; 2] = [y + dy - 1, x + dx - 1];
                    if at.iter().all(|side| (0..8).contains(side)) {
                        let pixel = image[(at[0] * 8 + at[1]) as usize];
                        sum += pixel * weight[channel * 9 + (dy * 3 + dx) as usize];
                    }
                }
                outputs.push(sum);
            }
        }
        let mean = outputs.iter().sum::<f64>() / outputs.len() as f64;
        let squares = outputs.iter().map(|v| (v - mean).powi(2));
        let variance = squares.sum::<f64>() / outputs.len() as f64;
        let statistics =
            |part: &str| tensors[&format!("stem.convolution.norm.statistics.{part}")].1[channel];
        assert_close(&[statistics("mean")], &[mean], 1e-5);
        assert_close(&[statistics("variance")], &[variance], 1e-5);
    }
}

#[test]
fn the_batch_size_does_not_matter_in_evaluation() {
    let images = some_images::<TestBackend>(1, 4);
    let encoder = recalibrated(small(3), std::slice::from_ref(&images));
    let together = to_vec(&encoder.embed(images.clone()));
    // The default backend does the same for one image as for four. Others choose another way to
    // convolve, and then each of 17 layers rounds differently: up to 2e-4 was seen on LibTorch.
    let is_default = TypeId::of::<TestBackend>() == TypeId::of::<Flex>();
    let tolerance = if is_default { 1e-5 } else { 1e-3 };
    for (image, expected) in together.chunks(512).enumerate() {
        let alone = encoder.embed(images.clone().narrow(0, image, 1));
        assert_close(&to_vec(&alone), expected, tolerance);
    }
}
