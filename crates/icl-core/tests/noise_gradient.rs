//! The expectation over noise in each of its forms: values against a plain loop, first and second
//! derivatives, independence of the number of threads.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor, TensorData};
use icl_core::testing::{
    TestAutodiff, TestBackend, assert_close, finite_difference, has_double_precision, precisions,
    to_vec,
};
use icl_core::{Contrast, InfoNceConfig, Seed, exact_nce_i, normalize};
use rand::RngExt;

type Twice = Autodiff<TestAutodiff>;

fn draw(n: usize, d: usize, seed: u64) -> Vec<f64> {
    let mut rng = Seed::new(seed).rng();
    (0..n * d)
        .map(|_| rng.random::<f64>() * 2.0 - 1.0)
        .collect()
}

fn tensor(values: &[f64], d: usize, dtype: DType) -> Tensor<TestBackend, 2> {
    let data = TensorData::new(values.to_vec(), [values.len() / d, d]);
    Tensor::from_data(data, (&Default::default(), dtype))
}

/// Returns the log of the mean over j ≠ i of exp(cos(aᵢ, bⱼ)/τ), for columns j from `first` to `end`.
fn by_a_loop(a: &[f64], b: &[f64], d: usize, tau: f64, [first, end]: [usize; 2]) -> Vec<f64> {
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let cosine = |x: &[f64], y: &[f64]| dot(x, y) / (dot(x, x) * dot(y, y)).sqrt();
    let of_row = |(i, a): (usize, &[f64])| {
        let columns: Vec<usize> = (first..end).filter(|j| *j != i).collect();
        // Cosines are at most 1.
        let term = |j: &usize| ((cosine(a, &b[j * d..][..d]) - 1.0) / tau).exp();
        (columns.iter().map(term).sum::<f64>() / columns.len() as f64).ln() + 1.0 / tau
    };
    a.chunks(d).enumerate().map(of_row).collect()
}

#[test]
fn every_form_is_the_plain_sum_without_self() {
    let d = 5;
    // Rows shorter than a vector register, as long, and longer by some.
    for (n, n_old) in [(4, 2), (16, 7), (37, 20), (301, 40)] {
        let (a, b) = (draw(n, d, 1), draw(n, d, 2));
        for tau in [0.01, 0.1, 1.0] {
            let old = by_a_loop(&a, &b, d, tau, [0, n_old]);
            let new = by_a_loop(&a, &b, d, tau, [n_old, n]);
            for (dtype, tolerance) in precisions(3e-6, 1e-12) {
                // Cosines in single precision are good to 1e-7, which the temperature divides.
                let tolerance = tolerance * f64::max(1.0, 0.03 / tau);
                let (a, b) = (tensor(&a, d, dtype), tensor(&b, d, dtype));
                let contrast = Contrast::in_batch(a.clone(), b.clone(), n_old, tau);
                assert_close(&to_vec(&contrast.log_noise_old), &old, tolerance);
                assert_close(&to_vec(&contrast.log_noise_new), &new, tolerance);
                let gradients = |x| Tensor::<TestAutodiff, 2>::from_inner(x).require_grad();
                let tracked = Contrast::in_batch(gradients(a), gradients(b), n_old, tau);
                let (found, expected) = (tracked.log_noise_new.inner(), contrast.log_noise_new);
                assert_eq!(to_vec(&found), to_vec(&expected));
            }
        }
    }
}

#[test]
fn single_precision_has_the_gradient_of_double_precision() {
    if !has_double_precision() {
        return;
    }
    let (n, d) = (67, 9);
    let values = [draw(n, d, 3), draw(n, d, 4)];
    for tau in [0.02, 0.1] {
        let gradients = |dtype| {
            let [a, b] = [0, 1].map(|at: usize| {
                Tensor::<TestAutodiff, 2>::from_inner(tensor(&values[at], d, dtype)).require_grad()
            });
            let loss = InfoNceConfig::new().with_temperature(tau).init();
            let found = loss.forward(a.clone(), b.clone()).backward();
            [a, b].map(|x| to_vec(&x.grad(&found).unwrap()))
        };
        let (single, double) = (gradients(DType::F32), gradients(DType::F64));
        for (single, double) in single.iter().zip(&double) {
            let largest = double
                .iter()
                .fold(0.0, |largest: f64, g| largest.max(g.abs()));
            let relative = |values: &[f64]| values.iter().map(|g| g / largest).collect::<Vec<_>>();
            assert_close(&relative(single), &relative(double), 2e-5);
        }
    }
}

