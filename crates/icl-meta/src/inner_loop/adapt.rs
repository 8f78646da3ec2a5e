//! The inner loop, and the first-order gradient.

use burn::module::AutodiffModule;
use burn::optim::GradientsParams;
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{ElementConversion, Tensor};

use crate::inner_loop::descend::descend;

/// What an inner loop gives.
#[derive(Debug)]
pub struct Adapted<M> {
    /// The encoder at θ′.
    pub encoder: M,
    /// θ before each inner step, and the learning rate of that step.
    pub trail: Vec<(M, f64)>,
    /// The support loss of each inner step before it was taken.
    pub losses: Vec<f64>,
}

/// An inner step that is about to be taken.
#[derive(Debug, Clone, Copy)]
pub struct InnerStep<'a, M> {
    /// Which it is, from 0.
    pub step: usize,
    /// The support loss.
    pub loss: f64,
    /// The encoder at which that loss was found.
    pub encoder: &'a M,
    /// The gradient of that loss.
    pub gradients: &'a GradientsParams,
}

/// The inner loop (Eq. 11): `n_steps` steps of gradient descent on the support loss.
///
/// ```text
/// θ⁽⁰⁾ = θ        θ⁽ʲ⁺¹⁾ = θ⁽ʲ⁾ − lr_s·∇L_s(θ⁽ʲ⁾)        θ′ = θ⁽ⁿ⁾
/// ```
///
/// `loss(encoder, j)` is the support loss of step j. `rate` is told of each step and answers its lr_s;
/// an error of it ends the loop. The loop works on a copy that owns
/// everything: neither the parameters nor the normalisation statistics of `encoder` change.
///
/// # Errors
/// That of `rate`.
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

/// The query's loss at θ′ and its gradient there, which first-order meta-optimization applies to θ.
///
/// ```text
/// ∇_θ L_q(θ′) ≈ ∇_θ′ L_q(θ′)
/// ```
///
/// The gradients belong to the parameters of the encoder that was adapted: identities are kept.
pub fn first_order<B, M>(
    adapted: &Adapted<M>,
    query: &dyn Fn(&M) -> Tensor<B, 1>,
) -> (f64, GradientsParams)
where
    B: AutodiffBackend,
    M: AutodiffModule<B>,
{
    let value = query(&adapted.encoder);
    let gradients = GradientsParams::from_grads(value.backward(), &adapted.encoder);
    (value.into_scalar().elem(), gradients)
}

/// Copies a module so that the copy shares no state with its original. A clone would: forward passes through it move the
/// running statistics of Burn's normalisation layers in both.
pub fn owned<B: AutodiffBackend, M: AutodiffModule<B>>(encoder: &M) -> M {
    M::from_inner(encoder.valid())
}
