//! Old noise from a queue in the trainer.

use std::cell::Cell;
use std::path::Path;

use crate::toy::{
    Jitter, Linear, Stack, corrected, distillation, increment, info_nce, meta, own_seed, points,
    published, settings, start, timeless, train_on, trainer,
};
use burn::tensor::Tensor;
use icl_core::testing::{TestBackend, to_vec};
use icl_core::{
    Collate, Contrast, Encoder, MixedBatch, Mode, QueuedNoise, Seed, Views, log_mixed_noise, nce_i,
};
use icl_meta::RateChoice;
use icl_train::{
    Callbacks, CheckpointError, MetaOrder, Method, OptimizerChoice, Planner, Sampling, TrainError,
    TrainingSettings,
};

/// Each step brings 24 old embeddings, 8 of each of two support batches and of the query, so this queue
/// is full after two steps.
const CAPACITY: usize = 40;

fn queued() -> TrainingSettings {
    TrainingSettings {
        old_queue: Some(CAPACITY),
        ..settings()
    }
}

fn methods() -> Vec<Method> {
    let mut methods = Vec::new();
    for loss in [published(), corrected()] {
        for optimizer in [OptimizerChoice::Plain, OptimizerChoice::Meta(None)] {
            for rate in [RateChoice::Fixed, RateChoice::Learned] {
                methods.push(Method {
                    optimizer,
                    rate,
                    ..loss.clone()
                });
            }
        }
    }
    methods
}

#[test]
fn every_method_with_old_noise_trains_with_a_queue_and_repeats_itself() {
    for method in methods() {
        let run = |settings: &TrainingSettings| train_on(&points(), &method, settings, 1).unwrap();
        let (first, again, without) = (run(&queued()), run(&queued()), run(&settings()));
        assert!(first.parameter_change > 1e-3, "{method:?}");
        assert_eq!(timeless(first.record.clone()), timeless(again.record));
        assert_ne!(
            first.record.epoch_losses, without.record.epoch_losses,
            "{method:?}"
        );
        let evaluations = &first.record.evaluations;
        assert_eq!(evaluations[0].old_queue, None);
        for evaluation in &evaluations[1..] {
            let bias = evaluation.old_queue.unwrap();
            assert_eq!(bias.n_entries, CAPACITY);
            assert!(bias.age_nats.is_finite());
            let is_meta = method.optimizer.is_meta();
            assert_eq!(bias.statistics_nats.is_some(), is_meta);
        }
        let unqueued = &without.record.evaluations;
        assert!(unqueued.iter().all(|e| e.old_queue.is_none()));
    }
}

