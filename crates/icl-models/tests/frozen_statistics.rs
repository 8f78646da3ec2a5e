//! Frozen statistics of normalisation: training computes what evaluation does, and nothing estimates them again.

use std::cell::Cell;

use burn::module::AutodiffModule;
use burn::optim::GradientsParams;
use burn::tensor::{Distribution, Tensor, backend::Backend};
use icl_core::graph::GraphBatch;
use icl_core::testing::{TestAutodiff, assert_close, to_vec};
use icl_core::{Batches, Encoder, Mode, Seed};
use icl_models::{ConvNetConfig, GcnConfig, GinConfig, MlpConfig, ProjectionHeadConfig};

use crate::gcn::graphs;
use crate::resnet::{small, some_images};
use crate::synthetic::tensors;

type B = TestAutodiff;

fn training<E: Encoder<B>>(encoder: &E, batch: &E::Batch) -> Tensor<B, 2> {
    encoder.encode(batch.clone(), Mode::Training(&mut Seed::new(0).rng()))
}

/// Checks an encoder without dropout on two batches of which the second is unlike the first.
pub fn check<E: Encoder<B> + AutodiffModule<B>>(fresh: E, [first, second]: [E::Batch; 2]) {
    let evaluated = |encoder: &E| to_vec(&encoder.encode(second.clone(), Mode::Evaluation));
    let by_batch = to_vec(&training(&fresh, &second));

    // Statistics that were never estimated are none.
    let unfrozen = fresh.clone().with_frozen_statistics(true);
    assert_eq!(to_vec(&training(&unfrozen, &second)), by_batch);

    let one = |_| Ok(first.clone());
    let estimated = fresh.recalibrated(&Batches::new(1, one)).unwrap();
    let frozen = estimated.clone().with_frozen_statistics(true);
    let output = training(&frozen, &second);
    assert_close(&to_vec(&output), &evaluated(&estimated), 1e-5);
    assert_ne!(to_vec(&output), by_batch);

    // Every parameter has a gradient, no statistic has one.
    let gradients = output.powi_scalar(2).sum().backward();
    let mut n_trained = 0;
    for (path, (is_trained, _)) in tensors(&frozen) {
        assert_eq!(is_trained, !path.contains("statistics"), "{path}");
        n_trained += usize::from(is_trained);
    }
    let gradients = GradientsParams::from_grads(gradients, &frozen);
    assert_eq!(gradients.len(), n_trained);

    // No batch is passed, and free statistics are estimated again.
    let n_passed = Cell::new(0);
    let two = Batches::new(1, |_| {
        n_passed.set(n_passed.get() + 1);
        Ok(second.clone())
    });
    let again = frozen.clone().recalibrated(&two).unwrap();
    assert_eq!((tensors(&again), n_passed.get()), (tensors(&estimated), 0));
    let free = again.with_frozen_statistics(false);
    assert_eq!(to_vec(&training(&free, &second)), by_batch);
    let second_estimate = free.recalibrated(&two).unwrap();
    assert!(n_passed.get() > 0);
    assert_ne!(tensors(&second_estimate), tensors(&estimated));
}

fn rows(shift: f64) -> Tensor<B, 2> {
    B::seed(&Default::default(), 7);
    Tensor::random(
        [12, 6],
        Distribution::Normal(shift, 1.0),
        &Default::default(),
    )
}

#[test]
fn of_vectors() {
    let (seed, device) = (Seed::new(1), Default::default());
    let batches = || [rows(0.0), rows(2.0)];
    let mlp = MlpConfig::new(6).with_width(8).with_projection(Some(4));
    check(mlp.init::<B>(seed, &device), batches());
    let head = ProjectionHeadConfig::new(6, 3)
        .with_n_layers(3)
        .with_norm(true);
    check(head.init::<B>(seed, &device), batches());
}

#[test]
fn of_images() {
    let convnet = ConvNetConfig::new(1).with_width(2).with_projection(Some(4));
    let images = || [some_images(1, 5), some_images(2, 3) * 3.0 + 1.0];
    check(
        convnet.init::<B>(Seed::new(1), &Default::default()),
        images(),
    );
    check(small::<B>(3), images());
}

#[test]
fn of_graphs() {
    let graph = |scale: f64| {
        let feature = |at: usize| vec![scale * (at as f64 * 0.7).sin(), scale * at as f64, 1.0];
        let features = (0..7).map(feature).collect();
        let edges = [(0, 1), (1, 2), (3, 4), (4, 5), (5, 6), (3, 6)];
        GraphBatch::<B>::new(graphs(&[3, 4], &edges, &features), &Default::default())
    };
    let (seed, device) = (Seed::new(1), Default::default());
    let gcn = GcnConfig::new(3).with_d_hidden(5).with_dropout(0.0);
    check(gcn.init::<B>(seed, &device), [graph(1.0), graph(2.0)]);
    let gin = GinConfig::new(3).with_d_hidden(5).with_projection(Some(4));
    check(gin.init::<B>(seed, &device), [graph(1.0), graph(2.0)]);
}
