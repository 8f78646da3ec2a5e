//! Members that differ, fail or stop.

use super::*;

#[test]
fn encoders_that_differ_are_told_apart() {
    let errors = at_all(3, |group| {
        let encoder = Linear::<TestAutodiff>::new(if group.rank() == 1 { 7 } else { 1 });
        train(group, &corrected(), &settings(), encoder).map(drop)
    });
    for error in errors {
        let error = error.unwrap_err();
        assert_eq!(error.kind(), TrainErrorKind::Group, "{error:?}");
        let found = error.found();
        assert!(
            found.starts_with("first encoder ") && found.ends_with(" at member 1"),
            "{error:?}"
        );
    }
}

/// Points of which one cannot be read.
pub struct Unreadable(pub Vec<[f32; 4]>);

impl Samples for Unreadable {
    type Sample = [f32; 4];

    fn n_samples(&self) -> usize {
        self.0.len()
    }

    fn sample(&self, index: usize) -> Result<std::borrow::Cow<'_, [f32; 4]>, SampleError> {
        match index {
            77 => Err("the file is gone".into()),
            _ => self.0.sample(index),
        }
    }
}

/// The member that has the sample says so, and the others do not wait for it.
#[test]
fn an_error_of_one_member_ends_all() {
    let increment = increment();
    let errors = at_all(3, |group| {
        let samples = Unreadable(points());
        let trainer = trainer(&samples, &increment, &settings(), 4).group(group);
        trainer.update(&corrected(), start()).map(drop).unwrap_err()
    });
    let is_own = |error: &TrainError| error.kind() == TrainErrorKind::Sample;
    let is_left = |error: &TrainError| error.kind() == TrainErrorKind::Left;
    assert!(errors.iter().any(is_own), "{errors:?}");
    assert!(
        errors.iter().all(|error| is_own(error) || is_left(error)),
        "{errors:?}"
    );
}

/// Takes `n_steps` steps at each member, or all that are left, from the checkpoint if there is one. Only the member
/// `stopping` asks to stop.
fn go_on(
    size: usize,
    chunk: Option<usize>,
    path: &Path,
    (stopping, n_steps): (usize, u64),
) -> Vec<Result<Outcome<Linear<TestAutodiff>, TestAutodiff>, TrainError>> {
    let settings = TrainingSettings {
        chunk,
        ..settings()
    };
    at_all(size, |group| {
        let (samples, increment) = (points(), increment());
        let taken = Cell::new(0);
        // Members have no files in common.
        let path = path.join(group.rank().to_string());
        let mut watch = Callbacks::new().with_checkpoint(path).stop_when(|| {
            taken.set(taken.get() + 1);
            group.rank() == stopping && taken.get() >= n_steps
        });
        let trainer = trainer(&samples, &increment, &settings, 4).group(group);
        trainer.update_with(&corrected(), Linear::new(1), None, &mut watch)
    })
}

#[test]
fn all_members_stop_at_one_step_and_go_on_as_if_they_had_not() {
    let undisturbed = train(&Alone, &corrected(), &chunked(&settings(), 8), start()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (stopping, step) in [(1, 7), (0, 20)] {
        let n_steps = if stopping == 1 { 7 } else { 13 };
        for outcome in go_on(2, None, folder.path(), (stopping, n_steps)) {
            let found = outcome.map(drop).unwrap_err();
            assert_eq!(
                found.kind(),
                TrainErrorKind::Interrupted { step },
                "{found}"
            );
        }
        let files = folder.path().read_dir().unwrap();
        let names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
        assert_eq!(names, ["0"], "the first member writes");
    }
    // One process with as many shards is the same run; one with whole batches is not.
    let copy = tempfile::tempdir().unwrap();
    std::fs::copy(folder.path().join("0"), copy.path().join("0")).unwrap();
    let other = go_on(1, None, copy.path(), (0, u64::MAX)).remove(0);
    let error = other.map(drop).unwrap_err();
    assert_eq!(error.kind(), TrainErrorKind::Checkpoint, "{error}");
    let found = "a checkpoint of another run, whose shards of a batch is 2";
    assert_eq!([error.found(), error.expected()], [found, "1"]);
    let alone = go_on(1, Some(8), copy.path(), (0, u64::MAX))
        .remove(0)
        .unwrap();
    let together = go_on(2, None, folder.path(), (0, u64::MAX));
    for outcome in together.into_iter().map(Result::unwrap).chain([alone]) {
        let [found, expected] = [&outcome, &undisturbed].map(|of| to_vec(&of.trained.weight.val()));
        assert_close(&found, &expected, 1e-4);
        assert_eq!(outcome.record.n_steps, undisturbed.record.n_steps);
    }
}