/// The losses of two epochs by hand, at parameters that do not change.
#[test]
fn a_query_has_the_queue_of_the_steps_before_as_old_noise() {
    let (samples, increment) = (points(), increment());
    let settings = TrainingSettings {
        epochs: 2,
        learning_rate: 1e-30,
        support_learning_rate: 1e-30,
        ..queued()
    };
    let method = meta(corrected());
    let record = train_on(&samples, &method, &settings, 3).unwrap().record;
    let seed = Seed::new(3).child("update");
    let planner = Planner::new(&method, &increment, &settings, seed.child("order"));
    let encoder = Linear::<TestBackend>::new(1);
    let embed = |epoch: u64, batch: &icl_train::BatchPlan, which: u64| -> Tensor<TestBackend, 2> {
        let seed = seed.child("views").at(epoch);
        let view = |(&i, &repetition): (&usize, &usize)| {
            let own = own_seed(seed, i, repetition);
            Jitter.view(&samples[i], &mut own.at(which).rng())
        };
        let indices = batch.samples.iter().zip(&batch.repetitions);
        let views: Vec<[f32; 4]> = indices.map(view).collect();
        let batch = Stack.collate::<TestBackend>(&views, &Default::default());
        encoder.encode(batch, Mode::Evaluation)
    };
    let mut queue: Option<QueuedNoise<TestBackend>> = None;
    let mut passes = 0;
    for epoch in 0..2 {
        let plan = planner.epoch(epoch, 1.0);
        let epoch = epoch as u64;
        let mut losses = Vec::new();
        for step in &plan.steps {
            let batch = &step.batch;
            let mixed = MixedBatch {
                anchors: embed(epoch, batch, 0),
                positives: embed(epoch, batch, 1),
                samples: &batch.samples,
                n_old: batch.n_old,
            };
            let rows = batch.n_old..batch.samples.len();
            let contrast = match &queue {
                Some(queue) => Contrast::in_batch_with_queue(mixed, rows.clone(), queue, 0.1),
                None => Contrast::in_batch(mixed.anchors, mixed.positives, mixed.n_old, 0.1),
            };
            let alpha = increment.growth_ratio();
            let noise = log_mixed_noise(contrast.log_noise_old, contrast.log_noise_new, alpha);
            let of_rows = to_vec(&nce_i(contrast.positive, noise, 31.0));
            let of_rows = &of_rows[of_rows.len() - rows.len()..];
            losses.push(of_rows.iter().sum::<f64>() / rows.len() as f64);
            let mut queues: Vec<_> = queue.take().into_iter().collect();
            for batch in step.support.iter().chain([batch]) {
                passes += 2 * batch.samples.len() as u64;
                let old = &batch.samples[..batch.n_old];
                if !old.is_empty() {
                    let embeddings = embed(epoch, batch, 1).narrow(0, 0, old.len());
                    queues.push(QueuedNoise::new(embeddings, old.to_vec()));
                }
            }
            queue = Some(QueuedNoise::newest_of(queues, CAPACITY));
        }
        let expected = losses.iter().sum::<f64>() / losses.len() as f64;
        let found = record.epoch_losses[epoch as usize];
        assert!((found - expected).abs() < 1e-5, "{found}, {expected}");
    }
    assert_eq!(record.sample_passes, passes);
    // The parameters are constant, so the bias by age is only the noise of views; and this encoder has
    // no normalisation statistics.
    let bias = record.evaluations[2].old_queue.unwrap();
    assert!(bias.age_nats.abs() < 0.2, "{bias:?}");
    assert!(bias.statistics_nats.unwrap().abs() < 1e-6, "{bias:?}");
}

#[test]
fn queries_are_all_new_once_the_queue_is_full() {
    let increment = increment();
    let planner = |old_queue| {
        let settings = TrainingSettings {
            old_queue,
            ..settings()
        };
        Planner::new(&meta(published()), &increment, &settings, Seed::new(1))
    };
    for capacity in [2, 24, 25, CAPACITY, 1000] {
        let (with, without) = (planner(Some(capacity)), planner(None));
        let mut n_entries = 0;
        for epoch in 0..3 {
            let (with, without) = (with.epoch(epoch, 1.0), without.epoch(epoch, 1.0));
            assert_eq!(with.steps.len(), without.steps.len());
            for (with, without) in with.steps.iter().zip(&without.steps) {
                // Support and anchors are the same. (Old samples occur less often with a queue.)
                let samples = |step: &icl_train::StepPlan| -> Vec<Vec<usize>> {
                    let support = step.support.iter();
                    support.map(|batch| batch.samples.clone()).collect()
                };
                assert_eq!(samples(with), samples(without));
                let anchors = |batch: &icl_train::BatchPlan| batch.samples[batch.n_old..].to_vec();
                assert_eq!(anchors(&with.batch), anchors(&without.batch));
                let expected = if n_entries < capacity { 8 } else { 0 };
                assert_eq!(with.batch.n_old, expected);
                let brought = with.support.iter().chain([&with.batch]).map(|b| b.n_old);
                n_entries += brought.sum::<usize>();
            }
        }
    }
}

