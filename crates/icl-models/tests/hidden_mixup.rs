//! Hidden noise: mixtures by plain loops, partners, gradients, statistics.

use std::collections::HashMap;

use burn::backend::Autodiff;
use burn::module::AutodiffModule;
use burn::optim::{AdamConfig, GradientsParams, Optimizer};
use burn::tensor::{Tensor, TensorData, backend::Backend};
use icl_core::graph::{GraphBatch, HostGraphs};
use icl_core::mixup::MixingRange;
use icl_core::testing::{TestAutodiff, TestBackend, assert_close, finite_difference, to_vec};
use icl_core::{
    Augment, Batches, Collate, Encoder, InfoNceConfig, Mode, Pairing, Rng, Seed, Side, Stack, Views,
};
use icl_models::{
    Gin, GinConfig, HiddenBatch, HiddenCollate, HiddenMixup, HiddenNoise, HiddenNoiseError,
    HiddenView, HiddenViews, Mlp, MlpConfig, ProjectionHead, ProjectionHeadConfig, RowNoise,
};

use crate::parameters::shapes;
use crate::synthetic::tensors;

type Sample = [f32; 3];
type Batch<B> = HiddenBatch<B, Tensor<B, 2>>;
type Small<B> = HiddenMixup<B, Mlp<B>, ProjectionHead<B>>;

fn mixup(alpha: f64) -> HiddenNoise {
    let range = MixingRange::try_new(alpha).unwrap();
    HiddenNoise::Mixup { range }
}

fn gaussian(sigma: f64) -> HiddenNoise {
    HiddenNoise::Gaussian { sigma }
}

fn sample(at: usize) -> Sample {
    std::array::from_fn(|column| ((at * 7 + column * 5) % 11) as f32 / 4.0 - 1.0)
}

fn hidden_views(
    noise: HiddenNoise,
) -> HiddenViews<Augment<Sample, impl Fn(&Sample, &mut Rng) -> Sample>> {
    let inner = Augment::new(|_: &Sample, _: &mut Rng| [f32::NAN; 3]);
    HiddenViews::try_new(inner, noise).unwrap()
}

/// The view of sample `at` on a side.
fn view(noise: HiddenNoise, at: usize, side: Side, seed: u64) -> HiddenView<Sample> {
    let pairing = Pairing {
        part: 0,
        side,
        pair: Seed::new(seed).child("pair").at(at as u64),
        partners: &[],
    };
    let mut rng = Seed::new(seed).at(at as u64).at(side.index()).rng();
    hidden_views(noise).paired_view(&sample(at), &pairing, &mut rng)
}

/// Both views of the first `n` samples, first views first.
fn both(noise: HiddenNoise, n: usize, seed: u64) -> Vec<HiddenView<Sample>> {
    Side::BOTH
        .into_iter()
        .flat_map(|side| (0..n).map(move |at| view(noise, at, side, seed)))
        .collect()
}

fn collate<B: Backend>(views: &[HiddenView<Sample>]) -> Batch<B> {
    HiddenCollate::new(Stack::new()).collate(views, &Default::default())
}

fn small<B: Backend>() -> Small<B> {
    let device = Default::default();
    let encoder = MlpConfig::new(3).with_n_layers(2).with_width(6);
    let head = ProjectionHeadConfig::new(6, 4)
        .with_n_layers(3)
        .with_norm(true);
    HiddenMixup::new(
        encoder.init(Seed::new(1), &device),
        head.init(Seed::new(2), &device),
    )
}

/// Source, partner and λ of each view.
fn mixtures<B: Backend>(batch: &Batch<B>) -> Vec<(usize, usize, f64)> {
    let RowNoise::Mixup { partner, lambda } = &batch.noise else {
        panic!("no mixup: {:?}", batch.noise);
    };
    let rows = |rows: &Tensor<B, 1, burn::tensor::Int>| -> Vec<usize> {
        let rows = rows.to_data().convert::<i64>().into_vec::<i64>().unwrap();
        rows.into_iter().map(|row| row as usize).collect()
    };
    let (sources, partners) = (rows(&batch.source), rows(partner));
    let rows = sources.into_iter().zip(partners).zip(to_vec(lambda));
    rows.map(|((source, partner), lambda)| (source, partner, lambda))
        .collect()
}

