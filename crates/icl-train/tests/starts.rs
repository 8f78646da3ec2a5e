//! The encoders from which methods start.

use std::cell::Cell;

use icl_core::testing::{TestAutodiff, to_vec};
use icl_train::{Method, Start, TrainError};

use crate::toy::{Linear, increment, points, settings, trainer};

type Toy = Linear<TestAutodiff>;

fn weight(encoder: &Toy) -> Vec<f64> {
    to_vec(&encoder.weight.val())
}

#[test]
fn starts_are_what_they_say() {
    let (old, new) = (Toy::new(1), Toy::new(2));
    let calls = Cell::new(0);
    let start = |start: &str| {
        let fresh = || {
            calls.set(calls.get() + 1);
            Ok::<_, TrainError>(new.clone())
        };
        let start: Start = start.parse().unwrap();
        let encoder = start.encoder::<TestAutodiff, _, _>(old.clone(), fresh);
        encoder.unwrap()
    };
    assert_eq!(weight(&start("trained")), weight(&old));
    assert_eq!(calls.get(), 0);
    assert_eq!(weight(&start("scratch")), weight(&new));
    assert_eq!(weight(&start("shrink-perturb:1:0")), weight(&old));
    for (text, keep, share) in [
        ("shrink-perturb", 0.4, 0.1),
        ("shrink-perturb:0.5:0.25", 0.5, 0.25),
    ] {
        let found = weight(&start(text));
        for ((found, old), new) in found.iter().zip(weight(&old)).zip(weight(&new)) {
            assert!((found - (keep * old + share * new)).abs() < 1e-6);
        }
    }
    assert_eq!(calls.get(), 4);
    // What was blended is trained.
    let (samples, increment) = (points(), increment());
    let trainer = trainer(&samples, &increment, &settings(), 3);
    let method: Method = "start=shrink-perturb,sampling=new".parse().unwrap();
    let outcome = trainer.update(&method, start("shrink-perturb")).unwrap();
    assert_ne!(weight(&start("shrink-perturb")), weight(&outcome.trained));
    let failing = || Err(TrainError::NothingNew);
    let error = Start::Scratch.encoder::<TestAutodiff, _, _>(old.clone(), failing);
    assert!(matches!(error, Err(TrainError::NothingNew)));
}
