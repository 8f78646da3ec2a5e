//! Updates for one experience of a stream after the other.

use std::borrow::Cow;
use std::sync::Mutex;

use crate::toy::{Jitter, Linear, Stack, points, settings};
use burn::module::AutodiffModule;
use icl_core::testing::{TestAutodiff, to_vec};
use icl_core::{SampleError, Samples};
use icl_train::{
    Advanced, Arriving, Callbacks, Keep, Live, Method, NextUpdate, Stream, StreamState, TrainError,
    TrainingSettings,
};

type Toy = Linear<TestAutodiff>;
type After = Advanced<Toy, TestAutodiff>;

/// Points of four experiences, of which the last comes from another region.
const EXPERIENCES: [(&str, std::ops::Range<usize>); 4] =
    [("a", 0..25), ("b", 25..40), ("c", 40..60), ("d", 60..90)];

pub fn stream<S: Samples<Sample = [f32; 4]>>(
    samples: &S,
    keep: Keep,
) -> Stream<'_, TestAutodiff, S, Jitter, Stack> {
    let settings = TrainingSettings {
        epochs: 6,
        ..settings()
    };
    Stream::new(samples, Jitter, Stack)
        .settings(settings)
        .keep(keep)
        .hold_out(0.2)
        .seed(3)
}

pub fn arriving(at: usize) -> Arriving<'static> {
    let (name, samples) = EXPERIENCES[at].clone();
    Arriving {
        name,
        samples: samples.collect(),
        held_out: None,
    }
}

pub fn update<'u, 'c>(
    method: &'u Method,
    callbacks: &'u mut Callbacks<'c>,
) -> NextUpdate<'u, 'c, Toy> {
    NextUpdate {
        method,
        fresh: Some(Linear::new(1)),
        callbacks,
    }
}

pub fn advance<S: Samples<Sample = [f32; 4]>>(
    stream: &Stream<'_, TestAutodiff, S, Jitter, Stack>,
    before: Option<After>,
    method: &Method,
    arriving: Arriving<'_>,
) -> Result<After, TrainError> {
    let mut callbacks = Callbacks::new();
    let Some(before) = before else {
        return stream.first(Linear::new(1), arriving, &mut callbacks);
    };
    let update = update(method, &mut callbacks);
    stream.next(before.live, arriving, update)
}

/// Goes through the first n experiences.
fn run(keep: Keep, method: &str, n: usize) -> After {
    let samples = points();
    let (stream, method) = (stream(&samples, keep), Method::named(method).unwrap());
    let mut after = None;
    for at in 0..n {
        after = Some(advance(&stream, after, &method, arriving(at)).unwrap());
    }
    after.unwrap()
}

/// Samples that remember which of them were read.
struct Watched {
    samples: Vec<[f32; 4]>,
    read: Mutex<Vec<usize>>,
}

impl Samples for Watched {
    type Sample = [f32; 4];

    fn n_samples(&self) -> usize {
        self.samples.len()
    }

    fn sample(&self, index: usize) -> Result<Cow<'_, [f32; 4]>, SampleError> {
        self.read.lock().unwrap().push(index);
        self.samples.sample(index)
    }
}

#[test]
fn held_out_and_later_samples_enter_no_training() {
    let watched = Watched {
        samples: points(),
        read: Mutex::default(),
    };
    let (stream, method) = (stream(&watched, Keep::Reservoir(20)), Method::icl());
    let mut after: Option<After> = None;
    for (at, (_, samples)) in EXPERIENCES.into_iter().enumerate() {
        watched.read.lock().unwrap().clear();
        let now = advance(&stream, after, &method, arriving(at)).unwrap();
        let read = watched.read.lock().unwrap();
        assert!(read.iter().all(|index| *index < samples.end), "{at}");
        let held_out = now
            .live
            .state
            .experiences()
            .iter()
            .flat_map(|it| &it.held_out);
        let held_out: Vec<usize> = held_out.copied().collect();
        assert!(now.increment.all().iter().all(|it| !held_out.contains(it)));
        let n_new = samples.len() - now.live.state.experiences()[at].held_out.len();
        let of_now = |of: &[usize]| of.iter().filter(|it| samples.contains(it)).count();
        match at {
            0 => assert_eq!(of_now(now.increment.old()), n_new),
            _ => {
                assert_eq!(of_now(now.increment.new_data()), n_new);
                assert_eq!(
                    (of_now(now.increment.old()), now.increment.old().len()),
                    (0, 20)
                );
            }
        }
        assert_eq!(now.live.state.memory().buffer().kept().len(), 20);
        assert!(now.parameter_change > 0.0);
        drop(read);
        after = Some(now);
    }
}

