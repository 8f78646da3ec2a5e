//! A step of plain gradient descent.

use burn::module::{AutodiffModule, ModuleMapper, Param};
use burn::optim::GradientsParams;
use burn::tensor::Tensor;
use burn::tensor::backend::AutodiffBackend;

/// Takes one step of plain gradient descent, θ − rate·g, in every parameter that has a gradient. The
/// parameters of the result are leaves of a new graph and keep their identity.
pub(super) fn descend<B: AutodiffBackend, M: AutodiffModule<B>>(
    module: M,
    gradients: &GradientsParams,
    rate: f64,
) -> M {
    module.map(&mut Descend { gradients, rate })
}

struct Descend<'a> {
    gradients: &'a GradientsParams,
    rate: f64,
}

impl<B: AutodiffBackend> ModuleMapper<B> for Descend<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        let Some(gradient) = self.gradients.get::<B::InnerBackend, D>(param.id) else {
            return param;
        };
        param.map(|value| {
            let is_trained = value.is_require_grad();
            let moved = value.inner() - gradient * self.rate;
            Tensor::from_inner(moved).set_require_grad(is_trained)
        })
    }
}
