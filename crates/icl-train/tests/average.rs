//! The moving average of a module of Burn's own layers, in a plain loop.

use burn::module::{AutodiffModule, Module, Param};
use burn::nn::{BatchNorm, BatchNormConfig, Linear, LinearConfig};
use burn::optim::{AdamConfig, GradientsParams, Optimizer};
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};
use icl_core::module_bytes::{load_record, save_record};
use icl_core::testing::{TestAutodiff, TestBackend, assert_close, to_vec};
use icl_train::WeightAverage;

/// A module that is no encoder, with running statistics and a frozen layer.
#[derive(Module, Debug)]
struct Net<B: Backend> {
    first: Linear<B>,
    norm: BatchNorm<B>,
    last: Linear<B>,
}

type Trained = Net<TestAutodiff>;

impl<B: Backend> Net<B> {
    /// Creates a module whose weights are a function of `at`.
    fn new(at: f64) -> Self {
        let device = Default::default();
        let weight = |n: usize, at: f64| {
            let values: Vec<f64> = (0..n).map(|i| (at + i as f64).sin()).collect();
            Param::from_data(TensorData::new(values, [3, n / 3]), &device)
        };
        let linear = |d| LinearConfig::new(3, d).with_bias(false).init(&device);
        let [mut first, mut last] = [linear(3), linear(1)];
        (first.weight, last.weight) = (weight(9, at), weight(3, at + 20.0));
        Self {
            first,
            norm: BatchNormConfig::new(3).init(&device),
            last: last.no_grad(),
        }
    }

    /// Returns all values, in the order of the layers: trained ones, then running statistics, then frozen ones.
    fn values(&self) -> [Vec<f64>; 3] {
        let norm = &self.norm;
        let of = |x: &Tensor<B, 1>| to_vec(x);
        let trained = [
            to_vec(&self.first.weight.val()),
            of(&norm.gamma.val()),
            of(&norm.beta.val()),
        ];
        let statistics = [
            of(&norm.running_mean.value_sync()),
            of(&norm.running_var.value_sync()),
        ];
        let frozen = to_vec(&self.last.weight.val());
        [trained.concat(), statistics.concat(), frozen]
    }
}

/// Trains for some steps. `push` gets the module after each.
fn train<O: Optimizer<Trained, TestAutodiff>>(
    mut net: Trained,
    mut optimizer: O,
    steps: std::ops::Range<usize>,
    mut push: impl FnMut(&Trained),
) -> (Trained, O) {
    for step in steps {
        let rows: Vec<f64> = (0..24).map(|i| (step as f64 + i as f64).cos()).collect();
        let rows = Tensor::<TestAutodiff, 2>::from_data(
            TensorData::new(rows, [8, 3]),
            &Default::default(),
        );
        let output = net.last.forward(net.norm.forward(net.first.forward(rows)));
        let loss = (output - 1.0).powi_scalar(2).mean();
        let gradients = GradientsParams::from_grads(loss.backward(), &net);
        net = optimizer.step(0.1, net, gradients);
        push(&net);
    }
    (net, optimizer)
}

fn adam() -> impl Optimizer<Trained, TestAutodiff> {
    AdamConfig::new().init()
}

fn bits(net: &Trained) -> Vec<u64> {
    let values = net.valid().values().concat();
    values.into_iter().map(f64::to_bits).collect()
}

/// The recursion, number by number.
#[test]
fn trained_values_are_averaged_and_all_others_follow() {
    for (decay, window) in [(0.9, 10.0), (1.0, 5.0), (0.5, 1.0)] {
        let net = Trained::new(1.0);
        let start = net.valid().values();
        let mut average = WeightAverage::new(net.clone(), decay).with_window(window);
        let mut course = Vec::new();
        let (net, _) = train(net, adam(), 0..20, |net| {
            average.push(net);
            course.push(net.valid().values());
        });
        let mut expected = start[0].clone();
        for (step, [trained, _, _]) in course.iter().enumerate() {
            let t = step as f64 + 1.0;
            let d = f64::min(decay, (1.0 + t) / (window + t));
            for (average, value) in expected.iter_mut().zip(trained) {
                *average = d * *average + (1.0 - d) * value;
            }
        }
        let [trained, statistics, frozen] = average.get().valid().values();
        assert_close(&trained, &expected, 1e-5);
        let latest = net.valid().values();
        assert!(trained != latest[0] && trained != start[0]);
        assert_eq!([statistics, frozen], [latest[1].clone(), latest[2].clone()]);
        assert_eq!(average.n_steps(), 20);
    }
}