/// The second order evaluates the inner loss again at other parameters. The queue must be the same in
/// every evaluation, and it must not collect embeddings from them.
#[test]
fn what_is_looked_at_again_does_not_enter() {
    let run = |meta_order| {
        let settings = TrainingSettings {
            meta_order,
            learning_rate: 1e-30,
            support_learning_rate: 1e-30,
            ..queued()
        };
        let method = meta(corrected());
        train_on(&points(), &method, &settings, 1).unwrap()
    };
    let [first, second] = [MetaOrder::First, MetaOrder::Second].map(run);
    assert!(second.record.sample_passes > first.record.sample_passes);
    assert_eq!(first.record.epoch_losses, second.record.epoch_losses);
    let biases = |record: &icl_train::TrainingRecord| {
        let of = record.evaluations.iter().map(|e| e.old_queue);
        of.collect::<Vec<_>>()
    };
    assert_eq!(biases(&first.record), biases(&second.record));
}

fn go_on(
    path: &Path,
    method: &Method,
    settings: &TrainingSettings,
    n_steps: u64,
) -> Result<toy_outcome::Toy, TrainError> {
    let (samples, increment) = (points(), increment());
    let taken = Cell::new(0);
    let mut watch = Callbacks::new().with_checkpoint(path).stop_when(|| {
        taken.set(taken.get() + 1);
        taken.get() >= n_steps
    });
    trainer(&samples, &increment, settings, 4).update_with(method, Linear::new(1), &mut watch)
}

mod toy_outcome {
    use crate::toy::Linear;
    use icl_core::testing::TestAutodiff;

    pub type Toy = icl_train::Outcome<Linear<TestAutodiff>, TestAutodiff>;
}

#[test]
fn a_stopped_run_goes_on_with_its_queue() {
    for (method, capacity) in methods()
        .into_iter()
        .zip([CAPACITY, 5, 200].into_iter().cycle())
    {
        let settings = TrainingSettings {
            epochs: 15,
            average_decay: 0.9,
            old_queue: Some(capacity),
            ..settings()
        };
        let whole = train_on(&points(), &method, &settings, 4).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        // Stops before the queue is full, within epochs and at their ends.
        let mut n_stops = 0;
        let resumed = loop {
            match go_on(&path, &method, &settings, [1, 1, 5, 2, 13][n_stops % 5]) {
                Ok(outcome) => break outcome,
                Err(TrainError::Interrupted { .. }) => n_stops += 1,
                Err(error) => panic!("{error}"),
            }
        };
        assert!(n_stops > 4, "{n_stops}");
        assert_eq!(
            timeless(resumed.record),
            timeless(whole.record),
            "{method:?}"
        );
        assert_eq!(
            to_vec(&resumed.encoder.weight.val()),
            to_vec(&whole.encoder.weight.val())
        );
    }
}

#[test]
fn a_checkpoint_with_another_queue_is_refused() {
    let method = corrected();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    assert!(go_on(&path, &method, &queued(), 3).is_err());
    let error = go_on(&path, &method, &settings(), u64::MAX).unwrap_err();
    assert!(matches!(
        error,
        TrainError::Checkpoint(CheckpointError::OtherRun { .. })
    ));
    assert!(
        error.to_string().contains("old_queue is 40, expected null"),
        "{error}"
    );
}

#[test]
fn a_queue_without_old_noise_or_capacity_is_an_error() {
    let samples = points();
    let inference = Method {
        loss: None,
        ..corrected()
    };
    let others = [
        info_nce(Sampling::All),
        info_nce(Sampling::Widening(Some(0.2))),
        info_nce(Sampling::Buffer),
        distillation(),
    ];
    for method in others.into_iter().chain([inference]) {
        let error = train_on(&samples, &method, &queued(), 1).unwrap_err();
        assert!(
            error.to_string().starts_with("old_queue: found 40"),
            "{error}"
        );
    }
    let small = TrainingSettings {
        old_queue: Some(1),
        ..settings()
    };
    let error = train_on(&samples, &meta(corrected()), &small, 1).unwrap_err();
    assert_eq!(error.to_string(), "old_queue: found 1, expected at least 2");
    // The training of the first encoder does not use the queue.
    let (increment, settings) = (increment(), queued());
    let trainer = trainer(&samples, &increment, &settings, 1);
    let first = trainer.pretrain(start()).unwrap();
    assert!(
        first
            .record
            .evaluations
            .iter()
            .all(|e| e.old_queue.is_none())
    );
}
