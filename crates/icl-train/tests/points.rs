//! Methods without a name: points of the five axes.

use crate::toy::{Jitter, Stack, increment, own_seed, points, settings, start, train_on};
use burn::tensor::Tensor;
use icl_core::testing::TestAutodiff;
use icl_core::{Collate, Contrast, Seed, Views, log_mixed_noise, nce_i, paired_cosine_similarity};
use icl_train::{BatchPlan, Method, Planner, TrainingSettings};

/// One step by hand, from the losses of icl-core alone, of corrected Eq. 9 over a replay buffer with
/// distillation and the second-order optimizer.
#[test]
fn equation_9_over_a_buffer_with_distillation_by_the_second_order() {
    let text = "sampling=buffer,loss=corrected+distillation,optimizer=meta:second";
    let method: Method = text.parse().unwrap();
    let (samples, increment) = (points(), increment());
    let (rate, weight) = (0.5, 0.7);
    let settings = TrainingSettings {
        epochs: 1,
        // One query of all 30 new points, and one support batch of the 30 points of the buffer.
        batch_size: 60,
        replay_size: Some(30),
        support_learning_rate: rate,
        distillation_weight: weight,
        ..settings()
    };
    let outcome = train_on(&samples, &method, &settings, 3).unwrap();

    let seed = Seed::new(3).child("update");
    let plan = Planner::new(&method, &increment, &settings, seed.child("order")).epoch(0, 1.0);
    let [step] = &plan.steps[..] else {
        panic!("expected one step, found {}", plan.steps.len());
    };
    let [support] = &step.support[..] else {
        panic!("expected one inner step, found {}", step.support.len());
    };
    let mut buffer = support.samples[..support.n_old].to_vec();
    let mut noise = step.batch.samples[..step.batch.n_old].to_vec();
    buffer.sort_unstable();
    noise.sort_unstable();
    assert_eq!(
        (buffer.len(), &buffer),
        (30, &noise),
        "one buffer serves both"
    );

    type Matrix2 = Tensor<TestAutodiff, 2>;
    let view = |batch: &BatchPlan, which: u64| -> Matrix2 {
        let occurrences = batch.samples.iter().zip(&batch.repetitions);
        let views = occurrences.map(|(&i, &repetition)| {
            let own = own_seed(seed.child("views").at(0), i, repetition);
            Jitter.view(&samples[i], &mut own.at(which).rng())
        });
        Stack.collate(&views.collect::<Vec<_>>(), &Default::default())
    };
    let losses = |batch: &BatchPlan, weight: &Matrix2| {
        let [anchors, positives] = [0, 1].map(|which| view(batch, which).matmul(weight.clone()));
        let contrast = Contrast::in_batch(anchors, positives, batch.n_old, settings.temperature);
        let alpha = increment.growth_ratio();
        let noise = log_mixed_noise(contrast.log_noise_old, contrast.log_noise_new, alpha);
        nce_i(contrast.positive, noise, settings.negatives)
    };
    let first = start().weight.val().inner();
    let leaf = Matrix2::from_inner(first.clone()).require_grad();
    // At the first encoder the gradient of the distance to it is 0.
    let gradients = losses(support, &leaf).narrow(0, 0, 30).mean().backward();
    let adapted = first.clone() - leaf.grad(&gradients).unwrap() * rate;
    let (first, adapted) = (Matrix2::from_inner(first), Matrix2::from_inner(adapted));
    let both = Tensor::cat(vec![view(&step.batch, 0), view(&step.batch, 1)], 0);
    let similarity =
        paired_cosine_similarity(both.clone().matmul(adapted.clone()), both.matmul(first));
    let distance = 1.0 - f64::from(similarity.mean().into_scalar());
    let query = losses(&step.batch, &adapted)
        .narrow(0, 30, 30)
        .mean()
        .into_scalar();
    let expected = f64::from(query) + weight * distance;
    assert!(
        distance > 1e-3,
        "the inner step must move the embeddings, found {distance}"
    );
    let found = outcome.record.epoch_losses[0];
    assert!(
        (found - expected).abs() < 1e-5 * expected,
        "{found}, {expected}"
    );
    assert!(outcome.parameter_change > 1e-4);
    // Three passes of the support batch (its gradient, and two for the Hessian-vector product) and one of
    // the query, each with two views of 60 samples, by the encoder and by its teacher.
    assert_eq!(outcome.record.sample_passes, (3 + 1) * 2 * 60 * 2);
}

/// NCE-I with stratified sampling has the batches of Eq. 9, in the same proportion.
#[test]
fn a_sampling_is_free_of_the_loss() {
    for text in [
        "sampling=stratified",
        "sampling=share:0.5,loss=corrected,rate=cosine",
        "sampling=widening:0.1,loss=published",
        "sampling=buffer,loss=published+distillation",
        "start=scratch,sampling=share:0.01,loss=corrected,optimizer=meta:first",
    ] {
        let method: Method = text.parse().unwrap();
        let run = || train_on(&points(), &method, &settings(), 1).unwrap();
        let (first, again) = (run(), run());
        assert!(first.parameter_change > 1e-3, "{text}");
        assert_eq!(
            first.record.epoch_losses, again.record.epoch_losses,
            "{text}"
        );
        assert!(
            first
                .record
                .epoch_losses
                .iter()
                .all(|loss| loss.is_finite())
        );
    }
}
