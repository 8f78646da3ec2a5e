//! Exact limits, extremes and gradients.

use burn::tensor::{DType, Tensor, TensorData};
use icl_core::testing::{
    LOGARITHM_ERROR, TestAutodiff, TestBackend, assert_close, finite_difference,
    has_double_precision, precisions, to_vec,
};
use icl_core::{
    Contrast, GrowthRatio, IncrementalInfoNceConfig, InfoNceConfig, NoiseLosses, change_ratio,
    cosine_similarity, log_change_ratio, log_mixed_noise, nce_i, nce_ii, normalize,
    paired_cosine_similarity,
};

type B = TestBackend;

fn vector(values: &[f64], dtype: DType) -> Tensor<B, 1> {
    let data = TensorData::new(values.to_vec(), [values.len()]);
    Tensor::from_data(data, (&Default::default(), dtype))
}

fn alpha(value: f64) -> GrowthRatio {
    GrowthRatio::try_new(value).expect("a growth ratio")
}

fn rows<const N: usize, const D: usize>(rows: [[f32; D]; N]) -> Tensor<B, 2> {
    Tensor::from_data(rows, &Default::default())
}

#[test]
fn nce_ii_has_its_exact_limits() {
    let log_r = [-200.0, -3.0, -1.0, -1e-6, 0.0, 1e-6, 1.0, 3.0, 200.0];
    for (dtype, _) in precisions(0.0, 0.0) {
        let x = || vector(&log_r, dtype);
        // No new data: 0. New data only: log r. The same noise: 0 at every alpha. All to the bit.
        assert_eq!(to_vec(&nce_ii(x(), alpha(0.0))), vec![0.0; log_r.len()]);
        assert_eq!(to_vec(&nce_ii(x(), alpha(1.0))), to_vec(&x()));
        for a in [1e-6, 0.3, 0.5, 0.999] {
            assert_eq!(to_vec(&nce_ii(x(), alpha(a)))[4], 0.0);
        }
    }
}

#[test]
fn nce_ii_keeps_its_digits_where_alpha_or_log_r_are_small() {
    let log_r: Vec<f64> = [
        -30.0, -2.0, -1.001, -0.999, -1e-5, 1e-5, 0.999, 1.001, 2.0, 30.0,
    ]
    .into();
    for a in [1e-6, 1e-3, 0.5, 0.999] {
        // log1p(a·expm1(x)) in double precision: the other way to write Eq. (7).
        let expected: Vec<f64> = log_r.iter().map(|x| (a * x.exp_m1()).ln_1p()).collect();
        let actual = to_vec(&nce_ii(vector(&log_r, DType::F32), alpha(a)));
        for (actual, expected) in actual.iter().zip(&expected) {
            let error = (actual - expected).abs();
            assert!(
                error < 2e-5 * expected.abs() + LOGARITHM_ERROR,
                "alpha {a}: found {actual}, expected {expected}"
            );
        }
    }
}

#[test]
fn equal_noise_changes_nothing() {
    let embeddings = rows([[1.0, 0.2], [0.3, -1.0], [-0.5, 0.4]]);
    let noise = rows([[0.1, 0.9], [1.0, 1.0]]);
    let contrast = Contrast::explicit(embeddings.clone(), embeddings, noise.clone(), noise, 0.1);
    assert_eq!(to_vec(&change_ratio(&contrast, 31.0)), vec![1.0; 3]);
    let losses = NoiseLosses::new(&contrast, 31.0, alpha(0.4));
    assert_eq!(to_vec(&losses.nce_ii), vec![0.0; 3]);
    assert_eq!(to_vec(&losses.old), to_vec(&losses.all));
}

#[test]
fn a_uniform_noise_has_a_closed_form() {
    // All similarities equal: L = log(1 + K), whatever the temperature and however many samples
    // there are, in particular in a short last batch.
    for n in [2, 7, 32] {
        let same = Tensor::<B, 2>::ones([n, 3], &Default::default());
        for temperature in [0.01, 0.1, 1.0] {
            let loss = InfoNceConfig::new()
                .with_temperature(temperature)
                .with_negatives(Some(31.0))
                .init()
                .forward(same.clone(), same.clone());
            assert_close(&to_vec(&loss), &[32.0_f64.ln()], 1e-6);
        }
        // Without K it is B − 1.
        let loss = InfoNceConfig::new().init().forward(same.clone(), same);
        assert_close(&to_vec(&loss), &[(n as f64).ln()], 1e-6);
    }
}

