//! Noise that is drawn for each anchor, against enumerations and plain loops.

use std::sync::Arc;

use burn::tensor::{DType, Tensor, TensorData};
use icl_core::testing::{
    TestAutodiff, TestBackend as B, assert_close, finite_difference, has_double_precision, to_vec,
};
use icl_core::{
    Catalogue, Contrast, Draws, GrowthRatio, InfoNceConfig, NoiseLosses, Origin, PairEmbeddings,
    Seed, Strategy, catalogue_log_noise, catalogue_nce_i, drawn_nce_i, nce_i,
};
use rand::RngExt;

const TEMPERATURE: f64 = 0.25;

fn draw(n: usize, d: usize, seed: u64) -> Vec<f64> {
    let mut rng = Seed::new(seed).rng();
    (0..n * d).map(|_| rng.random::<f64>() - 0.5).collect()
}

fn tensor(values: &[f64], d: usize) -> Tensor<B, 2> {
    let data = TensorData::new(values.to_vec(), [values.len() / d, d]);
    Tensor::from_data(data, &Default::default())
}

/// f(a, b) by the definition.
fn f(a: &[f64], b: &[f64]) -> f64 {
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    (dot(a, b) / (dot(a, a) * dot(b, b)).sqrt() / TEMPERATURE).exp()
}

/// All other samples of the batch, drawn without replacement, are the batch's noise.
#[test]
fn drawing_all_is_info_nce() {
    let (n, d) = (7, 4);
    let (anchors, positives) = (tensor(&draw(n, d, 1), d), tensor(&draw(n, d, 2), d));
    let draws = Draws::new(6.0, n, Seed::new(3));
    let drawn = drawn_nce_i(anchors.clone(), positives.clone(), TEMPERATURE, &draws);
    let all = InfoNceConfig::new()
        .with_temperature(TEMPERATURE)
        .with_negatives(Some(6.0))
        .init()
        .forward_no_reduction(anchors, positives);
    assert_close(&to_vec(&drawn), &to_vec(&all), 1e-5);
}

/// A batch with fewer noise samples than K has them all, with weight K/m.
#[test]
fn more_draws_than_samples_are_weighted() {
    let (n, d) = (5, 3);
    let (anchors, positives) = (tensor(&draw(n, d, 4), d), tensor(&draw(n, d, 5), d));
    let draws = Draws::new(9.0, n, Seed::new(6));
    let drawn = drawn_nce_i(anchors.clone(), positives.clone(), TEMPERATURE, &draws);
    let weighted = InfoNceConfig::new()
        .with_temperature(TEMPERATURE)
        .with_negatives(Some(9.0))
        .init()
        .forward_no_reduction(anchors, positives);
    assert_close(&to_vec(&drawn), &to_vec(&weighted), 1e-5);
}

/// The losses of all subsets of two of six negatives have a mean below the loss with all of them as weights (Jensen),
/// and drawn losses are among them, each as often as the others.
#[test]
fn drawn_losses_are_those_of_the_subsets() {
    let (n, d, k) = (7, 3, 2);
    let (a, b) = (draw(n, d, 7), draw(n, d, 8));
    let row = |of: &[f64], at: usize| of[at * d..][..d].to_vec();
    let noise: Vec<f64> = (1..n).map(|j| f(&row(&a, 0), &row(&b, j))).collect();
    let positive = f(&row(&a, 0), &row(&b, 0));
    let mut subsets = Vec::new();
    for i in 0..noise.len() {
        for j in 0..i {
            subsets.push(((noise[i] + noise[j]) / positive).ln_1p());
        }
    }
    let mean_noise = noise.iter().sum::<f64>() / noise.len() as f64;
    let weighted = (k as f64 * mean_noise / positive).ln_1p();
    let expected = subsets.iter().sum::<f64>() / subsets.len() as f64;
    assert!(expected < weighted);
    let (anchors, positives) = (tensor(&a, d), tensor(&b, d));
    let n_draws = 3000;
    let mut frequencies = vec![0_u32; subsets.len()];
    for seed in 0..n_draws {
        let draws = Draws::new(k as f64, n, Seed::new(seed));
        let losses = drawn_nce_i(anchors.clone(), positives.clone(), TEMPERATURE, &draws);
        let found = to_vec(&losses)[0];
        let at = subsets.iter().position(|loss| (loss - found).abs() < 1e-5);
        frequencies[at.expect("the loss of a subset")] += 1;
    }
    // Fifteen subsets; five standard deviations of a binomial count.
    let p = 1.0 / subsets.len() as f64;
    let deviation = 5.0 * (n_draws as f64 * p * (1.0 - p)).sqrt();
    for frequency in frequencies {
        assert!((f64::from(frequency) - n_draws as f64 * p).abs() < deviation);
    }
}

