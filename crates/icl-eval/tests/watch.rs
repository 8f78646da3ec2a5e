//! Every protocol: its progress, requests to stop, and the number of threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use icl_core::{Increment, Seed};
use icl_eval::{
    EvalErrorKind, FloorFeatures, Floors, KnnProtocolConfig, LinearProbeConfig, Matrix, Protocol,
    Watch,
};
use rand::RngExt;

const N: usize = 60;

fn data() -> (Matrix, Vec<usize>) {
    let mut rng = Seed::new(6).rng();
    let labels: Vec<usize> = (0..N).map(|i| i * i % 7 % 3).collect();
    let values = labels.iter().flat_map(|&label| {
        let row: [f64; 4] = std::array::from_fn(|j| {
            rng.random_range(-1.0..1.0) + if j == label { 0.7 } else { 0.0 }
        });
        row
    });
    (Matrix::try_new(values.collect(), 4).unwrap(), labels)
}

fn protocols() -> [Box<dyn Protocol + Sync>; 2] {
    [
        Box::new(LinearProbeConfig::default().try_init().unwrap()),
        Box::new(KnnProtocolConfig::default().try_init().unwrap()),
    ]
}

fn increment() -> Increment {
    Increment::try_new((0..40).collect(), (40..N).collect()).unwrap()
}

#[test]
fn progress_ends_at_one_and_changes_nothing() {
    let (x, labels) = data();
    for protocol in protocols() {
        let shares = Mutex::new(Vec::new());
        let watch = Watch::new().on_progress(|share| shares.lock().unwrap().push(share));
        let seed = Seed::new(1);
        let found = protocol.evaluate_parts_with(&x, &labels, &increment(), seed, &watch);
        let shares = shares.lock().unwrap();
        assert!(shares.len() > 3 && shares.iter().all(|share| (0.0..=1.0).contains(share)));
        assert_eq!(shares.last(), Some(&1.0));
        assert_eq!(
            found,
            protocol.evaluate_parts(&x, &labels, &increment(), seed)
        );
    }
}

#[test]
fn a_request_at_any_call_ends_it() {
    let (x, labels) = data();
    for protocol in protocols() {
        let n_calls = AtomicUsize::new(0);
        let watch = Watch::new().stop_when(|| {
            n_calls.fetch_add(1, Ordering::Relaxed);
            false
        });
        let seed = Seed::new(1);
        protocol.evaluate_with(&x, &labels, seed, &watch).unwrap();
        let n_all = n_calls.load(Ordering::Relaxed);
        assert!(n_all > 2, "{n_all}");
        for last in [0, 1, n_all / 2, n_all - 1] {
            let n_calls = AtomicUsize::new(0);
            let watch = Watch::new().stop_when(|| n_calls.fetch_add(1, Ordering::Relaxed) >= last);
            let found = protocol.evaluate_with(&x, &labels, seed, &watch);
            assert_eq!(
                found.map_err(|error| error.kind()),
                Err(EvalErrorKind::Interrupted),
                "after {last} of {n_all} calls"
            );
        }
        let watch = Watch::new().stop_when(|| true);
        let features = FloorFeatures {
            raw: Some(&x),
            ..FloorFeatures::default()
        };
        let found =
            Floors::evaluate_with(&*protocol, features, &labels, &increment(), seed, &watch);
        let found = found.map_err(|error| error.kind());
        assert_eq!(found, Err(EvalErrorKind::Interrupted));
    }
}

#[test]
fn the_number_of_threads_does_not_count() {
    let (x, labels) = data();
    for protocol in protocols() {
        let found = [1, 2, 5].map(|n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
            let pool = pool.build().unwrap();
            pool.install(|| protocol.evaluate(&x, &labels, Seed::new(0)))
        });
        assert!(matches!(&found[0], Ok(Some(_))));
        assert_eq!(found[0], found[1]);
        assert_eq!(found[0], found[2]);
    }
}
