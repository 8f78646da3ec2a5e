//! The encoders from which methods start.

use icl_core::testing::{TestAutodiff, to_vec};
use icl_train::{Callbacks, Method, Outcome, TrainErrorKind, TrainingSettings};

use crate::toy::{Linear, increment, points, settings, trainer};

type Toy = Linear<TestAutodiff>;

fn weight(encoder: &Toy) -> Vec<f64> {
    to_vec(&encoder.weight.val())
}

/// Trains by a method of this start from encoder 1, with encoder 2 as the fresh one.
fn run(start: &str, settings: &TrainingSettings) -> Outcome<Toy, TestAutodiff> {
    let (samples, increment) = (points(), increment());
    let trainer = trainer(&samples, &increment, settings, 3);
    let method: Method = format!("start={start},sampling=new").parse().unwrap();
    let (old, fresh) = (Toy::new(1), Toy::new(2));
    let outcome = trainer.update_with(&method, old, Some(fresh), &mut Callbacks::new());
    outcome.unwrap()
}

#[test]
fn starts_are_what_they_say() {
    // Steps too small to move the parameters: the result is the start.
    let still = TrainingSettings {
        learning_rate: 1e-30,
        ..settings()
    };
    let (old, new) = (Toy::new(1), Toy::new(2));
    let of = |start| weight(&run(start, &still).trained);
    assert_eq!(of("trained"), weight(&old));
    assert_eq!(of("scratch"), weight(&new));
    assert_eq!(of("shrink-perturb:1:0"), weight(&old));
    for (text, keep, share) in [
        ("shrink-perturb", 0.4, 0.1),
        ("shrink-perturb:0.5:0.25", 0.5, 0.25),
    ] {
        for ((found, old), new) in of(text).iter().zip(weight(&old)).zip(weight(&new)) {
            assert!((found - (keep * old + share * new)).abs() < 1e-6);
        }
        // What was blended is trained.
        assert!(run(text, &settings()).parameter_change > 1e-3);
    }
}

#[test]
fn a_start_without_its_encoder_is_an_error() {
    let (samples, increment, settings) = (points(), increment(), settings());
    let trainer = trainer(&samples, &increment, &settings, 3);
    for start in ["scratch", "shrink-perturb:0.4:0.1"] {
        let method: Method = format!("start={start},sampling=new").parse().unwrap();
        let error = trainer.update(&method, Toy::new(1)).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "start: found {start} without a fresh encoder, expected one: pass it to Trainer::update_with as `fresh`"
            )
        );
        assert_eq!(error.kind(), TrainErrorKind::Invalid);
    }
}
