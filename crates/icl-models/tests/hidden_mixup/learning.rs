//! Training under hidden noise, also of a graph encoder.

use burn::module::AutodiffModule;
use burn::optim::{AdamConfig, GradientsParams, Optimizer};
use burn::tensor::Tensor;
use icl_core::graph::{GraphBatch, HostGraphs};
use icl_core::testing::{TestAutodiff, TestBackend, assert_close, to_vec};
use icl_core::{Batches, Collate, Encoder, InfoNceConfig, Mode, Pairing, Seed, Side, Stack, Views};
use icl_models::{
    Gin, GinConfig, HiddenBatch, HiddenCollate, HiddenMixup, ProjectionHead, ProjectionHeadConfig,
    RowNoise,
};

use crate::parameters::shapes;
use crate::synthetic::tensors;

use super::{Sample, gaussian, hidden_views, mixup, sample, small, train};

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
    M: AutodiffModule<TestAutodiff> + Encoder<TestAutodiff>,
    M::InnerModule: Encoder<TestBackend>,
    C: Collate<TestAutodiff, V::View, <M as Encoder<TestAutodiff>>::Batch>
        + Collate<TestBackend, V::View, <M::InnerModule as Encoder<TestBackend>>::Batch>,
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
        let batch = Collate::<TestAutodiff, _, <M as Encoder<TestAutodiff>>::Batch>::collate(
            collate,
            &made,
            &Default::default(),
        );
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
        let collate = HiddenCollate::new(Stack);
        let (losses, encoder) = trained(&hidden_views(noise), &collate, encoder, &samples);
        let [first, last] = [&losses[..5], &losses[55..]].map(|part| part.iter().sum::<f64>());
        assert!(last < 0.9 * first, "{losses:?}");
        for (path, (_, values)) in tensors(&encoder) {
            let is_trained = before[&path].0;
            assert_eq!(is_trained, values != before[&path].1, "{path}");
        }
    }
}
