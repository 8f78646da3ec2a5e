//! The logarithm of sums of exponentials over all pairs of rows, with a gradient that costs three matrix products.

#[cfg(feature = "flex")]
use burn::tensor::DType;
use burn::tensor::{Tensor, backend::Backend};

use super::exponentials::{Exponentials, LeftOut, without_own};
#[cfg(feature = "flex")]
use super::one_pass;
use super::rivals::Rivals;
#[cfg(feature = "flex")]
use crate::backends::is_host_memory;
#[cfg(feature = "flex")]
use crate::device::host_values;

/// Returns the log of the sum of exp(⟨qᵢ, kⱼ⟩/τ) over j, of `queries` `[n, d]`, `keys` `[m, d]` and the `temperature`
/// τ: `[n]`. Pairs that are left out are in no sum.
///
/// ```text
/// y = log Σⱼ exp(⟨qᵢ, kⱼ⟩/τ)      ∂y/∂qᵢ = Σⱼ pᵢⱼ·kⱼ/τ      ∂y/∂kⱼ = pᵢⱼ·qᵢ/τ      pᵢⱼ = exp(⟨qᵢ, kⱼ⟩/τ − y)
/// ```
///
/// Followed operation by operation, the gradient would repeat every pass over the n·m pairs. Instead
/// the pairs are computed without gradient, and a term is added whose value is 0 and whose gradient
/// is the one above: ⟨qᵢ, Σⱼ pᵢⱼ·kⱼ⟩/τ minus itself as a constant, with p a constant too. Three matrix
/// products remain, the fewest possible.
///
/// The result can be differentiated any number of times: a constant of one level of differentiation
/// is still followed by the levels inside it, p included.
///
/// In host memory the pairs are one pass; elsewhere they are composed of Burn's operations.
///
/// # Panics
/// If the widths differ.
pub fn log_sum_exp<B: Backend>(
    queries: Tensor<B, 2>,
    keys: Tensor<B, 2>,
    temperature: f64,
    left_out: LeftOut<'_>,
) -> Tensor<B, 1> {
    let ([_, width], [_, key_width]) = (queries.dims(), keys.dims());
    assert_eq!(
        width, key_width,
        "rows on both sides of a product must have the same width"
    );
    let Exponentials {
        values,
        sums,
        log_sums,
    } = exponentials(
        constant(queries.clone()),
        constant(keys.clone()),
        temperature,
        left_out,
    );
    // Without gradients the term below is 0 and costs a product.
    if !B::ad_enabled(&queries.device()) {
        return log_sums.squeeze_dim(1);
    }
    let mean_key = values.matmul(keys) * (sums * temperature).recip();
    let term = (queries * mean_key).sum_dim(1);
    (log_sums + (term.clone() - constant(term))).squeeze_dim(1)
}

/// Returns the values of [`log_sum_exp`], without gradient, and the keys of each query that score at least as high as a
/// given cosine, its `target`: `[n]`. With `own`, pairs with i = own + j are left out of both. Both come from one
/// matrix product, and in host memory from one pass.
pub fn log_sum_exp_and_rivals<B: Backend>(
    queries: Tensor<B, 2>,
    keys: Tensor<B, 2>,
    targets: Tensor<B, 1>,
    temperature: f64,
    own: Option<isize>,
) -> (Tensor<B, 1>, Vec<Rivals>) {
    let (queries, keys) = (constant(queries), constant(keys));
    #[cfg(feature = "flex")]
    if has_one_pass(&queries) {
        let targets: Vec<f32> = host_values(targets).iter().map(|it| *it as f32).collect();
        let left_out = own.map_or(LeftOut::None, LeftOut::Own);
        return one_pass::log_sums_and_rivals(queries, keys, &targets, temperature, left_out);
    }
    let similarities = queries.matmul(keys.transpose());
    let similarities = match own {
        Some(first) => without_own(similarities, first),
        None => similarities,
    };
    let rivals = Rivals::of_rows(similarities.clone(), targets.detach()).collect();
    let exponentials = Exponentials::composed(similarities, temperature, LeftOut::None);
    (exponentials.log_sums.squeeze_dim(1), rivals)
}

/// Returns whether the pass over the similarities of some queries is one loop in host memory.
#[cfg(feature = "flex")]
fn has_one_pass<B: Backend>(queries: &Tensor<B, 2>) -> bool {
    queries.dtype() == DType::F32 && is_host_memory::<B>()
}

/// Removes a tensor from its graph: the values are those of a new tensor without a gradient.
///
/// A leaf that is only detached would remain a leaf to be trained. The depth of the tensor is
/// forgotten too: a backward pass visits tensors in the order of their depth, including those without
/// gradient, and sums in that order, so that a tensor which kept its depth would give other sums than
/// the same values read from a checkpoint.
pub fn constant<B: Backend>(x: Tensor<B, 2>) -> Tensor<B, 2> {
    x.detach().set_require_grad(false)
}

/// Computes the exponentials of ⟨qᵢ, kⱼ⟩/τ. Neither factor has a graph.
fn exponentials<B: Backend>(
    queries: Tensor<B, 2>,
    keys: Tensor<B, 2>,
    temperature: f64,
    left_out: LeftOut<'_>,
) -> Exponentials<B> {
    #[cfg(feature = "flex")]
    if has_one_pass(&queries) {
        return one_pass::exponentials(queries, keys, temperature, left_out);
    }
    let similarities = queries.matmul(keys.transpose());
    Exponentials::composed(similarities, temperature, left_out)
}