#[test]
fn equal_negatives_make_drawn_and_weighted_losses_equal() {
    let (n, d) = (6, 2);
    let anchors = tensor(&[1.0, 0.2].repeat(n), d);
    let positives = tensor(&[0.3, 0.9].repeat(n), d);
    let draws = Draws::new(2.0, n, Seed::new(1));
    let drawn = drawn_nce_i(anchors, positives, TEMPERATURE, &draws);
    // f⁺ = f⁻, so the loss is log(1 + K).
    assert_close(&to_vec(&drawn), &vec![3_f64.ln(); n], 1e-6);
}

/// Anchors without a draw have loss 0 and gradient 0.
#[test]
fn no_noise_is_no_loss() {
    let (n, d) = (40, 3);
    let draws = Draws::new(0.4, n, Seed::new(12));
    assert!(draws.counts().contains(&0) && draws.counts().contains(&1));
    let rows = |seed| {
        let data = TensorData::new(draw(n, d, seed), [n, d]);
        Tensor::<TestAutodiff, 2>::from_data(data, &Default::default()).require_grad()
    };
    let (anchors, positives) = (rows(1), rows(2));
    let losses = drawn_nce_i(anchors.clone(), positives, TEMPERATURE, &draws);
    let values = to_vec(&losses);
    let gradients = losses.sum().backward();
    let gradient = to_vec(&anchors.grad(&gradients).unwrap());
    for (row, &count) in draws.counts().iter().enumerate() {
        let of_row = &gradient[row * d..][..d];
        match count {
            0 => assert!(values[row] == 0.0 && of_row.iter().all(|&g| g == 0.0)),
            _ => assert!(values[row] > 0.0 && of_row.iter().any(|&g| g != 0.0)),
        }
    }
}

#[test]
fn the_gradient_is_that_of_finite_differences() {
    if !has_double_precision() {
        return;
    }
    let (n, d) = (5, 3);
    let draws = Draws::new(2.5, n, Seed::new(4));
    let options = (&Default::default(), DType::F64);
    let split = |x: &[f64]| {
        let (a, b) = x.split_at(n * d);
        [a, b].map(|rows| TensorData::new(rows.to_vec(), [n, d]))
    };
    let x = [draw(n, d, 20), draw(n, d, 21)].concat();
    let loss = |x: &[f64]| {
        let [a, b] = split(x).map(|rows| Tensor::<B, 2>::from_data(rows, options));
        to_vec(&drawn_nce_i(a, b, TEMPERATURE, &draws).sum())[0]
    };
    let [a, b] =
        split(&x).map(|rows| Tensor::<TestAutodiff, 2>::from_data(rows, options).require_grad());
    let gradients = drawn_nce_i(a.clone(), b.clone(), TEMPERATURE, &draws)
        .sum()
        .backward();
    let found = [a, b]
        .map(|rows| to_vec(&rows.grad(&gradients).unwrap()))
        .concat();
    assert_close(&found, &finite_difference(loss, &x, 1e-6), 1e-8);
}

/// Every loss takes the same drawn noise, so that L^{I,X} + L^{II} = L^{I,X′} for each anchor, also for those without noise.
#[test]
fn theorem_1_holds_for_drawn_noise() {
    let (n, n_old, d) = (12, 7, 4);
    for k in [0.5, 1.0, 2.5, 40.0] {
        let draws = Draws::new(k, n, Seed::new(9));
        let contrast = Contrast::in_batch_rows_drawn(
            tensor(&draw(n, d, 13), d),
            tensor(&draw(n, d, 14), d),
            n_old,
            0..n,
            TEMPERATURE,
            &draws,
        );
        let losses = NoiseLosses::new(&contrast, k, GrowthRatio::from_counts(n_old, n - n_old));
        let residual = to_vec(&losses.bias(Strategy::Icl, Origin::Old));
        // Roundings of losses of several nats in single precision.
        assert_close(&residual, &vec![0.0; n], 3e-6);
        assert!(to_vec(&losses.nce_ii).iter().any(|&loss| loss != 0.0));
    }
}