/// The matrix holds the risks of each encoder on the held-out samples so far, and of the live encoder on the next.
#[test]
fn the_matrix_is_measured_by_the_encoders_that_were_live() {
    let samples = points();
    let of = stream(&samples, Keep::All);
    let method = Method::icl();
    let (mut encoders, mut after) = (Vec::new(), None);
    for at in 0..4 {
        let now = advance(&of, after, &method, arriving(at)).unwrap();
        encoders.push(now.live.encoder.clone());
        after = Some(now);
    }
    let state = after.unwrap().live.state;
    let matrix = state.matrix();
    for (row, encoder) in matrix.iter().zip(&encoders) {
        let risks: Vec<Option<f64>> = of
            .risks(encoder, &state)
            .unwrap()
            .into_iter()
            .map(Some)
            .collect();
        let measured = row.iter().flatten().count();
        assert_eq!(row[..measured], risks[..measured]);
    }
    let counts: Vec<usize> = matrix
        .iter()
        .map(|row| row.iter().flatten().count())
        .collect();
    assert_eq!(counts, [2, 3, 4, 4]);
    // The last experience comes from another region: the update lowers its risk.
    let last = &state.experiences()[3];
    assert!(last.risks.last() < last.served, "{last:?}");
    let untrained = of
        .risks(&Linear::<TestAutodiff>::new(1).valid(), &state)
        .unwrap();
    assert!(matrix[3][3].unwrap() < untrained[3]);
}

/// A stored state continues as the stream would have; a later experience changes no earlier one.
#[test]
fn a_stream_goes_on_from_its_stored_state() {
    let weights = |after: &After| to_vec(&after.live.trained.weight.val());
    let whole = run(Keep::Equal(15), "warm", 4);
    let Live {
        trained,
        encoder,
        state,
    } = run(Keep::Equal(15), "warm", 3).live;
    assert_eq!(state.experiences(), &whole.live.state.experiences()[..3]);
    let text = serde_json::to_string(&state).unwrap();
    let stored: StreamState = serde_json::from_str(&text).unwrap();
    let experiences = stored.experiences().to_vec();
    let state = StreamState::from_parts(experiences, stored.memory().clone());
    assert_eq!(state, stored);
    let samples = points();
    let method = Method::named("warm").unwrap();
    let resumed = stream(&samples, Keep::Equal(15))
        .next(
            Live {
                state,
                trained,
                encoder,
            },
            arriving(3),
            update(&method, &mut Callbacks::new()),
        )
        .unwrap();
    assert_eq!(resumed.live.state, whole.live.state);
    assert_eq!(weights(&resumed), weights(&whole));
}

/// With all samples kept, retraining on the last experience is a training on all that has come.
#[test]
fn retraining_is_a_control_of_equal_data() {
    let after = run(Keep::All, "retraining", 4);
    let n_held: usize = after
        .live
        .state
        .experiences()
        .iter()
        .map(|it| it.held_out.len())
        .sum();
    assert_eq!(after.increment.all().len(), 90 - n_held);
    assert_eq!(n_held, 5 + 3 + 4 + 6);
    let charged: Vec<f64> = after
        .live
        .state
        .experiences()
        .iter()
        .map(|it| it.cost.charged())
        .collect();
    assert!(charged.is_sorted_by(|a, b| a < b), "{charged:?}");
}

/// Many small experiences: the buffer and the experiences that are measured stay bounded.
#[test]
fn memory_and_measurement_are_bounded() {
    let samples: Vec<[f32; 4]> = (0..600).map(|at| points()[at % 90]).collect();
    let stream = stream(&samples, Keep::Fifo(16));
    let method = Method::named("inference").unwrap();
    let mut after = None;
    for at in 0..60 {
        let name = format!("experience {at}");
        let arriving = Arriving {
            name: &name,
            samples: (10 * at..10 * (at + 1)).collect(),
            held_out: None,
        };
        after = Some(advance(&stream, after, &method, arriving).unwrap());
    }
    let state = after.unwrap().live.state;
    assert_eq!(state.memory().buffer().kept().len(), 16);
    let last = &state.experiences()[59];
    assert!(last.risks.measured().len() < 20);
    assert!(last.cost.measuring <= state.experiences()[31].cost.measuring);
}

#[test]
fn experiences_that_cannot_be_are_refused() {
    let samples = points();
    let (of, method) = (stream(&samples, Keep::All), Method::icl());
    let refused = |name: &'static str, samples: Vec<usize>| {
        let first = advance(&of, None, &method, arriving(0)).unwrap();
        let arriving = Arriving {
            name,
            samples,
            held_out: None,
        };
        advance(&of, Some(first), &method, arriving)
            .unwrap_err()
            .to_string()
    };
    assert!(refused("a", (25..40).collect()).contains("the name of an earlier experience"));
    assert!(refused("b", (20..40).collect()).contains("which has come before"));
    assert!(refused("b", vec![30, 31, 32]).contains("experience \"b\""));
    assert!(refused("b", vec![30, 30, 31, 32]).contains("30"));
    assert!(
        refused("b", (80..100).collect()).contains("found sample 90, expected samples below 90")
    );
}

