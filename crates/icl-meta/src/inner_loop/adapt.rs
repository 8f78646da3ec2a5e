//! The inner loop of meta-optimization, and the first-order gradient.

use burn::module::AutodiffModule;
use burn::optim::GradientsParams;
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{ElementConversion, Tensor};

use crate::inner_loop::descend::descend;

/// Result of an inner loop.
#[derive(Debug)]
pub struct Adapted<M> {
    /// Encoder at the adapted parameters θ′.
    pub encoder: M,
    /// Encoder before each inner step, at θ⁽ʲ⁾, and the learning rate lr_s of that step.
    pub trail: Vec<(M, f64)>,
    /// Support loss of each inner step before the step, L_s(θ⁽ʲ⁾).
    pub losses: Vec<f64>,
}

/// State of an inner step before its learning rate is chosen.
#[derive(Debug, Clone, Copy)]
pub struct InnerStep<'a, M> {
    /// Index of the step in the inner loop, from 0.
    pub step: usize,
    /// Support loss at the current encoder.
    pub loss: f64,
    /// Current encoder.
    pub encoder: &'a M,
    /// Gradient of the support loss.
    pub gradients: &'a GradientsParams,
}

/// Runs the inner loop (Eq. 11): `n_steps` steps of gradient descent without momentum on the support loss L_s.
///
/// ```text
/// θ⁽⁰⁾ = θ        θ⁽ʲ⁺¹⁾ = θ⁽ʲ⁾ − lr_s·∇L_s(θ⁽ʲ⁾)        θ′ = θ⁽ⁿ⁾
/// ```
///
/// `loss(encoder, j)` computes the support loss `[1]` of step j. `rate` chooses the learning rate lr_s
/// of each step; an error of it ends the loop. The loop works on a copy that shares no state with `encoder`:
/// neither its parameters nor its normalisation statistics change.
///
/// # Errors
/// The error of `rate`.
///
/// ```
/// use std::convert::Infallible;
///
/// use burn::backend::{Autodiff, Flex};
/// use burn::nn::{Linear, LinearConfig};
/// use burn::tensor::Tensor;
/// use icl_meta::{adapt, first_order};
///
/// type B = Autodiff<Flex>;
///
/// let device = Default::default();
/// let encoder: Linear<B> = LinearConfig::new(2, 1).init(&device);
/// let x = Tensor::<B, 2>::from_data([[1.0, 2.0], [3.0, 4.0]], &device);
/// let loss = |encoder: &Linear<B>| encoder.forward(x.clone()).powi_scalar(2).mean();
/// let adapted = adapt(
///     &encoder,
///     3,
///     &|encoder, _| loss(encoder),
///     &mut |_| Ok::<_, Infallible>(0.01),
/// )?;
/// assert!(adapted.losses[2] < adapted.losses[0]);
/// let (at_adapted, _gradients) = first_order(&adapted, &loss);
/// assert!(at_adapted < adapted.losses[2]);
/// # Ok::<(), Infallible>(())
/// ```
pub fn adapt<B, M, E>(
    encoder: &M,
    n_steps: usize,
    loss: &dyn Fn(&M, usize) -> Tensor<B, 1>,
    rate: &mut dyn FnMut(InnerStep<'_, M>) -> Result<f64, E>,
) -> Result<Adapted<M>, E>
where
    B: AutodiffBackend,
    M: AutodiffModule<B>,
{
    let mut fast = owned(encoder);
    let (mut trail, mut losses) = (Vec::new(), Vec::new());
    for step in 0..n_steps {
        let value = loss(&fast, step);
        let gradients = GradientsParams::from_grads(value.backward(), &fast);
        let value: f64 = value.into_scalar().elem();
        let rate = rate(InnerStep {
            step,
            loss: value,
            encoder: &fast,
            gradients: &gradients,
        })?;
        // Eq. (11)
        let next = descend(fast.clone(), &gradients, rate);
        trail.push((fast, rate));
        losses.push(value);
        fast = next;
    }
    Ok(Adapted {
        encoder: fast,
        trail,
        losses,
    })
}

/// Computes the query's loss L_q at θ′, and the gradient that first-order meta-optimization applies to θ
/// (Eq. 12).
///
/// ```text
/// ∇_θ L_q(θ′) ≈ ∇_θ′ L_q(θ′)
/// ```
///
/// It ignores the derivative of θ′ with respect to θ (first-order MAML, Finn et al., 2017);
/// [`second_order`](super::second_order) includes it. `query` computes the loss `[1]`. The gradients
/// belong to the parameters of the encoder that was adapted: parameters keep their identity.
pub fn first_order<B, M>(
    adapted: &Adapted<M>,
    query: &dyn Fn(&M) -> Tensor<B, 1>,
) -> (f64, GradientsParams)
where
    B: AutodiffBackend,
    M: AutodiffModule<B>,
{
    // Eq. (12), with the derivative of θ′ by θ as the identity
    let value = query(&adapted.encoder);
    let gradients = GradientsParams::from_grads(value.backward(), &adapted.encoder);
    (value.into_scalar().elem(), gradients)
}

/// Copies a module so that the copy shares no state with the original.
///
/// A clone shares state: a forward pass through it changes the running statistics of Burn's
/// normalisation layers in both.
pub fn owned<B: AutodiffBackend, M: AutodiffModule<B>>(encoder: &M) -> M {
    M::from_inner(encoder.valid())
}
