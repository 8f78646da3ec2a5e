//! Gradients through the inner loop against finite differences of the whole loop, computed in f64 by
//! plain loops with gradients derived by hand.

use std::convert::Infallible;

use burn::backend::Autodiff;
use burn::module::{Module, Param};
use burn::optim::GradientsParams;
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{Tensor, TensorData};
use icl_core::Seed;
use icl_core::testing::{TestBackend, to_vec};
use icl_meta::{InnerStep, adapt, first_order, nested_second_order, relative_move, second_order};
use rand::RngExt;

type Once = Autodiff<TestBackend>;
type Twice = Autodiff<Once>;

const D_IN: usize = 3;
const D_HIDDEN: usize = 4;
const N: usize = 6;
const N_PARAMETERS: usize = D_IN * D_HIDDEN + D_HIDDEN;

/// y = tanh(x·W)·v.
#[derive(Module, Debug)]
struct Mlp<B: Backend> {
    hidden: Param<Tensor<B, 2>>,
    out: Param<Tensor<B, 2>>,
}

impl<B: Backend> Mlp<B> {
    fn new(parameters: &[f64]) -> Self {
        let tensor = |values: &[f64], shape: [usize; 2]| {
            let data = TensorData::new(values.to_vec(), shape);
            Param::from_tensor(Tensor::from_data(data, &Default::default()))
        };
        let (hidden, out) = parameters.split_at(D_IN * D_HIDDEN);
        Self {
            hidden: tensor(hidden, [D_IN, D_HIDDEN]),
            out: tensor(out, [D_HIDDEN, 1]),
        }
    }

    fn loss(&self, data: &Data) -> Tensor<B, 1> {
        let tensor = |values: &[f64], width| {
            let data = TensorData::new(values.to_vec(), [N, width]);
            Tensor::<B, 2>::from_data(data, &Default::default())
        };
        let y = tensor(&data.x, D_IN)
            .matmul(self.hidden.val())
            .tanh()
            .matmul(self.out.val());
        (y - tensor(&data.y, 1)).powi_scalar(2).mean()
    }
}

#[derive(Clone)]
struct Data {
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Data {
    fn draw(seed: u64) -> Self {
        let mut rng = Seed::new(seed).rng();
        let mut values = |n| (0..n).map(|_| rng.random::<f64>() * 2.0 - 1.0).collect();
        Self {
            x: values(N * D_IN),
            y: values(N),
        }
    }

    /// The loss and its gradient, in plain loops.
    fn loss(&self, parameters: &[f64]) -> (f64, Vec<f64>) {
        let mut gradient = vec![0.0; N_PARAMETERS];
        let mut loss = 0.0;
        for row in 0..N {
            let x = &self.x[row * D_IN..(row + 1) * D_IN];
            let mut hidden = [0.0; D_HIDDEN];
            let mut y = 0.0;
            for unit in 0..D_HIDDEN {
                let mut sum = 0.0;
                for (input, x) in x.iter().enumerate() {
                    sum += x * parameters[input * D_HIDDEN + unit];
                }
                hidden[unit] = sum.tanh();
                y += hidden[unit] * parameters[D_IN * D_HIDDEN + unit];
            }
            let error = y - self.y[row];
            loss += error * error / N as f64;
            for unit in 0..D_HIDDEN {
                let by_y = 2.0 * error / N as f64;
                gradient[D_IN * D_HIDDEN + unit] += by_y * hidden[unit];
                let by_sum =
                    by_y * parameters[D_IN * D_HIDDEN + unit] * (1.0 - hidden[unit] * hidden[unit]);
                for (input, x) in x.iter().enumerate() {
                    gradient[input * D_HIDDEN + unit] += by_sum * x;
                }
            }
        }
        (loss, gradient)
    }
}

struct Case {
    parameters: Vec<f64>,
    support: Vec<Data>,
    query: Data,
    rates: Vec<f64>,
}

impl Case {
    fn new(n_steps: usize) -> Self {
        let mut rng = Seed::new(100 + n_steps as u64).rng();
        let parameters = (0..N_PARAMETERS).map(|_| rng.random::<f64>() * 2.0 - 1.0);
        Self {
            parameters: parameters.collect(),
            support: (0..n_steps).map(|step| Data::draw(step as u64)).collect(),
            query: Data::draw(77),
            // Large enough for the second order to matter.
            rates: (0..n_steps).map(|step| 0.3 + 0.1 * step as f64).collect(),
        }
    }