fn train<B: Backend, E: Encoder<B>>(encoder: &E, batch: E::Batch) -> Tensor<B, 2> {
    encoder.encode(batch, Mode::Training(&mut Seed::new(0).rng()))
}

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

#[test]
fn partners_are_the_other_samples_equally_often_and_never_the_sample() {
    const N: usize = 5;
    const BATCHES: u64 = 2000;
    let mut counts = HashMap::new();
    for seed in 0..BATCHES {
        let batch: Batch<TestBackend> = collate(&both(mixup(0.5), N, seed));
        for (view, (source, partner, _)) in mixtures(&batch).into_iter().enumerate() {
            assert_ne!(source, partner);
            assert_eq!(source, view % N);
            *counts.entry((view, partner)).or_insert(0.0) += 1.0;
        }
    }
    assert_eq!(counts.len(), 2 * N * (N - 1));
    let share = 1.0 / (N - 1) as f64;
    let deviation = (BATCHES as f64 * share * (1.0 - share)).sqrt();
    for (key, count) in counts {
        let distance: f64 = count - BATCHES as f64 * share;
        assert!(distance.abs() < 5.0 * deviation, "{key:?}: {count}");
    }
}

#[test]
fn partners_are_on_the_side_of_the_view() {
    for seed in 0..50 {
        // Samples 0 to 2 have first views, 2 to 4 second views, and 9 a plain one.
        let mut views: Vec<_> = (0..3)
            .map(|at| view(mixup(0.5), at, Side::First, seed))
            .collect();
        views.push(hidden_views(mixup(0.5)).plain(&sample(9)));
        views.extend((2..5).map(|at| view(mixup(0.5), at, Side::Second, seed)));
        let batch: Batch<TestBackend> = collate(&views);
        assert_eq!(batch.inner.dims(), [6, 3]);
        let mixtures = mixtures(&batch);
        assert!(mixtures[..3].iter().all(|(_, partner, _)| *partner < 3));
        assert_eq!(mixtures[3], (3, 3, 1.0));
        // Row 2 is sample 2, which both sides share.
        assert_eq!(mixtures[4].0, 2);
        assert!(
            mixtures[4..]
                .iter()
                .all(|(_, partner, _)| [2, 4, 5].contains(partner))
        );
    }
}

#[test]
#[should_panic(
    expected = "hidden mixup: found 1 sample on a side of the batch, expected at least 2"
)]
fn a_sample_without_another_is_misuse() {
    collate::<TestBackend>(&both(mixup(0.5), 1, 3));
}

#[test]
#[should_panic(expected = "the views of a batch must have the same hidden noise")]
fn two_kinds_of_noise_are_misuse() {
    let mut views = both(gaussian(0.5), 3, 3);
    views[4] = view(mixup(0.5), 1, Side::Second, 3);
    collate::<TestBackend>(&views);
}

#[test]
fn plain_views_need_no_partner_and_gaussian_noise_none() {
    for noise in [mixup(0.5), gaussian(0.5)] {
        let plain: Batch<TestBackend> = collate(&[hidden_views(noise).plain(&sample(1))]);
        assert_eq!(small::<TestBackend>().embed(plain).dims(), [1, 6]);
    }
    let batch: Batch<TestBackend> = collate(&both(gaussian(0.5), 1, 3));
    let encoded = small::<TestBackend>().encode(batch, Mode::Evaluation);
    // One row does not deviate.
    let encoded = to_vec(&encoded);
    assert_eq!(encoded[..4], encoded[4..]);
}