#[test]
fn mixing_is_exact_at_both_ends() {
    let (old, new) = (
        vector(&[-3.0, 70.0, 5.0], DType::F32),
        vector(&[2.0, -70.0, 5.0], DType::F32),
    );
    let mixed = |a| to_vec(&log_mixed_noise(old.clone(), new.clone(), alpha(a)));
    assert_eq!(mixed(0.0), to_vec(&old));
    assert_eq!(mixed(1.0), to_vec(&new));
    assert_eq!(mixed(0.5)[2], 5.0);
    let expected = (0.5 * (-3.0_f64).exp() + 0.5 * 2.0_f64.exp()).ln();
    assert_close(&mixed(0.5)[..2], &[expected, 70.0 - 2.0_f64.ln()], 1e-6);
}

#[test]
fn a_zero_vector_is_similar_to_nothing_and_has_no_gradient() {
    let device = Default::default();
    let a = Tensor::<TestAutodiff, 2>::from_data([[0.0, 0.0], [3.0, 4.0]], &device).require_grad();
    let b = Tensor::<TestAutodiff, 2>::from_data([[1.0, 0.0], [0.0, 0.0]], &device).require_grad();
    let similarity = cosine_similarity(a.clone(), b.clone());
    assert_close(
        &to_vec(&similarity.clone().inner()),
        &[0.0, 0.0, 0.6, 0.0],
        1e-7,
    );
    let gradients = similarity.sum().backward();
    let gradient = |x: &Tensor<TestAutodiff, 2>| to_vec(&x.grad(&gradients).unwrap());
    assert_eq!(gradient(&a)[..2], [0.0, 0.0]);
    assert_eq!(gradient(&b)[2..], [0.0, 0.0]);
    assert!(
        gradient(&a)
            .iter()
            .chain(&gradient(&b))
            .all(|g| g.is_finite())
    );
}

#[test]
fn similarity_does_not_depend_on_scale() {
    let x = rows([[1.0, -2.0, 0.5], [0.1, 0.7, -0.3]]);
    let expected = to_vec(&cosine_similarity(x.clone(), x.clone()));
    for scale in [1e-30, 1e-10, 1e10, 1e30] {
        let scaled = x.clone() * scale;
        assert_close(
            &to_vec(&cosine_similarity(scaled.clone(), x.clone())),
            &expected,
            1e-6,
        );
        assert_close(
            &to_vec(&paired_cosine_similarity(scaled, x.clone())),
            &[1.0, 1.0],
            1e-6,
        );
    }
    let lengths = (normalize(x.clone()) * normalize(x)).sum_dim(1);
    assert_close(&to_vec(&lengths), &[1.0, 1.0], 1e-6);
}

#[test]
fn extreme_similarities_and_temperatures_stay_finite() {
    let device = Default::default();
    let (up, down) = ([1.0, 0.0], [-1.0, 0.0]);
    for temperature in [0.01, 0.1, 1.0] {
        for (positive, old, new) in [
            (up, up, up),
            (down, up, up),
            (up, down, up),
            (down, up, down),
            (up, up, down),
        ] {
            let tensor = |row: [f64; 2]| {
                Tensor::<TestAutodiff, 2>::from_data([row, row], &device).require_grad()
            };
            let (a, p, o, n) = (tensor(up), tensor(positive), tensor(old), tensor(new));
            for share in [0.0, 1e-6, 0.5, 1.0] {
                // A backward pass consumes its graph, so each has one of its own.
                let contrast =
                    Contrast::explicit(a.clone(), p.clone(), o.clone(), n.clone(), temperature);
                let losses = NoiseLosses::new(&contrast, 31.0, alpha(share));
                let total = losses.old + losses.new + losses.all + losses.nce_ii;
                assert!(to_vec(&total.clone().inner()).iter().all(|x| x.is_finite()));
                let gradients = total.sum().backward();
                for x in [&a, &p, &o, &n] {
                    let gradient = to_vec(&x.grad(&gradients).unwrap());
                    assert!(gradient.iter().all(|g| g.is_finite()), "{gradient:?}");
                }
            }
        }
    }
}

