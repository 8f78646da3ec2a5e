//! Rows divided by their length.

use burn::tensor::{Tensor, backend::Backend};

#[cfg(feature = "flex")]
use super::unit_rows;

/// Divides each row of `x` `[n, d]` by its Euclidean length.
///
/// A row of zeros has no direction. It stays a row of zeros, so that its product with every row is 0,
/// and its gradient is 0. Rows are scaled by their largest element first, so that squaring neither
/// overflows nor underflows.
///
/// On the default CPU backend this is one pass over memory, and its gradient another; elsewhere both are composed of
/// Burn's operations.
pub fn normalize<B: Backend>(x: Tensor<B, 2>) -> Tensor<B, 2> {
    #[cfg(feature = "flex")]
    let x = match unit_rows::in_one_pass(x) {
        Ok(rows) => return rows,
        Err(x) => x,
    };
    // The direction does not depend on this scale, so it is a constant for the gradient.
    let scale = x.clone().detach().abs().max_dim(1);
    let is_zero = scale.clone().equal_elem(0.0);
    let x = x / scale.mask_fill(is_zero.clone(), 1.0);
    let square = (x.clone() * x.clone()).sum_dim(1);
    // Divided by infinity, a row of zeros stays one and passes no gradient on.
    x / square.mask_fill(is_zero, f32::INFINITY).sqrt()
}