/// The noise of a catalogue, all of it and drawn, against a plain loop.
#[test]
fn a_catalogue_has_no_excluded_rows() {
    let (n, m, d) = (4, 9, 3);
    let (a, c) = (draw(n, d, 30), draw(m, d, 31));
    let excluded = vec![vec![0, 8], vec![], vec![1, 2, 3, 4, 5, 6, 7], vec![4]];
    let (anchors, catalogue) = (tensor(&a, d), tensor(&c, d));
    let log_noise = |draws: Option<&Draws>| {
        let (anchors, catalogue) = (anchors.clone(), catalogue.clone());
        to_vec(&catalogue_log_noise(
            anchors,
            catalogue,
            &excluded,
            TEMPERATURE,
            draws,
        ))
    };
    let scores = |row: usize| -> Vec<f64> {
        (0..m)
            .filter(|&j| !excluded[row].contains(&(j as u32)))
            .map(|j| f(&a[row * d..][..d], &c[j * d..][..d]))
            .collect()
    };
    let expected: Vec<f64> = (0..n)
        .map(|row| (scores(row).iter().sum::<f64>() / scores(row).len() as f64).ln())
        .collect();
    assert_close(&log_noise(None), &expected, 1e-5);
    // The mean of estimates from one row of the catalogue is the expectation.
    let n_draws = 4000;
    let mut means = vec![0.0; n];
    for seed in 0..n_draws {
        let found = log_noise(Some(&Draws::new(1.0, n, Seed::new(seed))));
        for (row, (mean, found)) in means.iter_mut().zip(found).enumerate() {
            let found = found.exp();
            assert!(
                scores(row)
                    .iter()
                    .any(|score| (score - found).abs() < 1e-4 * score)
            );
            *mean += found / n_draws as f64;
        }
    }
    for (row, mean) in means.iter().enumerate() {
        let (scores, expected) = (scores(row), expected[row].exp());
        let variance = scores.iter().map(|s| (s - expected).powi(2)).sum::<f64>();
        let error = (variance / scores.len() as f64 / n_draws as f64).sqrt();
        assert!((mean - expected).abs() <= 5.0 * error, "{row}");
    }
}

/// An anchor whose user has seen everything has no negatives: loss 0, and no panic.
#[test]
fn an_anchor_without_candidates_has_no_loss() {
    let (n, m, d) = (2, 3, 3);
    let excluded = Arc::new(vec![vec![0, 1, 2], vec![1]]);
    let pairs = || PairEmbeddings {
        anchors: tensor(&draw(n, d, 50), d),
        positives: tensor(&draw(n, d, 51), d),
        catalogue: Some(Catalogue::new(tensor(&draw(m, d, 52), d), excluded.clone())),
    };
    let draws = Draws::new(2.0, n, Seed::new(5));
    for draws in [None, Some(&draws)] {
        let losses = to_vec(&catalogue_nce_i(pairs(), TEMPERATURE, 2.0, draws));
        assert!(losses[0] == 0.0 && losses[1] > 0.0, "{losses:?}");
    }
}

/// The limits of the change ratio in K (Eq. 6): 0 for few negatives, log(E_ΔX/E_X) for many, monotone between.
#[test]
fn the_change_ratio_is_muted_at_small_k() {
    let one = |value: f64| Tensor::<B, 1>::from_data([value], &Default::default());
    for (old, new) in [(0.2, 1.1), (1.1, 0.2), (0.4, 0.4)] {
        let contrast = Contrast {
            positive: one(0.7),
            log_noise_old: one(old),
            log_noise_new: one(new),
        };
        let log_r = |k: f64| to_vec(&icl_core::log_change_ratio(&contrast, k))[0];
        assert!(log_r(1e-6).abs() < 2e-6);
        assert!((log_r(1e7) - (new - old)).abs() < 1e-5);
        let ks = [0.1, 1.0, 4.0, 31.0, 1000.0];
        let steps = ks.windows(2).map(|pair| log_r(pair[1]) - log_r(pair[0]));
        assert!(steps.into_iter().all(|step| step * (new - old) >= 0.0));
        // ∂ log r/∂ ln K = σ(ln K + ln E_ΔX − ln f⁺) − σ(ln K + ln E_X − ln f⁺)
        let sigmoid = |z: f64| 1.0 / (1.0 + (-z).exp());
        let k: f64 = 4.0;
        let expected = sigmoid(k.ln() + new - 0.7) - sigmoid(k.ln() + old - 0.7);
        let h: f64 = 0.01;
        let found = (log_r(k * h.exp()) - log_r(k * (-h).exp())) / (2.0 * h);
        assert!((found - expected).abs() < 1e-4, "{found} {expected}");
    }
}

/// The loss with the noise of a catalogue is NCE-I as of any other noise.
#[test]
fn a_catalogue_of_the_positives_is_the_batch() {
    let (n, d) = (6, 4);
    let (anchors, positives) = (tensor(&draw(n, d, 40), d), tensor(&draw(n, d, 41), d));
    let own: Vec<Vec<u32>> = (0..n as u32).map(|row| vec![row]).collect();
    let log_noise =
        catalogue_log_noise(anchors.clone(), positives.clone(), &own, TEMPERATURE, None);
    let positive = icl_core::paired_cosine_similarity(anchors.clone(), positives.clone());
    let found = nce_i(positive / TEMPERATURE, log_noise, 5.0);
    let expected = InfoNceConfig::new()
        .with_temperature(TEMPERATURE)
        .init()
        .forward_no_reduction(anchors, positives);
    assert_close(&to_vec(&found), &to_vec(&expected), 1e-5);
}

#[test]
#[should_panic = "a catalogue needs at least 1 row, found 0"]
fn a_catalogue_has_rows() {
    let anchors = tensor(&draw(3, 4, 42), 4);
    let catalogue = anchors.clone().slice(0..0);
    catalogue_log_noise(
        anchors,
        catalogue,
        &[vec![], vec![], vec![]],
        TEMPERATURE,
        None,
    );
}
