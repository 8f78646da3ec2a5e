//! Trainings by Burn's `Learner`.

use std::path::Path;
use std::sync::Arc;

use burn::data::dataloader::{DataLoader, DataLoaderBuilder};
use burn::data::dataset::InMemDataset;
use burn::lr_scheduler::linear::LinearLrSchedulerConfig;
use burn::module::AutodiffModule;
use burn::optim::AdamWConfig;
use burn::record::CompactRecorder;
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;
use burn::train::metric::LossMetric;
use burn::train::metric::store::Split;
use burn::train::{Learner, LearnerSummary, SupervisedTraining};
use icl_core::testing::{TestAutodiff, TestBackend};
use icl_core::{Encoder, ExactRisk, Mode, Origin, PairEmbeddings, Seed, exact_risk};
use icl_train::{
    ContrastiveStep, ContrastiveStepConfig, GainEarlyStoppingStrategy, LossKind, OriginBatcher,
    PairBatch, PairBatcher, PairMetric,
};

use crate::toy::{Jitter, Linear, Stack, points};

const N_EPOCHS: usize = 7;

fn loader<B: Backend>(batch_size: usize) -> Arc<dyn DataLoader<B, PairBatch<Tensor<B, 2>>>> {
    let origin = |index| match index < 60 {
        true => Origin::Old,
        false => Origin::New,
    };
    let items = points().into_iter().enumerate();
    let items = items.map(|(index, point)| (point, origin(index))).collect();
    let batcher = OriginBatcher(PairBatcher::new(Jitter, Stack, Seed::new(1)));
    DataLoaderBuilder::new(batcher)
        .batch_size(batch_size)
        .shuffle(3)
        .build(InMemDataset::new(items))
}

/// Trains the toy encoder, from a checkpoint if there is one, and returns the encoder with what the loggers hold.
fn train(
    folder: &Path,
    n_epochs: usize,
    stop: Option<GainEarlyStoppingStrategy>,
    checkpoint: Option<usize>,
) -> (Linear<TestBackend>, LearnerSummary) {
    let risk = PairMetric::<TestBackend>::exact_risk(None, 0.1, 31.0);
    let mut training = SupervisedTraining::new(folder, loader(30), loader(90))
        .metrics((
            LossMetric::new(),
            risk,
            PairMetric::auc(None),
            PairMetric::change_ratio(0.1, 31.0),
        ))
        .with_file_checkpointer(CompactRecorder::new())
        .with_application_logger(None)
        .num_epochs(n_epochs);
    if let Some(stop) = stop {
        training = training.early_stopping(stop);
    }
    if let Some(checkpoint) = checkpoint {
        training = training.checkpoint(checkpoint);
    }
    let model: ContrastiveStep<TestAutodiff, _> = ContrastiveStepConfig::new()
        .with_loss(LossKind::Corrected)
        .init(Linear::new(3));
    let rates = LinearLrSchedulerConfig::new(0.03, 0.003, 21)
        .init()
        .unwrap();
    let optimizer = AdamWConfig::new().init();
    let trained = training.launch(Learner::new(model, optimizer, rates)).model;
    let summary = LearnerSummary::new(folder, &["Exact risk", "AUC", "Change ratio"]).unwrap();
    (trained.into_encoder(), summary)
}

/// Exact risk on the same views before and after training.
fn measure(encoder: &Linear<TestBackend>) -> ExactRisk {
    let batch = loader::<TestBackend>(90).iter().next().unwrap();
    let PairEmbeddings {
        anchors, positives, ..
    } = encoder.encode_pairs(batch.views, Mode::Evaluation);
    exact_risk(anchors, positives, batch.n_old, 0.1, 31.0)
}

#[test]
fn a_learner_lowers_the_risk() {
    let folder = tempfile::tempdir().unwrap();
    let before = measure(&Linear::<TestAutodiff>::new(3).valid());
    let (encoder, summary) = train(folder.path(), N_EPOCHS, None, None);
    let after = measure(&encoder);
    assert!(after.all < before.all - 0.05, "{before:?} {after:?}");
    assert!(after.auc_all > before.auc_all, "{before:?} {after:?}");
    // The validation metric is the exact risk of all samples, of other views.
    assert_eq!(summary.epochs, N_EPOCHS);
    let risks = &summary.metrics.valid[0].entries;
    assert_eq!((summary.metrics.valid.len(), risks.len()), (3, N_EPOCHS));
    assert!(
        (risks[N_EPOCHS - 1].value - after.all).abs() < 0.2,
        "{risks:?} {after:?}"
    );
    assert_eq!(
        measure(&train(folder.path(), N_EPOCHS, None, None).0),
        after,
        "the same run"
    );
}

/// A resumed training reads the epochs before, and so it ends where it would have ended without the interruption. Burn
/// logs its first epoch in place of epoch 1.
#[test]
fn a_learner_resumes_from_a_checkpoint() {
    let stop = || Some(stop(f64::MAX).with_warmup_epochs(1));
    let folder = tempfile::tempdir().unwrap();
    let (uninterrupted, summary) = train(folder.path(), 20, stop(), None);
    assert_eq!(summary.epochs, 6);
    let folder = tempfile::tempdir().unwrap();
    let (trained, _) = train(folder.path(), 5, None, None);
    let (resumed, summary) = train(folder.path(), 20, stop(), Some(5));
    assert_eq!(summary.epochs, 5);
    let risks = [trained, resumed, uninterrupted].map(|encoder| measure(&encoder).all);
    assert!(risks[1] < risks[0], "{risks:?}");
    // The loader of a resumed training draws other batches.
    assert!((risks[1] - risks[2]).abs() < 0.05, "{risks:?}");
}

fn stop(min_gain: f64) -> GainEarlyStoppingStrategy {
    let risk = PairMetric::<TestBackend>::exact_risk(None, 0.1, 31.0);
    GainEarlyStoppingStrategy::new(&risk, Split::Valid, min_gain)
}

/// No gain is large enough: the first two doublings that can be compared are at epochs 2 and 3, and 3 is read after 4.
#[test]
fn training_stops_when_a_doubling_gains_too_little() {
    let n_epochs = |stop| {
        let folder = tempfile::tempdir().unwrap();
        train(folder.path(), N_EPOCHS, Some(stop), None).1.epochs
    };
    assert_eq!(n_epochs(stop(f64::MAX)), 4);
    assert_eq!(n_epochs(stop(f64::MAX).with_warmup_epochs(1)), 6);
    assert_eq!(
        n_epochs(stop(f64::MAX).with_warmup_epochs(N_EPOCHS)),
        N_EPOCHS
    );
}
