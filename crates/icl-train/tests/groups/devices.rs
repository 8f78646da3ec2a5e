//! Several devices of one process, whose members the trainer starts itself.

use super::failures::Unreadable;
use super::*;

/// So many devices. All of them are the processor's.
fn devices<D: Default>(n: usize) -> Vec<D> {
    (0..n).map(|_| D::default()).collect()
}

#[test]
fn devices_give_what_members_give() {
    let (samples, increment) = (points(), increment());
    for (method, settings) in [
        (corrected(), settings()),
        (distillation(), chunked(&settings(), 4)),
    ] {
        let members = at_all(3, |group| {
            weight(&train(group, &method, &settings, precise(DType::F64)))
        });
        let trainer = trainer(&samples, &increment, &settings, 4).devices(devices(3));
        let given = precise(DType::F64);
        let before = to_vec(&given.weight.val());
        let outcome = trainer.update(&method, given.clone());
        assert_eq!(weight(&outcome), members[0], "{method}");
        assert_eq!(
            to_vec(&given.weight.val()),
            before,
            "the caller keeps its encoder"
        );
    }
}

#[test]
fn first_encoders_and_fresh_ones_are_trained_on_devices() {
    let (samples, increment) = (points(), increment());
    let method = Method::named("retraining").unwrap();
    let of = |n: usize, group: &dyn Group| {
        let settings = settings();
        let trainer = trainer(&samples, &increment, &settings, 4).group(group);
        let trainer = trainer.devices(devices(n));
        let first = trainer.pretrain(Linear::<TestAutodiff>::new(1)).unwrap();
        let fresh = Some(Linear::new(2));
        let none = &mut Callbacks::new();
        let updated = trainer.update_with(&method, first.trained.clone(), fresh, none);
        [first.trained, updated.unwrap().trained].map(|it| to_vec(&it.weight.val()))
    };
    assert_eq!(of(2, &Alone), at_all(2, |group| of(1, group))[0]);
    // A trainer of a group uses its first device alone.
    assert_eq!(at_all(2, |group| of(3, group))[0], of(2, &Alone));
}

#[test]
fn an_error_on_any_device_ends_the_run() {
    let (samples, increment, settings) = (Unreadable(points()), increment(), settings());
    let trainer = trainer(&samples, &increment, &settings, 4).devices(devices(3));
    let error = trainer.update(&corrected(), start()).map(drop).unwrap_err();
    assert_eq!(error.kind(), TrainErrorKind::Sample, "{error:?}");
}

#[test]
fn devices_stop_and_resume_together() {
    let (samples, increment, settings) = (points(), increment(), settings());
    let folder = tempfile::tempdir().unwrap();
    let run = |n_steps: u64| {
        let taken = Cell::new(0);
        let mut callbacks = Callbacks::new()
            .with_checkpoint(folder.path().join("run"))
            .stop_when(|| {
                taken.set(taken.get() + 1);
                taken.get() >= n_steps
            });
        let trainer = trainer(&samples, &increment, &settings, 4).devices(devices(2));
        let outcome = trainer.update_with(&corrected(), Linear::new(1), None, &mut callbacks);
        outcome.map(|it| to_vec(&it.trained.weight.val()))
    };
    let error = run(7).unwrap_err();
    assert_eq!(
        error.kind(),
        TrainErrorKind::Interrupted { step: 7 },
        "{error}"
    );
    let resumed = run(u64::MAX).unwrap();
    let trainer = trainer(&samples, &increment, &settings, 4).devices(devices(2));
    let undisturbed = trainer
        .update(&corrected(), Linear::<TestAutodiff>::new(1))
        .unwrap();
    assert_eq!(resumed, to_vec(&undisturbed.trained.weight.val()));
}

#[test]
#[should_panic(expected = "found no device")]
fn there_is_a_device() {
    let (samples, increment, settings) = (points(), increment(), settings());
    let _ = trainer(&samples, &increment, &settings, 4).devices(devices(0));
}
