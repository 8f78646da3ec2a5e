//! Binary mixup, of samples and of rows of a tensor.

use burn::tensor::{Bool, Tensor, backend::Backend};

/// Exchanges the columns of a sample for those of a partner where `keep` is false, in place (DACL, Eq. 6;
/// Beckham et al., 2019).
///
/// ```text
/// x⁺ = x·m + x̃·(1 − m), m ∈ {0, 1} for each column
/// ```
///
/// The columns of a group of indicators must share one m, or the result is no category.
///
/// # Panics
/// If the lengths differ.
pub fn binary(x: &mut [f32], partner: &[f32], keep: &[bool]) {
    assert!(
        x.len() == partner.len() && x.len() == keep.len(),
        "a sample, its partner and the mask must have the same length, found {}, {} and {}",
        x.len(),
        partner.len(),
        keep.len()
    );
    for ((x, partner), keep) in x.iter_mut().zip(partner).zip(keep) {
        // Eq. (6) of DACL
        if !keep {
            *x = *partner;
        }
    }
}

/// Exchanges elements of each row for those of the same row of `partners` where `keep` is false: `[n, d]`,
/// `[n, d]`, `[n, d]` → `[n, d]`. See [`binary`] for the formula.
///
/// # Panics
/// If the shapes do not fit.
pub fn binary_rows<B: Backend>(
    rows: Tensor<B, 2>,
    partners: Tensor<B, 2>,
    keep: Tensor<B, 2, Bool>,
) -> Tensor<B, 2> {
    // Eq. (6) of DACL
    partners.mask_where(keep, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestBackend, to_vec};

    #[test]
    fn slices_and_rows_agree() {
        let device = Default::default();
        let (row, partner, keep) = ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [true, false, true]);
        let mut x = row;
        binary(&mut x, &partner, &keep);
        assert_eq!(x, [1.0, -2.0, 3.0]);
        let mixed: Tensor<TestBackend, 2> = binary_rows(
            Tensor::from_data([row], &device),
            Tensor::from_data([partner], &device),
            Tensor::from_data([keep], &device),
        );
        assert_eq!(to_vec(&mixed), [1.0, -2.0, 3.0]);
    }
}
