//! The expectation over noise, as a logarithm, with a gradient that is cheap.

mod exponentials;
mod host;

use burn::tensor::{Tensor, backend::Backend};

pub(crate) use exponentials::NEVER;

use exponentials::Exponentials;

/// log of the mean of f(aᵢ, nⱼ) over j, of normalised rows `[n, d]` and `[m, d]`: `[n]`.
pub(crate) fn log_noise<B: Backend>(
    anchors: Tensor<B, 2>,
    noise: Tensor<B, 2>,
    temperature: f64,
) -> Tensor<B, 1> {
    let [n, _] = noise.dims();
    assert!(n > 0, "an expectation over noise needs at least one sample");
    log_sum(anchors, noise, temperature, None) - (n as f64).ln()
}

/// log of the sum of f(aᵢ, nⱼ) over j, of normalised rows `[n, d]` and `[m, d]`: `[n]`. With `own`,
/// row j of the noise belongs to anchor `own` + j, if there is one, and is left out of its sum.
///
/// ```text
/// y = log Σⱼ exp(⟨aᵢ, nⱼ⟩/τ)      ∂y/∂aᵢ = Σⱼ pᵢⱼ·nⱼ/τ      ∂y/∂nⱼ = pᵢⱼ·aᵢ/τ      pᵢⱼ = exp(⟨aᵢ, nⱼ⟩/τ − y)
/// ```
///
/// Followed operation by operation, the gradient would go through every pass over the n·m pairs
/// again. Here the pairs are without gradient, and a term is added whose value is 0 and whose
/// gradient is the one above: ⟨aᵢ, Σⱼ pᵢⱼ·nⱼ⟩/τ less itself as a constant, p being one. What
/// remains are three products of matrices, the least that there can be.
///
/// It stays differentiable any number of times: what is a constant to one level of
/// differentiation is still followed by those that it is nested in, p included.
pub(crate) fn log_sum<B: Backend>(
    anchors: Tensor<B, 2>,
    noise: Tensor<B, 2>,
    temperature: f64,
    own: Option<isize>,
) -> Tensor<B, 1> {
    let ([_, width], [_, noise_width]) = (anchors.dims(), noise.dims());
    assert_eq!(width, noise_width, "anchors and noise must have one width");
    let Exponentials {
        values,
        sums,
        log_sums,
    } = Exponentials::of(
        constant(anchors.clone()),
        constant(noise.clone()),
        temperature,
        own,
    );
    if !B::ad_enabled(&anchors.device()) {
        return log_sums.squeeze_dim(1);
    }
    let mean_noise = values.matmul(noise) * (sums * temperature).recip();
    let term = (anchors * mean_noise).sum_dim(1);
    (log_sums + (term.clone() - constant(term))).squeeze_dim(1)
}

/// As [`log_sum`], without gradient.
pub(crate) fn log_sum_value<B: Backend>(
    anchors: Tensor<B, 2>,
    noise: Tensor<B, 2>,
    temperature: f64,
    own: Option<isize>,
) -> Tensor<B, 1> {
    let (anchors, noise) = (constant(anchors), constant(noise));
    let exponentials = Exponentials::of(anchors, noise, temperature, own);
    exponentials.log_sums.squeeze_dim(1)
}

/// Without its graph. A leaf would stay one if it were only detached.
fn constant<B: Backend>(x: Tensor<B, 2>) -> Tensor<B, 2> {
    x.detach().set_require_grad(false)
}
