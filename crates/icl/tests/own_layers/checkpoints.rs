//! A checkpoint belongs to its data and its views.

use icl::train::{Callbacks, TrainError, TrainErrorKind};

use super::*;

/// Trains to the end with a checkpoint.
fn run(
    path: &std::path::Path,
    samples: &Vec<[f32; 4]>,
    views: impl Views<Sample = [f32; 4], View = [f32; 4]>,
    method: Option<&Method>,
) -> Result<f64, TrainError> {
    let increment = increment();
    let trainer = Trainer::<B, _, _, _>::new(samples, views, Stack, &increment);
    let trainer = trainer.settings(settings());
    let mut callbacks = Callbacks::new().with_checkpoint(path);
    let encoder = Stock::new(0.0);
    match method {
        None => trainer
            .pretrain_with(encoder, &mut callbacks)
            .map(|it| it.risk),
        Some(method) => {
            let outcome = trainer.update_with(method, encoder, None, &mut callbacks);
            outcome.map(|it| it.risk.all)
        }
    }
}

#[test]
fn a_finished_run_is_not_returned_for_other_data_or_views() {
    let (icl, folder) = (Method::icl(), tempfile::tempdir().unwrap());
    for (at, method) in [None, Some(&icl)].into_iter().enumerate() {
        let path = folder.path().join(at.to_string());
        let mine = points(1);
        let first = run(&path, &mine, jitter(0.3), method).unwrap();
        let saved = std::fs::read(&path).unwrap();
        // The same run is returned.
        assert_eq!(run(&path, &mine, jitter(0.3), method).unwrap(), first);
        let mut one_differs = mine.clone();
        one_differs[7][2] += 0.5;
        for found in [
            run(&path, &points(2), jitter(0.3), method),
            run(&path, &one_differs, jitter(0.3), method),
            run(&path, &mine, jitter(0.4), method),
            run(&path, &mine, jitter(0.0), method),
        ] {
            let error = found.unwrap_err();
            assert_eq!(error.kind(), TrainErrorKind::Checkpoint, "{error}");
            let found = "a checkpoint of another run, whose risk of the first encoder on its samples and views is ";
            assert!(error.found().starts_with(found), "{error}");
        }
        assert_eq!(std::fs::read(&path).unwrap(), saved);
    }
}

#[test]
fn an_interrupted_run_is_not_continued_on_other_data() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let go_on = |samples: &Vec<[f32; 4]>, stops: bool| {
        let increment = increment();
        let mut callbacks = Callbacks::new().with_checkpoint(&path).stop_when(|| stops);
        let trainer = trainer(samples, &increment);
        let outcome = trainer.pretrain_with(Stock::new(0.0), &mut callbacks);
        outcome.map(|it| it.record.n_epochs())
    };
    let stopped = go_on(&points(1), true);
    let stopped = stopped.unwrap_err().kind();
    assert_eq!(stopped, TrainErrorKind::Interrupted { step: 1 });
    let refused = go_on(&points(2), false).unwrap_err().to_string();
    assert!(refused.contains("risk of the first encoder"), "{refused}");
    assert_eq!(go_on(&points(1), false).unwrap(), 4);
}
