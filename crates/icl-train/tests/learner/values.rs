//! Losses of a step and values of metrics, against a plain double loop.

use std::ops::Range;

use burn::data::dataloader::Progress;
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};
use burn::train::metric::{Adaptor, Metric, MetricMetadata, Numeric, NumericEntry};
use burn::train::{InferenceStep, TrainStep};
use icl_core::testing::{TestAutodiff, TestBackend};
use icl_core::{Encoder, Mode, Origin, Seed, Strategy, host_values};
use icl_train::{
    ContrastiveStep, ContrastiveStepConfig, LossKind, NoiseSet, PairBatch, PairInput, PairMetric,
};
use rand::RngExt;

use crate::toy::Linear;

const TEMPERATURE: f64 = 0.4;
const NEGATIVES: f64 = 7.0;

/// Draws the views of `n` pairs: `[2·n, 4]`.
fn views<B: Backend>(n: usize, seed: u64) -> Tensor<B, 2> {
    let mut rng = Seed::new(seed).rng();
    let values: Vec<f64> = (0..8 * n)
        .map(|_| rng.random::<f64>() * 2.0 - 1.0)
        .collect();
    Tensor::from_data(TensorData::new(values, [2 * n, 4]), &Default::default())
}

/// Similarities of embedded views, in double precision.
struct Pairs {
    /// Rows of the anchors, and after them those of the positives.
    rows: Vec<Vec<f64>>,
    n: usize,
    n_old: usize,
}

impl Pairs {
    fn new(encoder: &Linear<TestBackend>, views: Tensor<TestBackend, 2>, n_old: usize) -> Self {
        let n = views.dims()[0] / 2;
        let values = host_values(encoder.encode(views, Mode::Evaluation).flatten::<1>(0, 1));
        let rows = values.chunks(4).map(<[f64]>::to_vec).collect();
        Self { rows, n, n_old }
    }

    /// f of two views.
    fn f(&self, a: usize, b: usize) -> f64 {
        (self.cosine(a, b) / TEMPERATURE).exp()
    }

    fn cosine(&self, a: usize, b: usize) -> f64 {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (a, b) = (&self.rows[a], &self.rows[b]);
        dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
    }

    /// Mean of f over the positives of other samples in a range.
    fn noise(&self, anchor: usize, of: Range<usize>) -> f64 {
        let others = of.filter(|&other| other != anchor);
        mean(others.map(|other| self.f(anchor, self.n + other)))
    }

    fn old_noise(&self, anchor: usize) -> f64 {
        self.noise(anchor, 0..self.n_old)
    }

    fn new_noise(&self, anchor: usize) -> f64 {
        self.noise(anchor, self.n_old..self.n)
    }

    /// Mixed noise of Eq. 27.
    fn mixed(&self, anchor: usize, alpha: f64) -> f64 {
        match alpha {
            // Without new samples their noise has no mean.
            0.0 => self.old_noise(anchor),
            _ => (1.0 - alpha) * self.old_noise(anchor) + alpha * self.new_noise(anchor),
        }
    }

    /// NCE-I under a noise.
    fn nce_i(&self, anchor: usize, noise: f64) -> f64 {
        let positive = self.f(anchor, self.n + anchor);
        -(positive / (positive + NEGATIVES * noise)).ln()
    }

    fn change_ratio(&self, anchor: usize) -> f64 {
        let positive = self.f(anchor, self.n + anchor);
        (positive + NEGATIVES * self.new_noise(anchor))
            / (positive + NEGATIVES * self.old_noise(anchor))
    }

    fn nce_ii(&self, anchor: usize, alpha: f64) -> f64 {
        (alpha * self.change_ratio(anchor) + 1.0 - alpha).ln()
    }

    fn alpha(&self) -> f64 {
        (self.n - self.n_old) as f64 / self.n as f64
    }

