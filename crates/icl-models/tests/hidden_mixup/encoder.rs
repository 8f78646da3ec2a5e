//! Encoder under hidden noise: mixtures by plain loops, gradients, statistics.

use burn::backend::Autodiff;
use burn::tensor::{Tensor, TensorData, backend::Backend};
use icl_core::testing::{TestAutodiff, TestBackend, assert_close, finite_difference, to_vec};
use icl_core::{Batches, Encoder, Mode, Seed, Views};
use icl_models::{HiddenBatch, HiddenMixup, ProjectionHead, ProjectionHeadConfig, RowNoise};

use crate::synthetic::tensors;

use super::{
    Batch, Small, both, collate, gaussian, hidden_views, mixtures, mixup, sample, small, train,
};

#[test]
fn views_are_the_mixtures_of_a_plain_loop() {
    let batch: Batch<TestBackend> = collate(&both(mixup(0.5), 5, 3));
    assert_eq!(batch.inner.dims(), [5, 3], "each sample is encoded once");
    let encoder = small::<TestBackend>();
    let hidden = to_vec(&train(encoder.encoder(), batch.inner.clone()));
    let mixtures = mixtures(&batch);
    assert!(
        mixtures
            .iter()
            .all(|(_, _, lambda)| (0.5..=1.0).contains(lambda))
    );
    let views: Vec<f64> = mixtures
        .into_iter()
        .flat_map(|(source, partner, lambda)| {
            let hidden = &hidden;
            (0..6).map(move |column| {
                lambda * hidden[source * 6 + column] + (1.0 - lambda) * hidden[partner * 6 + column]
            })
        })
        .collect();
    let views = Tensor::from_data(TensorData::new(views, [10, 6]), &Default::default());
    let expected = to_vec(&train(encoder.head(), views));
    assert_close(&to_vec(&train(&encoder, batch)), &expected, 1e-5);
}

#[test]
fn a_share_of_one_is_the_plain_view_to_the_bit() {
    let encoder = small::<TestBackend>();
    for noise in [mixup(1.0), gaussian(0.0)] {
        let batch: Batch<TestBackend> = collate(&both(noise, 4, 3)[..4]);
        let plain: Vec<_> = (0..4)
            .map(|at| hidden_views(noise).plain(&sample(at)))
            .collect();
        let plain: Batch<TestBackend> = collate(&plain);
        assert!(matches!(plain.noise, RowNoise::None));
        let expected = to_vec(&train(
            encoder.head(),
            train(encoder.encoder(), plain.inner.clone()),
        ));
        assert_eq!(to_vec(&train(&encoder, batch.clone())), expected);
        assert_eq!(to_vec(&train(&encoder, plain.clone())), expected);
        let evaluation = encoder.encode(batch.clone(), Mode::Evaluation);
        assert_eq!(
            to_vec(&evaluation),
            to_vec(&encoder.encode(plain, Mode::Evaluation))
        );
    }
}

#[test]
fn embeddings_have_neither_noise_nor_head() {
    let encoder = small::<TestBackend>();
    let batch: Batch<TestBackend> = collate(&both(mixup(0.5), 4, 3));
    let plain = to_vec(&encoder.encoder().embed(batch.inner.clone()));
    // One row for each view.
    assert_eq!(
        to_vec(&encoder.embed(batch)),
        [&plain[..], &plain[..]].concat()
    );
}

/// The batch in which each view's sample is a row of its own.
fn doubled<B: Backend>(batch: &Batch<B>) -> Batch<B> {
    let n = batch.inner.dims()[0];
    let second_side = |rows: Tensor<B, 1, burn::tensor::Int>| {
        let [first, second] = [0, n].map(|from| rows.clone().narrow(0, from, n));
        Tensor::cat(vec![first, second + n as i64], 0)
    };
    let noise = match batch.noise.clone() {
        RowNoise::Mixup { partner, lambda } => RowNoise::Mixup {
            partner: second_side(partner),
            lambda,
        },
        other => other,
    };
    HiddenBatch {
        inner: Tensor::cat(vec![batch.inner.clone(), batch.inner.clone()], 0),
        source: second_side(batch.source.clone()),
        noise,
    }
}

