//! Runs that decide by validation samples when to stop.

use crate::toy::Linear;
use crate::toy::{info_nce, points, settings, trainer};
use icl_core::Increment;
use icl_train::{
    Callbacks, Method, Sampling, StopRule, StoppedBy, TrainErrorKind, TrainingSettings,
};

fn of(old: std::ops::Range<usize>, new: std::ops::Range<usize>) -> Increment {
    Increment::try_new(old.collect(), new.collect()).unwrap()
}

/// Few samples, to which an encoder overfits.
fn few() -> Increment {
    of(0..8, 60..66)
}

fn overfitting() -> TrainingSettings {
    TrainingSettings {
        epochs: 200,
        learning_rate: 0.03,
        stop: StopRule::ExactRisk,
        patience: 10,
        ..settings()
    }
}

fn method() -> Method {
    info_nce(Sampling::All)
}

#[test]
fn the_encoder_of_the_lowest_validation_risk_is_returned() {
    let (samples, trained, validation) = (points(), few(), of(20..60, 70..90));
    let trainer = trainer(&samples, &trained, &overfitting(), 3).validation(&validation);
    let outcome = trainer.update(&method(), Linear::new(3)).unwrap();
    let record = &outcome.record;
    assert_eq!(record.stopped_by, Some(StoppedBy::ExactRisk));
    let best = record.best_evaluation.unwrap();
    assert_eq!(best + 1 + 10, record.evaluations.len());
    // The risk on training samples still falls there.
    let evaluator = trainer.evaluator();
    let found = evaluator
        .held_out_risk(&outcome.encoder, &validation)
        .unwrap()
        .mean;
    let recorded = record.evaluations[best].risk;
    for (found, recorded) in [(found.old, recorded.old), (found.new, recorded.new)] {
        assert!((found - recorded).abs() < 1e-5, "{found} {recorded}");
    }
    let balanced =
        |at: usize| (record.evaluations[at].risk.old + record.evaluations[at].risk.new) / 2.0;
    assert!((0..record.evaluations.len()).all(|at| balanced(at) >= balanced(best)));
    // Training samples would have ended it later, with another encoder.
    let own = crate::toy::trainer(&samples, &trained, &overfitting(), 3);
    let own = own.update(&method(), Linear::new(3)).unwrap();
    assert!(own.record.n_epochs() > record.n_epochs());
    let worse = evaluator
        .held_out_risk(&own.encoder, &validation)
        .unwrap()
        .mean;
    assert!(worse.old + worse.new > found.old + found.new);
    assert!(own.risk.all < outcome.risk.all);
}

/// The first training looks at the old ones alone.
#[test]
fn the_first_training_has_old_validation_samples() {
    let (samples, trained) = (points(), few());
    let risks = [of(20..60, 70..90), of(20..60, 80..82)].map(|validation| {
        let trainer = trainer(&samples, &trained, &overfitting(), 3).validation(&validation);
        trainer.pretrain(Linear::new(3)).unwrap().record
    });
    assert_eq!(risks[0].best_evaluation, risks[1].best_evaluation);
    assert!(risks[0].best_evaluation < Some(risks[0].evaluations.len() - 1));
    let of = |at: usize| -> Vec<f64> { risks[at].evaluations.iter().map(|it| it.risk).collect() };
    assert_eq!(of(0), of(1));
}

#[test]
fn samples_that_cannot_validate_are_refused() {
    let (samples, trained) = (points(), few());
    for (validation, expected) in [
        (
            of(7..20, 70..90),
            "found training sample 7, expected samples that are not trained on",
        ),
        (
            of(20..60, 85..91),
            "found sample 90, expected an index below 90",
        ),
        (
            Increment::before((20..60).collect()).unwrap(),
            "found 0 new samples, expected at least 2",
        ),
    ] {
        let trainer = trainer(&samples, &trained, &settings(), 3).validation(&validation);
        let error = trainer
            .update(&method(), Linear::new(3))
            .map(drop)
            .unwrap_err();
        assert_eq!(error.kind(), TrainErrorKind::Failed);
        let expected = format!("the validation samples: {expected}");
        assert_eq!(error.to_string(), expected);
    }
}

/// A checkpoint belongs to runs with the same validation samples.
#[test]
fn a_run_resumes_with_its_validation_samples() {
    let (samples, trained, folder) = (points(), few(), tempfile::tempdir().unwrap());
    let path = folder.path().join("run");
    let run = |validation: Option<&Increment>| {
        let mut trainer = trainer(&samples, &trained, &settings(), 3);
        if let Some(validation) = validation {
            trainer = trainer.validation(validation);
        }
        let mut callbacks = Callbacks::new().with_checkpoint(&path);
        let outcome = trainer.update_with(&method(), Linear::new(3), None, &mut callbacks);
        outcome
            .map(|it| it.record.evaluations)
            .map_err(|error| error.to_string())
    };
    let [first, other] = [of(20..60, 70..90), of(20..60, 70..89)];
    let evaluations = run(Some(&first)).unwrap();
    assert_eq!(run(Some(&first)).unwrap(), evaluations);
    for validation in [Some(&other), None] {
        let error = run(validation).unwrap_err();
        assert!(error.contains("validation samples"), "{error}");
    }
}