    /// Share of the other samples' positives that are less similar to the anchor than its own.
    fn auc(&self, anchor: usize) -> f64 {
        let own = self.cosine(anchor, self.n + anchor);
        let others = (0..self.n).filter(|&other| other != anchor);
        mean(others.map(|other| f64::from(u8::from(self.cosine(anchor, self.n + other) < own))))
    }

    /// NT-Xent of a view, whose noise are both views of the other samples.
    fn nt_xent(&self, view: usize) -> f64 {
        let positive = (view + self.n) % (2 * self.n);
        let noise = (0..2 * self.n).filter(|&other| other != view && other != positive);
        let noise = mean(noise.map(|other| self.f(view, other)));
        (1.0 + NEGATIVES * noise / self.f(view, positive)).ln()
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}

#[track_caller]
fn assert_close(found: f64, expected: f64) {
    let is_close = (found - expected).abs() <= 1e-5 * expected.abs().max(1.0);
    assert!(is_close, "found {found}, expected {expected}");
}

fn config(loss: LossKind) -> ContrastiveStepConfig {
    ContrastiveStepConfig::new()
        .with_loss(loss)
        .with_temperature(TEMPERATURE)
        .with_negatives(NEGATIVES)
}

/// Losses of the same batch in training and in validation.
fn losses(config: &ContrastiveStepConfig, n: usize, n_old: usize) -> [f64; 2] {
    let step: ContrastiveStep<TestAutodiff, _> = config.init(Linear::new(3));
    let views = views::<TestAutodiff>(n, 5);
    let batch = PairBatch {
        views: views.clone(),
        n_old,
    };
    let trained = TrainStep::step(&step, batch).item;
    let step: ContrastiveStep<TestBackend, _> = config.init(Linear::new(3));
    let views = views.inner();
    let validated = InferenceStep::step(&step, PairBatch { views, n_old });
    [trained, validated].map(|output| host_values(output.loss)[0])
}

#[test]
fn losses_are_those_of_a_double_loop() {
    let (n, n_old) = (11, 7);
    let pairs = Pairs::new(&Linear::new(3), views(n, 5), n_old);
    let of_alpha = |alpha: f64, of_old: &dyn Fn(usize) -> f64| {
        let of_new = |anchor| pairs.nce_i(anchor, pairs.mixed(anchor, alpha));
        (1.0 - alpha) * mean((0..n_old).map(of_old)) + alpha * mean((n_old..n).map(of_new))
    };
    let expect = |config: ContrastiveStepConfig, expected: f64| {
        for found in losses(&config, n, n_old) {
            assert_close(found, expected);
        }
    };
    let info_nce = (0..n).map(|anchor| pairs.nce_i(anchor, pairs.noise(anchor, 0..n)));
    expect(config(LossKind::InfoNce), mean(info_nce));
    let of_both = config(LossKind::InfoNce).with_noise_set(NoiseSet::BothViews);
    expect(of_both, mean((0..2 * n).map(|view| pairs.nt_xent(view))));
    for alpha in [None, Some(0.2)] {
        let value = alpha.unwrap_or(pairs.alpha());
        let nce_ii = |anchor| pairs.nce_ii(anchor, value);
        let both = |anchor| pairs.nce_i(anchor, pairs.old_noise(anchor)) + nce_ii(anchor);
        let published = config(LossKind::Published).with_alpha(alpha);
        expect(published, of_alpha(value, &nce_ii));
        let corrected = config(LossKind::Corrected).with_alpha(alpha);
        expect(corrected, of_alpha(value, &both));
    }
}

/// The gradient is that of the loss, and belongs to the encoder's parameters.
#[test]
fn a_step_has_the_gradients_of_its_loss() {
    let step: ContrastiveStep<TestAutodiff, _> =
        config(LossKind::Corrected).init(Linear::<TestAutodiff>::new(3));
    let batch = || PairBatch {
        views: views::<TestAutodiff>(9, 5),
        n_old: 4,
    };
    let gradients = TrainStep::step(&step, batch()).grads;
    let weight = &step.encoder().weight;
    let gradient = gradients.get::<TestBackend, 2>(weight.id).unwrap();
    let gradient = host_values(gradient.flatten::<1>(0, 1));
    // The difference quotient along the gradient is its squared norm.
    let at = |by: f64| {
        let moved = Pairs::new(&moved(weight.val().inner(), &gradient, by), views(9, 5), 4);
        mean((0..9).map(|anchor| moved.nce_i(anchor, moved.mixed(anchor, moved.alpha()))))
    };
    let squares: f64 = gradient.iter().map(|value| value * value).sum();
    let slope = (at(1e-3) - at(-1e-3)) / 2e-3;
    assert!((slope / squares - 1.0).abs() < 1e-2, "{slope} {squares}");
}

fn moved(weight: Tensor<TestBackend, 2>, gradient: &[f64], by: f64) -> Linear<TestBackend> {
    let gradient = TensorData::new(gradient.to_vec(), [4, 4]);
    let gradient = Tensor::from_data(gradient, &Default::default());
    Linear {
        weight: burn::module::Param::from_tensor(weight + gradient * by),
    }
}

fn metadata() -> MetricMetadata {
    let progress = || Progress {
        items_processed: 1,
        items_total: 1,
    };
    MetricMetadata {
        progress: progress(),
        global_progress: progress(),
        iteration: None,
        lr: None,
    }
}

/// Input of the metrics, as an output of a step gives it.
fn input(views: Tensor<TestBackend, 2>, n_old: usize) -> PairInput<TestBackend> {
    let step: ContrastiveStep<TestBackend, _> = config(LossKind::InfoNce).init(Linear::new(3));
    InferenceStep::step(&step, PairBatch { views, n_old }).adapt()
}

fn entry(of: NumericEntry) -> (f64, usize) {
    match of {
        NumericEntry::Aggregated {
            aggregated_value,
            count,
        } => (aggregated_value, count),
        NumericEntry::Value(value) => (value, 1),
    }
}

#[test]
fn metrics_are_those_of_a_double_loop() {
    type Of = fn(&Pairs, usize) -> f64;
    let retraining: Of = |pairs, i| pairs.nce_i(i, pairs.mixed(i, pairs.alpha()));
    let [old, new] = [Some(Origin::Old), Some(Origin::New)];
    let risk = |of| PairMetric::exact_risk(of, TEMPERATURE, NEGATIVES);
    let bias = |strategy, on| PairMetric::bias(strategy, on, TEMPERATURE, NEGATIVES);
    let inference_old: Of = |p, i| p.nce_i(i, p.old_noise(i)) - p.nce_i(i, p.mixed(i, p.alpha()));
    let inference_new: Of = |p, i| -p.nce_i(i, p.mixed(i, p.alpha()));
    let fine_tuning_new: Of = |p, i| p.nce_i(i, p.new_noise(i)) - p.nce_i(i, p.mixed(i, p.alpha()));
    let zero: Of = |_, _| 0.0;
    let metrics: [(PairMetric<TestBackend>, Option<Origin>, Of); 13] = [
        (risk(None), None, retraining),
        (risk(old), old, retraining),
        (risk(new), new, retraining),
        (
            PairMetric::change_ratio(TEMPERATURE, NEGATIVES),
            old,
            Pairs::change_ratio,
        ),
        (bias(Strategy::Inference, Origin::Old), old, inference_old),
        (bias(Strategy::FineTuning, Origin::Old), old, inference_old),
        (bias(Strategy::Inference, Origin::New), new, inference_new),
        (
            bias(Strategy::FineTuning, Origin::New),
            new,
            fine_tuning_new,
        ),
        (bias(Strategy::Icl, Origin::Old), old, zero),
        (bias(Strategy::Retraining, Origin::New), new, zero),
        (PairMetric::auc(None), None, Pairs::auc),
        (PairMetric::auc(old), old, Pairs::auc),
        (PairMetric::auc(new), new, Pairs::auc),
    ];
    // A batch with a single new sample, in the middle, has only the risk and the AUC of all samples.
    let batches = [(11, 7), (5, 4), (6, 2)];
    for (mut metric, of, expected) in metrics {
        let (mut sum, mut count) = (0.0, 0);
        for (seed, (n, n_old)) in batches.into_iter().enumerate() {
            let views = views(n, seed as u64);
            let shown = metric.update(&input(views.clone(), n_old), &metadata());
            let is_of_all = ["Exact risk", "AUC"].contains(&metric.name().as_str());
            if n - n_old == 1 && !is_of_all {
                assert_eq!(shown.formatted, "–");
                assert_eq!(entry(metric.value()), (0.0, 0));
                continue;
            }
            // Its samples are then one population.
            let n_old = if n - n_old == 1 { n } else { n_old };
            let pairs = Pairs::new(&Linear::new(3), views, n_old);
            let rows = match of {
                None => 0..n,
                Some(Origin::Old) => 0..n_old,
                Some(Origin::New) => n_old..n,
            };
            let expected = mean(rows.clone().map(|anchor| expected(&pairs, anchor)));
            let (found, n_anchors) = entry(metric.value());
            assert_close(found, expected);
            assert_eq!(n_anchors, rows.len(), "{}", metric.name());
            assert_eq!(
                entry(NumericEntry::deserialize(&shown.serialized).unwrap()),
                (found, n_anchors)
            );
            (sum, count) = (sum + expected * rows.len() as f64, count + rows.len());
        }
        let (found, n_anchors) = entry(metric.running_value());
        assert_close(found, sum / count as f64);
        assert_eq!(n_anchors, count, "{}", metric.name());
        metric.clear();
        assert_eq!(entry(metric.running_value()).1, 0);
    }
}

/// Before new data arrive, risk and AUC are those of one population, and nothing else is defined.
#[test]
fn one_population_has_a_risk_and_an_auc() {
    let n = 9;
    let pairs = Pairs::new(&Linear::new(3), views(n, 2), n);
    let risk = mean((0..n).map(|anchor| pairs.nce_i(anchor, pairs.noise(anchor, 0..n))));
    let auc = mean((0..n).map(|anchor| pairs.auc(anchor)));
    let [old, new] = [Some(Origin::Old), Some(Origin::New)];
    for (n_old, own, other) in [(n, old, new), (0, new, old)] {
        let expect = |mut metric: PairMetric<TestBackend>, expected: Option<f64>| {
            metric.update(&input(views(n, 2), n_old), &metadata());
            let (found, count) = entry(metric.value());
            assert_close(found, expected.unwrap_or(0.0));
            assert_eq!(count, expected.map_or(0, |_| n), "{}", metric.name());
        };
        for of in [None, own] {
            expect(
                PairMetric::exact_risk(of, TEMPERATURE, NEGATIVES),
                Some(risk),
            );
            expect(PairMetric::auc(of), Some(auc));
        }
        expect(PairMetric::exact_risk(other, TEMPERATURE, NEGATIVES), None);
        expect(PairMetric::auc(other), None);
        expect(PairMetric::change_ratio(TEMPERATURE, NEGATIVES), None);
    }
}

#[test]
fn wrong_settings_are_rejected() {
    let rejected = |config: ContrastiveStepConfig, place: &str| {
        let step = config.try_init::<TestBackend, _>(Linear::new(1));
        assert_eq!(step.unwrap_err().place(), place);
    };
    let default = ContrastiveStepConfig::new;
    rejected(default().with_temperature(0.0), "temperature");
    rejected(default().with_negatives(f64::NAN), "negatives");
    rejected(default().with_alpha(Some(1.5)), "alpha");
    let of_both = default().with_noise_set(NoiseSet::BothViews);
    rejected(of_both.with_loss(LossKind::Corrected), "noise_set");
}