    /// L_q(θ′) as a function of θ.
    fn query_loss(&self, parameters: &[f64]) -> f64 {
        let mut fast = parameters.to_vec();
        for (support, rate) in self.support.iter().zip(&self.rates) {
            let (_, gradient) = support.loss(&fast);
            fast.iter_mut()
                .zip(&gradient)
                .for_each(|(p, g)| *p -= rate * g);
        }
        self.query.loss(&fast).0
    }

    fn finite_differences(&self) -> Vec<f64> {
        let h = 1e-5;
        let at = |index: usize, h: f64| {
            let mut parameters = self.parameters.clone();
            parameters[index] += h;
            self.query_loss(&parameters)
        };
        (0..N_PARAMETERS)
            .map(|index| (at(index, h) - at(index, -h)) / (2.0 * h))
            .collect()
    }

    fn adapted<B: AutodiffBackend>(&self, mlp: &Mlp<B>) -> icl_meta::Adapted<Mlp<B>> {
        let loss = |mlp: &Mlp<B>, step: usize| mlp.loss(&self.support[step]);
        let mut rate = |inner: InnerStep<'_, _>| Ok::<_, Infallible>(self.rates[inner.step]);
        let Ok(adapted) = adapt::<B, _, _>(mlp, self.rates.len(), &loss, &mut rate);
        adapted
    }
}

fn flat<B: AutodiffBackend>(mlp: &Mlp<B>, gradients: &GradientsParams) -> Vec<f64> {
    let of = |param: &Param<Tensor<B, 2>>| {
        let gradient = gradients.get::<B::InnerBackend, 2>(param.id);
        to_vec(&gradient.expect("a gradient of every parameter"))
    };
    [of(&mlp.hidden), of(&mlp.out)].concat()
}

/// Largest difference, relative to the largest entry.
fn error(found: &[f64], expected: &[f64]) -> f64 {
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    let scale = largest(&mut expected.iter().map(|v| v.abs()));
    largest(&mut found.iter().zip(expected).map(|(a, b)| (a - b).abs())) / scale
}

#[test]
fn the_inner_loop_is_gradient_descent_on_a_copy() {
    let case = Case::new(3);
    let mlp = Mlp::<Once>::new(&case.parameters);
    let before = to_vec(&mlp.hidden.val());
    let adapted = case.adapted(&mlp);
    let mut fast = case.parameters.clone();
    for (step, (support, rate)) in case.support.iter().zip(&case.rates).enumerate() {
        let (loss, gradient) = support.loss(&fast);
        assert!((adapted.losses[step] - loss).abs() < 1e-5 * loss);
        assert_eq!(adapted.trail[step].1, *rate);
        fast.iter_mut()
            .zip(&gradient)
            .for_each(|(p, g)| *p -= rate * g);
    }
    let found = [&adapted.encoder.hidden, &adapted.encoder.out].map(|p| to_vec(&p.val()));
    assert!(error(&found.concat(), &fast) < 1e-5);
    assert_eq!(to_vec(&mlp.hidden.val()), before);
    assert_eq!(adapted.encoder.hidden.id, mlp.hidden.id);
    let (loss, _) = first_order::<Once, _>(&adapted, &|mlp| mlp.loss(&case.query));
    assert!((loss - case.query_loss(&case.parameters)).abs() < 1e-5 * loss);
}

#[test]
fn the_move_of_an_adaptation_is_that_of_the_formula() {
    let case = Case::new(3);
    let mlp = Mlp::<Once>::new(&case.parameters);
    let adapted = case.adapted(&mlp);
    let mut fast = case.parameters.clone();
    for (support, rate) in case.support.iter().zip(&case.rates) {
        let (_, gradient) = support.loss(&fast);
        fast.iter_mut()
            .zip(&gradient)
            .for_each(|(p, g)| *p -= rate * g);
    }
    let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let moved: Vec<f64> = fast
        .iter()
        .zip(&case.parameters)
        .map(|(a, b)| a - b)
        .collect();
    let expected = (inner(&moved, &moved) / inner(&case.parameters, &case.parameters)).sqrt();
    let found = relative_move::<Once, _>(&mlp, &adapted.encoder);
    assert!((found - expected).abs() < 1e-5 * expected, "{found}");
    assert_eq!(relative_move::<Once, _>(&mlp, &mlp), 0.0);
}

/// A parameter that is not trained does not count.
#[test]
fn the_move_is_over_trained_parameters() {
    let mut before = Mlp::<Once>::new(&[1.0; N_PARAMETERS]);
    let mut after = before.clone();
    after.out = after.out.map(|out| (out * 3.0).detach().require_grad());
    after.hidden = after
        .hidden
        .map(|hidden| (hidden * 7.0).detach().require_grad());
    before.hidden = before.hidden.no_grad();
    let found = relative_move::<Once, _>(&before, &after);
    assert!((found - 2.0).abs() < 1e-6, "{found}");
}

#[test]
fn the_first_order_gradient_is_that_of_the_query_at_the_adapted_parameters() {
    let case = Case::new(2);
    let mlp = Mlp::<Once>::new(&case.parameters);
    let (_, gradients) = first_order::<Once, _>(&case.adapted(&mlp), &|mlp| mlp.loss(&case.query));
    let mut fast = case.parameters.clone();
    for (support, rate) in case.support.iter().zip(&case.rates) {
        let (_, gradient) = support.loss(&fast);
        fast.iter_mut()
            .zip(&gradient)
            .for_each(|(p, g)| *p -= rate * g);
    }
    let (_, expected) = case.query.loss(&fast);
    assert!(error(&flat(&mlp, &gradients), &expected) < 1e-5);
    // It is not the gradient of the whole loop.
    assert!(error(&flat(&mlp, &gradients), &case.finite_differences()) > 0.1);
}

#[test]
fn the_nested_gradient_is_exact() {
    for n_steps in [1, 2, 4] {
        let case = Case::new(n_steps);
        let mlp = Mlp::<Once>::new(&case.parameters);
        let (loss, gradients) = nested_second_order::<Twice, Mlp<Twice>>(
            &mlp,
            &case.rates,
            &|mlp, step| mlp.loss(&case.support[step]),
            &|mlp| mlp.loss(&case.query),
        );
        assert!((loss - case.query_loss(&case.parameters)).abs() < 1e-5 * loss);
        let error = error(&flat(&mlp, &gradients), &case.finite_differences());
        assert!(error < 1e-4, "{n_steps} steps: {error}");
    }
}

/// Differences of f32 gradients have an accuracy of about a thousandth.
#[test]
fn hessian_vector_products_are_near_it() {
    for n_steps in [1, 2, 4] {
        let case = Case::new(n_steps);
        let mlp = Mlp::<Once>::new(&case.parameters);
        let adapted = case.adapted(&mlp);
        let (_, at_adapted) = first_order::<Once, _>(&adapted, &|mlp| mlp.loss(&case.query));
        let gradients = second_order::<Once, _>(
            &adapted,
            &|mlp, step| mlp.loss(&case.support[step]),
            at_adapted,
        );
        let error = error(&flat(&mlp, &gradients), &case.finite_differences());
        assert!(error < 2e-3, "{n_steps} steps: {error}");
    }
}

/// Encoder with one of Burn's normalisation layers, whose running mean changes in forward passes and is
/// shared by clones.
#[derive(Module, Debug)]
struct Normalised<B: Backend> {
    mlp: Mlp<B>,
    norm: burn::nn::BatchNorm<B>,
}

#[test]
fn the_inner_loop_owns_its_statistics() {
    let case = Case::new(2);
    let encoder = Normalised::<Once> {
        mlp: Mlp::new(&case.parameters),
        norm: burn::nn::BatchNormConfig::new(D_IN).init(&Default::default()),
    };
    let loss = |encoder: &Normalised<Once>, step: usize| {
        let x = TensorData::new(case.support[step].x.clone(), [N, D_IN]);
        let x = Tensor::<Once, 2>::from_data(x, &Default::default()) + 3.0;
        encoder
            .norm
            .forward(x)
            .matmul(encoder.mlp.hidden.val())
            .powi_scalar(2)
            .mean()
    };
    let mut rate = |_: InnerStep<'_, _>| Ok::<_, Infallible>(0.1);
    let Ok(adapted) = adapt::<Once, _, _>(&encoder, 2, &loss, &mut rate);
    let mean = |encoder: &Normalised<Once>| to_vec(&encoder.norm.running_mean.value_sync());
    assert_eq!(mean(&encoder), [0.0; D_IN]);
    assert!(mean(&adapted.encoder).iter().all(|mean| *mean > 0.1));
}
