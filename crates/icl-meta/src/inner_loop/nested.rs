//! The exact gradient through the inner loop, where a backend can be differentiated twice.

use burn::module::{AutodiffModule, Module, ModuleMapper, Param};
use burn::optim::GradientsParams;
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{ElementConversion, Tensor};

/// The query's loss at θ′ and its gradient with respect to θ through all inner steps, exactly: the
/// inner steps are part of the outer graph.
///
/// `B` is a backend over a backend with gradients, such as `Autodiff<Autodiff<Flex>>`; `M` is the
/// encoder on it, `M::InnerModule` the one whose gradient is asked for. Every operator of the encoder
/// and of the support loss must be twice differentiable: Burn's fused linear layer, LSTM, poolings and
/// interpolation are not, and panic. Elsewhere there is [`second_order`](super::second_order).
///
/// Every float parameter is adapted, also one that is not to be trained.
///
/// `rates` are the learning rates of the inner steps; `loss(encoder, j)` is the support loss of the
/// j-th.
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
        fast = fast.map(&mut DescendInGraph {
            gradients,
            rate: *rate,
        });
    }
    let value = query(&fast);
    let gradients = GradientsParams::from_grads(value.backward(), encoder);
    (value.into_scalar().elem(), gradients)
}

/// Makes every parameter a leaf of the inner graph.
struct Leaves;

impl<B: AutodiffBackend> ModuleMapper<B> for Leaves {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        let (id, value, mapper) = param.consume();
        Param::from_mapped_value(id, value.require_grad(), mapper)
    }
}

/// θ − rate·g within the graph.
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
