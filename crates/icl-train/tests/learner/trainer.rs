//! Burn's training loop next to the trainer: the same result, and the trainer's epochs on Burn's renderers.

use std::sync::{Arc, Mutex};

use burn::data::dataloader::DataLoaderBuilder;
use burn::data::dataset::InMemDataset;
use burn::optim::AdamConfig;
use burn::tensor::backend::Backend;
use burn::train::logger::FileMetricLogger;
use burn::train::metric::MetricDefinition;
use burn::train::renderer::{
    EvaluationName, EvaluationProgress, MetricState, MetricsRenderer, MetricsRendererEvaluation,
    MetricsRendererTraining, ProgressType, TrainingProgress,
};
use burn::train::{Learner, LearnerSummary, SupervisedTraining};
use icl_core::testing::{TestAutodiff, TestBackend};
use icl_core::{Origin, Seed};
use icl_train::{
    Callbacks, ContrastiveStep, ContrastiveStepConfig, EpochMetrics, OriginBatcher, PairBatcher,
    Sampling, TrainingSettings,
};

use crate::toy::{Jitter, Linear, Stack, increment, info_nce, points, settings, trainer};

const N_EPOCHS: usize = 20;
const BATCH: usize = 30;
const RATE: f64 = 0.01;

fn of_trainer() -> TrainingSettings {
    TrainingSettings {
        epochs: N_EPOCHS,
        batch_size: BATCH,
        learning_rate: RATE,
        ..settings()
    }
}

/// Risk over X′ on the fixed views of seed 0.
fn risk(encoder: Linear<TestBackend>) -> f64 {
    let (samples, increment) = (points(), increment());
    let trainer = trainer(&samples, &increment, &settings(), 0);
    trainer.evaluator().evaluate(encoder).unwrap().risk.all
}

fn by_trainer(seed: u64) -> f64 {
    let (samples, increment) = (points(), increment());
    let trainer = trainer(&samples, &increment, &of_trainer(), seed);
    let outcome = trainer.update(&info_nce(Sampling::All), Linear::new(3));
    risk(outcome.unwrap().encoder)
}

fn by_learner(seed: u64) -> f64 {
    fn loader<B: Backend>(
        seed: u64,
    ) -> Arc<dyn burn::data::dataloader::DataLoader<B, icl_train::PairBatch<burn::Tensor<B, 2>>>>
    {
        let items = points().into_iter().map(|point| (point, Origin::Old));
        let batcher = OriginBatcher(PairBatcher::new(Jitter, Stack, Seed::new(seed)));
        DataLoaderBuilder::new(batcher)
            .batch_size(BATCH)
            .shuffle(seed)
            .build(InMemDataset::new(items.collect()))
    }
    let folder = tempfile::tempdir().unwrap();
    let training = SupervisedTraining::new(folder.path(), loader(seed), loader(seed))
        .with_application_logger(None)
        .num_epochs(N_EPOCHS);
    let model: ContrastiveStep<TestAutodiff, _> = ContrastiveStepConfig::new().init(Linear::new(3));
    let adam = AdamConfig::new().with_epsilon(1e-8).init();
    let trained = training.launch(Learner::new(model, adam, RATE)).model;
    risk(trained.into_encoder())
}

/// The same loss, optimizer, rate, batch size and number of epochs; order and views are drawn by other generators.
#[test]
fn a_learner_ends_where_the_trainer_does() {
    let start = risk(Linear::new(3));
    let statistics = |risks: [f64; 6]| {
        let mean = risks.iter().sum::<f64>() / 6.0;
        let variance = risks.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / 5.0;
        (mean, variance / 6.0)
    };
    let (trainer, of_trainer) = statistics([1, 2, 3, 4, 5, 6].map(by_trainer));
    let (learner, of_learner) = statistics([1, 2, 3, 4, 5, 6].map(by_learner));
    // A two-sided test at 1 %: Student's t with 10 degrees of freedom.
    let error = (of_trainer + of_learner).sqrt();
    let found = format!("{start}: {trainer} and {learner}, ± {error}");
    assert!((trainer - learner).abs() < 3.17 * error, "{found}");
    assert!(error < 0.02 * (start - trainer), "{found}");
}

