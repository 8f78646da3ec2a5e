//! The small convolutional encoder against plain loops, its statistics and its configuration.

use burn::tensor::Tensor;
use icl_core::testing::{TestAutodiff, TestBackend, assert_close, to_vec};
use icl_core::{Batches, Encoder, Mode, Seed};
use icl_models::{ConvNet, ConvNetConfig};

use crate::parameters::shapes;
use crate::resnet::some_images;
use crate::synthetic::tensors;

const WIDTH: usize = 2;

fn config() -> ConvNetConfig {
    ConvNetConfig::new(1).with_width(WIDTH)
}

fn encoder() -> ConvNet<TestBackend> {
    config().init(Seed::new(4), &Default::default())
}

/// Values `[n][channels][side][side]`.
type Maps = Vec<Vec<Vec<Vec<f64>>>>;

/// One layer: a 3x3 convolution of stride 2, normalisation by the statistics of the batch with γ = 1 and β = 0, and
/// ReLU.
fn layer(x: &Maps, weight: &[f64], c_out: usize) -> Maps {
    let (n, c_in, side) = (x.len(), x[0].len(), x[0][0].len());
    let half = side.div_ceil(2);
    let mut y = vec![vec![vec![vec![0.0; half]; half]; c_out]; n];
    for (image, output) in x.iter().zip(&mut y) {
        for (o, map) in output.iter_mut().enumerate() {
            for (row, places) in map.iter_mut().enumerate() {
                for (column, place) in places.iter_mut().enumerate() {
                    for (i, channel) in image.iter().enumerate() {
                        for at in 0..9 {
                            let (r, c) = (2 * row + at / 3, 2 * column + at % 3);
                            if (1..=side).contains(&r) && (1..=side).contains(&c) {
                                *place += channel[r - 1][c - 1] * weight[(o * c_in + i) * 9 + at];
                            }
                        }
                    }
                }
            }
        }
    }
    for o in 0..c_out {
        let values = || y.iter().flat_map(|image| image[o].iter().flatten());
        let count = (n * half * half) as f64;
        let mean = values().sum::<f64>() / count;
        let variance = values().map(|v| (v - mean).powi(2)).sum::<f64>() / count;
        for image in &mut y {
            for place in image[o].iter_mut().flatten() {
                *place = ((*place - mean) / (variance + 1e-5).sqrt()).max(0.0);
            }
        }
    }
    y
}

/// The features of images of 8 x 8 pixels with one channel.
fn features(encoder: &ConvNet<TestBackend>, images: &Tensor<TestBackend, 4>) -> Vec<f64> {
    let pixels = to_vec(images);
    let image = |pixels: &[f64]| vec![pixels.chunks(8).map(<[f64]>::to_vec).collect()];
    let mut x: Maps = pixels.chunks(64).map(image).collect();
    let parameters = tensors(encoder);
    for at in 0..4 {
        let weight = &parameters[&format!("layers.{at}.weight")].1;
        x = layer(&x, weight, WIDTH << at);
    }
    let mean = |map: &Vec<Vec<f64>>| {
        let values: Vec<f64> = map.iter().flatten().copied().collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    x.iter().flat_map(|image| image.iter().map(mean)).collect()
}

#[test]
fn features_are_plain_loops() {
    let (encoder, images) = (encoder(), some_images(1, 5));
    let expected = features(&encoder, &images);
    let mut rng = Seed::new(0).rng();
    let found = encoder.features(images.clone(), Mode::Training(&mut rng));
    assert_eq!(found.dims(), [5, 8 * WIDTH]);
    // Four layers of single precision against double precision.
    assert_close(&to_vec(&found), &expected, 1e-4);

    // The statistics of the population are those of the only batch.
    assert_ne!(to_vec(&encoder.embed(images.clone())), to_vec(&found));
    let batches = Batches::new(1, |_| Ok(images.clone()));
    let encoder = encoder.recalibrated(&batches).unwrap();
    assert_close(&to_vec(&encoder.embed(images.clone())), &expected, 1e-4);
}

#[test]
fn losses_take_the_projection_and_embeddings_leave_it_out() {
    let with_head = config().with_projection(Some(3));
    let with_head = with_head.init::<TestBackend>(Seed::new(4), &Default::default());
    let images = some_images(1, 5);
    let projections = with_head.encode(images.clone(), Mode::Evaluation);
    assert_eq!(projections.dims(), [5, 3]);
    let (found, expected) = (with_head.embed(images.clone()), encoder().embed(images));
    assert_eq!(to_vec(&found), to_vec(&expected), "a head moves no weight");
}

#[test]
fn tensors_are_those_of_the_configuration() {
    for config in [config(), ConvNetConfig::new(3).with_projection(Some(7))] {
        let encoder = config.init::<TestAutodiff>(Seed::new(0), &Default::default());
        assert_eq!(config.tensors().collect::<Vec<_>>(), shapes(&encoder));
    }
}

#[test]
fn what_cannot_be_a_network_is_rejected() {
    for (config, expected) in [
        (config().with_width(0), "width: found 0"),
        (ConvNetConfig::new(0), "in_channels: found 0"),
        (config().with_projection(Some(0)), "projection: found 0"),
        (config().with_epsilon(0.0), "epsilon: found 0"),
    ] {
        let error = config.check().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