/// Experiences that wait are measured by the live encoder, and the next update has their training samples.
#[test]
fn what_waits_is_merged_into_the_next_update() {
    let samples = points();
    let (of, method) = (stream(&samples, Keep::All), Method::icl());
    let first = advance(&of, None, &method, arriving(0)).unwrap();
    let live = first.live.encoder.clone();
    let state = of
        .wait(first.live.state.clone(), &live, &arriving(1))
        .unwrap();
    let state = of.wait(state, &live, &arriving(2)).unwrap();
    assert_eq!(state.memory().buffer().n_experiences(), 1);
    let waiting: Vec<usize> = state.memory().waiting().collect();
    let all_held_out = |state: &StreamState| -> Vec<usize> {
        let held_out = state.experiences().iter().flat_map(|it| &it.held_out);
        held_out.copied().collect()
    };
    let held_out = all_held_out(&state);
    let expected = (25..60)
        .filter(|it| !held_out.contains(it))
        .collect::<Vec<_>>();
    let mut sorted = waiting.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, expected);
    let rows = state.matrix();
    let risks = of.risks(&live, &state).unwrap();
    assert_eq!(rows[2], risks.iter().copied().map(Some).collect::<Vec<_>>());
    assert_eq!(state.experiences()[2].served, rows[2][2]);
    assert_eq!(state.experiences()[2].cost.charged(), 0.0);
    let updated = of
        .next(
            Live {
                state,
                ..first.live
            },
            arriving(3),
            update(&method, &mut Callbacks::new()),
        )
        .unwrap();
    let held_out = all_held_out(&updated.live.state);
    let mut new = updated.increment.new_data().to_vec();
    new.sort_unstable();
    let expected = (25..90)
        .filter(|it| !held_out.contains(it))
        .collect::<Vec<_>>();
    assert_eq!(new, expected);
    assert!(updated.live.state.memory().waiting().next().is_none());
    assert_eq!(updated.live.state.memory().buffer().n_experiences(), 4);
    assert!(
        updated.live.state.experiences()[3].updated && !updated.live.state.experiences()[2].updated
    );
}

/// An encoder from elsewhere begins a stream, with held-out samples that the caller names.
#[test]
fn a_stream_begins_with_an_encoder_and_held_out_samples() {
    let samples = points();
    let of = stream(&samples, Keep::All);
    let encoder = Linear::<TestAutodiff>::new(1).valid();
    let first = Arriving {
        name: "a",
        samples: (0..20).collect(),
        held_out: Some((20..25).collect()),
    };
    let state = of.adopt(&encoder, &first).unwrap();
    let only = &state.experiences()[0];
    assert_eq!(
        (only.n_samples, &only.held_out[..]),
        (25, &[20, 21, 22, 23, 24][..])
    );
    assert_eq!(only.epochs, 0);
    let kept = state.memory().buffer().kept();
    let mut kept: Vec<usize> = kept.iter().map(|it| it.sample).collect();
    kept.sort_unstable();
    assert_eq!(kept, (0..20).collect::<Vec<_>>());
    let overlapping = Arriving {
        name: "b",
        samples: (25..40).collect(),
        held_out: Some((24..30).collect()),
    };
    let error = of.wait(state, &encoder, &overlapping).unwrap_err();
    assert!(error.to_string().contains("found sample 24"), "{error}");
}

/// A stream takes any optimizer of Burn, and begins it again at each experience.
#[test]
fn a_stream_is_trained_by_any_optimizer() {
    use burn::optim::AdamWConfig;

    let samples = points();
    let decay = |decay: f32| {
        let adam = AdamWConfig::new().with_weight_decay(decay);
        let of = stream(&samples, Keep::All).optimizer(adam.init::<TestAutodiff, Toy>());
        let first = of.first(Linear::new(1), arriving(0), &mut Callbacks::new());
        let method = Method::named("warm").unwrap();
        let mut callbacks = Callbacks::new();
        let update = update(&method, &mut callbacks);
        let next = of.next(first.unwrap().live, arriving(1), update).unwrap();
        let weights = to_vec(&next.live.trained.weight.val());
        weights.iter().map(|it| it * it).sum::<f64>()
    };
    let norms = [0.0, 1.0, 10.0].map(decay);
    assert!(norms[0] > norms[1] && norms[1] > norms[2], "{norms:?}");
}
