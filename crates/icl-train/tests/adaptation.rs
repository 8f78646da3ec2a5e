//! The inner loop in a training run: its rule, its measures, and views of samples that occur again.

use std::collections::HashMap;
use std::sync::Mutex;

use icl_core::testing::TestAutodiff;
use icl_core::{Rng, Views};
use icl_train::{Planner, Sampling, Trainer, TrainingRecord, TrainingSettings};

use crate::toy::{
    Jitter, Stack, increment, info_nce, meta, points, published, settings, start, train_on,
};

/// At a tiny lr_s the inner loop changes nothing, and at larger ones ever more.
#[test]
fn a_record_tells_how_far_the_inner_loop_went() {
    let of = |support_learning_rate| {
        let settings = TrainingSettings {
            support_learning_rate,
            epochs: 3,
            ..settings()
        };
        let method = meta(published());
        train_on(&points(), &method, &settings, 1).unwrap().record
    };
    let rates = [1e-9, 1e-3, 0.1, 1.0];
    let records = rates.map(of);
    assert!(records.iter().all(|it| it.support_moves.len() == 3));
    let moves = records.map(|it| it.support_moves[0]);
    assert!(
        moves[0] < 1e-6 && moves.is_sorted() && moves[3] > 0.1,
        "{moves:?}"
    );
    // The move is proportional to a small rate.
    assert!((moves[2] / moves[1] / 100.0 - 1.0).abs() < 0.1, "{moves:?}");

    let plain = train_on(&points(), &info_nce(Sampling::All), &settings(), 1).unwrap();
    assert!(plain.record.support_moves.is_empty());
}

/// An earlier record does not have this field.
#[test]
fn earlier_records_are_read() {
    let settings = TrainingSettings {
        epochs: 1,
        ..settings()
    };
    let record = train_on(&points(), &meta(published()), &settings, 1)
        .unwrap()
        .record;
    let mut value = serde_json::to_value(&record).unwrap();
    let fields = value.as_object_mut().unwrap();
    assert!(fields.remove("support_moves").is_some());
    let read: TrainingRecord = serde_json::from_value(value).unwrap();
    assert!(read.support_moves.is_empty());
    assert_eq!(read.support_learning_rates, record.support_learning_rates);
}

/// Views that count how often each view was made.
struct Counted(Mutex<HashMap<[u32; 4], usize>>);

impl Views for Counted {
    type Sample = [f32; 4];
    type View = [f32; 4];

    fn view(&self, sample: &[f32; 4], rng: &mut Rng) -> [f32; 4] {
        let view = Jitter.view(sample, rng);
        *self
            .0
            .lock()
            .unwrap()
            .entry(view.map(f32::to_bits))
            .or_default() += 1;
        view
    }

    fn plain(&self, sample: &[f32; 4]) -> [f32; 4] {
        *sample
    }
}

#[test]
fn a_sample_that_occurs_again_in_an_epoch_has_other_views() {
    let (samples, increment) = (points(), increment());
    let method = meta(published());
    let settings = TrainingSettings {
        epochs: 2,
        evaluate_every: Some(2),
        ..settings()
    };
    let views = Counted(Mutex::default());
    let trainer = Trainer::<TestAutodiff, _, _, _>::new(&samples, &views, Stack, &increment)
        .settings(settings.clone());
    trainer.update(&method, start()).unwrap();
    let counts = std::mem::take(&mut *views.0.lock().unwrap());
    // Two evaluations in the run and one of its start and of its result each, of the same two views of 90 samples;
    // every other view is made once.
    let n_fixed = counts.values().filter(|&&n| n > 1).count();
    assert_eq!((n_fixed, counts.values().max()), (2 * 90, Some(&4)));
    let seed = icl_core::Seed::new(0).child("update").child("order");
    let planner = Planner::new(&method, &increment, &settings, seed);
    let plans = [0, 1].map(|epoch| planner.epoch(epoch, 1.0));
    let steps = plans.iter().flat_map(|plan| &plan.steps);
    let batches = steps.flat_map(|step| step.support.iter().chain([&step.batch]));
    let n_occurrences: usize = batches.clone().map(|batch| batch.samples.len()).sum();
    assert_eq!(counts.len() - n_fixed, 2 * n_occurrences);
    assert!(batches.flat_map(|batch| &batch.repetitions).any(|&n| n > 1));
}
