//! The exact gradient through the inner loop, on backends that can be differentiated twice.

use burn::module::{AutodiffModule, Module, ModuleMapper, Param};
use burn::optim::GradientsParams;
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{ElementConversion, Tensor};

/// Computes the query's loss at θ′ and its exact gradient with respect to θ through all inner steps
/// (Eq. 12). The inner steps are part of the outer graph.
///
/// ```text
/// ∇_θ L_q(θ′) = Π_j (I − lr_s·H_s(θ⁽ʲ⁾))·∇L_q(θ′)
/// ```
///
/// `B` is a backend over a backend with gradients, such as `Autodiff<Autodiff<Flex>>`. `M` is the
/// encoder on `B`; the gradient belongs to `M::InnerModule`. `rates` are the learning rates of the inner
/// steps, and `loss(encoder, j)` computes the support loss `[1]` of step j.
///
/// Every float parameter is adapted, also a parameter that is not trained.
///
/// # Panics
/// If an operator of the encoder or of the support loss cannot be differentiated twice, as Burn's fused
/// linear layer, LSTM, poolings and interpolation. Use [`second_order`](super::second_order) for them.
pub fn nested_second_order<B, M>(
    encoder: &M::InnerModule,
    rates: &[f64],
    loss: &dyn Fn(&M, usize) -> Tensor<B, 1>,
    query: &dyn Fn(&M::InnerModule) -> Tensor<B::InnerBackend, 1>,
) -> (f64, GradientsParams)
where
    B: AutodiffBackend,
    B::InnerBackend: AutodiffBackend,
    M: AutodiffModule<B>,
    M::InnerModule: AutodiffModule<B::InnerBackend>,
{
    let mut fast = encoder.clone();
    for (step, rate) in rates.iter().enumerate() {
        let leaves = M::from_inner(fast.clone()).map(&mut Leaves);
        let gradients = loss(&leaves, step).backward();
        // These gradients are tensors of the outer graph.
        let gradients = GradientsParams::from_grads(gradients, &leaves);
        // Eq. (11)
        fast = fast.map(&mut DescendInGraph {
            gradients,
            rate: *rate,
        });
    }
    // Eq. (12)
    let value = query(&fast);
    let gradients = GradientsParams::from_grads(value.backward(), encoder);
    (value.into_scalar().elem(), gradients)
}

/// Mapper that makes every parameter a leaf of the inner graph.
struct Leaves;

impl<B: AutodiffBackend> ModuleMapper<B> for Leaves {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        let (id, value, mapper) = param.consume();
        Param::from_mapped_value(id, value.require_grad(), mapper)
    }
}

/// Mapper to θ − rate·g as a part of the outer graph.
struct DescendInGraph {
    gradients: GradientsParams,
    rate: f64,
}

impl<B: AutodiffBackend> ModuleMapper<B> for DescendInGraph {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        let (id, value, mapper) = param.consume();
        let moved = match self.gradients.remove::<B, D>(id) {
            Some(gradient) => value - gradient * self.rate,
            None => value,
        };
        Param::from_mapped_value(id, moved, mapper)
    }
}
