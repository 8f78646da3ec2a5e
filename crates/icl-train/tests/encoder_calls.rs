//! The number of encoder calls in a step, and the gradients that a step records.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::toy::{
    Linear, corrected, distillation, increment, info_nce, meta, points, published, settings,
    trainer,
};
use burn::module::{Module, Param};
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;
use icl_core::testing::TestAutodiff;
use icl_core::{Encoder, Mode};
use icl_meta::RateChoice;
use icl_train::{MetaOrder, Method, Sampling, TrainingSettings};

/// Call of the encoder.
#[derive(Debug, Clone, Copy)]
struct Call {
    is_training: bool,
    n_views: usize,
    /// Whether the call records a graph for the parameters, and for the input.
    tracks: [bool; 2],
}

/// Calls so far of each encoder and its copies, which share the identity of their weight. Steps run on threads of the pool.
static CALLS: Mutex<BTreeMap<u64, Vec<Call>>> = Mutex::new(BTreeMap::new());

/// Encoder that records its calls.
#[derive(Module, Debug)]
struct Counting<B: Backend> {
    weight: Param<Tensor<B, 2>>,
}

impl<B: Backend> Encoder<B> for Counting<B> {
    type Batch = Tensor<B, 2>;

    fn encode(&self, batch: Tensor<B, 2>, mode: Mode<'_>) -> Tensor<B, 2> {
        let call = Call {
            is_training: matches!(mode, Mode::Training(_)),
            n_views: batch.dims()[0],
            tracks: [self.weight.val().is_require_grad(), batch.is_require_grad()],
        };
        let mut calls = CALLS.lock().unwrap();
        calls.entry(self.weight.id.val()).or_default().push(call);
        drop(calls);
        batch.matmul(self.weight.val())
    }
}

/// Returns the calls of one epoch in steps, and those in evaluations and by the teacher.
fn calls(method: &Method, changes: TrainingSettings) -> [Vec<Call>; 2] {
    let (samples, increment) = (points(), increment());
    let settings = TrainingSettings {
        epochs: 1,
        ..changes
    };
    let encoder = Counting {
        weight: Linear::<TestAutodiff>::new(1).weight,
    };
    let id = encoder.weight.id.val();
    trainer(&samples, &increment, &settings, 1)
        .update(method, encoder)
        .expect("an epoch of training");
    let calls = CALLS.lock().unwrap().remove(&id).unwrap_or_default();
    let (steps, others) = calls.into_iter().partition(|call| call.is_training);
    [steps, others]
}

fn separating() -> [Method; 2] {
    [published(), corrected()]
}

#[test]
fn a_plain_step_is_one_call() {
    let others = [
        info_nce(Sampling::All),
        info_nce(Sampling::Buffer),
        distillation(),
    ];
    for method in others.into_iter().chain(separating()) {
        let [steps, _] = calls(&method, settings());
        let n_samples = match method.sampling {
            Sampling::Buffer => 42,
            Sampling::New => 30,
            _ => 90,
        };
        assert_eq!(steps.len(), usize::div_ceil(n_samples, 16), "{method}");
        let n_views: usize = steps.iter().map(|call| call.n_views).sum();
        assert_eq!(n_views, 2 * n_samples);
    }
}

#[test]
fn a_step_of_meta_optimization_is_one_call_an_inner_step_and_one() {
    for method in separating().map(meta) {
        // 4 steps of 2 inner steps each.
        let [first, _] = calls(&method, settings());
        assert_eq!(first.len(), 4 * (1 + 2));
        // The second order differentiates each inner step at two more points.
        let second = TrainingSettings {
            meta_order: MetaOrder::Second,
            ..settings()
        };
        let [second, _] = calls(&method, second);
        assert_eq!(second.len(), 4 * (1 + 3 * 2));
    }
}

/// Batches are data and need no gradient. Evaluations without a step, and the teacher, record no graph.
#[test]
fn nothing_but_parameters_that_are_trained_gets_a_gradient() {
    let plain = [info_nce(Sampling::All), distillation(), corrected()];
    for method in plain.into_iter().chain(separating().map(meta)) {
        let [steps, others] = calls(&method, settings());
        assert!(steps.iter().all(|call| call.tracks == [true, false]));
        assert!(others.iter().all(|call| call.tracks == [false, false]));
        assert!(others.len() > 2);
    }
    // The agents compare losses of one batch with calls that are not part of a step.
    let learned = Method {
        rate: RateChoice::Learned,
        ..meta(corrected())
    };
    let twelve = TrainingSettings {
        batch_size: 4,
        ..settings()
    };
    let [steps, _] = calls(&learned, twelve);
    let n_steps = 15 * (1 + 2);
    assert!(steps.len() > n_steps);
    let looked_at = steps.iter().filter(|call| !call.tracks[0]).count();
    // At the eighth step the query without inner steps, and the whole step at the earlier encoder,
    // whose inner steps do need their gradients.
    assert_eq!(looked_at, 2);
    assert_eq!(steps.len(), n_steps + looked_at + 2);
}
