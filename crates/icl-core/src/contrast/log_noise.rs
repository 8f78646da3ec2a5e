//! The logarithm of the expectation over noise, with a gradient that costs three matrix products.

use burn::tensor::{DType, Tensor, backend::Backend};

use super::exponentials::{Exponentials, LeftOut, without_self};
use super::one_pass;
use super::rivals::Rivals;
use crate::{host_values, is_host_memory};

/// Returns the log of the mean of f(aᵢ, nⱼ) over j, of normalised rows `[n, d]` and `[m, d]`: `[n]`.
///
/// # Panics
/// If there is no noise sample or the widths differ.
pub(crate) fn log_noise<B: Backend>(
    anchors: Tensor<B, 2>,
    noise: Tensor<B, 2>,
    temperature: f64,
) -> Tensor<B, 1> {
    let [n, _] = noise.dims();
    assert!(n > 0, "an expectation over noise needs at least one sample");
    log_sum(anchors, noise, temperature, LeftOut::None) - (n as f64).ln()
}

/// Returns the log of the sum of f(aᵢ, nⱼ) over j, of normalised rows `[n, d]` and `[m, d]`: `[n]`.
/// Pairs that are left out are in no sum.
///
/// ```text
/// y = log Σⱼ exp(⟨aᵢ, nⱼ⟩/τ)      ∂y/∂aᵢ = Σⱼ pᵢⱼ·nⱼ/τ      ∂y/∂nⱼ = pᵢⱼ·aᵢ/τ      pᵢⱼ = exp(⟨aᵢ, nⱼ⟩/τ − y)
/// ```
///
/// Followed operation by operation, the gradient would repeat every pass over the n·m pairs. Instead
/// the pairs are computed without gradient, and a term is added whose value is 0 and whose gradient
/// is the one above: ⟨aᵢ, Σⱼ pᵢⱼ·nⱼ⟩/τ minus itself as a constant, with p a constant too. Three matrix
/// products remain, the fewest possible.
///
/// The result can be differentiated any number of times: a constant of one level of differentiation
/// is still followed by the levels inside it, p included.
///
/// # Panics
/// If the widths differ.
pub(crate) fn log_sum<B: Backend>(
    anchors: Tensor<B, 2>,
    noise: Tensor<B, 2>,
    temperature: f64,
    left_out: LeftOut<'_>,
) -> Tensor<B, 1> {
    let ([_, width], [_, noise_width]) = (anchors.dims(), noise.dims());
    assert_eq!(
        width, noise_width,
        "anchors and noise must have the same width"
    );
    let Exponentials {
        values,
        sums,
        log_sums,
    } = exponentials(
        constant(anchors.clone()),
        constant(noise.clone()),
        temperature,
        left_out,
    );
    if !B::ad_enabled(&anchors.device()) {
        return log_sums.squeeze_dim(1);
    }
    let mean_noise = values.matmul(noise) * (sums * temperature).recip();
    let term = (anchors * mean_noise).sum_dim(1);
    (log_sums + (term.clone() - constant(term))).squeeze_dim(1)
}

/// Returns the values of [`log_sum`], without gradient, and the noise of each anchor that scores at least as high as its
/// positive, whose cosine is given: `[n]`. Both are of one matrix product, and in host memory of one pass.
pub(crate) fn log_sum_and_rivals<B: Backend>(
    anchors: Tensor<B, 2>,
    noise: Tensor<B, 2>,
    positives: Tensor<B, 1>,
    temperature: f64,
    own: Option<isize>,
) -> (Tensor<B, 1>, Vec<Rivals>) {
    let (anchors, noise) = (constant(anchors), constant(noise));
    if has_one_pass(&anchors) {
        let positives: Vec<f32> = host_values(positives).iter().map(|it| *it as f32).collect();
        let left_out = own.map_or(LeftOut::None, LeftOut::Own);
        return one_pass::log_sums_and_rivals(anchors, noise, &positives, temperature, left_out);
    }
    let similarities = anchors.matmul(noise.transpose());
    let similarities = match own {
        Some(first) => without_self(similarities, first),
        None => similarities,
    };
    let rivals = Rivals::composed(similarities.clone(), positives.detach()).collect();
    let exponentials = Exponentials::composed(similarities, temperature, LeftOut::None);
    (exponentials.log_sums.squeeze_dim(1), rivals)
}

/// Returns whether the pass over the similarities of some anchors is one loop in host memory.
fn has_one_pass<B: Backend>(anchors: &Tensor<B, 2>) -> bool {
    anchors.dtype() == DType::F32 && is_host_memory::<B>(&anchors.device())
}

/// Removes a tensor from its graph: the values are those of a new tensor without a gradient.
///
/// A leaf that is only detached would remain a leaf to be trained. The depth of the tensor is
/// forgotten too: a backward pass visits tensors in the order of their depth, including those without
/// gradient, and sums in that order, so that a tensor which kept its depth would give other sums than
/// the same values read from a checkpoint.
fn constant<B: Backend>(x: Tensor<B, 2>) -> Tensor<B, 2> {
    x.detach().set_require_grad(false)
}

/// Computes the exponentials of the logits ⟨aᵢ, nⱼ⟩/τ. Neither factor has a graph.
///
/// In host memory this is one pass over the pairs; elsewhere it is composed of Burn's operations.
fn exponentials<B: Backend>(
    anchors: Tensor<B, 2>,
    noise: Tensor<B, 2>,
    temperature: f64,
    left_out: LeftOut<'_>,
) -> Exponentials<B> {
    match has_one_pass(&anchors) {
        true => one_pass::exponentials(anchors, noise, temperature, left_out),
        false => {
            let similarities = anchors.matmul(noise.transpose());
            Exponentials::composed(similarities, temperature, left_out)
        }
    }
}