#[test]
fn a_loaded_average_continues_to_the_bit() {
    let whole = || {
        let net = Trained::new(1.0);
        WeightAverage::new(net, 0.9).with_window(4.0)
    };
    let mut average = whole();
    train(Trained::new(1.0), adam(), 0..12, |net| average.push(net));

    let mut first = whole();
    let (net, optimizer) = train(Trained::new(1.0), adam(), 0..5, |net| first.push(net));
    let device = Default::default();
    let net = save_record::<TestAutodiff, _>(net.into_record()).unwrap();
    let optimizer = save_record::<TestAutodiff, _>(optimizer.to_record()).unwrap();
    let saved = save_record::<TestAutodiff, _>(first.into_record()).unwrap();

    // As in another process: modules with other identities of their parameters and other values.
    let net = Trained::new(7.0).load_record(load_record::<TestAutodiff, _>(net, &device).unwrap());
    let optimizer = adam().load_record(load_record::<TestAutodiff, _>(optimizer, &device).unwrap());
    let other = WeightAverage::new(Trained::new(8.0), 0.9).with_window(4.0);
    let mut resumed = other.load_record(load_record::<TestAutodiff, _>(saved, &device).unwrap());
    assert_eq!(resumed.n_steps(), 5);
    train(net, optimizer, 5..12, |net| resumed.push(net));
    assert_eq!(bits(resumed.get()), bits(average.get()));
    assert_eq!(resumed.n_steps(), average.n_steps());
}

/// A loaded average is trained where the start is, and its identities need not be those of the module.
#[test]
fn parameters_are_matched_by_their_place() {
    let mut average = WeightAverage::new(Trained::new(1.0), 0.0);
    average.push(&Trained::new(2.0));
    let [found, expected] = [average.get(), &Trained::new(2.0)].map(|net| net.valid().values());
    assert_close(&found.concat(), &expected.concat(), 1e-6);
    assert!(average.get().first.weight.val().is_require_grad());
    assert!(!average.get().last.weight.val().is_require_grad());
}

/// The encoder of the momentum methods: a copy without gradients that follows.
#[test]
fn an_average_without_gradients_follows_a_trained_module() {
    let mut average = WeightAverage::new(Trained::new(1.0).no_grad(), 0.75).with_window(1.0);
    average.push(&Trained::new(2.0));
    let [one, two] = [1.0, 2.0].map(|at| Trained::new(at).valid().values());
    let expected = one[0].iter().zip(&two[0]).map(|(x, y)| 0.75 * x + 0.25 * y);
    let expected: Vec<f64> = expected.collect();
    assert_close(&average.get().valid().values()[0], &expected, 1e-6);
    assert!(!average.get().first.weight.val().is_require_grad());
}

#[test]
fn a_backend_without_gradients_averages_all() {
    let mut average = WeightAverage::new(Net::<TestBackend>::new(1.0), 0.5).with_window(1.0);
    average.push(&Net::<TestBackend>::new(2.0));
    let [one, two] = [1.0, 2.0].map(|at| Net::<TestBackend>::new(at).values().concat());
    let expected: Vec<f64> = one.iter().zip(&two).map(|(x, y)| (x + y) / 2.0).collect();
    assert_close(&average.into_inner().values().concat(), &expected, 1e-6);
}

#[test]
#[should_panic(expected = "found a decay of 1.5")]
fn a_decay_above_one_is_refused() {
    let _ = WeightAverage::new((), 1.5);
}

#[test]
#[should_panic(expected = "found a window of 0.5")]
fn a_window_below_one_is_refused() {
    let _ = WeightAverage::new((), 0.9).with_window(0.5);
}
