//! Runs that are stopped and resumed, against uninterrupted runs.

use std::cell::Cell;
use std::path::Path;

use crate::toy::{
    Linear, corrected, distillation, increment, info_nce, points, published, settings, start,
    timeless, train_by, train_on, trainer,
};
use burn::module::Param;
use burn::tensor::{Tensor, TensorData};
use icl_core::testing::{TestAutodiff, to_vec};
use icl_meta::RateChoice;
use icl_train::{
    Callbacks, Method, OptimizerChoice, Outcome, Sampling, StopRule, TrainError, TrainErrorKind,
    TrainingSettings, UpdateRule,
};

type Toy = Outcome<Linear<TestAutodiff>, TestAutodiff>;

/// Settings with enough epochs for the agents to learn, and few enough to be quick.
pub fn long() -> TrainingSettings {
    TrainingSettings {
        epochs: 30,
        average_decay: Some(0.9),
        ..settings()
    }
}

/// Resumes from the file, if it exists, and takes `n_steps` more steps.
pub fn go_on(
    path: &Path,
    method: &Method,
    settings: &TrainingSettings,
    seed: u64,
    n_steps: u64,
) -> Result<Toy, TrainError> {
    go_on_by(UpdateRule::default(), path, method, settings, seed, n_steps)
}

/// Resumes a run of another optimizer than the default, too.
fn go_on_by(
    rule: UpdateRule,
    path: &Path,
    method: &Method,
    settings: &TrainingSettings,
    seed: u64,
    n_steps: u64,
) -> Result<Toy, TrainError> {
    let (samples, increment) = (points(), increment());
    let taken = Cell::new(0);
    let mut watch = Callbacks::new().with_checkpoint(path).stop_when(|| {
        taken.set(taken.get() + 1);
        taken.get() >= n_steps
    });
    // As in a new process: the same encoder with other identities of its parameters.
    let start = Linear::new(1);
    let trainer = trainer(&samples, &increment, settings, seed).update_rule(rule);
    trainer.update_with(method, start, None, &mut watch)
}

fn methods() -> Vec<Method> {
    use OptimizerChoice::Plain;
    let order = OptimizerChoice::Meta(None);
    let choices = [
        (
            info_nce(Sampling::Widening(Some(0.2))),
            Plain,
            RateChoice::Fixed,
        ),
        (info_nce(Sampling::Buffer), Plain, RateChoice::Cosine),
        (info_nce(Sampling::All), Plain, RateChoice::WarmupCosine),
        (distillation(), Plain, RateChoice::Hypergradient),
        (corrected(), Plain, RateChoice::Learned),
        (corrected(), order, RateChoice::Learned),
        (corrected(), order, RateChoice::Hypergradient),
        (published(), Plain, RateChoice::LearnedAsPublished),
        (published(), order, RateChoice::LearnedAsPublished),
        (info_nce(Sampling::All), Plain, RateChoice::MetaDecay),
    ];
    let method = |(objective, optimizer, rate)| Method {
        optimizer,
        rate,
        ..objective
    };
    choices.map(method).to_vec()
}

#[test]
fn a_stopped_run_goes_on_as_if_it_had_not_been() {
    for method in methods() {
        let whole = train_on(&points(), &method, &long(), 4).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        // Stops within epochs and at their ends, before and after the agents begin to learn.
        let mut n_stops = 0;
        let resumed = loop {
            match go_on(&path, &method, &long(), 4, [1, 5, 6, 17, 11][n_stops % 5]) {
                Ok(outcome) => break outcome,
                Err(error) => match error.kind() {
                    TrainErrorKind::Interrupted { step } => assert!(step > 0),
                    _ => panic!("{error}"),
                },
            }
            n_stops += 1;
        };
        assert!(n_stops > 4, "{n_stops}");
        assert_eq!(
            timeless(resumed.record),
            timeless(whole.record),
            "{method:?}"
        );
        let weights = |outcome: &Linear<TestAutodiff>| to_vec(&outcome.weight.val());
        assert_eq!(weights(&resumed.trained), weights(&whole.trained));
        assert_eq!(
            to_vec(&resumed.encoder.weight.val()),
            to_vec(&whole.encoder.weight.val())
        );
        assert_eq!(resumed.parameter_change, whole.parameter_change);
        assert!(resumed.trained.weight.val().is_require_grad());
    }
}