/// Calls of a renderer: metrics of training and validation, and the epoch that was rendered.
#[derive(Default, Clone)]
struct Recorded(Arc<Mutex<Vec<(String, f64)>>>);

impl Recorded {
    fn push(&self, split: &str, state: MetricState) {
        let MetricState::Numeric(entry, value) = state else {
            panic!("{state:?}");
        };
        let name = format!("{split} {:?}", entry.metric_id);
        self.0.lock().unwrap().push((name, value.current()));
    }
}

impl MetricsRendererTraining for Recorded {
    fn update_train(&mut self, state: MetricState) {
        self.push("train", state);
    }

    fn update_valid(&mut self, state: MetricState) {
        self.push("valid", state);
    }

    fn render_train(&mut self, item: TrainingProgress, _: Vec<ProgressType>) {
        let progress = item.global_progress;
        assert_eq!(progress.items_total, N_EPOCHS);
        let epoch = progress.items_processed as f64;
        self.0.lock().unwrap().push(("epoch".to_owned(), epoch));
    }

    fn render_valid(&mut self, _: TrainingProgress, _: Vec<ProgressType>) {}
}

impl MetricsRendererEvaluation for Recorded {
    fn update_test(&mut self, _: EvaluationName, _: MetricState) {}

    fn render_test(&mut self, _: EvaluationProgress, _: Vec<ProgressType>) {}
}

impl MetricsRenderer for Recorded {
    fn manual_close(&mut self) {}

    fn register_metric(&mut self, definition: MetricDefinition) {
        let name = format!("defined {}", definition.name);
        self.0.lock().unwrap().push((name, 0.0));
    }
}

#[test]
fn epochs_are_rendered_and_logged() {
    let (samples, increment, folder) = (points(), increment(), tempfile::tempdir().unwrap());
    let trainer = trainer(&samples, &increment, &of_trainer(), 1);
    let rendered = Recorded::default();
    let mut metrics = EpochMetrics::new()
        .with_renderer(rendered.clone())
        .with_logger(FileMetricLogger::new(folder.path()));
    let mut callbacks = Callbacks::new().on_epoch(|report| metrics.report(report));
    let method = info_nce(Sampling::All);
    let outcome = trainer.update_with(&method, Linear::new(3), None, &mut callbacks);
    let record = outcome.unwrap().record;
    drop(callbacks);
    drop(metrics);
    let rendered = rendered.0.lock().unwrap();
    let of = |part: &str| -> Vec<f64> {
        let of_part = rendered.iter().filter(|(name, _)| name.contains(part));
        of_part.map(|(_, value)| *value).collect()
    };
    assert_eq!(of("defined").len(), 4);
    let epochs: Vec<f64> = (1..=N_EPOCHS).map(|epoch| epoch as f64).collect();
    assert_eq!(of("epoch"), epochs);
    assert_eq!(of("train MetricId { id: \"Loss\" }"), record.epoch_losses);
    assert_eq!(
        of("train MetricId { id: \"Learning Rate\" }"),
        record.learning_rates
    );
    // The evaluation at the end of an epoch comes after its report.
    let risks: Vec<f64> = record.evaluations.iter().map(|it| it.risk.all).collect();
    assert_eq!(
        of("valid MetricId { id: \"Exact risk\" }"),
        risks[..N_EPOCHS]
    );
    // Burn reads its log files.
    let summary = LearnerSummary::new(folder.path(), &["Loss", "Exact risk"]).unwrap();
    assert_eq!(summary.epochs, N_EPOCHS);
    let logged = |of: &[burn::train::MetricSummary]| -> Vec<f64> {
        of[0].entries.iter().map(|it| it.value).collect()
    };
    assert_eq!(logged(&summary.metrics.train), record.epoch_losses);
    assert_eq!(logged(&summary.metrics.valid), risks[..N_EPOCHS]);
}