#[test]
fn wrong_deviations_are_rejected() {
    for found in [-0.1, f64::NAN, f64::INFINITY] {
        let views = Augment::new(|x: &Sample, _: &mut Rng| *x);
        let error = HiddenViews::try_new(views, gaussian(found)).unwrap_err();
        assert!(matches!(error, HiddenNoiseError::Sigma { .. }));
        let expected =
            format!("hidden noise: found σ = {found}, expected a finite number of at least 0");
        assert_eq!(error.to_string(), expected);
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
fn a_graph_encoder_mixes_its_readouts() {
    let device = Default::default();
    let gin = GinConfig::new(1).with_d_hidden(4).with_n_layers(2);
    let head = ProjectionHeadConfig::new(8, 8)
        .with_n_layers(3)
        .with_norm(true);
    let encoder: HiddenMixup<TestAutodiff, Gin<TestAutodiff>, ProjectionHead<TestAutodiff>> =
        HiddenMixup::new(
            gin.init(Seed::new(1), &device),
            head.init(Seed::new(2), &device),
        );
    let names: Vec<_> = gin
        .tensors()
        .map(|(name, shape)| (format!("encoder.{name}"), shape))
        .chain(
            head.tensors()
                .map(|(name, shape)| (format!("head.{name}"), shape)),
        )
        .collect();
    assert_eq!(shapes(&encoder), names);
    let host = HostGraphs {
        offsets: vec![0, 3, 4],
        pointers: vec![0, 1, 3, 4, 4],
        neighbours: vec![1, 0, 2, 1],
        features: vec![0.5, 1.0, 1.5, 2.0],
        d_features: 1,
    };
    let batch = HiddenBatch {
        inner: GraphBatch::<TestAutodiff>::new(host, &device),
        source: Tensor::from_data([0, 1, 0, 1], &device),
        noise: RowNoise::Mixup {
            partner: Tensor::from_data([1, 0, 1, 0], &device),
            lambda: Tensor::from_data([[0.9], [1.0], [0.95], [0.92]], &device),
        },
    };
    let output = train(&encoder, batch.clone());
    assert_eq!(output.dims(), [4, 8]);
    let gradients = output.powi_scalar(2).sum().backward();
    let trained = tensors(&encoder)
        .into_values()
        .filter(|(is_trained, _)| *is_trained);
    let of_parameters = GradientsParams::from_grads(gradients, &encoder);
    assert_eq!(of_parameters.len(), trained.count());
    let batches = Batches::new(1, |_| Ok(batch.clone()));
    let expected = to_vec(&train(&encoder, batch.clone()));
    let encoder = encoder.recalibrated(&batches).unwrap();
    assert_close(
        &to_vec(&encoder.encode(batch.clone(), Mode::Evaluation)),
        &expected,
        1e-5,
    );
}

/// Trains by NCE-I on hidden views, with the bounds that a trainer has, and returns the losses with the trained
/// encoder.
fn trained<V, C, M>(
    views: &V,
    collate: &C,
    mut encoder: M,
    samples: &[V::Sample],
) -> (Vec<f64>, M::InnerModule)
where
    V: Views,
    C: Collate<View = V::View>,
    M: AutodiffModule<TestAutodiff> + Encoder<TestAutodiff, Batch = C::Batch<TestAutodiff>>,
    M::InnerModule: Encoder<TestBackend, Batch = C::Batch<TestBackend>>,
{
    let mut optimizer = AdamConfig::new().init();
    let loss = InfoNceConfig::new().with_temperature(0.5).init();
    let (mut losses, mut rng) = (Vec::new(), Seed::new(5).rng());
    for step in 0..60 {
        let mut made = Vec::new();
        for side in Side::BOTH {
            for (at, sample) in samples.iter().enumerate() {
                let pairing = Pairing {
                    part: 0,
                    side,
                    pair: Seed::new(step).at(at as u64),
                    partners: &[],
                };
                made.push(views.paired_view(sample, &pairing, &mut rng));
            }
        }
        let batch = collate.collate::<TestAutodiff>(&made, &Default::default());
        let output = train(&encoder, batch);
        let [anchors, positives] = [0, 1].map(|side| {
            output
                .clone()
                .narrow(0, side * samples.len(), samples.len())
        });
        let loss = loss.forward(anchors, positives);
        losses.push(to_vec(&loss)[0]);
        let gradients = GradientsParams::from_grads(loss.backward(), &encoder);
        encoder = optimizer.step(1e-2, encoder, gradients);
    }
    (losses, encoder.valid())
}

#[test]
fn it_learns_and_all_parameters_move() {
    let samples: Vec<Sample> = (0..10).map(sample).collect();
    for noise in [mixup(0.8), gaussian(0.1)] {
        let encoder = small::<TestAutodiff>();
        let before = tensors(&encoder);
        let collate = HiddenCollate::new(Stack::new());
        let (losses, encoder) = trained(&hidden_views(noise), &collate, encoder, &samples);
        let [first, last] = [&losses[..5], &losses[55..]].map(|part| part.iter().sum::<f64>());
        assert!(last < 0.9 * first, "{losses:?}");
        for (path, (_, values)) in tensors(&encoder) {
            let is_trained = before[&path].0;
            assert_eq!(is_trained, values != before[&path].1, "{path}");
        }
    }
}
