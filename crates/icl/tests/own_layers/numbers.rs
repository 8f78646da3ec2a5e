//! Numbers that are of no use: an error or a warning, never a silent result.

use burn::module::AutodiffModule;
use icl::train::{TrainError, TrainErrorKind, UpdateRule};

use super::*;

/// An encoder that returns its layer's output times a number.
#[derive(Module, Debug)]
struct Scaled<B: Backend> {
    layer: Linear<B>,
    factor: f64,
}

impl<B: Backend> Scaled<B> {
    fn new(factor: f64) -> Self {
        Self {
            layer: LinearConfig::new(4, 4).init(&Default::default()),
            factor,
        }
    }
}

impl<B: Backend> Encoder<B> for Scaled<B> {
    type Batch = Tensor<B, 2>;

    fn encode(&self, batch: Tensor<B, 2>, _mode: Mode<'_>) -> Tensor<B, 2> {
        self.layer.forward(batch) * self.factor
    }
}

#[test]
fn embeddings_that_tell_nothing_apart_are_an_error() {
    let (samples, increment) = (points(1), increment());
    let trainer = trainer(&samples, &increment).seed(8);
    let zero = || Scaled::<B>::new(0.0);
    let expected = |n| {
        format!(
            "the embeddings of all {n} samples are zero at step 0 (epoch 0, seed 8), expected different directions: check \
             the encoder, its input and the learning rate"
        )
    };
    let text = |error: TrainError| error.to_string();
    assert_eq!(text(trainer.pretrain(zero()).unwrap_err()), expected(60));
    assert_eq!(
        text(trainer.update(&Method::icl(), zero()).unwrap_err()),
        expected(90)
    );
    let inference = Method::named("inference").unwrap();
    assert_eq!(
        text(trainer.update(&inference, zero()).unwrap_err()),
        expected(90)
    );
    let evaluated = trainer.evaluator().evaluate(zero().valid());
    assert_eq!(text(evaluated.unwrap_err()), expected(90));

    // One direction for all: the bias alone is left.
    let mut same = Scaled::<B>::new(1.0);
    same.layer.weight = same.layer.weight.map(|weight| {
        let zeros = weight.inner() * 0.0;
        Tensor::from_inner(zeros).require_grad()
    });
    let found = text(trainer.pretrain(same).unwrap_err());
    assert!(
        found.contains("of all 60 samples are the same at step 0"),
        "{found}"
    );
}

/// Updates by several methods with a learning rate that is too high, each of which must say so.
fn check_rate(rule: UpdateRule, settings: TrainingSettings) {
    let (samples, increment) = (points(1), increment());
    let trainer = trainer(&samples, &increment)
        .settings(settings.clone())
        .update_rule(rule);
    for method in ["warm", "icl", "distillation", "icl-published"] {
        let method = Method::named(method).unwrap();
        let case = format!("{method}, {settings:?}");
        match trainer.update(&method, Stock::new(0.0)) {
            Err(error) => match error.kind() {
                TrainErrorKind::NonFinite { step, .. } | TrainErrorKind::Collapsed { step } => {
                    assert!(step > 0, "{case}");
                    assert!(error.to_string().contains(", seed 0)"), "{case}: {error}");
                }
                _ => panic!("{case}: {error}"),
            },
            Ok(outcome) => {
                let warnings = &outcome.record.warnings;
                let reports = |it: &String| it.contains("the learning rate is too high");
                assert!(warnings.iter().any(reports), "{case}: {warnings:?}");
            }
        }
    }
}

#[test]
fn a_learning_rate_that_is_too_high_is_reported() {
    let (samples, increment) = (points(1), increment());
    for optimizer in [UpdateRule::Adam, UpdateRule::Sgd, UpdateRule::Lars] {
        // Under a rule that follows the risk, the result is the encoder before the first step.
        for stop in [StopRule::Never, StopRule::Doubling] {
            for learning_rate in [1e6, 1e30, 1e38, 1e60] {
                check_rate(
                    optimizer,
                    TrainingSettings {
                        stop,
                        learning_rate,
                        ..settings()
                    },
                );
            }
        }
    }
    // A good rate is not warned of.
    let good = trainer(&samples, &increment).update(&Method::icl(), Stock::new(0.0));
    assert!(good.unwrap().record.warnings.is_empty());
}

#[test]
fn a_nan_names_step_seed_and_the_first_bad_sample() {
    let increment = increment();
    let sample_of = |at: &[usize], encoder: Stock<B>| {
        let mut samples = points(1);
        for &at in at {
            samples[at][2] = f32::NAN;
        }
        let trainer = trainer(&samples, &increment).seed(8);
        let text = trainer
            .update(&Method::icl(), encoder)
            .unwrap_err()
            .to_string();
        assert!(
            text.contains(" is NaN at step 0 (epoch 0, seed 8), expected a finite number"),
            "{text}"
        );
        text
    };
    let named = |text: &str, sample: usize| {
        let expected = format!("; sample {sample} is the first whose embedding is not finite");
        assert!(text.ends_with(&expected), "{text}");
    };
    // One sample makes the statistics of all NaN, and only its own embedding by the given ones.
    named(&sample_of(&[70], Stock::new(0.0)), 70);
    named(&sample_of(&[81, 12, 33], Stock::new(0.0)), 12);
    let all: Vec<usize> = (0..90).collect();
    let text = sample_of(&all, Stock::new(0.0));
    assert!(text.ends_with("expected a finite number"), "{text}");

    // Of a sample that evaluations do not see, the step with it tells.
    let mut samples = points(1);
    samples[70][2] = f32::NAN;
    for chunk in [None, Some(8)] {
        let settings = TrainingSettings {
            monitor_samples: 4,
            evaluation_samples: 4,
            chunk,
            ..settings()
        };
        let trainer = trainer(&samples, &increment).settings(settings).seed(8);
        for method in ["warm", "fine-tuning", "distillation"] {
            let method = Method::named(method).unwrap();
            let error = trainer.update(&method, Stock::new(0.0)).unwrap_err();
            let TrainErrorKind::NonFinite { step, sample } = error.kind() else {
                panic!("{error}");
            };
            let text = error.to_string();
            assert!(text.starts_with("the training loss is ") && text.contains(", seed 8)"));
            assert_eq!(sample, Some(70));
            assert!(step > 0);
        }
    }
}

#[test]
fn held_out_samples_with_a_nan_are_an_error() {
    let (mut samples, increment) = (points(1), increment());
    samples[71][0] = f32::NAN;
    let trainer = trainer(&samples, &increment).seed(8);
    let held_out = Increment::try_new((0..10).collect(), (65..80).collect()).unwrap();
    let found = trainer
        .evaluator()
        .held_out_risk(&Stock::<B>::new(0.0).valid(), &held_out);
    assert_eq!(
        found.unwrap_err().to_string(),
        "the held-out risk is NaN at step 0 (epoch 0, seed 8), expected a finite number; sample 71 is the first \
         whose embedding is not finite"
    );
}
