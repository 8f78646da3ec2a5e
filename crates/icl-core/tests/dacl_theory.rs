//! Theorems 1 and 2 of DACL (Verma et al., 2021, section 4), on values of
//! `scripts/reference/dacl_theory.py` and on random draws.
//!
//! The paper writes x⁺ = x + α·δ with α = 1 − λ and δ = x̃ − x for mixup noise, δ = x̃ ~ N(0, σ²I) for
//! Gaussian noise. ℓ_cf is the binary cross-entropy of the logit f, y ∈ {0, 1}.

use burn::tensor::{Tensor, TensorData};
use icl_core::testing::{TestBackend, assert_close, precisions, to_vec};
use icl_core::{Seed, nce_i, paired_cosine_similarity};
use rand::RngExt;
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    alphas: Vec<f64>,
    sigma: f64,
    partners: Vec<Vec<f64>>,
    cases: Vec<Case>,
}

/// A correctly classified sample of a linear model f(x) = w·x, with the residuals of Eq. 7 and 8.
#[derive(Deserialize)]
struct Case {
    weights: Vec<f64>,
    sample: Vec<f64>,
    label: usize,
    mixup: Vec<f64>,
    gauss: Vec<f64>,
}

fn reference() -> Reference {
    let text = include_str!("reference/dacl_theory.json");
    let reference: Reference = serde_json::from_str(text).expect("valid JSON");
    assert!(!reference.cases.is_empty());
    reference
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn length(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// Returns −y·ln p(y = 1) − (1 − y)·ln p(y = 0) of a logit.
fn cross_entropy(logit: f64, label: usize) -> f64 {
    let probability = (1.0 + (-logit).exp()).recip();
    -match label {
        1 => probability.ln(),
        _ => (1.0 - probability).ln(),
    }
}

/// Returns f(x⁺) = h(x⁺)ᵀw̃ with the w̃ of Theorem 1, a difference of the two unit vectors h(x⁺⁺) and
/// h(x⁻), divided by ‖h(x⁺)‖. π puts x⁺⁺ where the label is y and x⁻ where it is not.
fn logit(plus: &[f64], plus_plus: &[f64], minus: &[f64], label: usize) -> f64 {
    let (one, zero) = match label {
        1 => (plus_plus, minus),
        _ => (minus, plus_plus),
    };
    let (to_one, to_zero) = (length(one), length(zero));
    let weights: Vec<f64> = one
        .iter()
        .zip(zero)
        .map(|(one, zero)| (one / to_one - zero / to_zero) / length(plus))
        .collect();
    dot(plus, &weights)
}

/// Theorem 1, sample by sample: the contrastive loss of a positive pair and one negative of the other
/// class is the cross-entropy of a linear classifier.
///
/// It is an identity for any vectors because w̃ is made of the pair itself; for a fixed classifier it
/// proves nothing.
#[test]
fn the_contrastive_loss_is_a_cross_entropy_with_weights_of_the_pair() {
    const N: usize = 1000;
    const D: usize = 6;
    let mut rng = Seed::new(20_261_126).rng();
    let mut draw = || -> Vec<Vec<f64>> {
        (0..N)
            .map(|_| (0..D).map(|_| rng.random_range(-2.0..2.0)).collect())
            .collect()
    };
    let [plus, plus_plus, minus] = [draw(), draw(), draw()];
    for (dtype, tolerance) in precisions(1e-6, 1e-14) {
        let tensor = |rows: &[Vec<f64>]| {
            let data = TensorData::new(rows.concat(), [N, D]);
            Tensor::<TestBackend, 2>::from_data(data, (&Default::default(), dtype))
        };
        let similarity =
            |other: &[Vec<f64>]| paired_cosine_similarity(tensor(&plus), tensor(other));
        // One negative, temperature 1.
        let contrastive = to_vec(&nce_i(similarity(&plus_plus), similarity(&minus), 1.0));
        let expected: Vec<f64> = (0..N)
            .map(|at| {
                let label = at % 2;
                let logit = logit(&plus[at], &plus_plus[at], &minus[at], label);
                cross_entropy(logit, label)
            })
            .collect();
        assert_close(&contrastive, &expected, tolerance);
    }
}

/// Terms of Theorem 2 for one sample of a linear model, for which ∇f = w and f(x) = ∇f·x.
struct Terms {
    loss: f64,
    /// c₁‖∇f‖.
    first: f64,
    /// c₂‖∇f‖² as it follows from the expansion: (α²/2)·cos²·‖x‖²·ψ′·‖∇f‖².
    second: f64,
    /// c₃‖∇f‖²_{Σ}, with Σ = E x̃x̃ᵀ.
    third: f64,
}

impl Terms {
    fn of(case: &Case, alpha: f64, covariance: impl Fn(&[f64]) -> f64) -> Self {
        let (w, x) = (&case.weights, &case.sample);
        let (f, to_w, to_x) = (dot(w, x), length(w), length(x));
        let cosine = f / (to_w * to_x);
        let psi = f.exp() / (1.0 + f.exp());
        let slope = psi * (1.0 - psi);
        Self {
            loss: cross_entropy(f, case.label),
            first: alpha * cosine.abs() * (case.label as f64 - psi).abs() * to_x * to_w,
            second: 0.5 * (alpha * cosine * to_x * to_w).powi(2) * slope,
            third: 0.5 * alpha * alpha * slope * covariance(w),
        }
    }
}

/// Returns E ℓ_cf(f(x⁺), y) under mixup noise minus the terms of Eq. 7, with c₂ times `factor`.
fn mixup_residual(case: &Case, partners: &[Vec<f64>], alpha: f64, factor: f64) -> f64 {
    let n = partners.len() as f64;
    let loss = |partner: &Vec<f64>| {
        let mixed: Vec<f64> = case
            .sample
            .iter()
            .zip(partner)
            .map(|(x, partner)| (1.0 - alpha) * x + alpha * partner)
            .collect();
        cross_entropy(dot(&case.weights, &mixed), case.label)
    };
    let mean = partners.iter().map(loss).sum::<f64>() / n;
    let covariance = |w: &[f64]| partners.iter().map(|x| dot(w, x).powi(2)).sum::<f64>() / n;
    let terms = Terms::of(case, alpha, covariance);
    mean - (terms.loss + terms.first + factor * terms.second + terms.third)
}

/// Returns E ℓ_cf(f(x⁺), y) under Gaussian noise minus the terms of Eq. 8. w·x̃ has the standard deviation
/// σ‖w‖, so that the expectation is an integral over one normal variable, here by the trapezoid rule.
fn gauss_residual(case: &Case, sigma: f64, alpha: f64) -> f64 {
    const STEP: f64 = 1.0 / 16.0;
    let f = dot(&case.weights, &case.sample);
    let deviation = alpha * sigma * length(&case.weights);
    let (mut mean, mut total) = (0.0, 0.0);
    for place in -192..=192 {
        let z = f64::from(place) * STEP;
        let density = (-0.5 * z * z).exp();
        total += density;
        mean += density * cross_entropy(f + deviation * z, case.label);
    }
    let covariance = |w: &[f64]| sigma * sigma * dot(w, w);
    let terms = Terms::of(case, alpha, covariance);
    mean / total - (terms.loss + terms.third)
}

/// Returns the ratios of successive residuals, at α and at α/2.
fn ratios(residuals: &[f64]) -> Vec<f64> {
    residuals.windows(2).map(|pair| pair[0] / pair[1]).collect()
}

/// Theorem 2 (i): the residual of Eq. 7 is of third order in α, if c₂ = (α²/2)·cos²·‖x‖²·ψ′.
///
/// In the text of the paper, c₂ reads α²·|cos|²·‖x‖²·|ψ′| or, if its last 2 is a denominator as in c₃,
/// (α²/2)·|cos|²·‖x‖·|ψ′|. In the first the factor ½ is missing, in the second the square of ‖x‖. With
/// either the residual is of second order only.
#[test]
fn the_residual_of_mixup_noise_is_of_third_order_with_another_factor_than_printed() {
    let reference = reference();
    for case in &reference.cases {
        let residuals = |alphas: &[f64], factor: f64| -> Vec<f64> {
            let of = |alpha: &f64| mixup_residual(case, &reference.partners, *alpha, factor);
            alphas.iter().map(of).collect()
        };
        let found = residuals(&reference.alphas, 1.0);
        for (found, expected) in found.iter().zip(&case.mixup) {
            // The rounding error of a sum of numbers up to 3 is relative to the loss.
            assert!((found - expected).abs() < 1e-8 * expected.abs() + 1e-14);
        }
        let found = ratios(&found);
        let is_cubic = found.iter().all(|ratio| (7.0..9.0).contains(ratio));
        assert!(is_cubic, "{found:?}");
        // Of small α, where the second order exceeds the third.
        for factor in [2.0, length(&case.sample).recip()] {
            let found = ratios(&residuals(&[0.002, 0.001], factor));
            assert!((3.8..4.2).contains(&found[0]), "{factor}: {found:?}");
        }
    }
}

/// Theorem 2 (ii): the residual of Eq. 8 is of fourth order, one better than the paper states, because the
/// odd moments of Gaussian noise are 0.
#[test]
fn the_residual_of_gaussian_noise_is_of_fourth_order() {
    let reference = reference();
    for case in &reference.cases {
        let alphas = reference.alphas.iter();
        let found: Vec<f64> = alphas
            .map(|alpha| gauss_residual(case, reference.sigma, *alpha))
            .collect();
        for (found, expected) in found.iter().zip(&case.gauss) {
            assert!((found - expected).abs() < 1e-8 * expected.abs() + 1e-14);
        }
        let found = ratios(&found);
        assert!(
            found.iter().all(|ratio| (ratio - 16.0).abs() < 0.5),
            "{found:?}"
        );
    }
}

/// Theorem 1 as printed, over an empirical distribution: the expected contrastive loss is the
/// classification loss where the negative has another label, plus (1 − ρ(y))·𝓔_y where it has the same.
#[test]
fn the_expected_contrastive_loss_is_the_classification_loss_and_the_error_of_equal_labels() {
    let labels = [0, 1, 1, 0, 1];
    let mut rng = Seed::new(3).rng();
    let mut draw = || -> Vec<Vec<f64>> {
        let row = |_| (0..4).map(|_| rng.random_range(-1.0..1.0)).collect();
        labels.iter().map(row).collect()
    };
    let (plus, plus_plus) = (draw(), draw());
    let n = labels.len();
    let similarity = |a: &[f64], b: &[f64]| dot(a, b) / (length(a) * length(b));
    // x and x̄ are drawn independently, so that x̄ may be x.
    let (mut contrastive, mut theorem) = (0.0, 0.0);
    for label in [0, 1] {
        let of = |wanted: bool| (0..n).filter(move |&at| (labels[at] == label) == wanted);
        let (own, other) = (of(true).count() as f64, of(false).count() as f64);
        let rho = other / n as f64;
        let (mut classification, mut error) = (0.0, 0.0);
        for x in of(true) {
            for negative in of(false) {
                let logit = logit(&plus[x], &plus_plus[x], &plus[negative], label);
                classification += cross_entropy(logit, label) / (own * other);
            }
            for negative in of(true) {
                let gap =
                    similarity(&plus[x], &plus_plus[x]) - similarity(&plus[x], &plus[negative]);
                error += (-gap).exp().ln_1p() / (own * own);
            }
            for negative in 0..n {
                let [positive, negative] =
                    [&plus_plus[x], &plus[negative]].map(|other| similarity(&plus[x], other).exp());
                contrastive -= (positive / (positive + negative)).ln() / (n * n) as f64;
            }
        }
        theorem += own / n as f64 * (rho * classification + (1.0 - rho) * error);
    }
    assert!(
        (contrastive - theorem).abs() < 1e-14,
        "{contrastive} {theorem}"
    );
}