/// Compares the derivative of the projection of a gradient, through two levels of differentiation, with
/// central differences of the gradient.
#[test]
fn it_can_be_differentiated_twice() {
    if !has_double_precision() {
        return;
    }
    let (n, d) = (6, 3);
    let (x, direction) = (draw(2 * n, d, 5), draw(2 * n, d, 6));
    let device = Default::default();
    let losses: [fn(Tensor<Twice, 2>) -> Tensor<Twice, 1>; 2] = [
        |x| {
            let (a, b) = (x.clone().narrow(0, 0, 6), x.narrow(0, 6, 6));
            let loss = InfoNceConfig::new()
                .with_temperature(0.3)
                .with_symmetric(true);
            loss.init().forward(a, b)
        },
        |x| {
            let (a, b) = (x.clone().narrow(0, 0, 6), x.narrow(0, 6, 6));
            let contrast = Contrast::in_batch(a, b, 3, 0.3);
            (contrast.log_noise_old * contrast.log_noise_new).sum()
        },
    ];
    for loss in losses {
        // ⟨∇loss(x), direction⟩ with its graph.
        let projected = |x: &Tensor<TestAutodiff, 2>| {
            let outer = Tensor::<Twice, 2>::from_inner(x.clone()).require_grad();
            let gradient = outer.grad(&loss(outer.clone()).backward()).unwrap();
            let direction = tensor(&direction, d, DType::F64);
            (gradient * Tensor::from_inner(direction)).sum()
        };
        let input = |x: &[f64]| Tensor::<TestAutodiff, 2>::from_inner(tensor(x, d, DType::F64));
        let inner = input(&x).to_device(&device).require_grad();
        let found = to_vec(&inner.grad(&projected(&inner).backward()).unwrap());
        let value = |x: &[f64]| to_vec(&projected(&input(x)).inner())[0];
        let expected = finite_difference(value, &x, 1e-5);
        assert!(expected.iter().any(|g| g.abs() > 1e-2));
        assert_close(&found, &expected, 1e-7);
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let (n, d) = (700, 32);
    let values = [draw(n, d, 7), draw(n, d, 8)];
    let all = || {
        let [a, b] = [0, 1].map(|at: usize| {
            let x = tensor(&values[at], d, DType::F32);
            Tensor::<TestAutodiff, 2>::from_inner(x).require_grad()
        });
        let loss = InfoNceConfig::new().init().forward(a.clone(), b.clone());
        let gradients = loss.backward();
        let mut found: Vec<f64> = [&a, &b]
            .iter()
            .flat_map(|x| to_vec(&x.grad(&gradients).unwrap()))
            .collect();
        found.extend(to_vec(&loss.inner()));
        found.push(exact_nce_i(a.inner(), b.inner(), 0.1, 31.0));
        found
    };
    let on = |n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
        pool.build().unwrap().install(all)
    };
    let one = on(1);
    assert_eq!(one, on(2));
    assert_eq!(one, on(4));
}

#[test]
fn what_is_not_a_number_is_not_lost() {
    let mut values = draw(40, 4, 9);
    values[4 * 17] = f64::NAN;
    let a = normalize(tensor(&draw(40, 4, 10), 4, DType::F32));
    let loss = InfoNceConfig::new().init();
    let found = to_vec(&loss.forward_no_reduction(a, tensor(&values, 4, DType::F32)));
    assert!(found.iter().all(|loss| loss.is_nan()), "{found:?}");
}