/// Evaluations fall within epochs, and the encoder of the lowest risk is kept.
#[test]
fn a_run_that_ends_by_itself_goes_on_as_if_it_had_not_been_stopped() {
    for (stop, sampling, learning_rate) in [
        (StopRule::Doubling, Sampling::Widening(None), 0.02),
        (StopRule::Slope, Sampling::Widening(None), 0.02),
        // The risk over old data rises: the best encoder is an early one.
        (StopRule::Doubling, Sampling::New, 1.0),
    ] {
        let settings = TrainingSettings {
            stop,
            epochs: 1000,
            learning_rate,
            evaluate_every: None,
            ..long()
        };
        let method = info_nce(sampling);
        let whole = train_on(&points(), &method, &settings, 4).unwrap();
        assert!(
            whole.record.n_epochs() < 1000,
            "{:?}",
            whole.record.stopped_by
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let mut n_stops = 0;
        let resumed = loop {
            match go_on(&path, &method, &settings, 4, [32, 7, 40, 33][n_stops % 4]) {
                Ok(outcome) => break outcome,
                Err(error) => {
                    let kind = error.kind();
                    assert!(
                        matches!(kind, TrainErrorKind::Interrupted { .. }),
                        "{error}"
                    );
                    n_stops += 1;
                }
            }
        };
        assert!(n_stops > 2, "{n_stops}");
        let record = timeless(whole.record);
        assert_eq!(timeless(resumed.record), record, "{stop:?}");
        assert_eq!(
            to_vec(&resumed.trained.weight.val()),
            to_vec(&whole.trained.weight.val())
        );
        assert_eq!(resumed.risk, whole.risk);
        assert!(resumed.trained.weight.val().is_require_grad());
        if sampling != Sampling::New {
            continue;
        }
        // An interruption lies between the best encoder and the last.
        let best = record.best_evaluation.unwrap();
        let passes = |at: usize| record.evaluations[at].sample_passes;
        let last = record.evaluations.len() - 1;
        assert!(
            passes(last) - passes(best) > 40 * 2 * 16,
            "{best} of {last}"
        );
    }
}

#[test]
fn other_optimizers_go_on_as_adam_does() {
    for (optimizer, learning_rate) in [(UpdateRule::Sgd, 0.05), (UpdateRule::Lars, 20.0)] {
        let settings = TrainingSettings {
            learning_rate,
            ..long()
        };
        let method = corrected();
        let whole = train_by(optimizer, &points(), &method, &settings, 4).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let stopped = go_on_by(optimizer, &path, &method, &settings, 4, 8);
        let stopped = stopped.map(drop).unwrap_err().kind();
        assert_eq!(stopped, TrainErrorKind::Interrupted { step: 8 });
        let resumed = go_on_by(optimizer, &path, &method, &settings, 4, u64::MAX).unwrap();
        assert_eq!(timeless(resumed.record), timeless(whole.record));
        assert_eq!(
            to_vec(&resumed.trained.weight.val()),
            to_vec(&whole.trained.weight.val())
        );
        // The learning rates are large enough for the velocity to matter.
        assert!(whole.parameter_change > 0.1, "{optimizer:?}");
    }
}

#[test]
fn a_complete_run_is_not_run_again() {
    let method = corrected();
    // The result is the last average, or the encoder of the lowest risk.
    for stop in [StopRule::Never, StopRule::Doubling] {
        let settings = TrainingSettings { stop, ..long() };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let first = go_on(&path, &method, &settings, 4, u64::MAX).unwrap();
        // A run that trains would be interrupted at its first step.
        let again = go_on(&path, &method, &settings, 4, 1).unwrap();
        assert_eq!(timeless(first.record), timeless(again.record));
        assert_eq!(first.parameter_change, again.parameter_change);
        assert_eq!(
            to_vec(&first.encoder.weight.val()),
            to_vec(&again.encoder.weight.val())
        );
    }
}

#[test]
fn without_a_file_to_save_to_a_run_stops_all_the_same() {
    let (samples, increment, settings) = (points(), increment(), long());
    let mut watch = Callbacks::new().stop_when(|| true);
    let method = corrected();
    let stopped =
        trainer(&samples, &increment, &settings, 1).update_with(&method, start(), None, &mut watch);
    let stopped = stopped.map(drop).unwrap_err().kind();
    assert_eq!(stopped, TrainErrorKind::Interrupted { step: 1 });
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let method = corrected();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    assert!(go_on(&path, &method, &long(), 4, 3).is_err());
    let whole = std::fs::read(&path).unwrap();
    let refused = |method: &Method, settings: &TrainingSettings, seed| {
        let error = go_on(&path, method, settings, seed, u64::MAX).unwrap_err();
        assert_eq!(error.kind(), TrainErrorKind::Checkpoint, "{error}");
        assert!(
            error
                .found()
                .starts_with("a checkpoint of another run, whose "),
            "{error}"
        );
        // A checkpoint that is refused is not overwritten.
        assert_eq!(std::fs::read(&path).unwrap(), whole);
        error.to_string()
    };
    let other = TrainingSettings {
        learning_rate: 1e-4,
        ..long()
    };
    let error = refused(&method, &other, 4);
    assert!(
        error.contains("learning_rate is 0.003, expected 0.0001"),
        "{error}"
    );
    assert!(refused(&method, &long(), 5).contains("seed is 4, expected 5"));
    let published = published();
    assert!(refused(&published, &long(), 4).contains("method"));
}

#[test]
fn a_damaged_checkpoint_is_refused() {
    let method = &methods()[4];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    assert!(go_on(&path, method, &long(), 4, 100).is_err());
    let whole = std::fs::read(&path).unwrap();
    for length in (0..whole.len()).step_by(whole.len() / 60) {
        std::fs::write(&path, &whole[..length]).unwrap();
        let error = go_on(&path, method, &long(), 4, u64::MAX).unwrap_err();
        assert_eq!(error.kind(), TrainErrorKind::Checkpoint, "{error}");
        assert!(error.to_string().contains("found"), "{error}");
    }
}

/// A checkpoint with the state of another one, as its header says: its checksum is right.
fn with_state_of(whole: &[u8], other: &[u8]) -> Vec<u8> {
    let parts = |bytes: &[u8]| {
        let end = bytes.iter().position(|&byte| byte == b'\n').unwrap();
        (bytes[..end].to_vec(), bytes[end + 1..].to_vec())
    };
    let ((header, _), (_, state)) = (parts(whole), parts(other));
    let mut header: serde_json::Value = serde_json::from_slice(&header).unwrap();
    header["length"] = state.len().into();
    header["checksum"] = crc32fast::hash(&state).into();
    [header.to_string().into_bytes(), b"\n".to_vec(), state].concat()
}

/// An encoder of outputs of this width.
fn linear(width: usize) -> Linear<TestAutodiff> {
    let weight: Vec<f64> = (0..4 * width).map(|at| 0.1 + at as f64).collect();
    let weight = TensorData::new(weight, [4, width]);
    Linear {
        weight: Param::from_tensor(Tensor::from_data(weight, &Default::default())),
    }
}

/// Trains an encoder by Eq. 9 from the file, if it exists, for `n_steps` steps.
fn train_linear(
    rule: UpdateRule,
    path: &Path,
    width: usize,
    settings: &TrainingSettings,
    n_steps: u64,
) -> TrainError {
    let (samples, increment) = (points(), increment());
    let taken = Cell::new(0);
    let mut watch = Callbacks::new().with_checkpoint(path).stop_when(|| {
        taken.set(taken.get() + 1);
        taken.get() >= n_steps
    });
    let trainer = trainer(&samples, &increment, settings, 4).update_rule(rule);
    let trained = trainer.update_with(&corrected(), linear(width), None, &mut watch);
    trained.map(|_| ()).unwrap_err()
}

#[test]
fn a_state_that_does_not_fit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let state_by = |rule: UpdateRule, width: usize, settings: &TrainingSettings, n_steps: u64| {
        let path = folder.path().join("other");
        let error = train_linear(rule, &path, width, settings, n_steps);
        assert!(
            matches!(error.kind(), TrainErrorKind::Interrupted { .. }),
            "{error}"
        );
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        bytes
    };
    let state = |width: usize, settings: &TrainingSettings, n_steps: u64| {
        state_by(UpdateRule::Adam, width, settings, n_steps)
    };
    let by_lars = state_by(UpdateRule::Lars, 4, &long(), 3);
    let whole = state(4, &long(), 3);
    // The state of a run of its kind is taken.
    std::fs::write(&path, with_state_of(&whole, &state(4, &long(), 4))).unwrap();
    let error = train_linear(UpdateRule::Adam, &path, 4, &long(), 1);
    assert_eq!(
        error.kind(),
        TrainErrorKind::Interrupted { step: 5 },
        "{error}"
    );

    let other = |change: fn(&mut TrainingSettings)| {
        let mut settings = long();
        change(&mut settings);
        settings
    };
    let [longer, smaller] = [other(|it| it.epochs = 60), other(|it| it.batch_size = 4)];
    let kind = "found a state that does not fit the encoder, expected the state of this run";
    for (state, message) in [
        (
            state(5, &long(), 3),
            "found tensor weight with shape [4, 5] of F32 in 80 bytes in the state, expected shape [4, 4] of \
             F32 in 64 bytes",
        ),
        (by_lars, kind),
        (
            state(4, &longer, 200),
            "found a checkpoint of another run, whose number of epochs begun is 34, expected at most 30",
        ),
        (state(4, &smaller, 15), kind),
    ] {
        let crafted = with_state_of(&whole, &state);
        std::fs::write(&path, &crafted).unwrap();
        let error = train_linear(UpdateRule::Adam, &path, 4, &long(), 1);
        assert_eq!(error.kind(), TrainErrorKind::Checkpoint, "{error}");
        assert_eq!(error.to_string(), format!("{}: {message}", path.display()));
        assert_eq!(std::fs::read(&path).unwrap(), crafted);
    }
}
