//! Geometric mixup, of samples and of rows of a tensor.

use burn::tensor::{Tensor, backend::Backend};

use super::linear::linear_rows;

/// Mixes a sample with a partner geometrically, in place (DACL, Eq. 5), column j shifted by εⱼ.
///
/// ```text
/// x⁺ = (x + ε)^λ · (x̃ + ε)^(1 − λ) − ε
/// ```
///
/// ε = 0 is the printed form, with 0^p = 0 for p > 0: it sets every value to 0 whose partner is 0, however
/// near λ is to 1. That erases a third of the non-zero pixels of a Fashion-MNIST image. A positive
/// ε avoids it. λ = 1 changes no bit.
///
/// The formula is for values from −ε on; below them the result is NaN. It does not commute with
/// standardisation and is meant for raw values.
///
/// # Panics
/// If the lengths differ.
pub fn geometric(x: &mut [f32], partner: &[f32], lambda: f32, epsilon: &[f32]) {
    assert!(
        x.len() == partner.len() && x.len() == epsilon.len(),
        "a sample, its partner and ε must have the same length, found {}, {} and {}",
        x.len(),
        partner.len(),
        epsilon.len()
    );
    // Exp and log would change the last bits, and 0·ln 0 of the partner would be NaN.
    if lambda == 1.0 {
        return;
    }
    let lambda = f64::from(lambda);
    for ((x, partner), epsilon) in x.iter_mut().zip(partner).zip(epsilon) {
        let [own, other, shift] = [*x, *partner, *epsilon].map(f64::from);
        // Eq. (5) of DACL. A factor of 0 has the logarithm −∞ and the weight is above 0, so the product is 0.
        let log = lambda * (own + shift).ln() + (1.0 - lambda) * (other + shift).ln();
        // At λ = 0 a sample of 0 has no weight.
        let mixed = if lambda == 0.0 {
            other
        } else {
            log.exp() - shift
        };
        *x = mixed as f32;
    }
}

/// Mixes each row with the same row of `partners` geometrically: `[n, d]`, `[n, d]`, λ `[n, 1]`, ε `[1, d]`
/// → `[n, d]`. See [`geometric`] for the formula.
///
/// Every value plus its ε must be above 0: the gradient of the logarithm is not finite at 0.
///
/// # Panics
/// If the shapes do not fit.
pub fn geometric_rows<B: Backend>(
    rows: Tensor<B, 2>,
    partners: Tensor<B, 2>,
    lambda: Tensor<B, 2>,
    epsilon: Tensor<B, 2>,
) -> Tensor<B, 2> {
    let log = |x: Tensor<B, 2>| (x + epsilon.clone()).log();
    // Eq. (5) of DACL: geometric mixing is linear mixing of logarithms.
    linear_rows(log(rows), log(partners), lambda).exp() - epsilon
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestBackend, assert_close, to_vec};

    #[test]
    fn slices_and_rows_agree_with_powers() {
        let device = Default::default();
        let (row, partner, epsilon) = ([0.0, 2.0, 255.0], [9.0, 0.0, 1.5], [0.5, 0.5, 1e-3]);
        for lambda in [0.0_f32, 0.3, 0.9, 1.0] {
            let mut x = row;
            geometric(&mut x, &partner, lambda, &epsilon);
            let expected: Vec<f64> = (0..3)
                .map(|at| {
                    let [x, partner, epsilon] = [row[at], partner[at], epsilon[at]].map(f64::from);
                    let lambda = f64::from(lambda);
                    (x + epsilon).powf(lambda) * (partner + epsilon).powf(1.0 - lambda) - epsilon
                })
                .collect();
            assert_close(&x.map(f64::from), &expected, 1e-6);
            let mixed: Tensor<TestBackend, 2> = geometric_rows(
                Tensor::from_data([row], &device),
                Tensor::from_data([partner], &device),
                Tensor::from_data([[lambda]], &device),
                Tensor::from_data([epsilon], &device),
            );
            // The logarithm of 255 in single precision.
            assert_close(&to_vec(&mixed), &expected, 2e-5);
        }
        let mut x = row;
        geometric(&mut x, &partner, 1.0, &epsilon);
        assert_eq!(x, row);
    }

    #[test]
    fn the_printed_form_has_the_limits_of_powers_of_0() {
        for (x, partner, lambda, expected) in [
            (0.0, 3.0, 0.9, 0.0),
            (3.0, 0.0, 0.9, 0.0),
            (3.0, 0.0, 1.0, 3.0),
            (0.0, 3.0, 1.0, 0.0),
            (0.0, 3.0, 0.0, 3.0),
            (0.0, 0.0, 0.5, 0.0),
        ] {
            let mut x = [x];
            geometric(&mut x, &[partner], lambda, &[0.0]);
            assert_eq!(x, [expected], "{partner} {lambda}");
        }
        let mut negative = [-1.0];
        geometric(&mut negative, &[2.0], 0.5, &[0.0]);
        assert!(negative[0].is_nan());
    }
}
