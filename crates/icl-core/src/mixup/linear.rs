//! Linear mixup, of samples and of rows of a tensor.

use burn::tensor::{Tensor, backend::Backend};

/// Mixes a sample with a partner linearly, in place (DACL, Eq. 3).
///
/// ```text
/// x⁺ = λ·x + (1 − λ)·x̃ = x + (1 − λ)·(x̃ − x)
/// ```
///
/// The second form is computed: it is x to the bit at λ = 1. Mixing commutes with any map x ↦ a·x + b of a
/// column, such as standardisation.
///
/// # Panics
/// If the lengths differ.
pub fn linear(x: &mut [f32], partner: &[f32], lambda: f32) {
    assert_eq!(
        x.len(),
        partner.len(),
        "a sample (left) and its partner (right) must have the same length"
    );
    for (x, partner) in x.iter_mut().zip(partner) {
        // Eq. (3) of DACL
        *x += (1.0 - lambda) * (partner - *x);
    }
}

/// Mixes each row with the same row of `partners` linearly: `[n, d]`, `[n, d]`, λ `[n, 1]` → `[n, d]`
/// (DACL, Eq. 3; Eq. 4 on hidden vectors).
///
/// The gradient flows through both. See [`linear`] for the formula.
///
/// # Panics
/// If the shapes do not fit.
pub fn linear_rows<B: Backend>(
    rows: Tensor<B, 2>,
    partners: Tensor<B, 2>,
    lambda: Tensor<B, 2>,
) -> Tensor<B, 2> {
    assert_eq!(
        rows.dims(),
        partners.dims(),
        "rows (left) and partners (right) must have the same shape"
    );
    // Eq. (3) of DACL, and Eq. (4) on hidden vectors
    rows.clone() + (lambda.neg() + 1.0) * (partners - rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestBackend, assert_close, to_vec};

    #[test]
    fn slices_and_rows_agree_and_lambda_1_changes_no_bit() {
        let device = Default::default();
        let rows = [[0.1, -2.0, 3.5], [1e-8, 7.25, -0.3]];
        let partners = [[9.0, 1.0, -1.0], [0.7, 1e6, 0.0]];
        let lambda = [0.75, 1.0];
        let mixed: Tensor<TestBackend, 2> = linear_rows(
            Tensor::from_data(rows, &device),
            Tensor::from_data(partners, &device),
            Tensor::from_data([[lambda[0]], [lambda[1]]], &device),
        );
        let mixed = to_vec(&mixed);
        for row in 0..2 {
            let mut x = rows[row];
            linear(&mut x, &partners[row], lambda[row]);
            let expected: Vec<f64> = (0..3)
                .map(|at| {
                    let [x, partner, lambda] =
                        [rows[row][at], partners[row][at], lambda[row]].map(f64::from);
                    lambda * x + (1.0 - lambda) * partner
                })
                .collect();
            assert_close(&x.map(f64::from), &expected, 1e-6);
            assert_close(&mixed[3 * row..3 * row + 3], &expected, 1e-6);
            if lambda[row] == 1.0 {
                assert_eq!(x, rows[row]);
            }
        }
    }
}
