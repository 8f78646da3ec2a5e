//! The gradient through the inner loop by Hessian-vector products.

use burn::module::AutodiffModule;
use burn::optim::GradientsParams;
use burn::tensor::Tensor;
use burn::tensor::backend::AutodiffBackend;

use crate::inner_loop::adapt::{Adapted, owned};
use crate::inner_loop::descend::descend;
use crate::inner_loop::gradient_algebra::{combine, length, parameter_length};

/// Distance between θ and each of the two points of a difference, relative to the length of the
/// parameters: large enough for the rounding of f32, small enough for the curvature to be that of θ.
const RELATIVE_STEP: f64 = 1e-2;

/// Computes the gradient of the query's loss with respect to θ through all inner steps (Eq. 12), from
/// its gradient at θ′ (`at_adapted`), which [`first_order`](super::first_order) returns.
///
/// ```text
/// v⁽ⁿ⁾ = ∇L_q(θ′)        v⁽ʲ⁾ = v⁽ʲ⁺¹⁾ − lr_s·H_s(θ⁽ʲ⁾)·v⁽ʲ⁺¹⁾        ∇_θ L_q(θ′) = v⁽⁰⁾
/// H·v ≈ (∇L_s(θ + εv) − ∇L_s(θ − εv)) / 2ε        ε = 0.01·‖θ‖/‖v‖
/// ```
///
/// The Hessian-vector products are central differences of gradients, so any backend and any operator can be used, also
/// operators whose backward pass cannot be differentiated again. They cost two gradients for each inner step. Where
/// backends can be nested, [`nested_second_order`](super::nested_second_order) is exact. Learning rates count as
/// constants.
///
/// `loss(encoder, j)` must be the support loss of the inner loop, with the same randomness at every call
/// for one step.
pub fn second_order<B, M>(
    adapted: &Adapted<M>,
    loss: &dyn Fn(&M, usize) -> Tensor<B, 1>,
    at_adapted: GradientsParams,
) -> GradientsParams
where
    B: AutodiffBackend,
    M: AutodiffModule<B>,
{
    let mut vector = at_adapted;
    for (step, (encoder, rate)) in adapted.trail.iter().enumerate().rev() {
        let along = length::<B, M>(encoder, &vector);
        // A gradient of 0 stays 0 through all earlier steps, and has no direction to go along.
        if along == 0.0 {
            break;
        }
        // Parameters that are all 0 have no length from which the displacement could be derived.
        let length = parameter_length::<B, M>(encoder, &vector).max(RELATIVE_STEP);
        let epsilon = RELATIVE_STEP * length / along;
        let gradient_at = |displacement: f64| {
            // A copy, since a forward pass through a clone would change the running statistics of the encoder.
            let displaced = descend(owned(encoder), &vector, -displacement);
            GradientsParams::from_grads(loss(&displaced, step).backward(), &displaced)
        };
        let (ahead, behind) = (gradient_at(epsilon), gradient_at(-epsilon));
        let factor = rate / (2.0 * epsilon);
        // Eq. (12), the factor (I − lr_s·H_s) of this step
        let terms = [(1.0, &vector), (-factor, &ahead), (factor, &behind)];
        vector = combine::<B, M>(encoder, &terms);
    }
    vector
}
