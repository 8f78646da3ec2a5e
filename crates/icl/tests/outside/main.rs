//! The crate of a user, run as a part of these tests. `cargo xtask outside` builds it outside of the workspace.

#[rustfmt::skip]
mod user;

use burn::backend::{Autodiff, Flex};
use burn::module::Module;
use burn::record::{FullPrecisionSettings, NamedMpkFileRecorder};
use burn::tensor::backend::Backend;
use burn::train::logger::FileMetricLogger;
use burn_store::{ModuleSnapshot, SafetensorsStore};
use icl::train::{EpochMetrics, TrainError, TrainErrorKind};
use user::{Cnn, run};

type B = Autodiff<Flex>;

fn values<B: Backend>(encoder: &Cnn<B>) -> Vec<Vec<f32>> {
    let parameters = encoder.collect(None, None, false);
    let values = parameters.iter().map(|it| it.to_data().expect("values"));
    values
        .map(|it| it.to_vec().expect("single precision"))
        .collect()
}

/// The crate fits on a page.
#[test]
fn it_has_at_most_110_lines() {
    let n_lines = include_str!("user.rs").lines().count();
    assert!(n_lines <= 110, "{n_lines}");
}

#[test]
fn it_updates_resumes_and_saves() {
    let whole = tempfile::tempdir().unwrap();
    let log = EpochMetrics::new().with_logger(FileMetricLogger::new(whole.path().join("log")));
    let (risks, accuracies, encoder) = run::<B>(whole.path(), u32::MAX, log).unwrap();
    let [before, after] = risks;
    let error = before.standard_error.new.max(after.standard_error.new);
    assert!(
        after.mean.new < before.mean.new - 2.0 * error,
        "{before:?} {after:?}"
    );
    for measured in &accuracies {
        let mean = measured.accuracy.all.as_ref().unwrap().mean;
        let floor = measured.floors.all.majority;
        assert!(mean > floor + 0.2, "{measured:?}");
    }
    assert!(whole.path().join("log/valid").is_dir());

    // A run that is ended within, and begun again, is the same.
    let parts = tempfile::tempdir().unwrap();
    let ended = run::<B>(parts.path(), 20, EpochMetrics::new())
        .map(drop)
        .unwrap_err();
    let ended = ended.downcast::<TrainError>().unwrap();
    assert!(
        matches!(ended.kind(), TrainErrorKind::Interrupted { .. }),
        "{ended}"
    );
    let (risks_of_parts, _, resumed) =
        run::<B>(parts.path(), u32::MAX, EpochMetrics::new()).unwrap();
    assert_eq!(values(&resumed), values(&encoder));
    assert_eq!(risks_of_parts, risks);

    // Both files hold the encoder.
    let fresh = || Cnn::<Flex>::new(&Default::default());
    let recorder = NamedMpkFileRecorder::<FullPrecisionSettings>::new();
    let read = fresh().load_file(whole.path().join("today"), &recorder, &Default::default());
    assert_eq!(values(&read.unwrap()), values(&encoder));
    let mut read = fresh();
    let mut file = SafetensorsStore::from_file(whole.path().join("today.safetensors"));
    read.load_from(&mut file).unwrap();
    assert_eq!(values(&read), values(&encoder));
}