/// Compares the gradient of every loss, in double precision, with central differences.
#[test]
fn gradients_agree_with_finite_differences() {
    if !has_double_precision() {
        return;
    }
    const N: usize = 4;
    const D: usize = 3;
    let mut rng = icl_core::Seed::new(3).rng();
    let x: Vec<f64> = (0..4 * N * D)
        .map(|_| {
            use rand::RngExt;
            rng.random::<f64>() * 2.0 - 1.0
        })
        .collect();
    type Loss = fn(Tensor<TestAutodiff, 2>) -> Tensor<TestAutodiff, 1>;
    fn part(x: &Tensor<TestAutodiff, 2>, index: usize) -> Tensor<TestAutodiff, 2> {
        x.clone().narrow(0, index * N, N)
    }
    fn explicit(x: &Tensor<TestAutodiff, 2>) -> Contrast<TestAutodiff> {
        Contrast::explicit(part(x, 0), part(x, 1), part(x, 2), part(x, 3), 0.3)
    }
    let losses: [(&str, Loss); 7] = [
        ("nce_i in batch", |x| {
            InfoNceConfig::new()
                .init()
                .forward(part(&x, 0), part(&x, 1))
        }),
        ("nce_i symmetric", |x| {
            InfoNceConfig::new()
                .with_symmetric(true)
                .init()
                .forward(part(&x, 0), part(&x, 1))
        }),
        ("nce_i explicit", |x| {
            let contrast = explicit(&x);
            nce_i(contrast.positive, contrast.log_noise_old, 31.0).sum()
        }),
        ("nce_i mixed", |x| {
            let loss = InfoNceConfig::new().init();
            let noise = (part(&x, 2), part(&x, 3));
            loss.forward_mixed(part(&x, 0), part(&x, 1), noise.0, noise.1, alpha(0.3))
                .sum()
        }),
        ("log change ratio", |x| {
            log_change_ratio(&explicit(&x), 31.0).sum()
        }),
        ("nce_ii", |x| {
            IncrementalInfoNceConfig::new(31.0).init().forward(
                part(&x, 0),
                part(&x, 1),
                part(&x, 2),
                part(&x, 3),
                alpha(0.3),
            )
        }),
        ("mixed batch", |x| {
            let contrast = Contrast::in_batch(
                x.clone().narrow(0, 0, 2 * N),
                x.narrow(0, 2 * N, 2 * N),
                3,
                0.3,
            );
            let losses = NoiseLosses::new(&contrast, 31.0, alpha(0.4));
            (losses.nce_ii + losses.all).sum()
        }),
    ];
    let tensor = |x: &[f64]| {
        let data = TensorData::new(x.to_vec(), [4 * N, D]);
        Tensor::<TestAutodiff, 2>::from_data(data, (&Default::default(), DType::F64))
    };
    for (name, loss) in losses {
        let input = tensor(&x).require_grad();
        let gradients = loss(input.clone()).backward();
        let actual = to_vec(&input.grad(&gradients).unwrap());
        let expected = finite_difference(|x| to_vec(&loss(tensor(x)).inner())[0], &x, 1e-6);
        assert!(
            expected.iter().any(|g| g.abs() > 1e-3),
            "{name} has a gradient"
        );
        // Central differences with h = 1e-6 are good to about 1e-9.
        assert_close(&actual, &expected, 1e-7);
    }
}

/// Checks the derivatives where a maximum or an absolute value in the formulas could make them wrong:
/// log r = 0 and ±1, and equal similarities.
#[test]
fn derivatives_are_right_at_the_seams() {
    for a in [0.3, 0.5] {
        let x = Tensor::<TestAutodiff, 1>::from_data([0.0, 1.0, -1.0], &Default::default())
            .require_grad();
        let gradients = nce_ii(x.clone(), alpha(a)).sum().backward();
        // d/dx log(a·e^x + 1 − a) = a·e^x / (a·e^x + 1 − a)
        let expected = [0.0, 1.0, -1.0_f64].map(|x| a * x.exp() / (a * x.exp() + 1.0 - a));
        assert_close(&to_vec(&x.grad(&gradients).unwrap()), &expected, 1e-6);
    }
    let positive = Tensor::<TestAutodiff, 1>::from_data([0.0], &Default::default()).require_grad();
    let noise = Tensor::<TestAutodiff, 1>::zeros([1], &Default::default());
    let gradients = nce_i(positive.clone(), noise, 1.0).backward();
    assert_close(&to_vec(&positive.grad(&gradients).unwrap()), &[-0.5], 1e-6);
}

#[test]
fn wrong_values_are_rejected_with_their_name() {
    for bad in [0.0, -0.1, f64::NAN, f64::INFINITY] {
        let error = InfoNceConfig::new()
            .with_temperature(bad)
            .try_init()
            .unwrap_err();
        assert!(error.to_string().starts_with("temperature: found"));
        let error = InfoNceConfig::new()
            .with_negatives(Some(bad))
            .try_init()
            .unwrap_err();
        assert!(error.to_string().starts_with("negatives (K): found"));
        assert!(IncrementalInfoNceConfig::new(bad).try_init().is_err());
    }
    for bad in [-1e-9, 1.0 + 1e-9, f64::NAN] {
        assert_eq!(GrowthRatio::try_new(bad).unwrap_err().place(), "alpha");
    }
}

#[test]
#[should_panic(expected = "temperature: found 0")]
fn init_panics_with_the_words_of_the_error() {
    InfoNceConfig::new().with_temperature(0.0).init();
}
