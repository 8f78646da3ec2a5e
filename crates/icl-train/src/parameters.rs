//! The float tensors of a module as lists.

use std::marker::PhantomData;

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::Tensor;
use burn::tensor::backend::Backend;

/// Calls `with` for each float tensor of a module, in its order, with its elements, row after row and without their
/// graph, and whether it is trained.
pub(crate) fn for_each_float<B: Backend, M: Module<B>>(
    module: &M,
    with: impl FnMut(Tensor<B, 1>, bool),
) {
    module.visit(&mut Each(with, PhantomData));
}

struct Each<F, B>(F, PhantomData<B>);

impl<B: Backend, F: FnMut(Tensor<B, 1>, bool)> ModuleVisitor<B> for Each<F, B> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        let value = param.val();
        let is_trained = value.is_require_grad();
        // Without a graph, which only a backward pass would free. Detached values still require gradients if they did.
        let value = value.detach().set_require_grad(false);
        (self.0)(value.flatten(0, D - 1), is_trained);
    }
}
