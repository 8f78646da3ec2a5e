//! Errors of the trainer, and encoders and samples that are not as it expects them.

use std::borrow::Cow;

use crate::toy::{corrected, increment, points, settings, start, train_by, train_on, trainer};
use burn::module::Module;
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;
use icl_core::{Encoder, Mode, SampleError, Samples};
use icl_train::{Budget, TrainErrorKind, TrainingSettings, UpdateRule};

#[test]
fn a_loss_that_is_not_finite_names_step_and_seed() {
    let mut samples = points();
    samples[70][2] = f32::NAN;
    // The evaluation before the first step finds it.
    let error = train_on(&samples, &corrected(), &settings(), 8).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("step 0") && text.contains("seed 8") && text.contains("NaN"),
        "{text}"
    );

    let settings = TrainingSettings {
        learning_rate: 1e60,
        ..settings()
    };
    let error = train_by(UpdateRule::Sgd, &points(), &corrected(), &settings, 8).unwrap_err();
    assert!(
        matches!(error.kind(), TrainErrorKind::NonFinite { step: 1.., .. })
            && error.to_string().contains(", seed 8)"),
        "{error}"
    );
}

#[test]
fn an_encoder_without_parameters_to_train_is_an_error() {
    let increment = increment();
    let samples = points();
    let settings = settings();
    let trainer = trainer(&samples, &increment, &settings, 1);
    let frozen = start().no_grad();
    let error = trainer.update(&corrected(), frozen);
    let error = error.map(drop).unwrap_err();
    assert_eq!(error.kind(), TrainErrorKind::Failed);
    assert_eq!(error.found(), "no parameter on which the loss depends");
}

#[derive(Module, Debug)]
struct Lazy<B: Backend> {
    layer: burn::nn::Linear<B>,
}

impl<B: Backend> Encoder<B> for Lazy<B> {
    type Batch = Tensor<B, 2>;

    fn encode(&self, batch: Tensor<B, 2>, _mode: Mode<'_>) -> Tensor<B, 2> {
        self.layer.forward(batch)
    }
}

/// Burn draws the parameters of its own layers at their first use, and each clone draws others. Without
/// care the average would start from other parameters than the encoder.
#[test]
fn lazily_drawn_parameters_are_drawn_once() {
    let (increment, samples) = (increment(), points());
    let settings = TrainingSettings {
        learning_rate: 1e-30,
        average_decay: Some(0.9),
        ..settings()
    };
    let trainer = trainer(&samples, &increment, &settings, 1);
    let encoder = Lazy {
        layer: burn::nn::LinearConfig::new(4, 4).init(&Default::default()),
    };
    let outcome = trainer.update(&corrected(), encoder).unwrap();
    let risks: Vec<f64> = outcome
        .record
        .evaluations
        .iter()
        .map(|e| e.risk.all)
        .collect();
    assert!(risks.iter().all(|risk| *risk == risks[0]), "{risks:?}");
}

struct Torn(Vec<[f32; 4]>);

impl Samples for Torn {
    type Sample = [f32; 4];

    fn n_samples(&self) -> usize {
        self.0.len()
    }

    fn sample(&self, index: usize) -> Result<Cow<'_, [f32; 4]>, SampleError> {
        if index == 77 {
            return Err("record 77 is torn".into());
        }
        Ok(Cow::Borrowed(&self.0[index]))
    }
}

#[test]
fn an_unreadable_sample_is_an_error() {
    let error = train_on(&Torn(points()), &corrected(), &settings(), 1).unwrap_err();
    assert_eq!(error.to_string(), "a sample could not be read");
    let cause = std::error::Error::source(&error).expect("a cause");
    assert_eq!(cause.to_string(), "record 77 is torn");
}

#[test]
fn an_increment_beyond_the_data_is_an_error() {
    let mut samples = points();
    samples.truncate(80);
    let error = train_on(&samples, &corrected(), &settings(), 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the increment: found sample 80, expected an index below 80"
    );
}

#[test]
fn wrong_settings_are_rejected() {
    let check = |change: fn(&mut TrainingSettings)| {
        let mut settings = settings();
        change(&mut settings);
        train_on(&points(), &corrected(), &settings, 1)
            .unwrap_err()
            .to_string()
    };
    assert!(check(|s| s.temperature = 0.0).starts_with("temperature: found 0"));
    assert!(check(|s| s.negatives = -1.0).starts_with("negatives: found -1"));
    assert!(check(|s| s.learning_rate = f64::NAN).starts_with("learning_rate: found NaN"));
    assert!(check(|s| s.batch_size = 3).starts_with("batch_size: found 3"));
    assert!(check(|s| s.epochs = 0).starts_with("epochs: found 0"));
    assert!(check(|s| s.evaluate_every = Some(0)).starts_with("evaluate_every: found 0"));
    assert!(check(|s| s.average_decay = Some(1.0)).starts_with("average_decay: found 1"));
    assert!(check(|s| s.budget = Some(Budget::Passes(0.0))).starts_with("budget: found 0"));
    let share = |s: &mut TrainingSettings| {
        s.budget = Some(Budget::OfRetraining {
            share: f64::NAN,
            passes_per_sample: 60.0,
        });
    };
    assert!(check(share).starts_with("budget.share: found NaN"));
    assert!(check(|s| s.clip_norm = Some(0.0)).starts_with("clip_norm: found 0"));
    assert!(check(|s| s.weight_decay = Some(-0.1)).starts_with("weight_decay: found -0.1"));
}