#[test]
fn encoding_once_is_encoding_both_sides() {
    for noise in [mixup(0.5), gaussian(0.3)] {
        let encoder = small::<TestAutodiff>();
        let once: Batch<TestAutodiff> = collate(&both(noise, 5, 3));
        let twice = doubled(&once);
        assert_eq!(twice.inner.dims(), [10, 3]);
        let pass = |batch: Batch<TestAutodiff>| {
            let inner = batch.inner.clone().require_grad();
            let batch = HiddenBatch {
                inner: inner.clone(),
                ..batch
            };
            let output = train(&encoder, batch);
            let gradients = output.clone().powi_scalar(3).sum().backward();
            (to_vec(&output), to_vec(&inner.grad(&gradients).unwrap()))
        };
        let ((found, gradient), (expected, of_both)) = (pass(once.clone()), pass(twice.clone()));
        assert_close(&found, &expected, 1e-5);
        let sums: Vec<f64> = (0..15).map(|at| of_both[at] + of_both[at + 15]).collect();
        // Through five normalisations of up to ten rows.
        assert_close(&gradient, &sums, 1e-4);

        let recalibrated = |batch: &Batch<TestAutodiff>| {
            let batches = Batches::new(1, |_| Ok(batch.clone()));
            tensors(&encoder.clone().recalibrated(&batches).unwrap())
        };
        for ((path, (_, found)), (_, expected)) in recalibrated(&once)
            .iter()
            .zip(recalibrated(&twice).values())
        {
            assert_close(found, expected, 1e-5);
            assert!(!found.is_empty(), "{path}");
        }
    }
}

/// An encoder and a head that are affine maps.
fn affine<B: Backend>() -> HiddenMixup<B, ProjectionHead<B>, ProjectionHead<B>> {
    let map = |widths: [usize; 2], seed| {
        let config = ProjectionHeadConfig::new(widths[0], widths[1]).with_n_layers(1);
        config.init(Seed::new(seed), &Default::default())
    };
    HiddenMixup::new(map([3, 40], 1), map([40, 2], 2))
}

#[test]
fn gaussian_noise_has_the_deviations_of_the_columns() {
    const N: usize = 50;
    let encoder = affine::<TestAutodiff>();
    let batch: Batch<TestAutodiff> = collate(&both(gaussian(0.3), N, 3));
    let hidden = to_vec(&encoder.encoder().embed(batch.inner.clone()));
    let RowNoise::Gaussian { sigma, seeds } = &batch.noise else {
        panic!("no Gaussian noise");
    };
    assert_eq!((*sigma, seeds.len()), (0.3, 2 * N));
    assert_ne!(seeds[0], seeds[N], "both sides draw");

    // A head that passes its input on.
    let identity = ProjectionHeadConfig::new(40, 40).with_n_layers(1);
    let identity: ProjectionHead<TestAutodiff> = identity.init(Seed::new(0), &Default::default());
    let unit = (0..1600).map(|at| f32::from(u8::from(at / 40 == at % 40)));
    let identity = crate::parameters::replaced(
        identity,
        &[
            Tensor::from_data(
                TensorData::new(unit.collect::<Vec<_>>(), [1600]),
                &Default::default(),
            ),
            Tensor::zeros([40], &Default::default()),
        ],
    );
    let encoder = HiddenMixup::new(encoder.encoder().clone(), identity);
    let views = to_vec(&encoder.encode(batch, Mode::Evaluation));
    let mut normal = Vec::new();
    for column in 0..40 {
        let values = || (0..N).map(|row| hidden[row * 40 + column]);
        let mean = values().sum::<f64>() / N as f64;
        let deviation = (values().map(|x| (x - mean).powi(2)).sum::<f64>() / N as f64).sqrt();
        for row in 0..2 * N {
            let noise = views[row * 40 + column] - hidden[row % N * 40 + column];
            normal.push(noise / (0.3 * deviation));
        }
    }
    // 4000 numbers, with 5 standard errors of mean, variance and correlation of the sides.
    let n = normal.len() as f64;
    let mean = normal.iter().sum::<f64>() / n;
    let variance = normal.iter().map(|z| z * z).sum::<f64>() / n;
    assert!(mean.abs() < 5.0 / n.sqrt(), "{mean}");
    assert!(
        (variance - 1.0).abs() < 5.0 * (2.0 / n).sqrt(),
        "{variance}"
    );
    let sides = normal
        .chunks(2 * N)
        .flat_map(|column| (0..N).map(|row| column[row] * column[row + N]));
    let correlation = sides.sum::<f64>() / (n / 2.0);
    assert!(correlation.abs() < 5.0 / (n / 2.0).sqrt(), "{correlation}");
}

#[test]
fn the_gradient_flows_through_both_rows() {
    let encoder = affine::<TestAutodiff>();
    let batch: Batch<TestAutodiff> = collate(&both(mixup(0.5), 4, 3));
    let gradient = |batch: &Batch<TestAutodiff>| {
        let inner = batch.inner.clone().require_grad();
        let batch = HiddenBatch {
            inner: inner.clone(),
            ..batch.clone()
        };
        let gradients = train(&encoder, batch).sum().backward();
        to_vec(&inner.grad(&gradients).unwrap())
    };
    let plain = gradient(&HiddenBatch {
        source: Tensor::from_data([0, 1, 2, 3], &Default::default()),
        noise: RowNoise::None,
        inner: batch.inner.clone(),
    });
    // Of affine maps, a row's gradient is that of a plain view times the sum of its shares.
    let mut shares = [0.0; 4];
    for (source, partner, lambda) in mixtures(&batch) {
        shares[source] += lambda;
        shares[partner] += 1.0 - lambda;
    }
    let expected: Vec<f64> = (0..12).map(|at| plain[at] * shares[at / 3]).collect();
    assert_close(&gradient(&batch), &expected, 1e-5);
}

#[test]
fn it_can_be_differentiated_twice() {
    type Twice = Autodiff<TestAutodiff>;
    let views = both(mixup(0.5), 3, 3);
    let tensor = |x: &[f64]| {
        let data = TensorData::new(x.to_vec(), [3, 3]);
        Tensor::<TestAutodiff, 2>::from_data(data, &Default::default()).require_grad()
    };
    let encoder = affine::<Twice>();
    // The squared norm of the gradient of Σ φ², which is quadratic for affine maps.
    let norm = |x: &Tensor<TestAutodiff, 2>| {
        let outer = Tensor::<Twice, 2>::from_inner(x.clone()).require_grad();
        let batch = HiddenBatch {
            inner: outer.clone(),
            ..collate::<Twice>(&views)
        };
        let loss = train(&encoder, batch).powi_scalar(2).sum();
        let gradient = outer.grad(&loss.backward()).unwrap();
        gradient.powi_scalar(2).sum()
    };
    let at: Vec<f64> = (0..3).flat_map(|row| sample(row).map(f64::from)).collect();
    let x = tensor(&at);
    let found = x.grad(&norm(&x).backward()).unwrap();
    // Central differences of a quadratic function are exact but for rounding in single precision.
    let expected = finite_difference(|x| to_vec(&norm(&tensor(x)))[0], &at, 0.5);
    assert_close(&to_vec(&found), &expected, 1e-4);
}

#[test]
fn recalibration_depends_on_parameters_and_batches_alone() {
    let encoder = small::<TestBackend>();
    let parts: [Batch<TestBackend>; 2] = [3, 4].map(|seed| collate(&both(mixup(0.5), 6, seed)));
    let recalibrated = |encoder: &Small<TestBackend>, parts: &[Batch<TestBackend>]| {
        let batches = Batches::new(parts.len(), |at| Ok(parts[at].clone()));
        encoder.clone().recalibrated(&batches).unwrap()
    };
    let once = recalibrated(&encoder, &parts);
    let other = recalibrated(&encoder, &parts[1..]);
    assert_ne!(tensors(&other), tensors(&once));
    assert_eq!(tensors(&recalibrated(&other, &parts)), tensors(&once));
    // Over one batch, evaluation then is the training pass, mixtures included.
    let expected = to_vec(&train(&encoder, parts[1].clone()));
    let found = other.encode(parts[1].clone(), Mode::Evaluation);
    assert_close(&to_vec(&found), &expected, 1e-5);
}

#[test]
fn statistics_of_the_encoder_and_the_head_are_frozen() {
    let batches = [mixup(0.5), mixup(0.9)].map(|noise| collate(&both(noise, 5, 3)));
    crate::frozen_statistics::check(small::<TestAutodiff>(), batches);
}
